"""Image files of a folder, given to the images that stored units name.

An image is found by its name: the file's name without its ending is the image's id or the
name the data set gives it. A file is checked before it is taken, its folder is registered,
and nothing is copied. Where two files could be meant, neither is taken.
"""

__all__ = ["attach_images"]

import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

from backend.domain.images import IMAGE_SUFFIXES, ImageFacts, check_image
from backend.domain.progress import Report, silent
from backend.errors import AppError
from backend.services.ingest.log import write_log
from backend.services.ingest.report import ImportReport
from backend.store.arrow import arrow_table
from backend.store.store import Store

_COLUMNS = ("root", "path", "sha256", "width", "height", "format", "bytes")
_REPORT_EVERY = 20


class _Stored(NamedTuple):
    image_id: str
    file: str
    attached: tuple[object, ...]
    """Values of `_COLUMNS` as the store holds them, all None where no file is attached."""

    @property
    def names(self) -> set[str]:
        """What a file of this image can be called, without its ending."""
        return {_without_suffix(PurePosixPath(self.file).name), self.image_id.rpartition(":")[2]}


@dataclass(slots=True)
class _Checked:
    """Files looked at so far: each is read once, however many images it could belong to."""

    root: Path
    decoded: Collection[str] = ()
    """SHA-256 of files known to decode whole."""
    facts: dict[Path, ImageFacts] = field(default_factory=dict)
    faults: dict[Path, str] = field(default_factory=dict)

    def look_at(self, files: Iterable[Path]) -> None:
        """Look at several files at once: most of it is decoding, during which other threads go on (but for WebP)."""
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            list(pool.map(self._is_sound, dict.fromkeys(files)))

    def sound(self, files: Iterable[Path]) -> list[Path]:
        """Return those of ``files`` that are sound; the others go to `faults`."""
        return [file for file in files if self._is_sound(file)]

    def _is_sound(self, file: Path) -> bool:
        if file not in self.facts and file not in self.faults:
            try:
                if not file.resolve().is_relative_to(self.root):
                    raise AppError(f"{file.name} is a link that leads out of the folder.", "Copy the file into it.")
                self.facts[file] = check_image(file, decoded=self.decoded)
            except AppError as error:
                self.faults[file] = error.message
        return file in self.facts


def attach_images(
    store: Store, folder: Path, *, decoded: Collection[str] = (), report: Report = silent
) -> ImportReport:
    """Give stored images the files that lie in ``folder`` and below it.

    Every image in the store is looked for, whichever suite names it. The ending of a file's
    name does not matter, nor its case. Where the name leaves a choice (several files of
    different content for one image, or several images with one name), the folders decide:
    the file's path must end as the data set writes it. Where several files are still left the
    image gets none, and they are listed. An image that has a file and finds another here
    takes the new one; an image that finds none keeps what it has.

    Linked folders are not followed; a linked file counts where its target lies in the folder.

    Args:
        store: Where the images are known.
        folder: Top folder of the files; it is registered, so that its images can be shown.
        decoded: SHA-256 of files known to decode whole, as for `check_image`.
        report: Told of progress, counted in images; may raise `Cancelled`, which changes nothing.

    Returns:
        The report. Its ``images`` count, in images: ``found`` here, ``new`` (found, and not so
        in the store before), ``ambiguous``, ``missing`` (in the store, and still without a
        file; pictures that are drawn from their frame when needed need none); in files: ``broken``,
        ``not_named`` (no unit names such an image). Each broken file and each ambiguous image is a note.

    Raises:
        AppError: The folder is absent or no folder, or the store names no image.
    """
    outcome = ImportReport("images", folder.name)
    root = _checked_root(folder)
    images = _stored_images(store)
    by_name = _files_by_name(root, outcome, report)
    checked = _Checked(root, decoded)
    n_so_named = Counter(name for image in images for name in image.names)
    taken: dict[str, tuple[Path, ImageFacts]] = {}
    ambiguous: list[str] = []
    named = [_candidates(image, by_name, unique=all(n_so_named[name] == 1 for name in image.names)) for image in images]
    for done, image in enumerate(images):
        if done % _REPORT_EVERY == 0:
            report("checking images", done, len(images))
            checked.look_at(chain.from_iterable(named[done : done + _REPORT_EVERY]))
        sound = checked.sound(named[done])
        if _n_contents(sound, checked) > 1:
            sound = _ending_as(image, sound) or sound
        if _n_contents(sound, checked) > 1:
            listed = ", ".join(_relative(file, root) for file in sound)
            ambiguous.append(f"{image.image_id} got no file; these differ, and each could be meant: {listed}.")
        elif sound:
            taken[image.image_id] = sound[0], checked.facts[sound[0]]
    report("checking images", len(images), len(images))
    changed = _changed_rows(root, images, taken)
    names = {name for image in images for name in image.names}
    drawn = {row[0] for row in store.rows("SELECT DISTINCT picture_id FROM pairs WHERE drawing IS NOT NULL")}
    at_hand = {image.image_id for image in images if image.attached[0] is not None} | taken.keys() | drawn
    outcome.images = {
        "found": len(taken),
        "new": len(changed),
        "ambiguous": len(ambiguous),
        "missing": sum(1 for image in images if image.image_id not in at_hand),
        "broken": len(checked.faults),
        "not_named": sum(len(files) for name, files in by_name.items() if name not in names),
    }
    faults = sorted((_relative(file, root), fault) for file, fault in checked.faults.items())
    outcome.notes.extend(f"Not used, in {place}: {fault}" for place, fault in faults)
    outcome.notes.extend(ambiguous)
    n_shared = len(taken) - len({file for file, _ in taken.values()})
    if n_shared:
        outcome.notes.append(f"{n_shared} images share a file with an image of the same name in another data set.")
    if taken:
        _write(store, root, changed, outcome)
    return outcome


def _checked_root(folder: Path) -> Path:
    if not folder.exists():
        raise AppError(f"There is no folder {folder}.", "Check the path.")
    if not folder.is_dir():
        raise AppError(f"{folder} is a file.", "Name the folder that holds the images.")
    return folder.resolve()


def _stored_images(store: Store) -> list[_Stored]:
    rows = store.rows(f"SELECT image_id, file, {', '.join(_COLUMNS)} FROM images WHERE file <> '' ORDER BY image_id")
    if not rows:
        raise AppError("The store names no image yet.", "Import a manifest first; its units name the images.")
    return [_Stored(image_id, file, tuple(attached)) for image_id, file, *attached in rows]


def _files_by_name(root: Path, outcome: ImportReport, report: Report) -> dict[str, list[Path]]:
    """Return the folder's image files by their names without endings; unreadable folders are noted."""

    def note(error: OSError) -> None:
        place = _relative(Path(error.filename), root)
        outcome.notes.append(f"The folder {place} cannot be read ({error.strerror}).")

    found: dict[str, list[Path]] = defaultdict(list)
    n_files = 0
    for folder, folders, files in os.walk(root, onerror=note):
        folders.sort()
        report(f"looking through {root.name}", n_files, None)
        for name in sorted(files):
            if PurePath(name).suffix.lower() in IMAGE_SUFFIXES:
                found[_without_suffix(name)].append(Path(folder, name))
                n_files += 1
    return found


def _candidates(image: _Stored, by_name: dict[str, list[Path]], *, unique: bool) -> list[Path]:
    """Return the files that could be the image's, in order of their paths."""
    files = sorted({file for name in image.names for file in by_name.get(name, ())})
    return files if unique else _ending_as(image, files)


def _without_suffix(name: str) -> str:
    """Return a file name without an image ending; an id that holds a dot stays whole."""
    path = PurePath(name)
    return path.stem if path.suffix.lower() in IMAGE_SUFFIXES else name


def _ending_as(image: _Stored, files: Sequence[Path]) -> list[Path]:
    """Return the files whose path ends in the folders and the name that the data set writes."""
    written = PurePosixPath(image.file)
    wanted = (*written.parts[:-1], _without_suffix(written.name))
    return [file for file in files if (*file.parts[:-1], _without_suffix(file.name))[-len(wanted) :] == wanted]


def _n_contents(files: Sequence[Path], checked: _Checked) -> int:
    return len({checked.facts[file].sha256 for file in files})


def _relative(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix()


def _changed_rows(
    root: Path, images: Sequence[_Stored], taken: dict[str, tuple[Path, ImageFacts]]
) -> list[tuple[object, ...]]:
    """Return the image's id and `_COLUMNS` of each image whose file is not so in the store."""
    changed: list[tuple[object, ...]] = []
    for image in images:
        if image.image_id in taken:
            file, facts = taken[image.image_id]
            where = (str(root), _relative(file, root))
            row = (*where, facts.sha256, facts.width, facts.height, facts.format, facts.bytes)
            if row != image.attached:
                changed.append((image.image_id, *row))
    return changed


def _write(store: Store, root: Path, changed: Sequence[tuple[object, ...]], outcome: ImportReport) -> None:
    """Register the folder, write the images' files and log it, in one transaction; nothing where nothing is new."""
    is_registered = bool(store.rows("SELECT 1 FROM image_roots WHERE root = ?", [str(root)]))
    if is_registered and not changed:
        return
    with store.write() as cursor:
        if not is_registered:
            cursor.execute("INSERT INTO image_roots (root) VALUES (?)", [str(root)])
        if changed:
            columns = zip(("image_id", *_COLUMNS), zip(*changed, strict=True), strict=True)
            cursor.register("attached", arrow_table({name: list(values) for name, values in columns}))
            assignments = ", ".join(f"{column} = n.{column}" for column in _COLUMNS)
            cursor.execute(f"UPDATE images SET {assignments} FROM attached n WHERE images.image_id = n.image_id")
            cursor.unregister("attached")
        write_log(cursor, outcome)
