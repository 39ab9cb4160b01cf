"""Images by id: where the original bytes of a stored image lie.

Only files under a registered folder are ever named, whatever the store's rows or links in
the folder say.
"""

__all__ = ["ImageFile", "image_file"]

from dataclasses import dataclass
from pathlib import Path

from backend.domain.images import media_type
from backend.store.store import Store


@dataclass(frozen=True, slots=True)
class ImageFile:
    """The file behind an image id."""

    path: Path
    """Where the original bytes lie; inside a registered root."""
    media_type: str
    """Such as ``image/jpeg``."""
    sha256: str
    """Of the file's bytes when it was attached, in lower-case hex."""


def image_file(store: Store, image_id: str) -> ImageFile | None:
    """Return the file of a stored image.

    None for an id the store does not know, an image without a file, a file that is gone, a
    folder that is registered no longer, and a path that leads out of its folder (a link that
    was changed after the import).
    """
    found = store.rows(
        "SELECT i.root, i.path, i.format, i.sha256 FROM images i JOIN image_roots r ON r.root = i.root "
        "WHERE i.image_id = ?",
        [image_id],
    )
    if not found:
        return None
    root, relative, image_format, sha256 = found[0]
    path = (Path(root) / relative).resolve()
    if not path.is_relative_to(root) or not path.is_file():
        return None
    return ImageFile(path, media_type(image_format), sha256)
