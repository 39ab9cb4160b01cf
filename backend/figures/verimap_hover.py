"""What a point of the plane says under the pointer: who, on what, each metric with interval and counts, its place."""

__all__ = ["AXES", "cell_words", "printed_words", "task_words"]

from collections.abc import Mapping
from html import escape
from typing import Any

from backend.domain.metric import NOT_AVAILABLE, percent
from backend.figures.style import ORIGIN_GLYPHS
from backend.verimap.metrics import METRICS, SIGNED_METRICS
from backend.verimap.quadrants import BiasAxis, Quadrant
from backend.verimap.vocabulary import Task, dataset_of_name

Row = Mapping[str, Any]

AXES = (BiasAxis.FPR, BiasAxis.BIAS, BiasAxis.DSKEW)
"""The panels, from left to right."""


def task_words(task: str | None) -> str:
    """Return a task's name in running text."""
    return "questions without a task" if task is None else Task(task).label


def cell_words(row: Row) -> str:
    """Return what a cell says: who, on what, the metrics with interval and counts, and where it falls."""
    lines = [
        f"<b>{escape(_who(row))}</b>",
        f"{task_words(row['task'])}, {escape(_dataset(row['suite']))}"
        + (f", turn {row['turn']}" if row["turn"] else ""),
        *(_metric_words(row, key) for key in ("error", "fpr", "fnr", "bias", "dskew")),
        f"n = {row['n']:,} verdicts, {row['n_images']:,} images",
    ]
    apart = [
        f"{row[key]:,} {words}"
        for key, words in (
            ("n_uncertain", "UNCERTAIN"),
            ("n_unparsed", "without a verdict"),
            ("n_unjudged", "not judged"),
        )
        if row[key]
    ]
    if apart:
        lines.append(", ".join(apart))
    lines.append(_place_words(row))
    lines.append(ORIGIN_GLYPHS[row["origin"]])
    return "<br>".join(lines)


def printed_words(row: Row) -> str:
    """Return what a printed point says: the means, and what is left out of each."""
    lines = [
        f"<b>{escape(row['verifier'])} verifying its own answers</b>",
        f"{task_words(row['task'])}, mean over {row['n_cells']} data sets",
    ]
    for key in ("error", "fpr", "fnr", "bias", "dskew"):
        left_out = row[f"{key}_left_out"]
        more = f" ({left_out} left out, undefined)" if left_out else ""
        lines.append(f"{METRICS[key].label} {_value(key, row[key])}{more}")
    return "<br>".join([*lines, "no n printed, so no interval", ORIGIN_GLYPHS[row["origin"]]])


def _who(row: Row) -> str:
    if row["is_self"]:
        return f"{row['verifier']} verifying its own answers"
    return f"{row['verifier']} verifying answers of {row['generator']}"


def _metric_words(row: Row, key: str) -> str:
    text = f"{METRICS[key].label} {_value(key, row[key])}"
    if row[key] is None:
        return f"{text} ({METRICS[key].undefined_when})"
    low, high = row[f"{key}_low"], row[f"{key}_high"]
    if low is not None:
        text += f" ({_bound(low)} to {_bound(high)})" if key in SIGNED_METRICS else f" ({_bound(low)}–{_bound(high)})"
    if f"{key}_n" in row:
        text += f", {row[f'{key}_k']:,}/{row[f'{key}_n']:,}"
    return text


def _value(key: str, value: float | None) -> str:
    if value is None:
        return NOT_AVAILABLE
    sign = "+" if key in SIGNED_METRICS and round(100 * value, 1) > 0 else ""
    return sign + percent(value).replace("-", "−")


def _bound(value: float) -> str:
    return f"{100 * value:.1f}".replace("-", "−")


def _place_words(row: Row) -> str:
    if row["too_small"]:
        return "too few verdicts to judge"
    places = {axis: row[f"quadrant_{axis}"] for axis in AXES}
    known = {place for place in places.values() if place is not None}
    if len(known) == 1:
        return Quadrant(known.pop()).label
    return "; ".join(
        f"by {METRICS[axis.value].label} {Quadrant(place).label}" for axis, place in places.items() if place is not None
    )


def _dataset(suite: str) -> str:
    known = dataset_of_name(suite)
    return known.label if known else suite
