"""The figures of feedback loops: fates of first answers (Fig. 7a), bias at both ends (Fig. 7b), turn by turn (Fig. B5).

Tables of `services.verimap_loop` in, plotly figures out: a panel a loop, for loops are never pooled. Every point
carries in ``customdata`` the loop, the task, and the fate or turn it stands for. Names are escaped, and all other text
enters as hover text, never as a template.
"""

__all__ = ["ALL", "UNLABELLED", "fate_bars", "fate_color", "lean_ends", "turn_lines"]

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from backend.domain.metric import percent, points
from backend.figures.style import LIGHT, Theme, base_layout, short_name, text_on
from backend.figures.tasks import TASK_NAMES, task_color
from backend.verimap.metrics import METRICS

Row = Mapping[str, Any]
Trace = dict[str, Any]

ALL, UNLABELLED = "all", "unlabelled"
"""In place of a task in the tables: all questions together, and those without a task."""

_COLUMNS = 3
"""Panels side by side; further loops stand below."""
_ROW_PX = 27
"""Height of a task's row."""
_SMALLEST_LABELLED = 0.09
"""A narrower segment has no room for its label."""

_FATE_COLORS = {
    "corrected": ("#0072B2", "#1C86C7"),
    "still_wrong": ("#8C8C8C", "#8C8C8C"),
    "kept": ("#9CC7C0", "#3F7F77"),
    "spoiled": ("#7B4EA3", "#9268B8"),
}
"""Fate → colour in the light and the dark theme. Locked answers are the contradiction and have its colour."""


def fate_color(fate: str, theme: Theme) -> str:
    """Return a fate's colour.

    Raises:
        KeyError: There is no such fate.
    """
    return theme.contradiction if fate == "locked" else _FATE_COLORS[fate][theme is not LIGHT]


def fate_bars(
    rows: Sequence[Row], loops: Mapping[str, str], fates: Mapping[str, str], n_of: str, theme: Theme = LIGHT
) -> go.Figure:
    """Return what became of first answers, a panel a loop, a stacked bar a task.

    Args:
        rows: Of `fate_table`.
        loops: Loop → its name, in the order drawn.
        fates: Fates that add up to the bar → their words, from the left.
        n_of: Column of the answers that the bar stands for: ``n_wrong`` or ``n_right``.
        theme: Light or dark.
    """
    shown = [row for row in rows if row["loop_id"] in loops and row[n_of]]
    tasks = _tasks(shown)
    figure = _panels(loops, theme, row_height=_ROW_PX * max(1, len(tasks)))
    for place, loop in enumerate(loops):
        own = [row for row in shown if row["loop_id"] == loop]
        for fate, words in fates.items():
            figure.add_trace(_fate_trace(own, fate, words, n_of, theme), *_cell(place))
        figure.add_trace(_counts(own, n_of, theme), *_cell(place))
    figure.update_layout(barmode="stack", bargap=0.3)
    figure.update_xaxes(
        range=[0, 1.17], tickvals=[0, 0.5, 1], ticktext=["0", "50", "100 %"], showgrid=False, zeroline=False,
        fixedrange=True, tickfont={"size": 11, "color": theme.quiet},
    )  # fmt: skip
    _task_axis(figure, tasks)
    return figure


def lean_ends(rows: Sequence[Row], loops: Mapping[str, str], metric: str = "bias", theme: Theme = LIGHT) -> go.Figure:
    """Return a metric at turn 0 (filled) and at the last turn (open), a panel a loop, a row a task (Fig. 7b).

    Args:
        rows: Of `turn_table`.
        loops: Loop → its name, in the order drawn.
        metric: ``bias`` or ``fpr``.
        theme: Light or dark.
    """
    shown = [row for row in rows if row["loop_id"] in loops]
    tasks = _tasks(shown)
    figure = _panels(loops, theme, row_height=_ROW_PX * max(1, len(tasks)))
    values = [row[metric] for row in shown if row[metric] is not None]
    low, high = min([0.0, *values]), max([0.1, *values])
    reach = (high - low) * 0.3
    for place, loop in enumerate(loops):
        for task in tasks:
            own = [row for row in shown if row["loop_id"] == loop and row["task"] == task]
            ends = [row for row in (own[:1] + own[-1:] if len(own) > 1 else own) if row[metric] is not None]
            if ends:
                figure.add_trace(_ends_trace(ends, metric, theme), *_cell(place))
            if len(ends) > 1:
                figure.add_annotation(
                    x=high + reach, y=task, xanchor="right", showarrow=False, row=_cell(place)[0], col=_cell(place)[1],
                    text=points(ends[1][metric] - ends[0][metric]).removesuffix(" points"),
                    font={"size": 12, "color": theme.quiet},
                )  # fmt: skip
    figure.update_xaxes(
        range=[low - 0.05 * (high - low), high + reach], tickformat=".0%", gridcolor=theme.grid, zeroline=low < 0,
        zerolinecolor=theme.quiet, fixedrange=True, tickfont={"size": 11, "color": theme.quiet}, nticks=6,
    )  # fmt: skip
    _task_axis(figure, tasks)
    return figure


def turn_lines(rows: Sequence[Row], loops: Mapping[str, str], metric: str, theme: Theme = LIGHT) -> go.Figure:
    """Return a metric turn by turn, a panel a loop, a line a task (Fig. B5).

    Args:
        rows: Of `turn_table`.
        loops: Loop → its name, in the order drawn.
        metric: ``bias``, ``fpr`` or ``right``.
        theme: Light or dark.
    """
    shown = [row for row in rows if row["loop_id"] in loops]
    figure = _panels(loops, theme, row_height=210, shared_y=True)
    for place, loop in enumerate(loops):
        for task in reversed(_tasks(shown)):
            own = [row for row in shown if row["loop_id"] == loop and row["task"] == task]
            if any(row[metric] is not None for row in own):
                figure.add_trace(_line(own, task, metric, theme), *_cell(place))
    values = [row[metric] for row in shown if row[metric] is not None]
    low, high = min([0.0, *values]), max([0.1, *values])
    room = 0.06 * (high - low)
    turns = sorted({row["turn"] for row in shown})
    figure.update_yaxes(
        range=[low - room, high + room], tickformat=".0%", gridcolor=theme.grid, zeroline=low < 0,
        zerolinecolor=theme.quiet, fixedrange=True, automargin=True, tickfont={"size": 11, "color": theme.quiet},
    )  # fmt: skip
    figure.update_xaxes(
        tickvals=turns, ticktext=["first" if turn == 0 else str(turn) for turn in turns],
        range=[-0.2, max(turns, default=1) + 0.2], showgrid=False, zeroline=False, fixedrange=True,
        tickfont={"size": 11, "color": theme.quiet},
    )  # fmt: skip
    return figure


def _panels(loops: Mapping[str, str], theme: Theme, *, row_height: int, shared_y: bool = True) -> go.Figure:
    """Return empty panels, each with its loop's name above it."""
    columns = max(1, min(_COLUMNS, len(loops)))
    rows = max(1, ceil(len(loops) / columns))
    head, foot = 30, 34
    height = rows * (row_height + head + foot)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        shared_yaxes="all" if shared_y else False,
        horizontal_spacing=0.035,
        vertical_spacing=(head + foot) / height if rows > 1 else 0,
        subplot_titles=[escape(short_name(name, 44)) for name in loops.values()],
    )
    figure.update_annotations(font={"size": 13, "color": theme.text}, xanchor="center")
    figure.update_layout(**base_layout(theme, height=height, margin={"l": 8, "r": 8, "t": head, "b": foot}))
    return figure


def _cell(place: int) -> tuple[int, int]:
    return place // _COLUMNS + 1, place % _COLUMNS + 1


def _task_axis(figure: go.Figure, tasks: Sequence[str]) -> None:
    figure.update_yaxes(
        categoryorder="array", categoryarray=list(reversed(tasks)), tickvals=list(tasks),
        ticktext=[f"{_name(task)}  " for task in tasks], range=[-0.6, len(tasks) - 0.4], fixedrange=True,
        automargin=True, showgrid=False, zeroline=False,
    )  # fmt: skip


def _fate_trace(rows: Sequence[Row], fate: str, words: str, n_of: str, theme: Theme) -> Trace:
    color = fate_color(fate, theme)
    shares = [row[fate] for row in rows]
    return {
        "type": "bar",
        "orientation": "h",
        "y": [row["task"] for row in rows],
        "x": shares,
        "marker": {"color": color, "line": {"width": 1, "color": theme.ground}},
        "text": [f"{100 * share:.0f}" if share >= _SMALLEST_LABELLED else "" for share in shares],
        "textposition": "inside",
        "constraintext": "none",
        "insidetextanchor": "middle",
        "textangle": 0,
        "textfont": {"size": 12, "color": text_on(color)},
        "customdata": [[row["loop_id"], row["task"], fate] for row in rows],
        "hovertext": [
            f"<b>{_name(row['task'])}</b><br>{escape(words)}<br>{_value(row, fate)}, {row[f'n_{fate}']:,}/{row[n_of]:,}"
            for row in rows
        ],
        "hoverinfo": "text",
        "name": escape(words),
    }


def _counts(rows: Sequence[Row], n_of: str, theme: Theme) -> Trace:
    """Return how many answers each bar stands for, at its end."""
    return {
        "type": "scatter",
        "mode": "text",
        "x": [1.02] * len(rows),
        "y": [row["task"] for row in rows],
        "text": [f"{row[n_of]:,}" for row in rows],
        "textposition": "middle right",
        "textfont": {"size": 11, "color": theme.quiet},
        "hoverinfo": "skip",
        "cliponaxis": False,
    }


def _ends_trace(ends: Sequence[Row], metric: str, theme: Theme) -> Trace:
    color = _color(ends[0]["task"], theme)
    symbols = ["circle"] if len(ends) == 1 else ["circle", "circle-open"]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [row[metric] for row in ends],
        "y": [row["task"] for row in ends],
        "line": {"color": color, "width": 2},
        "marker": {"symbol": symbols, "size": 11, "color": color, "line": {"width": 2, "color": color}},
        "customdata": [[row["loop_id"], row["task"], row["turn"]] for row in ends],
        "hovertext": [_turn_words(row, metric) for row in ends],
        "hoverinfo": "text",
        "cliponaxis": False,
    }


def _line(rows: Sequence[Row], task: str, metric: str, theme: Theme) -> Trace:
    color = _color(task, theme)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [row["turn"] for row in rows],
        "y": [row[metric] for row in rows],
        "line": {"color": color, "width": 3 if task == ALL else 1.75},
        "marker": {"size": 7 if task == ALL else 6, "color": color},
        "connectgaps": False,
        "customdata": [[row["loop_id"], row["task"], row["turn"]] for row in rows],
        "hovertext": [_turn_words(row, metric) for row in rows],
        "hoverinfo": "text",
        "cliponaxis": False,
        "name": _name(task),
    }


def _turn_words(row: Row, metric: str) -> str:
    name = "right answers" if metric == "right" else METRICS[metric].label
    said = points(row[metric]) if metric == "bias" else percent(row[metric])
    low, high = row[f"{metric}_low"], row[f"{metric}_high"]
    interval = "" if low is None else f" ({100 * low:.1f} to {100 * high:.1f})".replace("-", "−")
    if metric == "right":
        counted = f"{row['right_k']:,}/{row['right_n']:,} answers"
    else:
        counted = f"n = {row['n']:,}: {row['fp']:,} false acceptances, {row['fn']:,} false rejections"
    return f"<b>{_name(row['task'])}</b>, turn {row['turn']}<br>{name} {said}{interval}<br>{counted}"


def _value(row: Row, key: str) -> str:
    low, high = row[f"{key}_low"], row[f"{key}_high"]
    return percent(row[key]) + ("" if low is None else f" ({100 * low:.1f}–{100 * high:.1f})")


def _tasks(rows: Sequence[Row]) -> list[str]:
    """Return the tasks that are there, in the order of the tables."""
    there = {row["task"] for row in rows}
    known = [ALL, *(UNLABELLED if task is None else task for task in TASK_NAMES)]
    return [task for task in known if task in there]


def _name(task: str) -> str:
    return "All" if task == ALL else TASK_NAMES[None if task == UNLABELLED else task]


def _color(task: str, theme: Theme) -> str:
    return theme.text if task == ALL else task_color(None if task == UNLABELLED else task, theme)
