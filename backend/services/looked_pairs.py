"""One verification of which both sides were looked into, with the two looks as they are kept."""

__all__ = ["LookedPair", "looked_pair"]

from typing import NamedTuple

from backend.services.stored_saliency import run_looks
from backend.store.store import Store
from backend.store.verification_filters import VERIFICATIONS
from backend.store.verification_looks import LOOKS_OF
from backend.vlm.saliency.kept import KeptSaliency


class LookedPair(NamedTuple):
    """Where the two looks stand, and what they hold."""

    probe_id: str
    """The question that both were asked about."""
    base_run_id: str
    """The generator's run."""
    generator: KeptSaliency
    verifier: KeptSaliency


def looked_pair(store: Store, unit_id: str, run_id: str) -> LookedPair | None:
    """Return the looks of a verification; None where it lacks one, as after an import of other answers.

    Args:
        store: The store.
        unit_id: The example.
        run_id: The verifier's run.
    """
    found = store.rows(
        f"SELECT p.probe_id, b.base_run_id FROM {VERIFICATIONS} {LOOKS_OF} "
        "WHERE v.unit_id = ? AND v.run_id = ? AND g.error = '' AND w.error = ''",
        [unit_id, run_id],
    )
    if not found:
        return None
    [(probe_id, base_run_id), *_] = found
    looks = run_looks(store, [probe_id])
    generator, verifier = looks[base_run_id, probe_id].kept, looks[run_id, probe_id].kept
    return LookedPair(probe_id, base_run_id, generator, verifier) if generator and verifier else None
