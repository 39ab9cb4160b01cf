"""What is in the store, as plain tables: suites, runs, printed results, and whether scores are up to date."""

__all__ = ["Totals", "outdated_runs", "printed_sources", "totals"]

from typing import TYPE_CHECKING, NamedTuple

from backend.services.endoca_series import BLIND
from backend.services.scoring import outdated
from backend.store.store import Store

if TYPE_CHECKING:
    import pandas as pd


class Totals(NamedTuple):
    """How much the store holds."""

    suites: int
    units: int
    images: int
    """That a data set names."""
    images_at_hand: int
    """Images whose file is attached."""
    runs: int
    vlms: int
    answers: int
    verdicts: int = 0
    """Of verifiers on answers."""


def totals(store: Store) -> Totals:
    """Count what is in the store; printed results are no runs, the blind baseline is no VLM."""
    [row] = store.rows(
        "SELECT (SELECT count(*) FROM suites), (SELECT count(*) FROM units), "
        "(SELECT count(*) FROM images WHERE file <> ''), (SELECT count(path) FROM images), "
        "(SELECT count(*) FROM runs), "
        "(SELECT count(DISTINCT vlm) FROM runs WHERE coalesce(vlm_group, '') <> ?), (SELECT count(*) FROM answers), "
        "(SELECT count(*) FROM verifications)",
        [BLIND],
    )
    return Totals(*row)


def outdated_runs(store: Store) -> list[str]:
    """Return the scorers (name and version), one a run, of runs that the present scorer has not scored."""
    return sorted(f"{run.scorer} {run.scorer_version}" for run in outdated(store))


def printed_sources(store: Store) -> "pd.DataFrame":
    """Return the printed tables: source, suite, n_vlms, n (samples behind each figure, as printed)."""
    return store.read(
        "SELECT source, suite, count(DISTINCT vlm) AS n_vlms, max(n) AS n FROM published GROUP BY 1, 2 ORDER BY 2"
    )
