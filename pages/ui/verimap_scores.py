"""The table of cells: every metric with its interval, where a cell falls, and where its questions should go.

Columns sort by their values and read as value and 95 % interval; a cell of the table opens the verdicts behind it.
False acceptances, the contradiction that matters, are the one column in orange.
"""

__all__ = ["place_words", "show_cells"]

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE
from backend.domain.records import Origin
from backend.figures.style import ORIGIN_GLYPHS, Theme
from backend.figures.tasks import TASK_NAMES
from backend.services.verimap_cells import AXES
from backend.services.verimap_routing import route_of_cell
from backend.verimap.metrics import METRICS, SIGNED_METRICS
from backend.verimap.quadrants import Quadrant
from backend.verimap.routing import Route
from pages.ui.clicks import clickable_table
from pages.ui.number_cell import NumberCell
from pages.ui.resources import drawn_once
from pages.ui.verimap_filters import dataset_words, task_words
from pages.ui.verimap_words import metric_words, pair_words

Row = Mapping[str, Any]

_METRICS = ("error", "fpr", "fnr", "bias", "dskew", "generator_error")
_APART = {
    "n_uncertain": ("UNCERTAIN", "Verdicts UNCERTAIN; how they are counted is said below the plane"),
    "n_unparsed": ("No verdict", "Replies without a verdict; how they are counted is said below the plane"),
    "n_unjudged": ("Not judged", "Answers that nobody judged; they are in no rate"),
}

_QUADRANT_HELP = (
    "Where error and FPR place it; where Bias or dSkew place it elsewhere, by FPR · Bias · dSkew. "
    + "; ".join(f"{quadrant.value}: {quadrant.label}, {quadrant.plain}" for quadrant in Quadrant)
)

OUTCOME_OF = {"fp": "fp", "fn": "fn", "fpr": "fp", "fnr": "fn", "n_unparsed": "unparsed", "n_unjudged": "unjudged"}
"""Column → what its list of verdicts begins with."""


def show_cells(rows: Sequence[Row], theme: Theme, made_of: tuple[object, ...]) -> tuple[Row, str] | None:
    """Draw the cells; return the row just opened and what its list begins with, else None.

    Args:
        rows: Of `placed`.
        theme: Light or dark.
        made_of: What they depend on.
    """
    routes = drawn_once("verimap_routes", made_of, lambda: [route_of_cell(row) for row in rows])
    apart = [name for name in _APART if any(row[name] for row in rows)]
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    shares = {key: number(f"{METRICS[key].label}, %", help=metric_words(key), width=128) for key in _METRICS}
    config = {
        "task": text("Task", width=106, pinned=True),
        "suite": text("Data set", width=122),
        "pair": text("Verifier", width=179),
        "n": number("n", help="Verdicts counted", width=52, format="localized"),
        "fp": number("False acc.", help="Wrong answers that were accepted", width=74, format="localized"),
        "error": shares["error"],
        "fpr": shares["fpr"],
        "quadrant": text("On the plane", width=188, help=_QUADRANT_HELP),
        "route": text("Route", width=190, help="Where such a question should go, from this cell alone; our limits"),
        **shares,
        **{name: number(_APART[name][0], help=_APART[name][1], width=80, format="localized") for name in apart},
        "turn": number("Turn", width=50),
        "origin": text("Origin", width=101),
    }
    if not any(row["turn"] for row in rows):
        del config["turn"]
    clicked = clickable_table(
        drawn_once("verimap_cell_table", (*made_of, theme.name), lambda: _styled(rows, routes, list(config), theme)),
        key="cells",
        words=lambda at, column: _words(rows[at], routes[at], column, config),
        ask="Choose a cell to open the verdicts behind it.",
        column_config=config,
        height="content" if len(rows) <= 15 else 530,
        placeholder=NOT_AVAILABLE,
    )
    return None if clicked is None else (rows[clicked[0]], OUTCOME_OF.get(clicked[1], ""))


def _styled(rows: Sequence[Row], routes: Sequence[Route | None], columns: list[str], theme: Theme) -> Any:
    import pandas as pd

    table = [
        {
            **row,
            "task": TASK_NAMES[row["task"]],
            "suite": dataset_words(row["suite"]),
            "pair": pair_words(row),
            "origin": ORIGIN_GLYPHS[Origin(row["origin"])],
            "quadrant": place_words(row),
            "route": None if route is None else route.decision.label,
            **{key: _number(row, key) for key in _METRICS},
        }
        for row, route in zip(rows, routes, strict=True)
    ]
    frame = pd.DataFrame(table, dtype=object).reindex(columns=columns)
    frame = frame.astype(object).where(frame.notna(), None)
    worded: list[Hashable] = list(_METRICS)
    return frame.style.format(str, subset=worded, na_rep=NOT_AVAILABLE).map(
        lambda n: f"color: {theme.contradiction_text}; font-weight: 600" if n else "", subset=["fp"]
    )


def _words(row: Row, route: Route | None, column: str, config: Mapping[str, Any]) -> str | None:
    of = f"{pair_words(row)}, {task_words(row['task'])} ({dataset_words(row['suite'])})"
    if column == "route":
        return f"{of}: {'its questions have no task' if route is None else route.reason}"
    if column in METRICS and row[column] is None:
        return f"{of}: {METRICS[column].label} is {NOT_AVAILABLE}, for {METRICS[column].undefined_when}"
    counts = f", {row[f'{column}_k']:,}/{row[f'{column}_n']:,}" if f"{column}_n" in row else ""
    return f"{of}: {config[column]['label']}{counts}"


def place_words(row: Row) -> str | None:
    """Return where a cell falls: once where all axes agree, else axis by axis."""
    if row["too_small"]:
        return "too small to judge"
    places = [row[f"quadrant_{axis}"] for axis in AXES]
    if not any(places):
        return None
    return places[0] if len(set(places)) == 1 else " · ".join(place or NOT_AVAILABLE for place in places)


def _number(row: Row, key: str) -> NumberCell | None:
    value = row[key]
    if value is None:
        return None
    low, high = row[f"{key}_low"], row[f"{key}_high"]
    between = " to " if key in SIGNED_METRICS else "–"
    interval = "" if low is None else f" ({_plain(low)}{between}{_plain(high)})"
    return NumberCell.of(100 * value, f"{_plain(value)}{interval}")


def _plain(value: float) -> str:
    return f"{100 * value:.1f}".replace("-", "−")
