"""An image file is checked by its header before anything decodes it.

A file is used only where its header says it is one of a few known formats and of a size
that is safe to open, and where the whole picture can then be decoded. What cannot be used
is refused in words that name the file's fault.
"""

__all__ = ["IMAGE_SUFFIXES", "MAX_PIXELS", "ImageFacts", "check_image", "media_type"]

import hashlib
import struct
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from PIL import ExifTags, Image, UnidentifiedImageError

from backend.errors import AppError

MAX_PIXELS = 64_000_000
"""Pictures with more pixels are not opened: decoded they would take hundreds of megabytes."""

_OPENED = ("PNG", "JPEG", "BMP", "TIFF", "WEBP", "GIF")

_MEDIA_TYPES = {**{name: f"image/{name.lower()}" for name in _OPENED}, "MPO": "image/jpeg"}
"""MPO is what Pillow calls a JPEG that carries further views after the first."""

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".gif"})
"""Endings, in lower case, by which an image file is found in a folder."""

_ON_ITS_SIDE = frozenset({5, 6, 7, 8})
"""EXIF orientations by which a viewer turns the picture a quarter."""

_DECODING_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    IndexError,
    EOFError,
    TypeError,
    OverflowError,
    struct.error,
)
"""What Pillow raises for damaged content, format by format."""


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What a checked image file is."""

    width: int
    """Pixels a row of the upright picture: turned as its EXIF orientation says, as viewers show it."""
    height: int
    """Rows of the upright picture."""
    format: str
    """Pillow's name, such as ``JPEG``."""
    sha256: str
    """Of the file's bytes, in lower-case hex."""
    bytes: int
    """Size of the file."""

    @property
    def media_type(self) -> str:
        """Such as ``image/jpeg``."""
        return media_type(self.format)


def media_type(image_format: str) -> str:
    """Return the media type of a format that `check_image` lets through.

    Raises:
        KeyError: It is none of them.
    """
    return _MEDIA_TYPES[image_format]


def check_image(path: Path, *, decoded: Collection[str] = ()) -> ImageFacts:
    """Check an image file and return what it is.

    The format is told by the content, whatever the file's ending says. Of an animation or a
    file with several pages the first picture counts. The picture is decoded once, so that a
    file that ends early is found here and not on a page.

    Args:
        path: The file.
        decoded: SHA-256 of files known to decode whole; the same bytes are not decoded again, but for a PNG whose
            orientation may stand behind its pixels.

    Raises:
        AppError: The file cannot be read, is empty, of another format, too large, or damaged.
    """
    name = path.name
    if not path.is_file():
        raise AppError(f"{name} is no regular file.", "Check the path; a link may lead nowhere.")
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            n_bytes = file.tell()
            if not n_bytes:
                raise AppError(f"{name} is empty (zero bytes).", "Get the file again.")
            file.seek(0)
            with Image.open(file, formats=_OPENED) as image:
                width, height = image.size
                if width * height > MAX_PIXELS:
                    raise _too_large(name, f"{width} × {height} pixels")
                image_format = image.format or ""
                if sha256 not in decoded:
                    image.load()
                if image.getexif().get(ExifTags.Base.Orientation, 1) in _ON_ITS_SIDE:
                    width, height = height, width
    except UnidentifiedImageError as error:
        raise AppError(
            f"{name} is not an image that can be read here.", f"Readable: {', '.join(_OPENED)}; not damaged."
        ) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_large(name, "far too many pixels") from error
    except OSError as error:
        if error.errno is not None:
            raise AppError(f"{name} cannot be read ({error.strerror}).", "Check its permissions.") from error
        raise _damaged(name, error) from error
    except _DECODING_ERRORS as error:
        raise _damaged(name, error) from error
    return ImageFacts(width, height, image_format, sha256, n_bytes)


def _too_large(name: str, size: str) -> AppError:
    return AppError(f"{name} has {size}.", f"At most {MAX_PIXELS // 1_000_000} million pixels are opened.")


def _damaged(name: str, error: Exception) -> AppError:
    return AppError(f"{name} is damaged or ends early ({error}).", "Get the file again.")
