"""What can be asked live in the cue workshop: a stored pair, or one of the suite `LIVE_PAIRS`, made on the spot.

That suite has no runs, so no metric counts its pairs.
"""

__all__ = ["PairToAsk", "live_pair", "pair_to_ask"]

import hashlib
from dataclasses import dataclass
from pathlib import Path

from backend.domain.records import LIVE_PAIRS, Role, System, Unit
from backend.errors import AppError
from backend.services.cue_pictures import cue_picture
from backend.services.cue_workshop import OWN
from backend.services.images import ImageFile, image_file
from backend.services.live_units import SOURCE, keep_image
from backend.services.surgcheck_cases import load_pair
from backend.store.store import Store
from backend.surgcheck.question_pairs import Pair
from backend.surgcheck.stored_scenes import dump_box, dump_drawing


@dataclass(frozen=True, slots=True)
class PairToAsk:
    """A pair as a VLM is asked it: no reference."""

    unit_id: str
    picture: Path
    """With the cue drawn in, where it is one that is drawn."""
    picture_sha256: str
    original: str
    less_biased: str


def live_pair(store: Store, image_id: str, pair: Pair) -> str:
    """Return the id of the unit that asks a pair about a stored frame, made where there is none.

    A pair of a suite that asks the same of the same thing in the same frame is taken as it is; its
    answers then stand beside those of runs over the suite.

    Args:
        store: Holds the frame.
        image_id: The frame's; its file is at hand.
        pair: Both questions and what is drawn.

    Raises:
        AppError: The frame's file is not at hand, or the picture cannot be kept.
    """
    frame = _file(store, image_id)
    box = dump_box(pair.target_box) if pair.target_box else None
    asked = (image_id, pair.task, pair.cue, box, pair.original, pair.less_biased, pair.reference)
    known = store.value(_SAME, [LIVE_PAIRS, *asked])
    if known is not None:
        return str(known)
    picture_id = keep_image(store, cue_picture(frame.path, pair.drawing)) if pair.drawing else image_id
    told = "\x1f".join((frame.sha256, *(part or "" for part in asked[1:])))
    source_id = hashlib.sha256(told.encode()).hexdigest()[:16]
    unit_id = Unit.make_id(LIVE_PAIRS, source_id)
    with store.write() as cursor:
        if cursor.execute("SELECT 1 FROM units WHERE unit_id = ?", [unit_id]).fetchall():
            return unit_id
        if not cursor.execute("SELECT 1 FROM suites WHERE suite = ?", [LIVE_PAIRS]).fetchall():
            cursor.execute(
                "INSERT INTO suites (suite, system, source) VALUES (?, ?, ?)", [LIVE_PAIRS, System.SURGCHECK, SOURCE]
            )
        cursor.execute(
            "INSERT INTO units (unit_id, suite, source_id, image_id, split, complexity, question_classes) "
            "VALUES (?, ?, ?, ?, '', 0, ?)",
            [unit_id, LIVE_PAIRS, source_id, image_id, [str(pair.task)]],
        )
        for role, question in ((Role.ORIGINAL, pair.original), (Role.LESS_BIASED, pair.less_biased)):
            source = f"{source_id}::{role}"
            cursor.execute(
                "INSERT INTO probes (probe_id, unit_id, suite, source_id, role, position, question, reference, "
                "question_class) VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?)",
                [
                    Unit.make_id(LIVE_PAIRS, source), unit_id, LIVE_PAIRS, source, role, question, pair.reference,
                    pair.task,
                ],
            )  # fmt: skip
        cursor.execute(
            "INSERT INTO pairs (unit_id, suite, task, level, cue, picture_id, hand, annotation_id, box, drawing) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                unit_id, LIVE_PAIRS, pair.task, pair.level, pair.cue, picture_id, pair.slot,
                None if pair.annotation_id == OWN else pair.annotation_id, box,
                dump_drawing(pair.drawing) if pair.drawing else None,
            ],
        )  # fmt: skip
    return unit_id


def pair_to_ask(store: Store, unit_id: str) -> PairToAsk:
    """Return a stored pair as a VLM is asked it; its picture is drawn and kept where its file is not at hand.

    Raises:
        AppError: There is no such pair, or neither its picture's file nor the means to draw it are at hand.
    """
    pair = load_pair(store, unit_id)
    file = image_file(store, pair.picture.image_id)
    if file is None and pair.drawing is not None:
        frame = _file(store, pair.frame.image_id)
        file = image_file(store, keep_image(store, cue_picture(frame.path, pair.drawing)))
    if file is None:
        raise _not_at_hand(pair.picture.image_id)
    return PairToAsk(unit_id, file.path, file.sha256, pair.original.question, pair.less_biased.question)


_SAME = """
    SELECT u.unit_id FROM units u JOIN pairs p ON p.unit_id = u.unit_id
    JOIN probes o ON o.unit_id = u.unit_id AND o.role = 'original'
    JOIN probes l ON l.unit_id = u.unit_id AND l.role = 'less_biased'
    WHERE u.suite <> ? AND u.image_id = ? AND p.task = ? AND p.cue = ? AND p.box IS NOT DISTINCT FROM ?
        AND o.question = ? AND l.question = ? AND o.reference = ?
    ORDER BY u.suite, u.unit_id LIMIT 1
"""


def _file(store: Store, image_id: str) -> ImageFile:
    file = image_file(store, image_id)
    if file is None:
        raise _not_at_hand(image_id)
    return file


def _not_at_hand(image_id: str) -> AppError:
    return AppError(
        f"The file of image {image_id} is not at hand, and a VLM has to see it.",
        "Attach the folder that holds it on the Data page.",
    )
