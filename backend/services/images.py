"""Images by id: where the original bytes of a stored image lie."""

__all__ = ["ImageFile", "image_file"]

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ImageFile:
    """The file behind an image id."""

    path: Path
    """Where the original bytes lie; inside a registered root."""
    media_type: str
    """Such as ``image/jpeg``."""
    sha256: str
    """Of the file's bytes, in lower-case hex."""


def image_file(image_id: str) -> ImageFile | None:
    """Return the file of a stored image, or None for an id the store does not know."""
    return None
