"""Looks for the store of verifications: which there are, and every number in them, can be worked out by hand.

Of the plain first turns of VQA-RAD: Atlas' answers 1 to 7 were looked into and 8 could not be; of its own verdicts on
them 1 to 6 were, 7 could not be, 8 was not. Beacon's verdict on Atlas' answer 1 was, and Atlas' verdicts on Beacon's
answers 1 and 2, though nobody looked at those answers. Atlas' answer 1 of turn 1 was; the look at its verdict is at a
reply that was replaced since.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from backend.services.stored_saliency import LookRow, put_looks
from backend.store.store import Store
from backend.vlm.saliency.kept import KeptSaliency
from tests.services.verification_store import (
    ATLAS,
    BEACON,
    VQA_RAD,
    make_verification_store,
    run_id,
    unit_of,
)

NO_ANSWER, NO_MEMORY = "The answer is empty.", "Out of memory."


class Numbers(NamedTuple):
    """What a test says of one look."""

    fraction: float
    even: float = 0.8
    gradient: float | None = 0.5
    n_tokens: int = 1


GENERATOR = {
    "1": Numbers(0.8), "2": Numbers(0.7), "3": Numbers(0.6), "4": Numbers(0.9), "5": Numbers(0.5), "6": Numbers(0.75),
    "7": Numbers(0.7),
}  # fmt: skip
VERIFIER = {
    "1": Numbers(0.5, 0.5, 0.25, 3), "2": Numbers(0.4, 0.5, 0.75, 3), "3": Numbers(0.7, 0.5, 0.5, 3),
    "4": Numbers(0.6, 0.5, 0.25, 3), "5": Numbers(0.3, 0.4, 0.0, 3), "6": Numbers(0.5, 0.0, None, 3),
}  # fmt: skip
"""Of Atlas by question. Generator minus verifier: 0.3, 0.3, −0.1, 0.3 of modality, 0.2 and 0.25 of disease."""


def kept(numbers: Numbers) -> KeptSaliency:
    """Return a look of one layer, one head and one cell."""
    n = numbers.n_tokens
    one = np.full(n, numbers.fraction, dtype=np.float32)
    cell = one[:1].reshape(1, 1, 1)
    return KeptSaliency(
        tokens=("a",) * n,
        fraction=numbers.fraction,
        uniform_fraction=numbers.even,
        gradient_mean=numbers.gradient,
        log_likelihood=-0.5,
        token_shares=one,
        token_uniform=one,
        head_shares=one[:1].reshape(1, 1),
        layer_uniform=one[:1],
        token_maps=one.reshape(n, 1, 1),
        layer_maps=cell,
        gradient_map=None,
        why_no_gradient="" if numbers.gradient is not None else "Quantised.",
        why_no_regions="",
        note="",
    )


def put(store: Store, run: str, looks: dict[str, Numbers | str]) -> None:
    """Write looks at a run's present answers, by question; words instead of numbers say why there is none."""
    rows = []
    for name, numbers in looks.items():
        probe = f"{unit_of(VQA_RAD, name)}:generate"
        answer = store.value("SELECT answer FROM answers WHERE run_id = ? AND probe_id = ?", [run, probe])
        if isinstance(numbers, str):
            rows.append(LookRow(probe, answer, None, numbers))
        else:
            rows.append(LookRow(probe, answer, kept(numbers), ""))
    with store.write() as cursor:
        put_looks(cursor, run, "{}", rows)


def make_grounding_store(path: Path) -> Store:
    """Write the store and return it open."""
    store = make_verification_store(path)
    put(store, run_id(VQA_RAD, ATLAS), {**GENERATOR, "8": NO_ANSWER})
    put(store, run_id(VQA_RAD, ATLAS, ATLAS), {**VERIFIER, "7": NO_MEMORY})
    put(store, run_id(VQA_RAD, ATLAS, BEACON), {"1": Numbers(0.6)})
    put(store, run_id(VQA_RAD, BEACON, ATLAS), {"1": Numbers(0.6), "2": Numbers(0.6)})
    later = run_id(VQA_RAD, ATLAS, ATLAS, turn=1)
    put(store, run_id(VQA_RAD, ATLAS, turn=1), {"1": Numbers(0.6)})
    put(store, later, {"1": Numbers(0.6)})
    with store.write() as cursor:
        cursor.execute("UPDATE answers SET answer = 'VERDICT: INCORRECT' WHERE run_id = ?", [later])
    return store
