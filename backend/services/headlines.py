"""The headline of each suite: the VLM whose right answers stand on right parts least often.

The gap from complex to joint accuracy is the share of all units with a right answer on a
wrong part. Runs and printed tables each have their own headline; they are never pooled. A
missing part counts as wrong, so a run that lacks answers would make a headline of its file: it
has none, and no more has a run over few units.
"""

__all__ = ["FEWEST_UNITS", "Headlines", "WidestGap", "headlines"]

from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.metric import Estimate
from backend.domain.records import Origin, Stage, System
from backend.domain.statistics.ratio_table import estimate_of
from backend.endoca.metrics import METRICS
from backend.services.endoca_series import BLIND, MOST_UNANSWERED, records
from backend.services.explore import endoca_metrics, printed_endoca, run_labels
from backend.store import queries
from backend.store.filters import UnitFilter
from backend.store.store import Store

if TYPE_CHECKING:
    import pandas as pd


FEWEST_UNITS = 100
"""A run over fewer units has no headline."""


class WidestGap(NamedTuple):
    """The run, or printed row, of one suite whose complex and joint accuracy lie farthest apart."""

    suite: str
    label: str
    vlm: str
    vlm_group: str | None
    origin: str
    source: str
    run_id: str | None
    """None for a printed row: there are no answers behind it."""
    complex_accuracy: float
    joint_accuracy: float
    inconsistency: Estimate | None
    """With its counts and interval; None for a printed row, whose counts are not printed."""


class Headlines(NamedTuple):
    """What the overview says."""

    runs: "pd.DataFrame"
    """All runs: `backend.store.queries.run_table` with label, n_units, unanswered (share of answers
    missing or failed), complex_accuracy, joint_accuracy and gap (complex − joint), the last five NaN
    for a run without outcomes."""
    gaps: list[WidestGap]
    """Suite by suite: that of the runs, then that of the printed table. Of equal gaps the first
    in the order of the tables counts."""


def headlines(store: Store) -> Headlines:
    """Return the headlines and all runs.

    A headline is chosen among runs over at least `FEWEST_UNITS` units with at most
    `MOST_UNANSWERED` of their answers missing or failed. The blind baseline is no VLM, and a revised answer
    stands beside the direct run's parts: neither has one.
    """
    runs = _runs(store)
    whole = (runs["n_units"] >= FEWEST_UNITS) & (runs["unanswered"] <= MOST_UNANSWERED)
    direct = (runs["stage"] == Stage.DIRECT) & (runs["vlm_group"].fillna("") != BLIND)
    vlms = runs[direct & runs["gap"].notna() & whole]
    printed_suites = store.rows("SELECT DISTINCT suite FROM published WHERE system = ?", [System.ENDOCA])
    gaps: list[WidestGap] = []
    for suite in sorted({*vlms["suite"], *(suite for (suite,) in printed_suites)}):
        of_suite = vlms[vlms["suite"] == suite]
        if not of_suite.empty:
            gaps.append(_of_run(store, _widest(of_suite)))
        printed = printed_endoca(store, suite)
        if not printed.empty:
            gaps.append(_of_printed(suite, _widest(printed)))
    return Headlines(runs, gaps)


_SUMS = """
    SELECT o.run_id, count(*) AS n_units, count(*) FILTER (o.complex_correct) AS n_complex_correct,
           count(*) FILTER (o.complex_correct AND o.n_atoms_correct = o.n_atoms) AS n_joint_correct,
           sum(o.n_missing + o.n_failed) / sum(1 + o.n_atoms) AS unanswered
    FROM outcomes o JOIN runs r USING (run_id, scorer, scorer_version) GROUP BY o.run_id
"""
"""Sums a run, without its images: no interval is wanted here, and the page opens at once."""


def _runs(store: Store) -> "pd.DataFrame":
    runs = queries.run_table(store)
    runs["label"] = run_labels(records(runs))
    table = runs.merge(store.read(_SUMS), on="run_id", how="left")
    for key in ("complex_accuracy", "joint_accuracy"):
        table[key] = table[METRICS[key].numerator] / table[METRICS[key].denominator]
    table["gap"] = table["complex_accuracy"] - table["joint_accuracy"]
    return table.drop(columns=["n_complex_correct", "n_joint_correct"])


def _widest(table: "pd.DataFrame") -> dict[str, Any]:
    """Return the row whose complex and joint accuracy lie farthest apart."""
    gap = table["complex_accuracy"].astype(float) - table["joint_accuracy"].astype(float)
    return records(table[gap == gap.max()])[0]


def _of_run(store: Store, run: dict[str, Any]) -> WidestGap:
    [metrics] = records(endoca_metrics(store, UnitFilter(runs=(run["run_id"],))))
    group = run["vlm_group"]
    return WidestGap(
        suite=run["suite"],
        label=run["label"],
        vlm=run["vlm"],
        vlm_group=group if isinstance(group, str) else None,
        origin=run["origin"],
        source=run["source"],
        run_id=run["run_id"],
        complex_accuracy=float(metrics["complex_accuracy"]),
        joint_accuracy=float(metrics["joint_accuracy"]),
        inconsistency=estimate_of(metrics, "inconsistency"),
    )


def _of_printed(suite: str, row: dict[str, Any]) -> WidestGap:
    return WidestGap(
        suite=suite,
        label=row["vlm"],
        vlm=row["vlm"],
        vlm_group=row["vlm_group"],
        origin=Origin.PUBLISHED,
        source=row["source"],
        run_id=None,
        complex_accuracy=float(row["complex_accuracy"]),
        joint_accuracy=float(row["joint_accuracy"]),
        inconsistency=None,
    )
