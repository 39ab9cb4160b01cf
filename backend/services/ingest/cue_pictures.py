"""Pictures with a cue drawn in, made anew where their file is not at hand: as the VLM is shown them.

A picture can be drawn where its frame is at hand and the store knows what is drawn into it. Drawn
ones are kept beside the store, and are served and sent as any other image is.
"""

__all__ = ["FOLDER", "draw_cue_pictures"]

import hashlib
import os
import tempfile
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from backend.domain.progress import Report, silent
from backend.errors import AppError
from backend.services.cue_pictures import cue_picture
from backend.services.images import suite_images
from backend.store.arrow import arrow_table
from backend.store.store import Store
from backend.surgcheck.stored_scenes import load_drawing

FOLDER = "cue-pictures"
"""Beside the store."""

_REPORT_EVERY = 20

_WANTED = """
    SELECT DISTINCT ON (p.picture_id) p.picture_id, p.suite, u.image_id, p.drawing, i.path
    FROM pairs p JOIN units u USING (unit_id) JOIN images i ON i.image_id = p.picture_id
    WHERE p.drawing IS NOT NULL AND (i.path IS NULL OR i.root = $folder) AND ($suite IS NULL OR p.suite = $suite)
    ORDER BY p.picture_id
"""


class _Drawn(NamedTuple):
    image_id: str
    path: str
    sha256: str
    width: int
    height: int
    format: str
    bytes: int


def draw_cue_pictures(store: Store, suite: str | None = None, *, report: Report = silent) -> list[str]:
    """Draw the pictures whose files are not at hand, and attach them.

    Args:
        store: Holds the pairs, and knows where the frames lie.
        suite: Of this suite alone; of all if None.
        report: Told of progress, in pictures; may raise `Cancelled`, which changes nothing in the store.

    Returns:
        What was done, in sentences; none where there was nothing to do.

    Raises:
        AppError: A frame cannot be read, or the pictures cannot be written.
    """
    folder = (store.path.parent / FOLDER).resolve()
    known = store.rows(_WANTED, {"suite": suite, "folder": str(folder)})
    wanted = [row[:4] for row in known if row[4] is None or not (folder / row[4]).is_file()]
    if not wanted:
        return []
    frames = {name: suite_images(store, name) for name in {row[1] for row in wanted}}
    drawn: list[_Drawn] = []
    n_without = 0
    try:
        folder.mkdir(exist_ok=True)
        for done, (picture_id, of_suite, frame_id, drawing) in enumerate(wanted):
            if done % _REPORT_EVERY == 0:
                report("drawing cues", done, len(wanted))
            frame = frames[of_suite].get(frame_id)
            if frame is None:
                n_without += 1
                continue
            content = cue_picture(frame.path, load_drawing(drawing))
            name = f"{picture_id.replace(':', '_')}.png"
            _write(folder / name, content)
            with Image.open(BytesIO(content)) as picture:
                size = picture.size
            sha256 = hashlib.sha256(content).hexdigest()
            drawn.append(_Drawn(picture_id, name, sha256, *size, "PNG", len(content)))
    except OSError as error:
        raise AppError(
            f"Pictures with cues cannot be kept in {folder} ({error.strerror}).",
            "Make room, or check the folder's permissions.",
        ) from error
    report("drawing cues", len(wanted), len(wanted))
    if drawn:
        _attach(store, folder, drawn)
    notes = [f"Pictures with a box or an arrow that were drawn: {len(drawn):,}."] if drawn else []
    if n_without:
        notes.append(f"Pictures with a box or an arrow that lack their file and their frame's: {n_without:,}.")
    return notes


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(part).replace(path)


def _attach(store: Store, folder: Path, drawn: list[_Drawn]) -> None:
    columns = dict(zip(_Drawn._fields, map(list, zip(*drawn, strict=True)), strict=True))
    with store.write() as cursor:
        if not cursor.execute("SELECT 1 FROM image_roots WHERE root = ?", [str(folder)]).fetchall():
            cursor.execute("INSERT INTO image_roots (root) VALUES (?)", [str(folder)])
        cursor.register("drawn", arrow_table(columns))
        values = ", ".join(f"{name} = n.{name}" for name in _Drawn._fields[1:])
        changed = f"UPDATE images SET root = ?, {values} FROM drawn n WHERE images.image_id = n.image_id"
        cursor.execute(changed, [str(folder)])
        cursor.unregister("drawn")
