"""Files a person sends from the browser: kept in a private folder, and deleted when done with."""

__all__ = ["Uploads"]

import re
import shutil
import tempfile
from pathlib import Path
from typing import IO

from backend.services.ingest.files import SourceFile

_CONTROL = re.compile(r"[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
"""Control characters, and those that turn the reading direction round to make one name look like another."""

_MAX_NAME = 120


class Uploads:
    """A folder that only this user can read, for the files of one import; made with the first file."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.files: list[SourceFile] = []

    def add(self, name: str, content: IO[bytes]) -> None:
        """Copy one file.

        Args:
            name: As the browser sent it: any text. It is kept to be shown (its last part, without
                control characters), and never used as a path.
            content: The file's bytes, from where they stand.
        """
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="parallax-upload-")
        path = Path(self._folder.name, str(len(self.files)))
        with path.open("wb") as copy:
            shutil.copyfileobj(content, copy)
        self.files.append(SourceFile(path, shown_name(name)))

    def delete(self) -> None:
        """Delete the folder and what is in it."""
        if self._folder is not None:
            self._folder.cleanup()


def shown_name(name: str) -> str:
    """Return a file name fit to be shown and to name a suite: no folders, no control characters."""
    last = re.split(r"[/\\]", _CONTROL.sub("", name))[-1].strip()
    return last[-_MAX_NAME:] or "upload"
