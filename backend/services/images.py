"""Images by id: where the original bytes of a stored image lie.

Only files under a registered folder are ever named, whatever the store's rows or links in
the folder say.
"""

__all__ = ["ImageFile", "image_file", "suite_images"]

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
    return _under(*found[0]) if found else None


def suite_images(store: Store, suite: str) -> dict[str, ImageFile]:
    """Return the files of a suite's images that are at hand, by image id; each as `image_file` finds it.

    Pictures with a cue drawn in are among them.
    """
    rows = store.rows(
        "SELECT i.image_id, i.root, i.path, i.format, i.sha256 FROM images i JOIN image_roots r ON r.root = i.root "
        "WHERE i.image_id IN (SELECT image_id FROM units WHERE suite = $suite "
        "UNION SELECT picture_id FROM pairs WHERE suite = $suite)",
        {"suite": suite},
    )
    found = {image_id: _under(*about) for image_id, *about in rows}
    return {image_id: file for image_id, file in found.items() if file is not None}


def _under(root: str, relative: str, image_format: str, sha256: str) -> ImageFile | None:
    """Return a file of a registered folder, None where it is gone or a link leads out of the folder."""
    path = (Path(root) / relative).resolve()
    if not path.is_relative_to(root) or not path.is_file():
        return None
    return ImageFile(path, media_type(image_format), sha256)
