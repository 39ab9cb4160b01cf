"""The figures of paired answers: radar, rank slope, complexity.

Tables of `services.endoca_series` in, plotly figures out. Every point carries in
``customdata`` what lies behind it: the key of its series, then what the point stands for. Text of
a data set is escaped, and enters as hover text, never as a template.
"""

__all__ = [
    "RADAR_AXES",
    "complexity_facets",
    "radar_axes",
    "rank_slope",
    "score_radar",
]

from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from backend.domain.metric import NOT_AVAILABLE, percent
from backend.figures.style import (
    BLIND_GROUP,
    LIGHT,
    PERCENT_TICKS,
    PERCENT_WORDS,
    Mark,
    Theme,
    base_layout,
    mark_of,
    short_name,
)

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, Any]
Trace = dict[str, Any]
"""A trace as plotly's JSON: a figure made of these at once is checked once, trace by trace several times."""

RADAR_AXES = {
    "complex_accuracy": "Complex",
    "atomic_accuracy": "Atomic",
    "all_atomic_accuracy": "All-atomic",
    "joint_accuracy": "Joint",
    "consistency": "Consistency",
}
"""Metric → its name on the radar; on all of them outside is better."""


_SLOPE_NAME = 16
"""So many letters of a name stand at an end of the slope, which has two of them."""

_LETTER, _VALUE = 6, 36
"""Width in px of a letter at the slope's end, and of the value beside the name."""


def radar_axes(series: "pd.DataFrame") -> list[str]:
    """Return the keys of the radar's axes: those of `RADAR_AXES` that one of the series has, or all of them."""
    return [key for key in RADAR_AXES if key in series and series[key].notna().any()] or list(RADAR_AXES)


def score_radar(series: "pd.DataFrame", theme: Theme = LIGHT) -> go.Figure:
    """Return the radar of accuracies and consistency, all higher-is-better.

    All-atomic accuracy is an axis where one of the series has it; a series without it has a gap
    there, not a line past it.

    Args:
        series: Up to six rows of `series_table`, and the blind baseline's.
        theme: Light or dark.
    """
    axes = radar_axes(series)
    traces: list[Trace] = []
    for row in _records(series):
        mark = _mark(row, theme)
        closed = [*axes, axes[0]]
        traces.append(
            {
                "type": "scatterpolar",
                "r": [row.get(key) for key in closed],
                "theta": [RADAR_AXES[key] for key in closed],
                "mode": "lines+markers",
                "line": {"color": mark.color, "width": 1.5 if _is_blind(row) else 2, "dash": mark.dash},
                "marker": _marker(mark),
                "customdata": [[row["series"], key] for key in closed],
                "hovertext": [hover_text(row, key, RADAR_AXES[key]) for key in closed],
                "hoverinfo": "text",
                "connectgaps": False,
                "cliponaxis": False,
                "name": escape(str(row["label"])),
            }
        )
    line = {"gridcolor": theme.grid, "linecolor": theme.grid}
    layout = base_layout(
        theme,
        dragmode="zoom",
        height=350,
        margin={"l": 82, "r": 82, "t": 26, "b": 22},
        polar={
            "bgcolor": "rgba(0,0,0,0)",
            "gridshape": "linear",
            "angularaxis": {"direction": "clockwise", "rotation": 90, "tickfont": {"size": 14}, **line},
            "radialaxis": {
                "range": [0, 1.06],
                "tickvals": PERCENT_TICKS,
                "ticktext": PERCENT_WORDS,
                "tickfont": {"size": 11, "color": theme.quiet},
                "angle": 90,
                "tickangle": 90,
                "showline": False,
                **line,
            },
        },
    )
    return go.Figure(traces, layout)


def rank_slope(series: "pd.DataFrame", theme: Theme = LIGHT) -> go.Figure:
    """Return the ranks by complex accuracy beside those by joint accuracy, a line a series.

    Lines lie in the order of their values, equal ones below each other. Series without one of
    the two are left out. The rank a hover text tells is among series of the same origin; equal
    values share it. The blind baseline is no VLM and has none.

    Args:
        series: Rows of `series_table`.
        theme: Light or dark.
    """
    ranked = series[series["complex_accuracy"].notna() & series["joint_accuracy"].notna()]
    sides = ("complex_accuracy", "joint_accuracy")
    places = {key: ranked[key].astype(float).rank(ascending=False, method="first") for key in sides}
    kinds = ranked["origin"].where(ranked["vlm_group"] != BLIND_GROUP, "")
    ranks = {key: ranked[key].astype(float).groupby(kinds).rank(ascending=False, method="min") for key in sides}
    sizes = kinds.value_counts()
    traces: list[Trace] = []
    for at, row in zip(ranked.index, _records(ranked), strict=True):
        mark = _mark(row, theme)
        label = escape(_end_name(row))
        words = [f"{label}  <b>{_short(row[sides[0]])}</b>  ", f"  <b>{_short(row[sides[1]])}</b>  {label}"]
        told = [
            "" if _is_blind(row) else f"<br>rank {ranks[key][at]:.0f} of {sizes[kinds[at]]}, {kinds[at]}"
            for key in sides
        ]
        traces.append(
            {
                "type": "scatter",
                "x": [0, 1],
                "y": [places[key][at] for key in sides],
                "mode": "lines+markers+text",
                "line": {"color": mark.color, "width": 1.75, "dash": mark.dash},
                "marker": _marker(mark),
                "text": words,
                "textposition": ["middle left", "middle right"],
                "textfont": {"size": 12, "color": theme.quiet if _is_blind(row) else theme.text},
                "customdata": [[row["series"], key] for key in sides],
                "hovertext": [
                    hover_text(row, key, name) + rank
                    for key, name, rank in zip(sides, ("Complex accuracy", "Joint accuracy"), told, strict=True)
                ],
                "hoverinfo": "text",
                "cliponaxis": False,
            }
        )
    longest = max((len(_end_name(row)) for row in _records(ranked)), default=_SLOPE_NAME)
    # The ends lie inside the plot, since outside of it nothing can be clicked.
    side = round(_LETTER * longest + _VALUE)
    font = {"size": 12, "color": theme.quiet}
    head = {"showarrow": False, "yref": "paper", "y": 1, "yanchor": "bottom", "font": font}
    layout = base_layout(
        theme,
        height=max(240, 58 + 21 * len(ranked)),
        margin={"l": side, "r": side, "t": 30, "b": 4},
        xaxis={"range": [-0.15, 1.15], "visible": False, "fixedrange": True},
        yaxis={"range": [len(ranked) + 0.6, 0.4], "visible": False, "fixedrange": True},
        annotations=[
            {**head, "x": 0, "xanchor": "right", "text": "Complex accuracy, %"},
            {**head, "x": 1, "xanchor": "left", "text": "Joint accuracy, %"},
        ],
    )
    return go.Figure(traces, layout)


def complexity_facets(complexity: "pd.DataFrame", theme: Theme = LIGHT, *, columns: int = 3) -> go.Figure:
    """Return accuracy against complexity, a panel a VLM: complex answer, and all parts.

    Where more complex answers are right than have all their parts right, the rest must stand on
    a wrong part: the distance is drawn in orange. The blind baseline's complex accuracy is the
    dashed grey line in every panel.

    Args:
        complexity: Rows of `complexity_table` of up to six runs, and the blind baseline's.
        theme: Light or dark.
        columns: Panels side by side.
    """
    panels: dict[str, list[Row]] = {}
    for row in sorted(_records(complexity), key=lambda row: int(row["complexity"])):
        panels.setdefault(row["series"], []).append(row)
    blind = next((rows for rows in panels.values() if _is_blind(rows[0])), [])
    vlms = [key for key in dict.fromkeys(complexity["series"]) if not _is_blind(panels[key][0])]
    shown = [panels[key] for key in vlms] or list(panels.values())
    columns = min(columns, max(1, len(shown)))
    n_rows = max(1, -(-len(shown) // columns))

    traces: list[Trace] = []
    for number, rows in enumerate(shown):
        drawn: list[Trace] = []
        if blind and not _is_blind(rows[0]):
            drawn.append(_level_trace(blind, "complex_accuracy", _mark(blind[0], theme), width=1.25))
        drawn += [_overhang(row, theme) for row in rows if _has_overhang(row)]
        parts = Mark(theme.text, "line-ew-open", "dot")
        drawn.append(_level_trace(rows, "all_atomic_accuracy", parts, width=1.25))
        drawn.append(_level_trace(rows, "complex_accuracy", _mark(rows[0], theme), width=2, bounds=True))
        place = "" if number == 0 else str(number + 1)
        traces += [{**trace, "xaxis": f"x{place}", "yaxis": f"y{place}"} for trace in drawn]

    levels = sorted({int(level) for level in complexity["complexity"]})
    tick_font = {"size": 11, "color": theme.quiet}
    axis = {"gridcolor": theme.grid, "zeroline": False, "tickfont": tick_font, "fixedrange": True}
    ends = [min(levels, default=1) - 0.35, max(levels, default=1) + 0.35]
    axes = {
        "x": {**axis, "tickvals": levels, "range": ends, "showgrid": False},
        "y": {**axis, "tickvals": PERCENT_TICKS, "ticktext": PERCENT_WORDS, "range": [-0.04, 1.08]},
    }
    titles = [
        {"text": escape(short_name(str(rows[0]["label"]))), "font": {"size": 13, "color": theme.text}} for rows in shown
    ]
    grid, heads = _grid(n_rows, columns)
    layout = base_layout(
        theme,
        height=60 + 170 * n_rows,
        margin={"l": 34, "r": 8, "t": 30, "b": 26},
        annotations=[{**head, **title} for head, title in zip(heads, titles, strict=False)],
        **{name: {**cell, **axes[name[0]]} for name, cell in grid.items()},
    )
    return go.Figure(traces, layout)


@lru_cache
def _grid(n_rows: int, columns: int) -> tuple[dict[str, Any], list[Any]]:
    """Return plotly's axes of a grid of panels that share their ranges, and where their titles stand; read only."""
    layout = make_subplots(
        rows=n_rows, cols=columns, shared_yaxes=True, shared_xaxes=True, subplot_titles=["title"] * (n_rows * columns),
        horizontal_spacing=0.035, vertical_spacing=0.16 if n_rows > 1 else 0.0,
    ).layout.to_plotly_json()  # fmt: skip
    return {name: layout[name] for name in layout if name[1:5] == "axis"}, layout["annotations"]


def hover_text(row: Row, key: str, name: str) -> str:
    """Return what a point says: its series, metric, value, interval, counts, and how many answers it lacks."""
    value = row.get(key)
    text = f"<b>{escape(str(row['label']))}</b><br>{escape(name)} {percent(value)}"
    low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
    if low is not None and high is not None:
        text += f" ({100 * low:.1f}–{100 * high:.1f})"
    n = row.get(f"{key}_n")
    if n is not None:
        counted = row.get(f"{key}_k")
        text += f"<br>n = {n:,}" if counted is None else f"<br>{counted:,}/{n:,}"
    elif row.get("n_printed"):
        text += f"<br>as printed (QA count {row['n_printed']:,})"
    unanswered = (row.get("n_missing") or 0) + (row.get("n_failed") or 0)
    if unanswered:
        text += f"<br>missing or failed answers, counted as wrong: {unanswered:,}"
    return text


def _has_overhang(row: Row) -> bool:
    """Return whether more complex answers are right than have every part right."""
    return not _is_blind(row) and (row["complex_accuracy"] or 0) > (row["all_atomic_accuracy"] or 0)


def _overhang(row: Row, theme: Theme) -> Trace:
    """Return the line from every part right up to the complex answer right, in the colour of contradiction."""
    return {
        "type": "scatter",
        "x": [row["complexity"]] * 2,
        "y": [row["all_atomic_accuracy"], row["complex_accuracy"]],
        "mode": "lines",
        "line": {"color": theme.contradiction, "width": 7},
        "opacity": 0.55,
        "hoverinfo": "skip",
    }


def _level_trace(rows: Sequence[Row], key: str, mark: Mark, *, width: float, bounds: bool = False) -> Trace:
    """Return one line over complexity."""
    names = {"complex_accuracy": "Complex accuracy", "all_atomic_accuracy": "All-atomic accuracy"}
    trace: Trace = {
        "type": "scatter",
        "x": [row["complexity"] for row in rows],
        "y": [row[key] for row in rows],
        "mode": "lines+markers",
        "line": {"color": mark.color, "width": width, "dash": mark.dash},
        "marker": _marker(mark),
        "customdata": [[row["series"], key, int(row["complexity"])] for row in rows],
        "hovertext": [f"{hover_text(row, key, names[key])}<br>complexity {row['complexity']}" for row in rows],
        "hoverinfo": "text",
    }
    if bounds and all(row[f"{key}_low"] is not None for row in rows):
        trace["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": [row[f"{key}_high"] - row[key] for row in rows],
            "arrayminus": [row[key] - row[f"{key}_low"] for row in rows],
            "color": mark.color,
            "thickness": 1,
            "width": 3,
        }
    return trace


def _records(table: "pd.DataFrame") -> list[dict[str, Any]]:
    names = [str(name) for name in table.columns]
    rows = zip(*(table[name].tolist() for name in table.columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _marker(mark: Mark) -> dict[str, Any]:
    return {"symbol": mark.symbol, "size": 9, "color": mark.color, "line": {"width": 1.5, "color": mark.color}}


def _mark(row: Row, theme: Theme) -> Mark:
    return mark_of(int(row["place"]), row["vlm_group"], row["origin"], theme)


def _end_name(row: Row) -> str:
    """Return what an end of the slope is called: hollow marks tell what is printed, so the label need not."""
    named = row["label"] if row["run_id"] is not None and not _is_blind(row) else row["vlm"]
    return short_name(str(named), _SLOPE_NAME)


def _is_blind(row: Row) -> bool:
    return bool(row["vlm_group"] == BLIND_GROUP)


def _short(fraction: float | None) -> str:
    """Return a percentage without its sign, where the axis or the head of a table says it."""
    return NOT_AVAILABLE if fraction is None else f"{100 * fraction:.1f}"
