"""An image file as it goes to a remote VLM: bytes a service can read.

A service sees the pixels a local VLM sees. A file's own bytes go out where every reader makes
the same picture of them: one upright 8-bit grey or colour picture in JPEG, PNG, WebP or GIF.
Anything else (turned by EXIF, animated, with transparency, 16-bit, CMYK, another format) is
decoded here and sent as PNG, which loses nothing.
"""

__all__ = ["SentPicture", "sent_picture"]

import base64
import io
from dataclasses import dataclass
from pathlib import Path

from PIL import ExifTags, Image

from backend.domain.images import check_image, media_type
from backend.vlm.picture import open_picture

_SENT_AS_THEY_ARE = frozenset({"JPEG", "PNG", "WEBP", "GIF"})

_PLAIN_MODES = frozenset({"L", "RGB", "P"})

_PNG_DEPTH = 24
"""Place of the byte that tells a PNG's bits a channel; Pillow calls colours of 16 bits RGB, too."""


@dataclass(frozen=True, slots=True)
class SentPicture:
    """What goes out for one image."""

    media_type: str
    """Such as ``image/jpeg``."""
    content: bytes

    @property
    def data_url(self) -> str:
        """The bytes as a ``data:`` address in base64 (RFC 2397)."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.content).decode('ascii')}"


def sent_picture(path: Path) -> SentPicture:
    """Return what goes out for an image file.

    Raises:
        AppError: The file cannot be used; the same message as anywhere (`check_image`).
    """
    facts = check_image(path)
    content = path.read_bytes()
    is_deep = facts.format == "PNG" and content[_PNG_DEPTH] > 8
    if facts.format in _SENT_AS_THEY_ARE and not is_deep and _reads_the_same_everywhere(path):
        kind = facts.format
    else:
        stream, kind = io.BytesIO(), "PNG"
        open_picture(path).save(stream, kind)
        content = stream.getvalue()
    return SentPicture(media_type(kind), content)


def _reads_the_same_everywhere(path: Path) -> bool:
    with Image.open(path) as image:
        return (
            image.mode in _PLAIN_MODES
            and "transparency" not in image.info
            and getattr(image, "n_frames", 1) == 1
            and image.getexif().get(ExifTags.Base.Orientation, 1) == 1
        )
