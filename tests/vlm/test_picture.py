"""What a VLM is shown of files of every kind, and what is said of those it cannot be shown."""

import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import ExifTags, Image

from backend.errors import AppError
from backend.vlm.picture import KeptPicture, open_picture

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)

Save = Callable[[Path], None]


def two_pixels(left: tuple[int, ...], right: tuple[int, ...], mode: str = "RGB") -> Image.Image:
    """Return a picture of two pixels."""
    image = Image.new(mode, (2, 1), left)
    image.putpixel((1, 0), right)
    return image


def palette(transparent: int | None) -> Image.Image:
    """Return a palette picture, red and green, one index of it transparent or none."""
    image = Image.new("P", (2, 1))
    image.putpalette([*RED, *GREEN])
    image.putdata([0, 1])
    if transparent is not None:
        image.info["transparency"] = transparent
    return image


def turned(orientation: int) -> Save:
    """Save red above blue, with an EXIF orientation."""

    def save(path: Path) -> None:
        image = Image.new("RGB", (1, 2))
        image.putdata([RED, BLUE])
        exif = image.getexif()
        exif[ExifTags.Base.Orientation] = orientation
        image.save(path, format="PNG", exif=exif)

    return save


def odd_exif(tag: int, kind: int, value: bytes) -> Save:
    """Save a picture twice as wide as high, to be turned a quarter, with a further EXIF entry of four bytes."""
    quarter = (ExifTags.Base.Orientation, 3, b"\0\6\0\0")
    entries = sorted([quarter, (tag, kind, value)])
    tiff = b"MM\0*" + struct.pack(">IH", 8, 2) + b"".join(struct.pack(">HHI", *e[:2], 1) + e[2] for e in entries)
    return lambda path: Image.new("RGB", (8, 4)).save(path, format="JPEG", exif=b"Exif\0\0" + tiff + bytes(4))


def sixteen_bits(values: list[int], file_format: str = "PNG", order: str = "<") -> Save:
    """Save grey values of 16 bits."""
    pixels = np.array([values], dtype=f"{order}u2")
    return lambda path: Image.fromarray(pixels).save(path, format=file_format)


def animation(path: Path) -> None:
    """Save a GIF that is red first and blue then."""
    Image.new("RGB", (2, 1), RED).save(
        path, format="GIF", save_all=True, append_images=[Image.new("RGB", (2, 1), BLUE)], duration=50
    )


@pytest.mark.parametrize(
    ("save", "rows"),
    [
        pytest.param(lambda p: two_pixels(RED, BLUE).save(p, format="PNG"), [[RED, BLUE]], id="RGB as it is"),
        pytest.param(
            lambda p: two_pixels((0,), (200,), "L").save(p, format="PNG"), [[(0, 0, 0), (200, 200, 200)]], id="grey"
        ),
        pytest.param(
            lambda p: Image.new("1", (2, 1), 1).save(p, format="PNG"), [[(255, 255, 255)] * 2], id="one bit a pixel"
        ),
        pytest.param(
            sixteen_bits([0, 255, 256, 65535]),
            [[(0, 0, 0), (0, 0, 0), (1, 1, 1), (255, 255, 255)]],
            id="16 bits keep the upper eight",
        ),
        pytest.param(
            sixteen_bits([0, 32768], "TIFF", ">"), [[(0, 0, 0), (128, 128, 128)]], id="16 bits, the larger byte first"
        ),
        pytest.param(
            lambda p: two_pixels((0, 255, 255, 0), (255, 255, 0, 0), "CMYK").save(p, format="TIFF"),
            [[RED, BLUE]],
            id="CMYK",
        ),
        pytest.param(lambda p: palette(None).save(p, format="PNG"), [[RED, GREEN]], id="palette"),
        pytest.param(
            lambda p: palette(1).save(p, format="PNG", transparency=1),
            [[RED, (0, 0, 0)]],
            id="a transparent index shows black",
        ),
        pytest.param(
            lambda p: two_pixels((255, 0, 0, 255), (255, 255, 255, 0), "RGBA").save(p, format="PNG"),
            [[RED, (0, 0, 0)]],
            id="transparent pixels show black, whatever colour they hide",
        ),
        pytest.param(
            lambda p: two_pixels((255, 51), (255, 255), "LA").save(p, format="PNG"),
            [[(51, 51, 51), (255, 255, 255)]],
            id="grey at a fifth of its opacity",
        ),
        pytest.param(animation, [[RED, RED]], id="the first picture of an animation"),
        pytest.param(turned(1), [[RED], [BLUE]], id="upright already"),
        pytest.param(turned(2), [[RED], [BLUE]], id="EXIF: mirrored from side to side"),
        pytest.param(turned(3), [[BLUE], [RED]], id="EXIF: upside down"),
        pytest.param(turned(4), [[BLUE], [RED]], id="EXIF: mirrored from top to bottom"),
        pytest.param(turned(5), [[RED, BLUE]], id="EXIF: mirrored, and a quarter counter-clockwise"),
        pytest.param(turned(6), [[BLUE, RED]], id="EXIF: a quarter clockwise"),
        pytest.param(turned(7), [[BLUE, RED]], id="EXIF: mirrored, and a quarter clockwise"),
        pytest.param(turned(8), [[RED, BLUE]], id="EXIF: a quarter counter-clockwise"),
        pytest.param(turned(9), [[RED], [BLUE]], id="EXIF: an orientation that is none"),
    ],
)
def test_a_picture_is_upright_rgb_of_eight_bits(tmp_path: Path, save: Save, rows: list[list[tuple[int, ...]]]) -> None:
    path = tmp_path / "picture"
    save(path)
    picture = open_picture(path)
    assert picture.mode == "RGB"
    assert np.array(picture).tolist() == [[list(pixel) for pixel in row] for row in rows]


@pytest.mark.parametrize(
    "save",
    [
        pytest.param(odd_exif(0x011A, 2, b"7\0\0\0"), id="a resolution in words"),
        pytest.param(odd_exif(0x010E, 11, b"\x7f\xc0\0\0"), id="a description that is a number"),
        pytest.param(odd_exif(0x0111, 2, b"a\0\0\0"), id="an offset in words"),
        pytest.param(odd_exif(0x0100, 8, b"\xff\xff\0\0"), id="a negative width"),
        pytest.param(odd_exif(0x8769, 4, b"\0\0\0\1"), id="a part that points into itself"),
    ],
)
def test_a_photo_is_turned_whatever_else_its_exif_says(tmp_path: Path, save: Save) -> None:
    save(tmp_path / "photo.jpg")
    assert open_picture(tmp_path / "photo.jpg").size == (4, 8)


def test_a_picture_keeps_its_size(tmp_path: Path) -> None:
    Image.new("RGB", (1301, 977), RED).save(tmp_path / "large.jpg")
    assert open_picture(tmp_path / "large.jpg").size == (1301, 977)


def cut(path: Path) -> None:
    """Save half of a PNG."""
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path, format="PNG")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize(
    ("save", "words"),
    [
        pytest.param(lambda p: p.write_bytes(b""), "is empty (zero bytes)", id="zero bytes"),
        pytest.param(lambda p: p.write_bytes(b"no image at all"), "is not an image", id="something else"),
        pytest.param(cut, "is damaged or ends early", id="cut"),
        pytest.param(lambda p: Image.new("1", (9_000, 9_000)).save(p, format="PNG"), "pixels", id="enormous"),
        pytest.param(
            lambda p: Image.new("F", (2, 1)).save(p, format="TIFF"), "32-bit pixel values (mode F)", id="floats"
        ),
        pytest.param(
            lambda p: Image.new("I", (2, 1)).save(p, format="TIFF"),
            "32-bit pixel values (mode I)",
            id="32-bit integers",
        ),
        pytest.param(lambda p: None, "is no regular file", id="absent"),
    ],
)
def test_a_file_that_cannot_be_shown_is_named_with_its_fault(tmp_path: Path, save: Save, words: str) -> None:
    path = tmp_path / "frame.png"
    save(path)
    with pytest.raises(AppError, match=r"frame\.png") as caught:
        open_picture(path)
    assert words in caught.value.message
    assert caught.value.hint


class TestKeptPicture:
    """The last file is opened once, as long as its bytes are the same."""

    def test_the_same_bytes_are_the_same_picture_under_whatever_name(self, tmp_path: Path) -> None:
        kept = KeptPicture()
        two_pixels(RED, BLUE).save(tmp_path / "one.png")
        (tmp_path / "two.png").write_bytes((tmp_path / "one.png").read_bytes())
        picture = kept.open(tmp_path / "one.png")
        assert kept.open(tmp_path / "two.png") is picture
        assert len(picture.sha256) == 64

    def test_other_bytes_are_another_picture_though_size_and_time_agree(self, tmp_path: Path) -> None:
        kept, path, seen = KeptPicture(), tmp_path / "picture.bmp", []
        for color in (RED, GREEN, RED):
            two_pixels(color, BLUE).save(path)
            os.utime(path, (1, 1))
            seen.append(kept.open(path).image.getpixel((0, 0)))
        assert seen == [RED, GREEN, RED]

    def test_one_picture_is_kept_at_a_time(self, tmp_path: Path) -> None:
        kept = KeptPicture()
        two_pixels(RED, BLUE).save(tmp_path / "red.png")
        two_pixels(GREEN, BLUE).save(tmp_path / "green.png")
        first = kept.open(tmp_path / "red.png")
        kept.open(tmp_path / "green.png")
        assert kept.open(tmp_path / "red.png") is not first

    def test_a_file_that_cannot_be_used_is_refused_in_words_each_time(self, tmp_path: Path) -> None:
        kept, path = KeptPicture(), tmp_path / "picture.png"
        two_pixels(RED, BLUE).save(path)
        kept.open(path)
        path.write_bytes(b"")
        for _ in range(2):
            with pytest.raises(AppError, match=r"picture\.png is empty"):
                kept.open(path)
        path.unlink()
        for missing in (path, tmp_path):
            with pytest.raises(AppError, match="is no regular file"):
                kept.open(missing)
