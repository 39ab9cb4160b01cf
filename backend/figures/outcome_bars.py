"""What became of the units of each run, as stacked bars; a segment knows its run and outcome.

Text of a data set is escaped, and enters as hover text, never as a template.
"""

__all__ = ["outcome_bars"]

from html import escape
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from backend.domain.metric import percent
from backend.figures.style import (
    LIGHT,
    OUTCOME_COLORS,
    PERCENT_TICKS,
    PERCENT_WORDS,
    Theme,
    base_layout,
    short_name,
    text_on,
)

if TYPE_CHECKING:
    import pandas as pd

_SMALLEST_LABELLED = 0.06
"""A narrower segment has no room for its label."""


def outcome_bars(outcomes: "pd.DataFrame", theme: Theme = LIGHT) -> go.Figure:
    """Return what became of the units, a stacked bar a run, the right answers first.

    Args:
        outcomes: One row a run and outcome: series, label, vlm_group, outcome, plain (the outcome in
            words), n_units, n_total (the run's units). Runs are drawn by their share of supported units.
        theme: Light or dark.
    """
    every = outcomes.to_dict("records")
    share = {row["series"]: row["n_units"] / row["n_total"] for row in every if row["outcome"] == "supported"}
    order = sorted(dict.fromkeys(row["series"] for row in every), key=lambda key: share.get(key, 0.0))
    names = {row["series"]: str(row["label"]) for row in every}
    traces: list[dict[str, Any]] = []
    for outcome in (*OUTCOME_COLORS, "not_answered"):
        rows = [row for row in every if row["outcome"] == outcome]
        if not rows:
            continue
        pair = OUTCOME_COLORS.get(outcome)
        color = None if pair is None else pair[theme is not LIGHT]
        shares = [row["n_units"] / row["n_total"] for row in rows]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "y": [row["series"] for row in rows],
                "x": shares,
                "marker": {
                    "color": color or "rgba(0,0,0,0)",
                    "line": {"width": 1, "color": theme.quiet if color is None else theme.ground},
                },
                "text": [f"{100 * value:.0f}" if value >= _SMALLEST_LABELLED else "" for value in shares],
                "textposition": "inside",
                "constraintext": "none",
                "insidetextanchor": "middle",
                "textangle": 0,
                "textfont": {"size": 12, "color": theme.text if color is None else text_on(color)},
                "customdata": [[row["series"], outcome] for row in rows],
                "hovertext": [
                    f"<b>{escape(names[row['series']])}</b><br>{escape(str(row['plain']))}<br>"
                    f"{percent(value)}, {row['n_units']:,}/{row['n_total']:,} units"
                    for row, value in zip(rows, shares, strict=True)
                ],
                "hoverinfo": "text",
            }
        )
    layout = base_layout(
        theme,
        barmode="stack",
        bargap=0.28,
        height=max(150, 50 + 32 * len(order)),
        margin={"l": 8, "r": 24, "t": 4, "b": 26},
        xaxis={
            "range": [0, 1], "tickvals": PERCENT_TICKS, "ticktext": PERCENT_WORDS, "showgrid": False, "zeroline": False,
            "tickfont": {"size": 11, "color": theme.quiet}, "fixedrange": True,
        },
        yaxis={
            "categoryorder": "array", "categoryarray": order, "tickvals": order,
            "ticktext": [escape(short_name(names[key])) + "  " for key in order],
            "fixedrange": True, "automargin": True,
        },
    )  # fmt: skip
    return go.Figure(traces, layout)
