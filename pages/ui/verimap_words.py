"""Sentences of the plane page, each made from the figures on it; no number is typed in."""

__all__ = [
    "counting_sentence",
    "headline",
    "mean_words",
    "metric_words",
    "pair_words",
    "printed_headline",
    "quadrant_sentence",
]

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.metric import NOT_AVAILABLE, percent
from backend.verimap.metrics import METRICS
from backend.verimap.quadrants import BiasAxis, PlaneThresholds, Quadrant
from pages.ui.import_report import plural
from pages.ui.verimap_filters import dataset_words, task_words

Row = Mapping[str, Any]


def headline(rows: Sequence[Row], thresholds: PlaneThresholds) -> str:
    """Return the page's sentence: how many cells lie in the mirage, and where most wrong answers slip through.

    Args:
        rows: Of `placed`.
        thresholds: Where the corners begin.
    """
    if not rows:
        return "No verdict fits these filters, so there is no cell to place."
    judged = [row for row in rows if not row["too_small"] and row["quadrant_fpr"] is not None]
    if not judged:
        largest = max(rows, key=lambda row: int(row["n"]))
        return (
            f"None of {plural(len(rows), 'cell')} has {thresholds.min_n:,} verdicts and a wrong answer among them, so "
            f"none is judged; the largest has {plural(largest['n'], 'verdict')}."
        )
    counts = Counter(row["quadrant_fpr"] for row in judged)
    n_mirage, n_desired = counts[Quadrant.MIRAGE], counts[Quadrant.DESIRED]
    worst = max(judged, key=lambda row: (float(row["fpr"]), int(row["fpr_n"])))
    task = "questions without a task" if worst["task"] is None else task_words(worst["task"])
    where = f"{_who(worst)} on {task} ({dataset_words(worst['suite'])})"
    interval = "" if worst["fpr_low"] is None else f"; {100 * worst['fpr_low']:.1f}–{100 * worst['fpr_high']:.1f}"
    lie = "lies" if n_mirage == 1 else "lie"
    return (
        f"{n_mirage:,} of {plural(len(judged), 'cell')} {lie} in the verification mirage (error from "
        f"{_whole(thresholds.error)} and FPR from {_whole(thresholds.fpr)} on), {n_desired:,} in the desired corner. "
        f"Most wrong answers slip through where {where}: {worst['fpr_k']:,} of {worst['fpr_n']:,} are accepted "
        f"({percent(worst['fpr'])}{interval})."
    )


def printed_headline(rows: Sequence[Row], thresholds: PlaneThresholds) -> str:
    """Return what the printed plane says in one sentence.

    Args:
        rows: Printed points, as `placed`.
        thresholds: Where the corners begin.
    """
    known = [row for row in rows if row["quadrant_fpr"] is not None]
    if not known:
        return "No printed point fits these filters."
    counts = Counter(row["quadrant_fpr"] for row in known)
    return (
        f"{counts[Quadrant.MIRAGE]:,} of {len(known):,} printed points lie in the verification mirage (error from "
        f"{_whole(thresholds.error)} and FPR from {_whole(thresholds.fpr)} on), {counts[Quadrant.DESIRED]:,} in the "
        "desired corner; each is a mean over data sets, without n or interval."
    )


def quadrant_sentence(quadrants: Sequence[str], axis: BiasAxis, n: int, n_all: int) -> str:
    """Return which cells a choice of quadrants leaves, and that it chooses cells alone.

    Args:
        quadrants: `Quadrant` values; at least one.
        axis: What they are of, beside error.
        n: Cells in them.
        n_all: Cells that fit all other filters.
    """
    names = " or ".join(Quadrant(one).label for one in quadrants)
    return (
        f"Quadrant {names}, by error and {METRICS[axis].label}: {n:,} of {plural(n_all, 'cell')}. It chooses points of "
        "the plane and rows of its table; all other figures and the cases keep every verdict."
    )


def counting_sentence(rows: Sequence[Row]) -> str:
    """Return what is counted apart in some cells; empty where nothing is.

    Args:
        rows: Of `cell_table`.
    """
    counts = {name: sum(int(row[f"n_{name}"]) for row in rows) for name in ("uncertain", "unparsed", "unjudged")}
    told = [
        f"{counts[name]:,} {words}"
        for name, words in (
            ("uncertain", "UNCERTAIN"),
            ("unparsed", "without a verdict"),
            ("unjudged", "on answers that nobody judged, in no rate"),
        )
        if counts[name]
    ]
    return f"Here: {', '.join(told)}." if told else ""


def mean_words(rows: Sequence[Row]) -> str:
    """Return what is left out of the means of printed points; empty where nothing is."""
    told = [
        f"{METRICS[key].label} of {plural(n, 'cell')}"
        for key in ("fpr", "dskew")
        if (n := sum(int(row[f"{key}_left_out"]) for row in rows))
    ]
    return f"Undefined and left out of the means: {', '.join(told)}." if told else ""


def metric_words(key: str) -> str:
    """Return one sentence and one formula for a metric, for a tooltip."""
    metric = METRICS[key]
    term = "" if metric.term == metric.label else f" ({metric.term})"
    return f"{metric.plain.capitalize()}{term}: {metric.formula}. {NOT_AVAILABLE} when {metric.undefined_when}."


def pair_words(row: Row) -> str:
    """Return who verified whose answers, in few words."""
    return f"{row['verifier']}, own answers" if _is_self(row) else f"{row['verifier']} on answers of {row['generator']}"


def _who(row: Row) -> str:
    if _is_self(row):
        return f"{row['verifier']} verifies its own answers"
    return f"{row['verifier']} verifies answers of {row['generator']}"


def _is_self(row: Row) -> bool:
    return bool(row["verifier"] == row["generator"])


def _whole(share: float) -> str:
    return f"{100 * share:g} %"
