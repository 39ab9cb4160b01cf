"""The looks of one example of VeriMap, and which verdicts are on which answers."""

__all__ = ["ExampleLooks", "example_looks"]

from collections.abc import Mapping
from typing import NamedTuple

from backend.domain.records import Role
from backend.services.stored_saliency import StoredLook, run_looks
from backend.store.store import Store
from backend.store.verification_filters import VERIFICATIONS
from backend.store.verification_looks import LOOKS_OF


class ExampleLooks(NamedTuple):
    """Everything the store holds of where VLMs looked in one example."""

    probe_id: str
    """The question that all were asked about."""
    looks: Mapping[str, StoredLook]
    """By run."""
    answered_in: Mapping[str, str]
    """Run of verdicts → the run whose answer it judged."""


def example_looks(store: Store, unit_id: str) -> ExampleLooks | None:
    """Return the looks at the answers and verdicts of an example; None where nobody looked.

    Failed looks count as looks: they say why.
    """
    found = store.rows("SELECT probe_id FROM probes WHERE unit_id = ? AND role = ?", [unit_id, Role.GENERATE])
    if not found:
        return None
    [(probe_id,)] = found
    looks = {run_id: look for (run_id, _), look in run_looks(store, [probe_id]).items()}
    if not looks:
        return None
    answered = store.rows(
        f"SELECT DISTINCT v.run_id, b.base_run_id FROM {VERIFICATIONS} {LOOKS_OF} "
        "WHERE v.unit_id = ? AND b.base_run_id IS NOT NULL",
        [unit_id],
    )
    return ExampleLooks(probe_id, looks, dict(answered))
