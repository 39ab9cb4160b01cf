"""The small store of verifications with looks: every count of them can be worked out by hand.

Atlas' first answers to the eight questions of `VQA_RAD` and its own verdicts on them, the plain ones, were looked into:

======== =========== ================= ===================== =================
question task        generator         verifier              times even
======== =========== ================= ===================== =================
1        modality    0.6 of even 0.8   0.4 of even 0.5       0.75 → 0.80
2        modality    0.6 of even 0.8   0.5 of even 0.5       0.75 → 1.00
3        modality    0.6 of even 0.8   0.3 of even 0.5       0.75 → 0.60
4        modality    0.6 of even 0.8   0.2 of even 0.5       0.75 → 0.40
5        disease     0.6 of even 0.8   0.7 of even 0.8       0.75 → 0.875
6        disease     0.6 of even 0.8   failed                –
7        disease     0.6 of even 0.8   nobody looked         –
8        disease     nobody looked     nobody looked         –
======== =========== ================= ===================== =================

So five have both looks. The verifier's share is the smaller one in four, against an even spread in two. It gives no
gradient. Of its verdicts with another image, that on question 3 was looked into.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from backend.services.stored_saliency import LookRow, put_looks
from backend.store.store import Store
from backend.verimap.conditions import Condition
from backend.vlm.saliency.kept import KeptSaliency
from tests.services.verification_store import ATLAS, VQA_RAD, make_verification_store, run_id, unit_of

GENERATOR, VERIFIER = run_id(VQA_RAD, ATLAS), run_id(VQA_RAD, ATLAS, ATLAS)
SWAPPED = run_id(VQA_RAD, ATLAS, ATLAS, condition=Condition.IMAGE_SWAPPED)
VERIFIED = {"1": (0.4, 0.5), "2": (0.5, 0.5), "3": (0.3, 0.5), "4": (0.2, 0.5), "5": (0.7, 0.8)}
"""Question → the verifier's fraction and even share."""
TOO_LONG = "The reply is too long to look into."


def make_looked_store(path: Path) -> Store:
    """Write the store and return it open."""
    store = make_verification_store(path)
    put(store, GENERATOR, {name: a_look(0.6, 0.8, 0.02) for name in "1234567"})
    put(store, VERIFIER, {name: a_look(*shares) for name, shares in VERIFIED.items()} | {"6": None})
    put(store, SWAPPED, {"3": a_look(*VERIFIED["3"])})
    return store


def put(store: Store, run: str, looks: Mapping[str, KeptSaliency | None]) -> None:
    """Write looks at a run's answers, by question; None failed."""
    probes = {f"{unit_of(VQA_RAD, name)}:generate": look for name, look in looks.items()}
    answers = dict(store.rows("SELECT probe_id, answer FROM answers WHERE run_id = ?", [run]))
    rows = [LookRow(probe, answers[probe], look, "" if look else TOO_LONG) for probe, look in probes.items()]
    with store.write() as cursor:
        put_looks(cursor, run, "{}", rows)


def a_look(fraction: float, even: float, gradient: float | None = None) -> KeptSaliency:
    """Return a look of two tokens, two layers and two heads on a grid of 4 × 4; the brightest cell is the first."""
    whole = np.linspace(3, 1, 16, dtype=np.float32).reshape(4, 4)
    whole *= fraction / whole.sum()
    swayed = np.stack([whole * 1.5, whole * 0.5])
    return KeptSaliency(
        tokens=("It is", " so."),
        fraction=fraction,
        uniform_fraction=even,
        gradient_mean=gradient,
        log_likelihood=-0.5,
        token_shares=np.array([1.5 * fraction, 0.5 * fraction], dtype=np.float32),
        token_uniform=np.full(2, even, dtype=np.float32),
        head_shares=np.full((2, 2), fraction, dtype=np.float32),
        layer_uniform=np.full(2, even, dtype=np.float32),
        token_maps=swayed,
        layer_maps=swayed[::-1].copy(),
        gradient_map=None if gradient is None else whole,
        why_no_gradient="" if gradient is not None else "Its weights are quantised.",
        why_no_regions="",
        note="",
    )
