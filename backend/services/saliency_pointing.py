"""Do stored maps point at what was asked about? On drawn frames, where the place of everything is known.

A frame of the built-in suite is drawn again by its number, which gives the exact mask of everything in it. A look at
a question about something in the frame is scored by how much of its map lies inside that mask, against the mask's
share of the image, and against the map of another frame: a map that ignores the image would score alike on both.
"""

__all__ = ["OBJECTS", "Asked", "Pointed", "pointing_scores", "redrawn"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from backend.demo.endoscopy import BOX, FINDINGS, INSTRUMENTS, LANDMARKS, POLYP, RESECTION, TEXT, draw_endoscopy
from backend.demo.scenes import Frame, Split
from backend.domain.records import Stage
from backend.services.demo.shipped import MIRAGE_SUITE
from backend.store.store import Store
from backend.verimap.conditions import Condition
from backend.vlm.saliency.kept import KeptSaliency
from backend.vlm.saliency.pointing import INSIDE, pointing_score

if TYPE_CHECKING:
    import pandas as pd

_BLOCK = 32
_OTHER = 12.0
"""Mean difference, of 255, in a block of pixels from which on a frame counts as another one: what the shipped files'
compression costs stays below half of it, and a thing that lies elsewhere comes to several times as much."""


class Asked(NamedTuple):
    """What a question is about."""

    name: str
    """For people."""
    kinds: tuple[str, ...]
    """Of things in a frame."""


_LESION, _OVERLAY = "lesion", "overlay"

OBJECTS: Mapping[str, Asked] = MappingProxyType(
    {
        "abnormality_location": Asked(_LESION, FINDINGS),
        "abnormality_presence": Asked(_LESION, FINDINGS),
        "finding_count": Asked(_LESION, FINDINGS),
        "polyp_count": Asked(_LESION, (POLYP,)),
        "polyp_removal_status": Asked(_LESION, (POLYP, RESECTION)),
        "instrument_location": Asked("instrument", INSTRUMENTS),
        "landmark_presence": Asked("landmark", LANDMARKS),
        "text_presence": Asked(_OVERLAY, (TEXT,)),
        "box_artifact_presence": Asked(_OVERLAY, (BOX,)),
    }
)
"""Question class → what it is about. Whether a polyp was removed is seen by the polyp or by the site it left."""


@dataclass(frozen=True, slots=True)
class Pointed:
    """The scores of all looks that can be scored, and how many cannot."""

    scores: "pd.DataFrame"
    """One row a look and map: vlm, seat (generator or verifier), map (attention or gradient), object, question_class,
    image_id, run_id, probe_id; mass, area and is_hit as in `PointingScore`; chance_hit (share of cells at least half
    of which lie inside the mask, 0 to 1); other_mass (the mass that the map of the next frame has inside this mask,
    of the same VLM, seat and question class; None without one). Columns that can be None are of dtype object."""
    n_looks: int
    """At questions of the suite, of both seats."""
    n_absent: int
    """Of them: nothing of what is asked about is in the frame."""
    n_other_frame: int
    """The frame's file is not at hand, or this build of the drawing library draws it otherwise."""
    n_no_place: int
    """Nobody knows where the map lies."""

    @property
    def n_scored(self) -> int:
        """Looks that were scored."""
        return self.n_looks - self.n_absent - self.n_other_frame - self.n_no_place


class _Look(NamedTuple):
    image_id: str
    root: str | None
    path: str | None
    question_class: str
    vlm: str
    seat: str
    run_id: str
    probe_id: str
    record: str


class _Map(NamedTuple):
    look: _Look
    name: str
    object: str
    heat: NDArray[np.float64]
    cover: NDArray[np.float64]


def pointing_scores(store: Store) -> Pointed:
    """Score every stored look at a present answer to the built-in suite: first answers, and plain verdicts on them.

    A map that is 0 everywhere points nowhere: its mass and its hit are None. A look that cannot be scored is counted
    by the first reason that holds.
    """
    looks = [_Look(*row) for row in store.rows(_LOOKS, _ASKED)]
    maps: list[_Map] = []
    n_absent = n_other_frame = n_no_place = 0
    for (root, path), on_frame in groupby(looks, key=lambda look: (look.root, look.path)):
        frame = redrawn(Path(root, path)) if root and path else None
        for look in on_frame:
            asked = OBJECTS[look.question_class]
            things = frame.of(*asked.kinds) if frame else ()
            kept = KeptSaliency.from_json(look.record)
            if frame is None:
                n_other_frame += 1
            elif not things:
                n_absent += 1
            elif kept.grid is None:
                n_no_place += 1
            else:
                cover = _cover(np.any([thing.mask for thing in things], axis=0), kept.grid)
                for name, heat in (("attention", kept.attention_map), ("gradient", kept.gradient_map)):
                    if heat is not None:
                        maps.append(_Map(look, name, asked.name, heat.astype(np.float64), cover))
    return Pointed(_scored(maps), len(looks), n_absent, n_other_frame, n_no_place)


def redrawn(file: Path) -> Frame | None:
    """Return the test split's frame that a shipped file shows, with its masks.

    Args:
        file: Its name ends in the frame's number, from 1.

    Returns:
        None where the file cannot be read, or shows another frame than is drawn here under its number.
    """
    number = file.stem.rpartition("-")[2]
    if not (number.isascii() and number.isdigit() and int(number)):
        return None
    try:
        with Image.open(file) as picture:
            shipped = np.asarray(picture.convert("RGB"))
    except OSError:
        return None
    frame = draw_endoscopy(Split.TEST, int(number) - 1)
    if shipped.shape != frame.pixels.shape:
        return None
    height, width = (side // _BLOCK for side in shipped.shape[:2])
    apart = cv2.absdiff(shipped, frame.pixels).astype(np.float32)
    blocks = cv2.resize(apart, (width, height), interpolation=cv2.INTER_AREA)
    return frame if blocks.mean(axis=2).max() < _OTHER else None


_ASKED = {
    "suite": MIRAGE_SUITE,
    "classes": list(OBJECTS),
    "answer": Stage.DIRECT.value,
    "verdict": Stage.VERIFY.value,
    "plain": Condition.PLAIN.value,
}

_LOOKS = """
    SELECT u.image_id, i.root, i.path, e.native_types[1], r.vlm,
           if(r.stage = $answer, 'generator', 'verifier'), s.run_id, s.probe_id, s.record
    FROM saliency s JOIN answers a USING (run_id, probe_id, answer) JOIN runs r USING (run_id)
    JOIN probes p USING (probe_id) JOIN units u ON u.unit_id = p.unit_id JOIN images i ON i.image_id = u.image_id
    JOIN examples e ON e.unit_id = u.unit_id
    WHERE u.suite = $suite AND s.record IS NOT NULL AND list_contains($classes, e.native_types[1])
      AND (r.stage = $answer OR r.stage = $verdict AND EXISTS (
          FROM verifications v
          WHERE v.run_id = s.run_id AND v.unit_id = u.unit_id AND v.condition = $plain AND v.turn = 0))
    ORDER BY i.root, i.path, s.probe_id, s.run_id
"""


def _cover(mask: NDArray[np.bool_], grid: tuple[int, int]) -> NDArray[np.float64]:
    """Return the share of each cell of a grid inside a mask; a pixel on an edge counts in part."""
    rows, columns = grid
    covered = cv2.resize(mask.astype(np.float32), (columns, rows), interpolation=cv2.INTER_AREA)
    return np.asarray(covered, dtype=np.float64)


def _scored(maps: Sequence[_Map]) -> "pd.DataFrame":
    """Return the table of scores; see `Pointed.scores`."""
    import pandas as pd

    rows = []
    for one, other in zip(maps, _of_next_frames(maps), strict=True):
        look, score = one.look, pointing_score(one.heat, one.cover)
        rows.append(
            (look.vlm, look.seat, one.name, one.object, look.question_class, look.image_id, look.run_id, look.probe_id,
             score.mass, score.area, score.is_hit, float((one.cover >= INSIDE).mean()),
             None if other is None else pointing_score(other.heat, one.cover).mass)
        )  # fmt: skip
    table = pd.DataFrame(rows, columns=_COLUMNS, dtype=object)
    return table.astype({"area": float, "chance_hit": float})


_COLUMNS = (
    "vlm", "seat", "map", "object", "question_class", "image_id", "run_id", "probe_id",
    "mass", "area", "is_hit", "chance_hit", "other_mass",
)  # fmt: skip


def _of_next_frames(maps: Sequence[_Map]) -> list[_Map | None]:
    """Return beside each map that of the next frame, the first after the last: same VLM, seat, class and grid."""
    alike: dict[tuple[object, ...], list[int]] = {}
    for at, one in enumerate(maps):
        look = one.look
        alike.setdefault((look.vlm, look.seat, one.name, look.question_class, one.heat.shape), []).append(at)
    found: list[_Map | None] = [None] * len(maps)
    for places in alike.values():
        for nth, at in enumerate(places):
            later = (maps[other] for other in (*places[nth + 1 :], *places[:nth]))
            found[at] = next((one for one in later if one.look.image_id != maps[at].look.image_id), None)
    return found
