"""An image file is used only when all of it can be; what cannot be used is named by its fault."""

import hashlib
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ExifTags, Image

from backend.domain.images import IMAGE_SUFFIXES, MAX_PIXELS, check_image, media_type
from backend.errors import AppError


def drawn(path: Path, image_format: str, size: tuple[int, int] = (7, 5)) -> Path:
    """Write a small picture with some content."""
    image = Image.new("RGB", size)
    image.putdata([(x * 31 % 256, x * 17 % 256, x * 7 % 256) for x in range(size[0] * size[1])])
    image.save(path, image_format)
    return path


def png_header(width: int, height: int) -> bytes:
    """A PNG that announces a size and holds no picture."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


FORMATS = [("PNG", "png"), ("JPEG", "jpeg"), ("BMP", "bmp"), ("TIFF", "tiff"), ("WEBP", "webp"), ("GIF", "gif")]


@pytest.mark.parametrize(("image_format", "subtype"), FORMATS)
def test_a_sound_file_of_every_known_format_gives_its_facts(tmp_path: Path, image_format: str, subtype: str) -> None:
    file = drawn(tmp_path / "frame.bin", image_format)
    facts = check_image(file)
    content = file.read_bytes()
    assert (facts.width, facts.height, facts.format, facts.bytes) == (7, 5, image_format, len(content))
    assert facts.sha256 == hashlib.sha256(content).hexdigest()
    assert facts.media_type == media_type(image_format) == f"image/{subtype}"


def test_every_known_format_has_an_ending_under_which_it_is_found() -> None:
    assert {f".{image_format.lower()}" for image_format, _ in FORMATS} <= IMAGE_SUFFIXES


def test_the_format_is_told_by_content_and_not_by_name(tmp_path: Path) -> None:
    assert check_image(drawn(tmp_path / "picture.jpg", "PNG")).format == "PNG"


def test_of_an_animation_the_first_picture_counts(tmp_path: Path) -> None:
    first, second = Image.new("RGB", (4, 3), "red"), Image.new("RGB", (4, 3), "blue")
    first.save(tmp_path / "moving.gif", save_all=True, append_images=[second])
    assert (check_image(tmp_path / "moving.gif").width, check_image(tmp_path / "moving.gif").height) == (4, 3)


def test_a_jpeg_that_carries_further_views_is_served_as_a_jpeg(tmp_path: Path) -> None:
    first, second = Image.new("RGB", (4, 3), "red"), Image.new("RGB", (4, 3), "blue")
    first.save(tmp_path / "phone.jpg", "MPO", save_all=True, append_images=[second])
    assert check_image(tmp_path / "phone.jpg").media_type == "image/jpeg"


BROKEN = {
    "empty": (b"", "is empty (zero bytes)"),
    "text": (b"no picture at all", "is not an image that can be read here"),
    "svg": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is not an image that can be read here"),
    "pdf": (b"%PDF-1.7\n", "is not an image that can be read here"),
    "postscript": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "is not an image that can be read here"),
    "a header alone": (b"\x89PNG\r\n\x1a\n", "is not an image that can be read here"),
    "over the limit": (png_header(8001, 8000), "has 8001 × 8000 pixels"),
    "a decompression bomb": (png_header(12_000, 12_000), "has far too many pixels"),
    "a larger bomb": (png_header(60_000, 60_000), "has far too many pixels"),
    "no picture behind the header": (png_header(20, 20), "is damaged or ends early"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_used_is_refused_with_its_fault_and_a_next_step(tmp_path: Path, name: str) -> None:
    content, fault = BROKEN[name]
    file = tmp_path / "frame.png"
    file.write_bytes(content)
    with pytest.raises(AppError) as refused:
        check_image(file)
    assert f"frame.png {fault}" in refused.value.message
    assert refused.value.hint


def test_the_largest_allowed_picture_is_below_what_pillow_calls_a_bomb() -> None:
    assert Image.MAX_IMAGE_PIXELS is not None
    assert MAX_PIXELS < Image.MAX_IMAGE_PIXELS


@pytest.mark.parametrize(
    ("image_format", "suffix"), [("PNG", "png"), ("JPEG", "jpg"), ("WEBP", "webp"), ("TIFF", "tif")]
)
def test_a_file_that_ends_early_is_refused(tmp_path: Path, image_format: str, suffix: str) -> None:
    file = drawn(tmp_path / f"frame.{suffix}", image_format, (64, 64))
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(AppError):
        check_image(file)


def test_bytes_known_to_decode_whole_are_not_decoded_again_and_others_are(tmp_path: Path) -> None:
    """Both files end early, so that a decoding would show."""
    known = drawn(tmp_path / "known.jpg", "JPEG", (64, 64))
    other = drawn(tmp_path / "other.jpg", "JPEG", (48, 64))
    for file in (known, other):
        file.write_bytes(file.read_bytes()[:-200])
    decoded = {hashlib.sha256(known.read_bytes()).hexdigest()}
    assert check_image(known, decoded=decoded).sha256 in decoded
    with pytest.raises(AppError, match=r"other\.jpg is damaged or ends early"):
        check_image(other, decoded=decoded)


def test_a_file_known_to_decode_is_still_checked_by_its_header(tmp_path: Path) -> None:
    file = tmp_path / "frame.png"
    file.write_bytes(png_header(8001, 8000))
    with pytest.raises(AppError, match="has 8001 × 8000 pixels"):
        check_image(file, decoded={hashlib.sha256(file.read_bytes()).hexdigest()})


def test_what_is_no_regular_file_is_refused_and_never_opened(tmp_path: Path) -> None:
    (tmp_path / "nowhere.png").symlink_to(tmp_path / "gone.png")
    for path in (tmp_path, tmp_path / "absent.png", tmp_path / "nowhere.png", Path("/dev/zero")):
        with pytest.raises(AppError, match="is no regular file"):
            check_image(path)


@given(data=st.data(), image_format=st.sampled_from([name for name, _ in FORMATS]))
def test_a_damaged_file_is_read_or_refused_and_nothing_else_happens(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, image_format: str
) -> None:
    file = drawn(tmp_path_factory.mktemp("damaged") / "frame.bin", image_format, (16, 16))
    content = bytearray(file.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=8)):
        content[place] = data.draw(st.integers(0, 255))
    file.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    try:
        facts = check_image(file)
    except AppError as refused:
        assert refused.message.startswith("frame.bin ")
    else:
        assert facts.width > 0
        assert facts.height > 0


def test_the_frames_at_hand_are_sound(shared: Path) -> None:
    frames = sorted(path for path in (shared / "data/kvasir/images").iterdir() if path.suffix in IMAGE_SUFFIXES)
    assert len(frames) == 21
    assert all(check_image(frame).width > 100 for frame in frames)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_turned_photograph_has_the_size_in_which_viewers_show_it(tmp_path: Path, orientation: int) -> None:
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    Image.new("RGB", (7, 5)).save(tmp_path / "turned.jpg", exif=exif)
    facts = check_image(tmp_path / "turned.jpg")
    assert (facts.width, facts.height) == ((5, 7) if orientation >= 5 else (7, 5))
