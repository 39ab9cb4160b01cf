"""Slopes before and after rates over nothing are left out: one row a slope, two marks with their intervals.

Tables of the audit's findings in, a plotly figure out. Hollow and grey is how the paper took undefined rates.
"""

__all__ = ["slope_change"]

from html import escape
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from backend.figures.style import DARK, LIGHT, VLM_COLORS, Theme, base_layout

if TYPE_CHECKING:
    import pandas as pd

_ROW = 46
"""Height of a row in pixels."""
_APART = 0.13
"""How far the two marks of a row stand from its middle, in rows."""


def slope_change(slopes: "pd.DataFrame", theme: Theme = LIGHT) -> go.Figure:
    """Return slopes under two treatments, rows in the order of the table.

    Args:
        slopes: One row a slope and treatment: name, treatment (two values, before and after), n, slope, low, high, p.
        theme: Light or dark.
    """
    names = list(dict.fromkeys(slopes["name"].tolist()))
    treatments = list(dict.fromkeys(slopes["treatment"].tolist()))
    color = VLM_COLORS[0][theme is DARK]
    marks = (
        {"color": theme.quiet, "symbol": "circle-open", "size": 9, "line": {"width": 2, "color": theme.quiet}},
        {"color": color, "symbol": "circle", "size": 9},
    )
    traces: list[dict[str, Any]] = []
    for place, (treatment, mark) in enumerate(zip(treatments, marks, strict=True)):
        rows = slopes[slopes["treatment"] == treatment].to_dict("records")
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": treatment,
                "x": [row["slope"] for row in rows],
                "y": [names.index(row["name"]) + (2 * place - 1) * _APART for row in rows],
                "error_x": {
                    "type": "data", "symmetric": False, "thickness": 1.5, "width": 0, "color": mark["color"],
                    "array": [row["high"] - row["slope"] for row in rows],
                    "arrayminus": [row["slope"] - row["low"] for row in rows],
                },
                "marker": mark,
                "hovertext": [_words(row) for row in rows],
                "hoverinfo": "text",
            }
        )  # fmt: skip
    layout = base_layout(
        theme,
        height=64 + _ROW * len(names),
        showlegend=True,
        legend={
            "orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "itemclick": False, "itemdoubleclick": False,
        },
        margin={"l": 8, "r": 16, "t": 4, "b": 30},
        xaxis={
            "gridcolor": theme.grid, "zeroline": True, "zerolinecolor": theme.quiet, "fixedrange": True,
            "tickfont": {"size": 11, "color": theme.quiet},
            "title": {"text": "slope on the generator's error rate", "font": {"size": 12, "color": theme.quiet}},
        },
        yaxis={
            "range": [len(names) - 0.5, -0.5], "tickvals": list(range(len(names))),
            "ticktext": [f"{escape(name)}  " for name in names],
            "showgrid": False, "zeroline": False, "fixedrange": True, "automargin": True,
        },
    )  # fmt: skip
    return go.Figure({"data": traces, "layout": layout})


def _words(row: dict[Any, Any]) -> str:
    p = "p < 0.001" if row["p"] < 0.001 else f"p {row['p']:.3f}"
    return (
        f"<b>{escape(str(row['name']))}</b>, {escape(str(row['treatment']))}<br>"
        f"{row['slope']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f}), {p}, n = {row['n']:,} cells"
    ).replace("-", "−")
