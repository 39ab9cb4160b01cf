"""A small store of looks at drawn frames: the built-in questions, four frames at hand, looks that a test makes up.

The VLM in the box answered and verified its own answers, once plainly and once with the image swapped.
"""

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from backend.domain.records import AnswerStatus, Origin, RunKey, Stage, System
from backend.services.demo.shipped import FRAMES, MIRAGE_SUITE
from backend.services.demo.verification_examples import put_demo_examples
from backend.services.ingest.suites import put_run
from backend.services.ingest.verifications import StoredVerification, put_verifications
from backend.services.stored_saliency import LookRow, put_looks
from backend.store.store import Store
from backend.verimap.conditions import Condition
from backend.verimap.verifier import Verdict
from backend.vlm.saliency.kept import KeptSaliency

BOX = "Box VLM"
AT_HAND = (1, 2, 3, 4)
"""Numbers of the frames whose files the store knows."""


def _key(stage: Stage, setting: str = "") -> RunKey:
    return RunKey(System.VERIMAP, MIRAGE_SUITE, BOX, stage, Origin.PRECOMPUTED, setting)


GENERATOR = _key(Stage.DIRECT)
VERIFIER = _key(Stage.VERIFY, f"answers of {BOX}")
SWAPPED = _key(Stage.VERIFY, f"answers of {BOX}, image swapped")
RUNS = {GENERATOR.run_id: None, VERIFIER.run_id: Condition.PLAIN, SWAPPED.run_id: Condition.IMAGE_SWAPPED}


def unit_of(number: int, question_class: str) -> str:
    """Return the id of a built-in question; its one probe has the same."""
    return f"{MIRAGE_SUITE}:synthetic-{number:04}::{question_class}"


def kept(attention: ArrayLike | None, gradient: ArrayLike | None = None) -> KeptSaliency:
    """Return a look of one token, one layer and one head, with these maps."""
    heat = None if attention is None else np.asarray(attention, dtype=np.float32)
    fraction = 0.5 if heat is None else float(heat.sum())
    one = np.array([fraction], dtype=np.float32)
    return KeptSaliency(
        tokens=("yes",),
        fraction=fraction,
        uniform_fraction=0.5,
        gradient_mean=None if gradient is None else 0.25,
        log_likelihood=-0.5,
        token_shares=one,
        token_uniform=one,
        head_shares=one.reshape(1, 1),
        layer_uniform=one,
        token_maps=None if heat is None else heat[np.newaxis],
        layer_maps=None if heat is None else heat[np.newaxis],
        gradient_map=None if gradient is None else np.asarray(gradient, dtype=np.float32),
        why_no_gradient="Quantised." if gradient is None else "",
        why_no_regions="Its tiles are unknown." if heat is None else "",
        note="",
    )


def make_pointing_store(path: Path) -> Store:
    """Return a store without looks."""
    store = Store.create(path)
    put_demo_examples(store)
    with store.write() as cursor:
        for key in (GENERATOR, VERIFIER, SWAPPED):
            put_run(cursor, key, "demo", "a test")
        cursor.execute("INSERT INTO image_roots VALUES (?)", [str(FRAMES)])
        for number in AT_HAND:
            name = f"synthetic-{number:04}.webp"
            cursor.execute(
                "UPDATE images SET root = ?, path = ?, sha256 = ?, format = 'WEBP', width = 512, height = 512 "
                "WHERE file LIKE ?",
                [str(FRAMES), name, sha256_of(number), f"%{name}"],
            )
    return store


def sha256_of(number: int) -> str:
    """Return the hash of a frame's file."""
    return hashlib.sha256((FRAMES / f"synthetic-{number:04}.webp").read_bytes()).hexdigest()


def put_look(store: Store, run_id: str, unit_id: str, found: KeptSaliency, answer: str = "yes") -> None:
    """Write an answer, and a look at it; of a verifier, its verdict as well."""
    [(image_id,)] = store.rows("SELECT image_id FROM units WHERE unit_id = ?", [unit_id])
    condition = RUNS[run_id]
    with store.write() as cursor:
        cursor.execute("INSERT INTO answers VALUES (?, ?, ?, '')", [run_id, unit_id, answer])
        put_looks(cursor, run_id, "{}", [LookRow(unit_id, answer, found, "")])
        if condition is not None:
            row = StoredVerification(
                unit_id, image_id, 0, 0, "yes", None, None, Verdict.CORRECT, "It is.", AnswerStatus.READ, ""
            )
            put_verifications(cursor, run_id, MIRAGE_SUITE, BOX, BOX, condition, [row])
