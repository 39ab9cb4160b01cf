"""Scene graphs into question files, a cue into a picture, a box into a position word: no store is needed.

The files are the release's own: ``full/`` and ``balanced_4cue_…/``, each pair in two files line by
line, and a report of every question that is not asked.
"""

__all__ = ["Drawn", "Generated", "draw_cue_file", "generate_files", "parse_box", "parse_size", "position_of"]

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from backend.domain.images import check_image
from backend.domain.progress import Report, silent
from backend.errors import AppError
from backend.services.ingest.files import SourceFile
from backend.services.ingest.scene_graphs import read_scene_file
from backend.services.ingest.surgcheck_names import split_of
from backend.surgcheck.boxes import Box
from backend.surgcheck.exclusions import Exclusion, Reason, count_by_reason
from backend.surgcheck.grounding_cues import Arrow, Outline, Position, arrow_cue, box_cue, position_word
from backend.surgcheck.question_pairs import Pair
from backend.surgcheck.question_sets import balanced_set, full_set
from backend.surgcheck.release_rows import release_row
from backend.surgcheck.tasks import Cue, Mode

REPORT = "exclusions.json"
"""Name of the report in the folder of generated files."""

_VARIANTS = ("original", "less_biased")


@dataclass(frozen=True, slots=True)
class Generated:
    """What was written."""

    files: Mapping[str, int]
    """Rows by file, named as inside the folder."""
    n_frames: int
    n_frames_without_boxes: int
    """Frames that are no detection keyframes: nothing is asked about them."""
    n_pairs: Mapping[str, int]
    """Pairs by set."""
    exclusions: Mapping[str, Mapping[str, int]]
    """Questions that are not asked, by set and reason."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A cue that was drawn."""

    file: str
    drawing: Outline | Arrow


def generate_files(scene_graphs: Path, out: Path, mode: Mode = Mode.STRICT, *, report: Report = silent) -> Generated:
    """Write the question pairs of a file of scene graphs, in the release's layout.

    Args:
        scene_graphs: COCO file in the layout of Endoscapes-SG201, plain or gzipped.
        out: Folder to write into; made where it is not there. Files of the same names are written over.
        mode: Which pairs count as sound.
        report: Told of progress; may raise `Cancelled`.

    Raises:
        AppError: The file is of another layout, or the folder cannot be written.
    """
    read = read_scene_file(SourceFile.at(scene_graphs), report)
    split = split_of(scene_graphs.name) or "test"
    full, balanced = full_set(read.scenes, mode), balanced_set(read.scenes, mode)
    sets: dict[str, Sequence[Pair]] = {f"full/{split}": full.pairs}
    sets |= {f"balanced_4cue_{split}/{cue}": pairs for cue, pairs in balanced.by_cue.items()}
    files: dict[str, int] = {}
    try:
        for done, (name, pairs) in enumerate(sets.items()):
            report("writing question files", done, len(sets))
            for variant in _VARIANTS:
                file = f"{name}_{variant}.jsonl"
                rows = (release_row(pair, getattr(pair, variant), prefixed=name.startswith("full/")) for pair in pairs)
                _write(out / file, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
                files[file] = len(pairs)
        told = {"full": full.exclusions, "balanced": balanced.exclusions}
        generated = Generated(
            files,
            len(read.scenes),
            read.n_without_boxes,
            {"full": len(full.pairs), "balanced": sum(map(len, balanced.by_cue.values()))},
            {name: {str(reason): n for reason, n in count_by_reason(ex).items()} for name, ex in told.items()},
        )
        _write(out / REPORT, json.dumps(_report(generated, told, mode), ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        raise AppError(
            f"The files cannot be written to {out} ({error.strerror}).", "Name another with --out."
        ) from error
    report("writing question files", len(sets), len(sets))
    return generated


def draw_cue_file(image: Path, box: Box, cue: Cue, out: Path) -> Drawn:
    """Write a copy of an image with a box or an arrow drawn in.

    Args:
        image: Any image file that Parallax takes.
        box: What to point at, in pixels of the upright image: as viewers and VLMs are shown it.
        cue: Box or arrow.
        out: Where to; the ending tells the format.

    Raises:
        AppError: The image cannot be used, the box lies outside, no arrow fits, or the copy cannot be written.
    """
    from backend.surgcheck.cue_drawing import draw_cue

    facts = check_image(image)
    width, height = facts.width, facts.height
    if cue not in (Cue.BOX, Cue.ARROW):
        raise AppError(f"A cue of the kind {cue} is not drawn; it is said in words.", "Choose box or arrow.")
    drawing = box_cue(box, width, height) if cue is Cue.BOX else arrow_cue(box, width, height)
    if isinstance(drawing, Reason):
        raise _not_applicable(drawing, box, width, height)
    if out.resolve() == image.resolve():
        raise AppError(f"{out} is the image itself; it stays as it is.", "Name another file with --out.")
    try:
        with Image.open(image) as opened:
            upright = ImageOps.exif_transpose(opened).convert("RGB")
        Image.fromarray(draw_cue(np.asarray(upright), drawing)).save(out)
    except (OSError, ValueError) as error:
        raise AppError(
            f"{out} cannot be written ({error}).", "Name another file with --out, for example cue.png."
        ) from error
    return Drawn(str(out), drawing)


def position_of(width: int, height: int, box: Box) -> Position:
    """Return the position word of a box in a frame.

    Raises:
        AppError: The box lies outside the frame.
    """
    position = position_word(box, width, height)
    if isinstance(position, Reason):
        raise _not_applicable(position, box, width, height)
    return position


def parse_box(text: str) -> Box:
    """Return a box written as ``x,y,width,height`` in pixels.

    Raises:
        AppError: It is not four numbers, or has no area.
    """
    try:
        numbers = [float(part) for part in text.strip().strip("[]()").split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 4 or not all(map(math.isfinite, numbers)) or min(numbers[2:]) <= 0:
        raise AppError(
            f"{text!r} is no box.", "Write x,y,width,height in pixels, width and height above 0: 320,110,140,90."
        )
    return Box(*numbers)


def parse_size(text: str) -> tuple[int, int]:
    """Return a size written as ``854x480``.

    Raises:
        AppError: It is not two whole numbers above 0.
    """
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.strip().isascii() and part.strip().isdigit() for part in parts):
        raise AppError(f"{text!r} is no size.", "Write width x height in pixels: 854x480.")
    width, height = (int(part) for part in parts)
    if not width or not height:
        raise AppError(f"{text!r} is no size.", "Width and height are above 0: 854x480.")
    return width, height


def _not_applicable(reason: Reason, box: Box, width: int, height: int) -> AppError:
    place = f"[{box.x:g}, {box.y:g}, {box.width:g}, {box.height:g}] in {width} × {height}"
    hint = "A box is x,y,width,height in pixels, from the upper left corner."
    return AppError(f"{reason[0].upper()}{reason[1:]}: {place}.", hint)


def _report(generated: Generated, told: Mapping[str, Sequence[Exclusion]], mode: Mode) -> dict[str, Any]:
    return {
        "mode": mode,
        "n_frames": generated.n_frames,
        "n_frames_without_boxes": generated.n_frames_without_boxes,
        "n_pairs": dict(generated.n_pairs),
        "files": dict(generated.files),
        "by_reason": {name: dict(counts) for name, counts in generated.exclusions.items()},
        "exclusions": {
            name: [
                {
                    "frame": one.frame,
                    "task": one.task,
                    "cue": one.cue,
                    "annotation_id": one.annotation_id,
                    "reason": one.reason,
                }
                for one in exclusions
            ]
            for name, exclusions in told.items()
        },
    }


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
