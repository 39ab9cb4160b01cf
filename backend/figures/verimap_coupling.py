"""The figures of generator–verifier coupling: cells with the mixed model's line (Fig. B1), slopes by task (Fig. 4),
odds ratios by group (Fig. 3).

Rows of `services.verimap_coupling` in, plotly figures out. Colour is the task, shape the VLM. A cell carries in
``customdata`` data set (None where it is printed), task, generator and verifier. Names are escaped, and all other
text enters as hover text, never as a template.
"""

__all__ = ["METRIC_LABELS", "cell_scatter", "odds_forest", "slope_dots"]

from collections.abc import Mapping, Sequence
from html import escape
from math import log10
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go

from backend.domain.metric import NOT_AVAILABLE, percent, points
from backend.figures.style import LIGHT, PERCENT_TICKS, PERCENT_WORDS, Theme, base_layout, short_name
from backend.figures.tasks import TASK_NAMES, TASK_ORDER, task_color
from backend.figures.verimap import symbol_of
from backend.verimap.metrics import METRICS

Row = Mapping[str, Any]
Trace = dict[str, Any]

METRIC_LABELS: Mapping[str, str] = MappingProxyType(
    {**{key: METRICS[key].label for key in ("fpr", "fnr", "bias", "dskew")}, "fpr_minus_fnr": "FPR − FNR"}
)
"""Metric of a cell → its name. The last is what the paper's Table 4 calls Bias, and Bias what it calls dSkew there."""

_SIGNED = ("bias", "fpr_minus_fnr")
_SIGNIFICANT = 0.05

_FACTORS = {"task": "Task", "model": "VLM", "dataset": "Data set"}


def cell_scatter(
    cells: Sequence[Row],
    metric: str,
    line: Sequence[tuple[float, float, float, float]],
    p: float | None,
    places: Mapping[str, int],
    theme: Theme = LIGHT,
) -> go.Figure:
    """Return every cell's metric against the generator's error, with the population's line and its 95 % band.

    Args:
        cells: Of `cell_points`; undefined ones are left out.
        metric: One of `METRIC_LABELS`.
        line: Of `fitted_line`; empty where the model did not converge.
        p: Of the slope: the line is solid below 0.05, else dashed; None without a line.
        places: Place of each verifier, which chooses its shape.
        theme: Light or dark.
    """
    shown = [row for row in cells if row[metric] is not None]
    traces: list[Trace] = []
    if line:
        xs, ys, lows, highs = (list(column) for column in zip(*line, strict=True))
        band = {"type": "scatter", "mode": "lines", "x": xs, "line": {"width": 0}, "hoverinfo": "skip"}
        traces.append({**band, "y": highs})
        traces.append({**band, "y": lows, "fill": "tonexty", "fillcolor": _faint(theme)})
        dash = "solid" if p is not None and p < _SIGNIFICANT else "dash"
        traces.append({**band, "y": ys, "line": {"width": 2, "color": theme.text, "dash": dash}})
    for task in TASK_ORDER:
        own = [row for row in shown if row["task"] == task]
        if own:
            traces.append(_cells_trace(own, task, metric, places, theme))
    values = [row[metric] for row in shown]
    low, high = min([0.0, *values]), max([1.0, *values])
    layout = base_layout(
        theme,
        height=390,
        margin={"l": 52, "r": 12, "t": 8, "b": 44},
        xaxis={
            "range": [-0.03, 1.03], "tickvals": PERCENT_TICKS, "ticktext": PERCENT_WORDS, "gridcolor": theme.grid,
            "title": {"text": "generator error", "font": {"size": 12, "color": theme.quiet}}, "zeroline": False,
            "tickfont": {"size": 11, "color": theme.quiet}, "fixedrange": True,
        },
        yaxis={
            "range": [low - 0.04 * (high - low), high + 0.04 * (high - low)], "tickformat": ".0%",
            "gridcolor": theme.grid, "zeroline": low < 0, "zerolinecolor": theme.quiet,
            "title": {"text": METRIC_LABELS[metric], "font": {"size": 12, "color": theme.quiet}},
            "tickfont": {"size": 11, "color": theme.quiet}, "fixedrange": True,
        },
    )  # fmt: skip
    return go.Figure(traces, layout)


def slope_dots(slopes: Sequence[Row], metric: str, theme: Theme = LIGHT) -> go.Figure:
    """Return slopes on the generator's error with 95 % intervals, a row a task, the mixed model's as a diamond.

    Args:
        slopes: task (None: the mixed model's), n (cells), slope, low, high and p, all None where there is no slope.
        metric: One of `METRIC_LABELS`.
        theme: Light or dark.
    """
    names = ["All, mixed model" if row["task"] is None else TASK_NAMES[row["task"]] for row in slopes]
    traces: list[Trace] = []
    for name, row in zip(names, slopes, strict=True):
        if row["slope"] is None:
            continue
        significant = row["p"] < _SIGNIFICANT
        color = theme.quiet
        if significant:
            color = theme.text if row["task"] is None else task_color(row["task"], theme)
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [row["slope"]],
                "y": [name],
                "marker": {"symbol": "diamond" if row["task"] is None else "circle", "size": 10, "color": color},
                "error_x": {
                    "type": "data", "symmetric": False, "array": [row["high"] - row["slope"]],
                    "arrayminus": [row["slope"] - row["low"]], "color": color, "thickness": 1.5, "width": 3,
                },
                "customdata": [["task", row["task"]]],
                "hovertext": [
                    f"<b>{name}</b><br>slope of {METRIC_LABELS[metric]} {_signed(row['slope'])} "
                    f"({_signed(row['low'])} to {_signed(row['high'])})<br>p {_p_words(row['p'])}, "
                    f"{row['n']:,} cells"
                ],
                "hoverinfo": "text",
                "cliponaxis": False,
            }
        )  # fmt: skip
    layout = base_layout(
        theme,
        height=390,
        margin={"l": 8, "r": 12, "t": 8, "b": 44},
        xaxis={
            "gridcolor": theme.grid, "zeroline": True, "zerolinecolor": theme.quiet, "fixedrange": True, "nticks": 7,
            "title": {
                "text": f"change of {METRIC_LABELS[metric]} as generator error goes from 0 to 100 %",
                "font": {"size": 12, "color": theme.quiet},
            },
            "tickfont": {"size": 11, "color": theme.quiet}, "tickformat": ".1f",
        },
        yaxis={
            "categoryorder": "array", "categoryarray": names[::-1], "tickvals": names,
            "range": [-0.6, len(names) - 0.4], "fixedrange": True, "automargin": True, "ticksuffix": "  ",
            "showgrid": False,
        },
    )  # fmt: skip
    return go.Figure(traces, layout)


def odds_forest(groups: Sequence[Row], theme: Theme = LIGHT) -> go.Figure:
    """Return odds ratios of a verifier error when the generator is wrong, with 95 % intervals, on a log axis.

    Args:
        groups: factor (None: the population's), level, odds_ratio, low, high; in the order drawn from the top.
        theme: Light or dark.
    """
    names = [_level_name(row) for row in groups]
    keys = [f"{row['factor']}/{row['level']}" for row in groups]
    colors = [
        theme.text if row["factor"] is None
        else task_color(row["level"], theme) if row["factor"] == "task" and row["level"] in TASK_NAMES
        else theme.quiet
        for row in groups
    ]  # fmt: skip
    traces: list[Trace] = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [row["odds_ratio"]],
            "y": [key],
            "marker": {"symbol": "diamond" if row["factor"] is None else "circle", "size": 10, "color": color},
            "error_x": {
                "type": "data", "symmetric": False, "array": [row["high"] - row["odds_ratio"]],
                "arrayminus": [row["odds_ratio"] - row["low"]], "color": color, "thickness": 1.5, "width": 3,
            },
            "customdata": [[row["factor"], row["level"]]],
            "hovertext": [
                f"<b>{escape(name)}</b><br>"
                f"odds ratio {row['odds_ratio']:,.2f} ({row['low']:,.2f} to {row['high']:,.2f})"
            ],
            "hoverinfo": "text",
        }
        for row, name, key, color in zip(groups, names, keys, colors, strict=True)
    ]  # fmt: skip
    bounds = [bound for row in groups for bound in (row["low"], row["high"]) if bound > 0]
    low, high = min([0.5, *bounds]), max([2.0, *bounds])
    layout = base_layout(
        theme,
        height=60 + 25 * max(1, len(groups)),
        margin={"l": 8, "r": 12, "t": 8, "b": 44},
        shapes=[
            {
                "type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper", "layer": "below",
                "line": {"color": theme.quiet, "width": 1, "dash": "dot"},
            }
        ],
        xaxis={
            "type": "log", "range": [log10(low) - 0.1, log10(high) + 0.1], "gridcolor": theme.grid,
            "title": {"text": "odds ratio, log scale", "font": {"size": 12, "color": theme.quiet}},
            "tickfont": {"size": 11, "color": theme.quiet}, "fixedrange": True, "dtick": 1, "zeroline": False,
        },
        yaxis={
            "categoryorder": "array", "categoryarray": keys[::-1], "tickvals": keys,
            "ticktext": [f"{escape(short_name(name))}  " for name in names], "range": [-0.6, len(keys) - 0.4],
            "fixedrange": True, "automargin": True, "showgrid": False,
        },
    )  # fmt: skip
    return go.Figure(traces, layout)


def _cells_trace(rows: Sequence[Row], task: str | None, metric: str, places: Mapping[str, int], theme: Theme) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [row["p_g"] for row in rows],
        "y": [row[metric] for row in rows],
        "marker": {
            "symbol": [symbol_of(places.get(row["verifier"], len(places))) for row in rows],
            "size": 8,
            "color": task_color(task, theme),
            "opacity": 0.85,
            "line": {"width": 1, "color": theme.ground},
        },
        "customdata": [[row["suite"], row["task"], row["generator"], row["verifier"]] for row in rows],
        "hovertext": [_cell_words(row, metric) for row in rows],
        "hoverinfo": "text",
        "cliponaxis": False,
        "name": TASK_NAMES[task],
    }


def _cell_words(row: Row, metric: str) -> str:
    value = points(row[metric]) if metric in _SIGNED else percent(row[metric])
    n = "as printed, without n" if row["n"] is None else f"n = {row['n']:,}"
    return (
        f"<b>{escape(str(row['model']))}</b><br>{TASK_NAMES[row['task']]}, {escape(str(row['dataset']))}<br>"
        f"generator error {percent(row['p_g'])}, {METRIC_LABELS[metric]} {value}<br>{n}"
    )


def _level_name(row: Row) -> str:
    if row["factor"] is None:
        return "All"
    level = TASK_NAMES.get(row["level"], row["level"]) if row["factor"] == "task" else row["level"]
    return f"{_FACTORS[row['factor']]}: {level}"


def _p_words(p: float | None) -> str:
    if p is None:
        return NOT_AVAILABLE
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _faint(theme: Theme) -> str:
    return "rgba(98,106,117,0.16)" if theme is LIGHT else "rgba(163,171,182,0.18)"


def _signed(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")
