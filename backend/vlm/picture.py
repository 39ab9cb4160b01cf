"""An image file as a VLM is given it: upright, RGB, eight bits a channel, at its own size.

The file is checked first, so that nothing decodes what cannot be used. Colour profiles are
left alone: a VLM was trained on plain pixel values.
"""

__all__ = ["open_picture"]

from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from backend.domain.images import check_image
from backend.errors import AppError

_BACKGROUND = (0, 0, 0)
"""Seen through transparent pixels: scopes and radiographs are surrounded by black."""

_SIXTEEN_BITS = frozenset({"I;16", "I;16L", "I;16B", "I;16N"})

_WITHOUT_RANGE = frozenset({"I", "F"})
"""Pixel values of 32 bits: no file says which of them is white."""

_WITH_ALPHA = frozenset({"RGBA", "RGBa", "LA", "La", "PA"})


def open_picture(path: Path) -> Image.Image:
    """Open an image file for a VLM.

    The first picture of an animation or of a file with several pages counts. EXIF orientation
    is applied. Of 16-bit values the upper eight bits are kept, over the whole range: no window
    is chosen. Transparent pixels show black. CMYK, palettes and YCbCr become RGB as Pillow
    converts them.

    Returns:
        An RGB picture that does not hold the file open.

    Raises:
        AppError: The file cannot be used (see `check_image`), or its pixel values cannot be
            shown in RGB without a guess.
    """
    check_image(path)
    with Image.open(path) as image:
        image.load()
        return _as_rgb(ImageOps.exif_transpose(image), path.name)


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
