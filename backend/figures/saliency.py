"""The visual grounding gap: how much generator and verifier rested on the image, side by side (Fig. 5).

Rows and tests of `services.grounding` in, plotly figures out. The generator is a circle, the verifier a diamond of
another colour. Every case is a point that carries its example and the verifier's run in ``customdata``; boxes, means
and even shares stand for many cases and carry none. Text of a data set is escaped, and enters as hover text, never as
a template.
"""

__all__ = ["ALL", "MOST_POINTS", "grounding_boxes", "grounding_differences"]

from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np
import plotly.graph_objects as go

from backend.figures.saliency_hover import (
    UNLABELLED,
    case_words,
    difference_words,
    group_name,
    group_words,
    value_words,
)
from backend.figures.style import DARK, LIGHT, VLM_COLORS, Theme, base_layout
from backend.verimap.proxies import ALL, NO_OUTCOME, SIDES, Proxy

Row = Mapping[str, Any]
Trace = dict[str, Any]

MOST_POINTS = 300
"""Of a group with more pairs, so many are drawn: evenly over their differences, the extreme ones among them."""
_MOST_LINES = 40
"""Of a group with more pairs, the two points of a pair are not joined: the lines would cover them."""

_HEIGHT = 470
_SYMBOLS = {"generator": "circle", "verifier": "diamond"}
_BOX_AT = {"generator": -0.3, "verifier": 0.3}
"""Middle of a box, from the group's."""
_BOX_WIDTH = 0.17
_POINTS_AT = {"generator": (-0.19, -0.06), "verifier": (0.06, 0.19)}
"""Where the points of a side spread, between its box and the other's."""
_GAP_AT = -0.12
"""Where a mean difference stands, beside the cases it is of."""


def grounding_boxes(
    rows: Sequence[Row], tests: Sequence[Row], proxy: Proxy, by: str = "task", theme: Theme = LIGHT
) -> go.Figure:
    """Return a box of generators beside one of verifiers in each group, with every case as a point between them.

    Of the fraction, a dash marks the mean even share of each box; of "times even" a line marks 1. Whiskers reach to
    the last case within 1.5 times the box. Gradients stand on a logarithmic axis where none is 0. Cases without a
    value have no point; below its name stands on how many pairs a group rests.

    Args:
        rows: Of `grounding_table`.
        tests: Of `grounding_tests` over these, by the same proxy and the same column.
        proxy: Which number.
        by: ``task`` or ``outcome``.
        theme: Light or dark.
    """
    places, own = _groups(rows, tests, proxy, by)
    traces: list[Trace] = []
    for test in tests:
        group = test["group"]
        drawn = [] if group == ALL else _drawn(own[group], proxy)
        if 0 < len(drawn) <= _MOST_LINES and len(drawn) == len(own[group]):
            traces.append(_lines(drawn, proxy, places[group], theme))
        words = [case_words(row, proxy) for row in drawn]
        for side in SIDES:
            values = [row[f"{side}_{proxy}"] for row in own[group]]
            if values:
                traces.append(_box(values, side, places[group], theme))
            if drawn:
                traces.append(_points(drawn, words, proxy, side, places[group], theme))
    shown = [test for test in tests if test["n"]]
    for side in SIDES:
        if proxy is Proxy.FRACTION:
            traces.append(_even_marks(shown, side, places, theme))
        traces.append(_means(shown, proxy, side, places, by, theme))
    values = [row[f"{side}_{proxy}"] for row in own[ALL] for side in SIDES]
    figure = go.Figure(
        traces,
        base_layout(
            theme,
            height=_HEIGHT,
            margin={"l": 64, "r": 8, "t": 34, "b": 74},
            xaxis=_group_axis(tests, own, by, theme),
            yaxis=_value_axis(values, proxy, theme),
            showlegend=True,
            legend=_LEGEND,
        ),
    )
    if proxy is Proxy.TIMES_EVEN:
        figure.add_hline(
            y=1, line={"color": theme.text, "width": 1, "dash": "dash"}, layer="below",
            annotation={"text": "even", "x": 0, "xanchor": "left", "font": {"size": 11, "color": theme.text}},
        )  # fmt: skip
    return figure


def grounding_differences(
    rows: Sequence[Row], tests: Sequence[Row], proxy: Proxy, by: str = "task", theme: Theme = LIGHT
) -> go.Figure:
    """Return generator minus verifier of each case, by group, with the mean and its 95 % interval.

    Above zero (circles) the verifier rested less on the image than the generator; below (diamonds) more. Of the
    fraction, a dash marks the mean difference of the even shares: so far would the two part by the length of their
    prompts alone.

    Args:
        rows: Of `grounding_table`.
        tests: Of `grounding_tests` over these, by the same proxy and the same column.
        proxy: Which number.
        by: ``task`` or ``outcome``.
        theme: Light or dark.
    """
    places, own = _groups(rows, tests, proxy, by)
    traces: list[Trace] = []
    for test in tests:
        if test["group"] != ALL and own[test["group"]]:
            traces.append(_difference_points(_drawn(own[test["group"]], proxy), proxy, places[test["group"]], theme))
    shown = [test for test in tests if test["n"]]
    if proxy is Proxy.FRACTION:
        traces.append(_even_gaps(shown, places, theme))
    traces.append(_gaps(shown, proxy, places, by, theme))
    return go.Figure(
        traces,
        base_layout(
            theme,
            height=400,
            margin={"l": 64, "r": 8, "t": 34, "b": 74},
            xaxis=_group_axis(tests, own, by, theme),
            yaxis={
                **_axis(f"generator − verifier, {_UNITS[proxy]}", theme), "tickformat": "~g", "rangemode": "tozero",
                "zeroline": True, "zerolinecolor": theme.text, "zerolinewidth": 1.5,
            },
            showlegend=True,
            legend=_LEGEND,
        ),
    )  # fmt: skip


_UNITS = {Proxy.FRACTION: "points", Proxy.TIMES_EVEN: "times even share", Proxy.GRADIENT: "gradient activation"}
"""What a difference is in."""

_LEGEND = {
    "orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "itemclick": False, "itemdoubleclick": False,
}  # fmt: skip


def _groups(
    rows: Sequence[Row], tests: Sequence[Row], proxy: Proxy, by: str
) -> tuple[dict[str, int], dict[str, list[Row]]]:
    """Return each group's place on the axis, and its rows with both values."""
    whole = [row for row in rows if all(row[f"{side}_{proxy}"] is not None for side in SIDES)]
    own: dict[str, list[Row]] = {test["group"]: [] for test in tests} | {ALL: whole}
    without = UNLABELLED if by == "task" else NO_OUTCOME
    for row in whole:
        own[row[by] or without].append(row)
    return {test["group"]: place for place, test in enumerate(tests)}, own


def _difference(row: Row, proxy: Proxy) -> float:
    return float(row[f"generator_{proxy}"] - row[f"verifier_{proxy}"]) * _scale(proxy)


def _scale(proxy: Proxy) -> int:
    """Return what a difference is multiplied by to be drawn: of fractions, percentage points are."""
    return 100 if proxy is Proxy.FRACTION else 1


def _drawn(rows: Sequence[Row], proxy: Proxy) -> list[Row]:
    """Return the rows to draw, at most `MOST_POINTS`."""
    if len(rows) <= MOST_POINTS:
        return list(rows)
    ordered = sorted(rows, key=lambda row: (_difference(row, proxy), row["unit_id"], row["run_id"]))
    return [ordered[at] for at in np.linspace(0, len(rows) - 1, MOST_POINTS).round().astype(int).tolist()]


def _spread(row: Row, low: float, high: float) -> float:
    """Return where a case stands between two bounds: by its ids, so that it stays there."""
    return low + (high - low) * (crc32(f"{row['unit_id']}/{row['run_id']}".encode()) % 1000) / 999


def _color(side: str, theme: Theme) -> str:
    return theme.quiet if side == "generator" else VLM_COLORS[0][theme is DARK]


def _faint(color: str, opacity: float) -> str:
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def _box(values: Sequence[float], side: str, place: int, theme: Theme) -> Trace:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    reach = 1.5 * (high - low)
    color = _color(side, theme)
    return {
        "type": "box", "x": [place + _BOX_AT[side]], "q1": [low], "median": [middle], "q3": [high],
        "lowerfence": [min(value for value in values if value >= low - reach)],
        "upperfence": [max(value for value in values if value <= high + reach)],
        "width": _BOX_WIDTH, "line": {"width": 1.5, "color": color}, "fillcolor": _faint(color, 0.18),
        "hoverinfo": "skip", "showlegend": False,
    }  # fmt: skip


def _points(rows: Sequence[Row], words: Sequence[str], proxy: Proxy, side: str, place: int, theme: Theme) -> Trace:
    return {
        "type": "scatter", "mode": "markers",
        "x": [place + _spread(row, *_POINTS_AT[side]) for row in rows],
        "y": [row[f"{side}_{proxy}"] for row in rows],
        "marker": {
            "symbol": _SYMBOLS[side], "size": 6 if len(rows) <= _MOST_LINES else 4.5, "color": _color(side, theme),
            "opacity": 0.75,
        },
        "customdata": [[row["unit_id"], row["run_id"], side] for row in rows],
        "hovertext": list(words), "hoverinfo": "text",
        "cliponaxis": False, "showlegend": False,
    }  # fmt: skip


def _lines(rows: Sequence[Row], proxy: Proxy, place: int, theme: Theme) -> Trace:
    xs: list[float | None] = []
    ys: list[float | None] = []
    for row in rows:
        xs += [*(place + _spread(row, *_POINTS_AT[side]) for side in SIDES), None]
        ys += [*(row[f"{side}_{proxy}"] for side in SIDES), None]
    return {
        "type": "scatter", "mode": "lines", "x": xs, "y": ys, "hoverinfo": "skip", "showlegend": False,
        "line": {"color": _faint(theme.quiet, 0.35), "width": 0.75},
    }  # fmt: skip


def _even_marks(tests: Sequence[Row], side: str, places: Mapping[str, int], theme: Theme) -> Trace:
    return {
        "type": "scatter", "mode": "markers", "name": "even share, mean",
        "x": [places[test["group"]] + _BOX_AT[side] for test in tests],
        "y": [test[f"{side}_even"] for test in tests],
        "marker": _dash(theme),
        "hovertext": [
            f"even share, mean of the {side}s: {value_words(Proxy.FRACTION, test[f'{side}_even'])}" for test in tests
        ],
        "hoverinfo": "text", "showlegend": side == SIDES[0],
    }  # fmt: skip


def _even_gaps(tests: Sequence[Row], places: Mapping[str, int], theme: Theme) -> Trace:
    gaps = [test["generator_even"] - test["verifier_even"] for test in tests]
    return {
        "type": "scatter", "mode": "markers", "name": "were attention even",
        "x": [places[test["group"]] + _GAP_AT for test in tests],
        "y": [gap * _scale(Proxy.FRACTION) for gap in gaps],
        "marker": _dash(theme),
        "hovertext": [f"were attention even: {difference_words(Proxy.FRACTION, gap)} points" for gap in gaps],
        "hoverinfo": "text",
    }  # fmt: skip


def _dash(theme: Theme) -> Trace:
    return {"symbol": "line-ew", "size": 24, "line": {"width": 2.5, "color": theme.text}}


def _means(tests: Sequence[Row], proxy: Proxy, side: str, places: Mapping[str, int], by: str, theme: Theme) -> Trace:
    return {
        "type": "scatter", "mode": "markers", "name": f"{side}, mean",
        "x": [places[test["group"]] + _BOX_AT[side] for test in tests],
        "y": [test[f"{side}_mean"] for test in tests],
        "marker": {
            "symbol": _SYMBOLS[side], "size": 11, "color": _color(side, theme),
            "line": {"width": 1.5, "color": theme.ground},
        },
        "hovertext": [group_words(test, proxy, by) for test in tests], "hoverinfo": "text", "cliponaxis": False,
    }  # fmt: skip


def _difference_points(rows: Sequence[Row], proxy: Proxy, place: int, theme: Theme) -> Trace:
    values = [_difference(row, proxy) for row in rows]
    sides = ["verifier" if value < 0 else "generator" for value in values]
    return {
        "type": "scatter", "mode": "markers",
        "x": [place + _spread(row, 0.06, 0.38) for row in rows], "y": values,
        "marker": {
            "symbol": [_SYMBOLS[side] for side in sides], "size": 5.5, "color": [_color(side, theme) for side in sides],
            "opacity": 0.75,
        },
        "customdata": [[row["unit_id"], row["run_id"]] for row in rows],
        "hovertext": [case_words(row, proxy) for row in rows], "hoverinfo": "text",
        "cliponaxis": False, "showlegend": False,
    }  # fmt: skip


def _gaps(tests: Sequence[Row], proxy: Proxy, places: Mapping[str, int], by: str, theme: Theme) -> Trace:
    scale = _scale(proxy)
    bounds = [(test["gap"], test["gap_low"], test["gap_high"]) for test in tests]
    return {
        "type": "scatter", "mode": "markers", "name": "mean with its 95 % interval",
        "x": [places[test["group"]] + _GAP_AT for test in tests], "y": [gap * scale for gap, _, _ in bounds],
        "marker": {"symbol": "square", "size": 9, "color": theme.text},
        "error_y": {
            "type": "data", "symmetric": False, "thickness": 2, "width": 5, "color": theme.text,
            "array": [0 if high is None else (high - gap) * scale for gap, _, high in bounds],
            "arrayminus": [0 if low is None else (gap - low) * scale for gap, low, _ in bounds],
        },
        "hovertext": [group_words(test, proxy, by) for test in tests], "hoverinfo": "text", "cliponaxis": False,
    }  # fmt: skip


def _group_axis(tests: Sequence[Row], own: Mapping[str, Sequence[Row]], by: str, theme: Theme) -> dict[str, Any]:
    names = []
    for test in tests:
        shown = f"<br>{MOST_POINTS} drawn" if test["group"] != ALL and len(own[test["group"]]) > MOST_POINTS else ""
        names.append(f"{group_name(test['group'], by)}<br>n = {test['n']:,}{shown}")
    return {
        "tickvals": list(range(len(tests))), "ticktext": names, "range": [-0.5, max(1, len(tests)) - 0.5],
        "showgrid": False, "zeroline": False, "fixedrange": True, "tickangle": 0,
        "tickfont": {"size": 12, "color": theme.text},
    }  # fmt: skip


def _value_axis(values: Sequence[float], proxy: Proxy, theme: Theme) -> dict[str, Any]:
    if proxy is Proxy.FRACTION:
        return {**_axis(proxy.label, theme), "tickformat": ".0%", "rangemode": "tozero"}
    if proxy is Proxy.TIMES_EVEN:
        return _axis(proxy.label, theme)
    if values and min(values) > 0:
        return {**_axis(f"{proxy.label} (logarithmic)", theme), "type": "log", "exponentformat": "power", "dtick": 1}
    return {**_axis(proxy.label, theme), "rangemode": "tozero"}


def _axis(title: str, theme: Theme) -> dict[str, Any]:
    return {
        "title": {"text": title, "font": {"size": 12, "color": theme.quiet}, "standoff": 6},
        "gridcolor": theme.grid, "zeroline": False, "fixedrange": True, "automargin": True,
        "tickfont": {"size": 11, "color": theme.quiet},
    }  # fmt: skip
