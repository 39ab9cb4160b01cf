"""The figures of reconciled answers: the steps of Fig. 5, repairs and harms, accuracy against coverage.

Tables of `services.reconciliation` in, plotly figures out. Every point carries in ``customdata``
what lies behind it. Text of a data set is escaped, and enters as hover text, never as a template.
"""

__all__ = ["STEPS", "change_bars", "coverage_lines", "steps_slope"]

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from backend.domain.metric import percent, points
from backend.figures.style import LIGHT, PERCENT_TICKS, PERCENT_WORDS, Theme, base_layout, mark_of, short_name

Row = Mapping[str, Any]
Trace = dict[str, Any]

STEPS = {"direct_accuracy": "Direct", "revised_accuracy": "Revise", "selective_accuracy": "Selective"}
"""Step → its name on the axis of Fig. 5."""

_REPAIR, _HARM = ("#0072B2", "#5AB4F0"), ("#8C8C8C", "#8C8C8C")
"""Became right, became wrong, each for the light and the dark theme; neither is a contradiction."""

_CONTROL_OPACITY = 0.55
"""The control steps back behind the variant with premises."""

_END_NAME = 26
"""So many letters of a name stand at the end of a line."""


def steps_slope(rows: Sequence[Row], theme: Theme = LIGHT) -> go.Figure:
    """Return complex accuracy by step, a line a reconciliation, with the coverage of the last (Fig. 5).

    A step without a value has no point, and no line leads past it.

    Args:
        rows: Each a line: series (its key), label, vlm_group, origin, place, is_control, and for each
            step S of `STEPS` S (fraction or None), S_low, S_high, S_k, S_n (None where not known);
            coverage (fraction or None).
        theme: Light or dark.
    """
    traces = [_step_trace(row, theme) for row in rows]
    values = [row[step] for row in rows for step in STEPS if row[step] is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    room = max(0.04, 0.08 * (high - low))
    labels = _spread([row for row in rows if _last(row) is not None], room=(high - low + 2 * room) / 17)
    annotations = [
        {
            "x": 2.06, "y": at, "xref": "x", "yref": "y", "xanchor": "left", "showarrow": False,
            "text": escape(_end_words(row)), "font": {"size": 12, "color": theme.text},
        }
        for row, at in labels
    ]  # fmt: skip
    layout = base_layout(
        theme,
        height=max(320, 60 + 24 * len(rows)),
        margin={"l": 44, "r": 8, "t": 8, "b": 28},
        annotations=annotations,
        xaxis={
            "tickvals": [0, 1, 2], "ticktext": list(STEPS.values()), "range": [-0.15, 3.5], "showgrid": False,
            "zeroline": False, "fixedrange": True, "tickfont": {"size": 13},
        },
        yaxis={
            "range": [low - room, high + room], "tickformat": ".0%", "gridcolor": theme.grid, "zeroline": False,
            "tickfont": {"size": 11, "color": theme.quiet}, "fixedrange": True,
        },
    )  # fmt: skip
    return go.Figure(traces, layout)


def change_bars(rows: Sequence[Row], theme: Theme = LIGHT) -> go.Figure:
    """Return repairs to the right and harms to the left, a pair of bars a group, as shares of its units.

    Args:
        rows: Rows of `change_table` of one reconciliation, in the order drawn from the top.
        theme: Light or dark.
    """
    shade = theme is not LIGHT
    names = [_group_name(row) for row in rows]
    largest = max((max(row["repairs"], row["harms"]) / row["n"] for row in rows), default=0.0)
    traces: list[Trace] = []
    for kind, color, sign in (("repairs", _REPAIR[shade], 1), ("harms", _HARM[shade], -1)):
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "y": names,
                "x": [sign * row[kind] / row["n"] for row in rows],
                "marker": {"color": color},
                "text": [f"{row[kind]:,}" if row[kind] else "" for row in rows],
                "textposition": "outside",
                "textfont": {"size": 12, "color": theme.text},
                "cliponaxis": False,
                "customdata": [[row["revised"], kind, row["by"], row["group"]] for row in rows],
                "hovertext": [_change_words(row, kind, name) for row, name in zip(rows, names, strict=True)],
                "hoverinfo": "text",
            }
        )
    reach = max(1.25 * largest, 0.02)
    layout = base_layout(
        theme,
        barmode="overlay",
        bargap=0.3,
        height=70 + 26 * max(1, len(rows)),
        margin={"l": 8, "r": 8, "t": 26, "b": 26},
        annotations=[
            {**_head(theme), "x": 0.0, "xanchor": "right", "text": "became wrong, of the group's units  "},
            {**_head(theme), "x": 0.0, "xanchor": "left", "text": "  became right"},
        ],
        xaxis={
            "range": [-reach, reach], "tickformat": ".0%", "gridcolor": theme.grid, "zerolinecolor": theme.quiet,
            "tickfont": {"size": 11, "color": theme.quiet}, "fixedrange": True, "nticks": 7,
        },
        yaxis={"autorange": "reversed", "fixedrange": True, "automargin": True, "ticksuffix": "  "},
    )  # fmt: skip
    return go.Figure(traces, layout)


def coverage_lines(lines: Sequence[tuple[Row, Sequence[Row]]], theme: Theme = LIGHT) -> go.Figure:
    """Return accuracy against coverage, a line a reconciliation, with Selective's own point as a large mark.

    The line follows every place of the ordering; a mark stands where a decision and label end, and
    opens their cases.

    Args:
        lines: Each a reconciliation (revised, label, vlm_group, origin, place, is_control) and its rows
            of `coverage_curve`.
        theme: Light or dark.
    """
    traces: list[Trace] = []
    whole = [curve[-1]["accuracy"] for _, curve in lines if curve]
    for about, curve in lines:
        if not curve:
            continue
        mark = mark_of(int(about["place"]), about["vlm_group"], about["origin"], theme)
        opacity = _CONTROL_OPACITY if about["is_control"] else 1.0
        name = escape(str(about["label"]))
        traces.append(
            {
                "type": "scatter", "mode": "lines", "x": [row["coverage"] for row in curve],
                "y": [row["accuracy"] for row in curve],
                "line": {"color": mark.color, "width": 1.75, "dash": mark.dash},
                "opacity": opacity, "hoverinfo": "skip",
            }
        )  # fmt: skip
        ends = _label_ends(curve)
        own = [row["decision"] == "answer" and (after is None or after["decision"] != "answer") for row, after in ends]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [row["coverage"] for row, _ in ends],
                "y": [row["accuracy"] for row, _ in ends],
                "marker": {
                    "symbol": mark.symbol,
                    "size": [15 if is_own else 8 for is_own in own],
                    "color": mark.color,
                    "line": {"width": 1.5, "color": theme.text},
                },
                "opacity": opacity,
                "customdata": [
                    [about["revised"], "coverage", row["decision"], row["consistency"] or "unreadable", is_own]
                    for (row, _), is_own in zip(ends, own, strict=True)
                ],
                "hovertext": [_cover_words(name, row, is_own) for (row, _), is_own in zip(ends, own, strict=True)],
                "hoverinfo": "text",
                "cliponaxis": False,
            }
        )
    shares = [row["accuracy"] for _, curve in lines for row in curve]
    low = max(0.0, min(shares, default=0.0) - 0.06)
    layout = base_layout(
        theme,
        height=330,
        margin={"l": 46, "r": 14, "t": 8, "b": 42},
        shapes=[
            {
                "type": "line", "x0": 0, "x1": 1, "y0": value, "y1": value, "layer": "below",
                "line": {"color": theme.quiet, "width": 1, "dash": "dot"},
            }
            for value in dict.fromkeys(whole)
        ],
        xaxis={
            "range": [0, 1.03], "tickvals": PERCENT_TICKS, "ticktext": PERCENT_WORDS, "gridcolor": theme.grid,
            "title": {"text": "coverage: share of questions answered", "font": {"size": 12, "color": theme.quiet}},
            "zeroline": False, "tickfont": {"size": 11, "color": theme.quiet}, "fixedrange": True,
        },
        yaxis={
            "range": [low, 1.04], "tickformat": ".0%", "gridcolor": theme.grid, "zeroline": False,
            "tickfont": {"size": 11, "color": theme.quiet}, "fixedrange": True,
        },
    )  # fmt: skip
    return go.Figure(traces, layout)


def _step_trace(row: Row, theme: Theme) -> Trace:
    mark = mark_of(int(row["place"]), row["vlm_group"], row["origin"], theme)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": list(range(len(STEPS))),
        "y": [row[step] for step in STEPS],
        "line": {"color": mark.color, "width": 1.75, "dash": mark.dash},
        "marker": {"symbol": mark.symbol, "size": 9, "color": mark.color, "line": {"width": 1.5, "color": mark.color}},
        "opacity": _CONTROL_OPACITY if row["is_control"] else 1.0,
        "connectgaps": False,
        "cliponaxis": False,
        "customdata": [[row["series"], step] for step in STEPS],
        "hovertext": [_step_words(row, step) for step in STEPS],
        "hoverinfo": "text",
        "name": escape(str(row["label"])),
    }


def _step_words(row: Row, step: str) -> str:
    value = row[step]
    text = f"<b>{escape(str(row['label']))}</b><br>{STEPS[step]}, complex accuracy {percent(value)}"
    if row[f"{step}_low"] is not None:
        text += f" ({100 * row[f'{step}_low']:.1f}–{100 * row[f'{step}_high']:.1f})"
    if row[f"{step}_n"] is not None:
        text += f"<br>{row[f'{step}_k']:,}/{row[f'{step}_n']:,}"
    elif value is not None:
        text += "<br>as printed"
    if step == "selective_accuracy":
        text += f"<br>of answered questions; coverage {percent(row['coverage'])}"
    return text


def _last(row: Row) -> float | None:
    """Return the value at the end of a line, where its name stands."""
    found = [row[step] for step in STEPS if row[step] is not None]
    return found[-1] if found else None


def _end_words(row: Row) -> str:
    name = short_name(str(row["label"]), _END_NAME)
    return name if row["coverage"] is None else f"{name}, covers {100 * row['coverage']:.0f} %"


def _spread(rows: Sequence[Row], *, room: float) -> list[tuple[Row, float]]:
    """Return each line with the height of its name, so that no two names overlap."""
    placed: list[tuple[Row, float]] = []
    for row in sorted(rows, key=lambda row: _last(row) or 0.0):
        at = _last(row) or 0.0
        placed.append((row, max(at, placed[-1][1] + room) if placed else at))
    return placed


def _group_name(row: Row) -> str:
    if row["by"] == "complexity":
        return f"{row['group']} part{'' if row['group'] == 1 else 's'}"
    return escape(str(row["group"]).replace("_", " "))


def _change_words(row: Row, kind: str, name: str) -> str:
    became = "became right" if kind == "repairs" else "became wrong"
    change = points(row["change"])
    if row["change_low"] is not None:
        low = points(row["change_low"]).removesuffix(" points")
        change += f" ({low} to {points(row['change_high']).removesuffix(' points')})"
    return f"<b>{name}</b><br>{row[kind]:,} of {row['n']:,} {became}<br>complex accuracy {change}"


def _head(theme: Theme) -> dict[str, Any]:
    font = {"size": 12, "color": theme.quiet}
    return {"showarrow": False, "xref": "x", "yref": "paper", "y": 1, "yanchor": "bottom", "font": font}


def _label_ends(curve: Sequence[Row]) -> list[tuple[Row, Row | None]]:
    """Return the last place of each decision and label, each with the place after it."""
    following = [*curve[1:], None]
    return [
        (row, after)
        for row, after in zip(curve, following, strict=True)
        if after is None or (after["decision"], after["consistency"]) != (row["decision"], row["consistency"])
    ]


def _cover_words(name: str, row: Row, is_own: bool) -> str:
    decided = "answered" if row["decision"] == "answer" else "withheld"
    label = row["consistency"] or "decision not readable"
    text = f"<b>{name}</b><br>down to {decided}, {label}"
    if is_own:
        text = f"<b>{name}, Selective's own choice</b>"
    return (
        f"{text}<br>coverage {percent(row['coverage'])}, accuracy {percent(row['accuracy'])}"
        f"<br>{row['n_right']:,}/{row['n_covered']:,}"
    )
