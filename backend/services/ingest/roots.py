"""Paths the Data page may open: files and folders under a registered root, and nothing else.

A root is registered by whoever starts the app, in PARALLAX_ROOTS; a person at the page can
only go where these lead. Links are followed before a path is judged, and a path outside is
refused in the same words whether or not anything lies there.
"""

__all__ = ["Entry", "allowed_path", "entries"]

import os
from pathlib import Path
from typing import NamedTuple

from backend.errors import AppError
from backend.settings import import_roots

MAX_ENTRIES = 1_000
"""So many entries of a folder are listed."""


class Entry(NamedTuple):
    """What lies in a folder."""

    name: str
    is_folder: bool
    bytes: int | None
    """Size of a file; None for a folder."""


def allowed_path(text: str) -> Path:
    """Return the path meant by what a person typed; a relative one is looked for under each root.

    Raises:
        AppError: It lies under no registered root, or nothing is there.
    """
    typed = text.strip()
    if not typed:
        raise AppError("No path was given.", "Type the path of a file or folder.")
    roots = import_roots()
    candidates = [_resolved(root / Path(typed).expanduser()) for root in roots]
    inside = [path for path in candidates if path and any(path.is_relative_to(root) for root in roots)]
    if not inside:
        raise AppError(
            f"{typed} does not lie under a folder that this page may read.",
            f"{_registered(roots)} To read another, add it to PARALLAX_ROOTS (folders separated by "
            f"'{os.pathsep}') and start Parallax again, or use: python -m backend import",
        )
    found = next((path for path in inside if path.exists()), None)
    if found is None:
        raise AppError(f"There is nothing at {typed}.", "Check the path, or browse for it.")
    return found


def entries(folder: Path) -> list[Entry]:
    """Return what lies in a folder under a root: folders first, by name, hidden ones left out.

    Links that lead out of the roots are left out too.

    Raises:
        AppError: The folder lies under no root, or cannot be read.
    """
    roots = import_roots()
    top = allowed_path(str(folder))
    found: list[Entry] = []
    try:
        with os.scandir(top) as listed:
            for entry in listed:
                if entry.name.startswith("."):
                    continue
                target = _resolved(Path(entry.path)) if entry.is_symlink() else Path(entry.path)
                if target is None or not any(target.is_relative_to(root) for root in roots) or not target.exists():
                    continue
                is_folder = target.is_dir()
                found.append(Entry(entry.name, is_folder, None if is_folder else target.stat().st_size))
    except OSError as error:
        raise AppError(f"The folder {top} cannot be read ({error.strerror}).", "Check its permissions.") from error
    return sorted(found, key=lambda entry: (not entry.is_folder, entry.name.lower()))[:MAX_ENTRIES]


def _resolved(path: Path) -> Path | None:
    """Return where a path leads, links followed; None where it cannot lead anywhere."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _registered(roots: tuple[Path, ...]) -> str:
    return f"Registered: {', '.join(str(root) for root in roots)}."
