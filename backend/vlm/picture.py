"""An image file as a VLM is given it: upright, RGB, eight bits a channel, at its own size.

The file is checked first, so that nothing decodes what cannot be used. Colour profiles are
left alone: a VLM was trained on plain pixel values.
"""

__all__ = ["KeptPicture", "Picture", "open_picture"]

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import ExifTags, Image

from backend.domain.images import check_image
from backend.errors import AppError

_BACKGROUND = (0, 0, 0)
"""Seen through transparent pixels: scopes and radiographs are surrounded by black."""

_SIXTEEN_BITS = frozenset({"I;16", "I;16L", "I;16B", "I;16N"})

_WITHOUT_RANGE = frozenset({"I", "F"})
"""Pixel values of 32 bits: no file says which of them is white."""

_WITH_ALPHA = frozenset({"RGBA", "RGBa", "LA", "La", "PA"})

_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""By EXIF orientation, what sets a picture upright; by any other it is upright already."""


def open_picture(path: Path) -> Image.Image:
    """Open an image file for a VLM.

    The first picture of an animation or of a file with several pages counts. EXIF orientation
    is applied, and nothing else of EXIF is looked at. Of 16-bit values the upper eight bits are
    kept, over the whole range: no window is chosen. Transparent pixels show black. CMYK, palettes
    and YCbCr become RGB as Pillow converts them.

    Returns:
        An RGB picture that does not hold the file open.

    Raises:
        AppError: The file cannot be used (see `check_image`), or its pixel values cannot be
            shown in RGB without a guess.
    """
    check_image(path)
    with Image.open(path) as image:
        image.load()
        turn = _TURNS.get(image.getexif().get(ExifTags.Base.Orientation, 1))
        return _as_rgb(image if turn is None else image.transpose(turn), path.name)


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """An image file, opened."""

    image: Image.Image
    """As `open_picture` returns it."""
    sha256: str
    """Of the file's bytes, in lower-case hex."""


class KeptPicture:
    """Opens image files one after the other, and does not open the last one again while its bytes are the same."""

    def __init__(self) -> None:
        self._picture: Picture | None = None

    def open(self, path: Path) -> Picture:
        """Return an image file opened; the very same object where the last file held the same bytes.

        The bytes are read each time: a file replaced within a tick of the clock is seen, too.

        Raises:
            AppError: See `open_picture`.
        """
        sha256 = _sha256(path)
        if self._picture is None or self._picture.sha256 != sha256:
            self.forget()
            self._picture = Picture(open_picture(path), sha256)
        return self._picture

    def forget(self) -> None:
        """Free what is kept."""
        self._picture = None


def _sha256(path: Path) -> str:
    """Return a file's hash; empty, which no file has, where it cannot be read: opening it says why."""
    try:
        if path.is_file():
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        pass
    return ""


def _as_rgb(image: Image.Image, name: str) -> Image.Image:
    if image.mode in _SIXTEEN_BITS:
        upper = (np.asarray(image) >> 8).astype(np.uint8)
        return Image.fromarray(upper).convert("RGB")
    if image.mode in _WITHOUT_RANGE:
        raise _no_rgb(name, f"32-bit pixel values (mode {image.mode})")
    if image.mode in _WITH_ALPHA or "transparency" in image.info:
        shown = image.convert("RGBA")
        flat = Image.new("RGBA", shown.size, (*_BACKGROUND, 255))
        return Image.alpha_composite(flat, shown).convert("RGB")
    try:
        return image.convert("RGB")
    except ValueError as error:
        raise _no_rgb(name, f"colours of mode {image.mode}") from error


def _no_rgb(name: str, what: str) -> AppError:
    return AppError(f"{name} has {what}, which have no agreed look in RGB.", "Save it as an 8-bit PNG or JPEG first.")
