"""The learning curves of a training: accuracy by task over the steps, and below it the training loss.

The stages lie between thin lines; a name stands over those that are wide enough for it. A loss is
comparable within its stage alone, since each weighs its lessons in its own way; so its line ends where
the stage does.
"""

__all__ = ["TASKS", "learning_curves"]

from html import escape
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from backend.domain.metric import percent
from backend.figures.style import DARK, LIGHT, PERCENT_TICKS, PERCENT_WORDS, VLM_COLORS, Theme, base_layout

if TYPE_CHECKING:
    import pandas as pd

TASKS = {
    "atomic": "Atomic question",
    "complex": "Complex question",
    "generate": "Answer, then explain",
    "verify": "Verify an atomic answer",
    "verify_complex": "Verify a complex answer",
    "revise": "Revise on premises",
    "self_revise": "Revise without premises",
    "select": "Select on premises",
    "self_select": "Select without premises",
    "loop": "Revise after a verdict",
    "surgical": "Surgical question",
    "surgical_verify": "Verify a surgical answer",
}
"""Task → its name, in the order of colours and shapes; another task is shown under its own name."""

_SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "cross",
    "x",
    "star",
    "pentagon",
    "hexagon",
    "triangle-left",
    "triangle-right",
)

_ACCURACY, _LOSS = (0.34, 1.0), (0.0, 0.22)
"""The two panels' shares of the height."""

_WIDTH, _LETTER = 640, 6.5
"""Pixels: the panels' width on a narrow screen, and a letter's."""


def learning_curves(accuracy: "pd.DataFrame", losses: "pd.DataFrame", theme: Theme = LIGHT) -> go.Figure:
    """Return the learning curves.

    Args:
        accuracy: One row a point and task: stage, step, task, n_right, n.
        losses: One row a point, in order: stage, step, loss. At least one.
        theme: Light or dark.
    """
    ends = losses.groupby("stage", sort=False)["step"].max()
    last = int(losses["step"].max())
    traces = [*_accuracy_traces(accuracy, theme), *_loss_traces(losses, theme)]
    quiet = {"size": 12, "color": theme.quiet}
    starts = [0, *ends[:-1]]
    names = [
        {
            "x": (start + end) / 2,
            "y": 1,
            "yref": "paper",
            "yanchor": "bottom",
            "text": escape(str(stage)),
            "showarrow": False,
            "font": quiet,
        }
        for (stage, end), start in zip(ends.items(), starts, strict=True)
        if (end - start) / last * _WIDTH >= _LETTER * len(str(stage))
    ]
    panels = [
        {"x": 0, "xref": "paper", "xanchor": "left", "y": y, "yref": "paper", "yanchor": "bottom", "text": text}
        for y, text in ((1.06, "Right word for word, on validation frames"), (_LOSS[1], "Training loss"))
    ]
    line = {"gridcolor": theme.grid, "linecolor": theme.grid, "zeroline": False, "fixedrange": True}
    layout = base_layout(
        theme,
        height=470,
        margin={"l": 52, "r": 8, "t": 52, "b": 40},
        showlegend=True,
        legend={"x": 1.01, "y": 1, "font": {"size": 13}, "itemclick": False, "itemdoubleclick": False},
        xaxis={
            **line,
            "range": [0, last * 1.02],
            "title": {"text": "Step", "font": quiet, "standoff": 6},
            "tickformat": ",d",
            "anchor": "y2",
            "showgrid": False,
        },
        yaxis={
            **line,
            "domain": _ACCURACY,
            "range": [0, 1.03],
            "tickvals": PERCENT_TICKS,
            "ticktext": PERCENT_WORDS,
        },
        yaxis2={**line, "domain": _LOSS, "rangemode": "tozero", "nticks": 3, "anchor": "x"},
        shapes=[
            {
                "type": "line",
                "x0": end,
                "x1": end,
                "y0": 0,
                "y1": 1,
                "yref": "paper",
                "line": {"color": theme.quiet, "width": 1},
                "opacity": 0.5,
            }
            for end in ends[:-1]
        ],
        annotations=[*names, *({"showarrow": False, "font": quiet, **panel} for panel in panels)],
    )
    return go.Figure(traces, layout)


def _accuracy_traces(accuracy: "pd.DataFrame", theme: Theme) -> list[dict[str, Any]]:
    """Return a line a task, the one that ends highest first, so that the legend reads as the lines lie."""
    known = [*TASKS, *sorted(set(accuracy["task"]) - set(TASKS))]
    ordered = []
    for task, of_task in accuracy.groupby("task"):
        place = known.index(str(task))
        name = TASKS.get(str(task), escape(str(task).replace("_", " ")))
        shares = (of_task["n_right"] / of_task["n"]).tolist()
        color = VLM_COLORS[place % len(VLM_COLORS)][theme is DARK]
        counts = zip(of_task["step"], of_task["stage"], of_task["n_right"], of_task["n"], strict=True)
        trace = {
            "type": "scatter",
            "x": of_task["step"].tolist(),
            "y": shares,
            "mode": "lines+markers",
            "name": name,
            "line": {"color": color, "width": 2},
            "marker": {"symbol": _SYMBOLS[place % len(_SYMBOLS)], "size": 8, "color": color},
            "hovertext": [
                f"<b>{name}</b><br>{percent(n_right / n)}, {n_right:,}/{n:,}<br>step {step:,}, {escape(str(stage))}"
                for step, stage, n_right, n in counts
            ],
            "hoverinfo": "text",
            "cliponaxis": False,
        }
        ordered.append((-shares[-1], place, trace))
    return [trace for _, _, trace in sorted(ordered, key=lambda entry: entry[:2])]


def _loss_traces(losses: "pd.DataFrame", theme: Theme) -> list[dict[str, Any]]:
    return [
        {
            "type": "scatter",
            "x": of_stage["step"].tolist(),
            "y": of_stage["loss"].tolist(),
            "yaxis": "y2",
            "mode": "lines+markers",
            "line": {"color": theme.quiet, "width": 1.5},
            "marker": {"symbol": "circle", "size": 5, "color": theme.quiet},
            "hovertext": [
                f"training loss {loss:.3f}<br>step {step:,}, {escape(str(stage))}"
                for step, loss in zip(of_stage["step"], of_stage["loss"], strict=True)
            ],
            "hoverinfo": "text",
            "showlegend": False,
        }
        for stage, of_stage in losses.groupby("stage", sort=False)
    ]
