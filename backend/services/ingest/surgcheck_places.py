"""Where SurgCheck's files lie: each by itself, in a folder, or in a zip archive such as the release."""

__all__ = ["PlacedFile", "opened_files", "opened_places"]

import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from backend.errors import AppError
from backend.services.ingest.files import SourceFile
from backend.services.ingest.surgcheck_names import Variant

_DATA = re.compile(r"\.(jsonl|ndjson|json|csv|parquet)(\.gz)?$", re.IGNORECASE)

MAX_UNPACKED = 4 << 30
"""Bytes an archive may unpack to."""


@dataclass(frozen=True, slots=True)
class PlacedFile:
    """A file and what its place says of it."""

    file: SourceFile
    folder: str = ""
    """Name of the folder it lies in; empty where it came alone."""
    variant: Variant | None = None
    """What the user says that its rows are."""
    optional: bool = False
    """Whether it was found in a folder or an archive, not named itself: one that is something else is passed over."""


@contextmanager
def opened_places(paths: Sequence[Path]) -> Iterator[list[PlacedFile]]:
    """Yield the data files at these paths, as `opened_files` does."""
    with opened_files([PlacedFile(SourceFile.at(path), path.resolve().parent.name) for path in paths]) as found:
        yield found


@contextmanager
def opened_files(placed: Sequence[PlacedFile]) -> Iterator[list[PlacedFile]]:
    """Yield these files, each folder and archive among them replaced by the data files in it.

    What was unpacked is gone afterwards.

    Raises:
        AppError: Nothing is there, an archive is damaged or too large, or no data file is in it.
    """
    with tempfile.TemporaryDirectory(prefix="parallax-zip-") as aside:
        found: list[PlacedFile] = []
        for number, one in enumerate(placed):
            if one.file.path.is_dir():
                files = _in_folder(one.file.path)
            elif zipfile.is_zipfile(one.file.path):
                files = _in_archive(one.file, Path(aside, str(number)))
            else:
                files = [one]
            if not files:
                raise AppError(
                    f"{one.file.name} holds no data file.", "It should hold .jsonl, .json, .csv or .parquet files."
                )
            found += files
        yield found


def _in_folder(folder: Path) -> list[PlacedFile]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and _is_data(path.relative_to(folder)))
    return [PlacedFile(SourceFile.at(path), path.resolve().parent.name, optional=True) for path in files]


def _in_archive(archive: SourceFile, aside: Path) -> list[PlacedFile]:
    """Unpack an archive's data files under names of our own; theirs are text to show."""
    aside.mkdir()
    found = []
    try:
        with zipfile.ZipFile(archive.path) as opened:
            members = [member for member in opened.infolist() if _is_data(PurePosixPath(member.filename))]
            if sum(member.file_size for member in members) > MAX_UNPACKED:
                raise AppError(f"{archive.name} unpacks to more than 4 GB.", "Unpack it and name the files you need.")
            for number, member in enumerate(sorted(members, key=lambda member: member.filename)):
                name = PurePosixPath(member.filename)
                path = aside / str(number)
                with opened.open(member) as content, path.open("wb") as copy:
                    shutil.copyfileobj(content, copy)
                found.append(PlacedFile(SourceFile(path, name.name), name.parent.name, optional=True))
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError) as error:
        raise AppError(f"{archive.name} cannot be unpacked ({error}).", "Get the archive again.") from error
    return found


def _is_data(path: Path | PurePosixPath) -> bool:
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    return not hidden and bool(_DATA.search(path.name))
