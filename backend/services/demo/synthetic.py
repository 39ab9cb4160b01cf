"""What is drawn and not seen: the data set of drawn frames, and the suites that ask about nothing else."""

__all__ = ["SYNTHETIC", "SYNTHETIC_DATASETS", "SYNTHETIC_SURGERY", "synthetic_suites"]

from backend.store.store import Store

SYNTHETIC = "Synthetic endoscopy"
"""The data set of the drawn, endoscopy-like frames, as their manifest names it."""

SYNTHETIC_SURGERY = "Synthetic laparoscopy"
"""The data set of the drawn, laparoscopy-like frames."""

SYNTHETIC_DATASETS = (SYNTHETIC, SYNTHETIC_SURGERY)
"""All that is drawn."""


def synthetic_suites(store: Store) -> frozenset[str]:
    """Return the suites all of whose frames are drawn, whatever they are called.

    A suite that mixes drawn frames with others is not among them; each of its frames still says
    what it is.
    """
    rows = store.rows(
        "SELECT suite FROM units JOIN images USING (image_id) "
        "GROUP BY suite HAVING bool_and(list_contains(?, dataset))",
        [list(SYNTHETIC_DATASETS)],
    )
    return frozenset(suite for (suite,) in rows)
