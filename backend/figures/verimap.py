"""The plane of VeriMap: verifier error against FPR, Bias and dSkew, one point a cell (Fig. 2).

Cells of `services.verimap_cells` and printed points in, a plotly figure out. Colour is the task, shape the
verifier, size the number of verdicts. A dot inside marks cross-verification, a hollow point rests on too few
verdicts to judge, and printed points are faint, of one size, and without intervals. Every point carries in
``customdata`` the key of its cell and the axis it stands on. Text of a data set is escaped, and enters as hover
text, never as a template.
"""

__all__ = ["SYMBOLS", "plane", "symbol_of"]

from collections.abc import Mapping, Sequence
from html import escape
from math import floor, sqrt
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from backend.figures.style import LIGHT, Theme, base_layout
from backend.figures.tasks import TASK_ORDER, task_color
from backend.figures.verimap_hover import AXES, cell_words, printed_words
from backend.verimap.metrics import METRICS, SIGNED_METRICS
from backend.verimap.quadrants import BiasAxis, PlaneThresholds, Quadrant

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, Any]
Trace = dict[str, Any]

SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "star",
    "cross",
    "hexagon",
    "triangle-down",
    "pentagon",
    "x",
    "bowtie",
    "hourglass",
)
"""Shapes a VLM can have, by its place; after twelve they start again."""

_SIZES, _SIZES_OF_MANY, _PRINTED = (7.0, 17.0), (5.0, 12.0), 9.0
"""Sizes of points in pixels, from no verdict to most; smaller where there are more than `_MANY`."""
_MANY = 60

_ROW_HEIGHT, _LONE_HEIGHT = 270, 400
_GAP = 0.06
"""Between panels, as a share of the width."""

_QUADRANT_NAMES = {Quadrant.MIRAGE: "verification mirage", Quadrant.DESIRED: "desired"}


def symbol_of(place: int) -> str:
    """Return a VLM's shape, by its place in the store."""
    return SYMBOLS[place % len(SYMBOLS)]


def plane(
    cells: "pd.DataFrame",
    printed: "pd.DataFrame",
    thresholds: PlaneThresholds,
    theme: Theme = LIGHT,
    *,
    by: str = "",
    names: Mapping[Any, str] | None = None,
    places: Mapping[str, int] | None = None,
    marked: str = "",
) -> go.Figure:
    """Return the three panels, once or a row a facet. All panels of a column have one range.

    Args:
        cells: Rows of `placed`; a cell whose error or axis is undefined has no point there.
        printed: Rows of `printed_points`, likewise.
        thresholds: Where the corners begin.
        theme: Light or dark.
        by: Column whose values make rows of panels; empty for one row. Printed points stand in the rows of their
            own value, and in none where they have no such column.
        names: What to call such a value; rows stand in this order.
        places: Place of each VLM, for the printed ones.
        marked: Key of a cell to ring in all three panels.
    """
    rows, points = _records(cells), _records(printed)
    values = [value for value in (names or {}) if any(row.get(by) == value for row in [*rows, *points])] if by else [""]
    values = values or [""]
    sizes = _sizes(rows)
    height = _LONE_HEIGHT if len(values) == 1 else _ROW_HEIGHT * len(values)
    traces: list[Trace] = []
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    layout: dict[str, Any] = {}
    ranges = {axis: _range(axis, rows, points) for axis in AXES}
    top = 44 / height
    step = 1 / len(values)
    for at, value in enumerate(values):
        own = rows if value == "" else [row for row in rows if row.get(by) == value]
        own_points = points if value == "" else [row for row in points if by in row and row[by] == value]
        high = 1 - at * step - (top if value != "" else 0)
        low = 1 - (at + 1) * step + 46 / height
        if value != "":
            notes.append(
                _row_title(f"{(names or {}).get(value, str(value))}  ·  {_counted(own, own_points)}", high, theme)
            )
        for column, axis in enumerate(AXES):
            number = at * len(AXES) + column + 1
            suffix = "" if number == 1 else str(number)
            left = column * (1 + _GAP) / len(AXES)
            layout |= _axes(axis, suffix, (left, left + (1 - 2 * _GAP) / len(AXES)), (low, high), ranges[axis], theme)
            corner_shapes, corner_notes = _corners(axis, suffix, thresholds, ranges[axis], theme)
            shapes += corner_shapes
            notes += corner_notes
            traces += _traces(own, own_points, axis, suffix, sizes, theme, places or {}, marked)
    return go.Figure(
        traces,
        base_layout(
            theme,
            height=height,
            margin={"l": 50, "r": 8, "t": 22, "b": 8},
            shapes=shapes,
            annotations=notes,
            **layout,
        ),
    )


def _traces(
    rows: Sequence[Row],
    printed: Sequence[Row],
    axis: BiasAxis,
    suffix: str,
    sizes: Mapping[str, float],
    theme: Theme,
    places: Mapping[str, int],
    marked: str,
) -> list[Trace]:
    """Return the points of one panel, a trace a task, printed ones below the store's."""
    anchor = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    traces: list[Trace] = []
    for task in TASK_ORDER:
        color = task_color(task, theme)
        ghosts = [row for row in printed if row["task"] == task and _has_place(row, axis)]
        if ghosts:
            traces.append(
                {
                    **_points(ghosts, axis, [printed_words(row) for row in ghosts]),
                    **anchor,
                    "opacity": 0.75,
                    "marker": {
                        "symbol": [f"{symbol_of(places.get(row['verifier'], 0))}-open" for row in ghosts],
                        "size": _PRINTED, "color": color, "line": {"width": 1.25, "color": color},
                    },
                }
            )  # fmt: skip
        placed = [row for row in rows if row["task"] == task and _has_place(row, axis)]
        for small in (True, False):
            own = sorted((row for row in placed if row["too_small"] == small), key=lambda row: -row["n"])
            if not own:
                continue
            traces.append(
                {
                    **_points(own, axis, [cell_words(row) for row in own]),
                    **anchor,
                    "marker": {
                        "symbol": [_symbol(row) for row in own],
                        "size": [sizes[row["key"]] for row in own],
                        "color": color,
                        "opacity": 0.9,
                        "line": {"width": 1.5, "color": color} if small else {"width": 0.75, "color": theme.ground},
                    },
                    "error_x": _errors(own, "error", color, faint=small),
                    "error_y": _errors(own, axis.value, color, faint=small),
                }
            )
    ringed = [row for row in [*rows, *printed] if row["key"] == marked and _has_place(row, axis)]
    if ringed:
        traces.append(
            {
                "type": "scatter", "mode": "markers", **anchor, "hoverinfo": "skip",
                "x": [row["error"] for row in ringed], "y": [row[axis.value] for row in ringed],
                "marker": {"symbol": "circle-open", "size": 26, "color": theme.text, "line": {"width": 1.5}},
            }
        )  # fmt: skip
    return traces


def _points(rows: Sequence[Row], axis: BiasAxis, words: Sequence[str]) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [row["error"] for row in rows],
        "y": [row[axis.value] for row in rows],
        "customdata": [[row["key"], axis.value] for row in rows],
        "hovertext": list(words),
        "hoverinfo": "text",
        "cliponaxis": False,
    }


def _symbol(row: Row) -> str:
    hollow = "-open" if row["too_small"] else ""
    return f"{symbol_of(int(row['place']))}{hollow}{'' if row['is_self'] else '-dot'}"


def _sizes(rows: Sequence[Row]) -> dict[str, float]:
    """Return the size of each cell's point; its area grows with the verdicts."""
    least, most = _SIZES_OF_MANY if len(rows) > _MANY else _SIZES
    largest = max((row["n"] for row in rows), default=0) or 1
    return {row["key"]: least + (most - least) * sqrt(row["n"] / largest) for row in rows}


def _has_place(row: Row, axis: BiasAxis) -> bool:
    return row["error"] is not None and row[axis.value] is not None


def _corners(
    axis: BiasAxis, suffix: str, thresholds: PlaneThresholds, limits: tuple[float, float], theme: Theme
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the two corners that the paper names, shaded, and their names."""
    at = thresholds.of(axis)
    anchor = {"xref": f"x{suffix}", "yref": f"y{suffix}"}
    shapes = [
        {
            "type": "rect", **anchor, "layer": "below",
            "x0": thresholds.error, "x1": 1.03, "y0": at, "y1": limits[1],
            "fillcolor": theme.contradiction, "opacity": 0.10, "line": {"width": 0},
        },
        {
            "type": "rect", **anchor, "layer": "below",
            "x0": -0.03, "x1": thresholds.error, "y0": limits[0], "y1": at,
            "fillcolor": "#2A9A88", "opacity": 0.10, "line": {"width": 0},
        },
        *(
            {
                "type": "line", **anchor, "layer": "below", **ends,
                "line": {"width": 1, "dash": "dot", "color": theme.quiet},
            }
            for ends in (
                {"x0": thresholds.error, "x1": thresholds.error, "y0": limits[0], "y1": limits[1]},
                {"x0": -0.03, "x1": 1.03, "y0": at, "y1": at},
            )
        ),
    ]  # fmt: skip
    notes = [
        {
            **anchor, "x": x, "y": y, "xanchor": x_anchor, "yanchor": y_anchor, "showarrow": False,
            "text": _QUADRANT_NAMES[corner], "font": {"size": 11, "color": ink},
        }
        for corner, x, y, x_anchor, y_anchor, ink in (
            (Quadrant.MIRAGE, 1.03, limits[1], "right", "bottom", theme.contradiction_text),
            (Quadrant.DESIRED, -0.02, limits[0], "left", "bottom", theme.quiet),
        )
    ]  # fmt: skip
    return shapes, notes


def _axes(
    axis: BiasAxis,
    suffix: str,
    across: tuple[float, float],
    up: tuple[float, float],
    limits: tuple[float, float],
    theme: Theme,
) -> dict[str, Any]:
    ticks = [tick / 4 for tick in range(-4, 5) if limits[0] <= tick / 4 <= limits[1]]
    shared = {"gridcolor": theme.grid, "fixedrange": True, "tickfont": {"size": 11, "color": theme.quiet}}
    return {
        f"xaxis{suffix}": {
            **shared,
            "domain": across, "anchor": f"y{suffix}", "range": [-0.03, 1.03], "zeroline": False,
            "tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["0", "25", "50", "75", "100 %"],
            "title": {"text": "verifier error", "font": {"size": 12, "color": theme.quiet}, "standoff": 4},
        },
        f"yaxis{suffix}": {
            **shared,
            "domain": up, "anchor": f"x{suffix}", "range": list(limits), "zeroline": limits[0] < -0.2,
            "zerolinecolor": theme.grid, "tickvals": ticks,
            "ticktext": [f"{100 * tick:.0f}".replace("-", "−") for tick in ticks],
            "title": {
                "text": f"{METRICS[axis.value].label}, %", "font": {"size": 12, "color": theme.quiet}, "standoff": 2,
            },
        },
    }  # fmt: skip


def _range(axis: BiasAxis, rows: Sequence[Row], printed: Sequence[Row]) -> tuple[float, float]:
    """Return an axis's range: all of [0, 1], and of a signed metric as far below as points and intervals reach."""
    lowest = 0.0
    if axis.value in SIGNED_METRICS:
        found = [
            row.get(f"{axis.value}_low") if row.get(f"{axis.value}_low") is not None else row[axis.value]
            for row in [*rows, *printed]
        ]
        lowest = min([0.0, *(value for value in found if value is not None)])
    return floor(lowest * 4) / 4 - 0.1, 1.03


def _row_title(text: str, high: float, theme: Theme) -> dict[str, Any]:
    return {
        "x": 0, "y": high, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom",
        "showarrow": False, "text": f"<b>{escape(text)}</b>", "font": {"size": 13, "color": theme.text}, "yshift": 16,
    }  # fmt: skip


def _counted(rows: Sequence[Row], printed: Sequence[Row]) -> str:
    parts = [f"{len(rows):,} cell{'' if len(rows) == 1 else 's'}"] if rows or not printed else []
    if printed:
        parts.append(f"{len(printed):,} printed")
    return ", ".join(parts)


def _errors(rows: Sequence[Row], key: str, color: str, *, faint: bool) -> dict[str, Any]:
    """Return thin error bars; a value without an interval has none."""
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    strength = 0.18 if faint else 0.45 if len(rows) <= 12 else 0.28
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if row[f"{key}_high"] is None else row[f"{key}_high"] - row[key] for row in rows],
        "arrayminus": [0 if row[f"{key}_low"] is None else row[key] - row[f"{key}_low"] for row in rows],
        "color": f"rgba({red},{green},{blue},{strength})",
        "thickness": 0.8,
        "width": 0,
    }


def _records(table: "pd.DataFrame") -> list[dict[str, Any]]:
    names = [str(name) for name in table.columns]
    rows = zip(*(table[name].tolist() for name in table.columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]
