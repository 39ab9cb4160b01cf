"""Checks of saliency maps: the answer's probability as the image goes and comes, maps beside their control, pointing.

Maps that are compared share one scale of colours. Text of a data set enters as hover text, escaped, never as a
template.
"""

__all__ = ["faithfulness_curves", "maps_beside", "pointing_marks"]

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from backend.domain.metric import percent
from backend.figures.style import CIVIDIS, LIGHT, PERCENT_TICKS, PERCENT_WORDS, VLM_COLORS, Theme, base_layout

Row = Mapping[str, Any]
Trace = dict[str, Any]

_MAPS: Mapping[str, tuple[int, str, str]] = {"attention": (0, "solid", "circle"), "gradient": (1, "dash", "diamond")}
"""Map → place of its colour, dash of its line, symbol of its mark."""

_PANELS = (("deletion", "blurred away, the map’s brightest first"), ("insertion", "brought back, the brightest first"))

_TICKS = (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64)


def faithfulness_curves(curves: Mapping[str, Mapping[str, Sequence[float]]], theme: Theme = LIGHT) -> go.Figure:
    """Return deletion (left) and insertion (right): a line a map, and a dotted one for a random order.

    Args:
        curves: Map (attention, gradient) → shares, deletion, insertion, chance_deletion and chance_insertion, as
            `backend.vlm.saliency.faithfulness.Curves` has them. They share one random order, so it is drawn once.
        theme: Light or dark.
    """
    traces: list[Trace] = []
    layout: dict[str, Any] = {}
    for column, (panel, words) in enumerate(_PANELS):
        suffix = "" if column == 0 else str(column + 1)
        axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
        for name, own in curves.items():
            place, dash, symbol = _MAPS[name]
            color = VLM_COLORS[place][theme is not LIGHT]
            traces.append(_line(own["shares"], own[panel], f"{name} map", color, dash, symbol, column) | axes)
        if curves:
            own = next(iter(curves.values()))
            chance = own[f"chance_{panel}"]
            traces.append(_line(own["shares"], chance, "random order", theme.quiet, "dot", "x-thin", column) | axes)
        quiet = {"size": 11, "color": theme.quiet}
        layout |= {
            f"xaxis{suffix}": {
                "domain": (column * 0.54, column * 0.54 + 0.46), "anchor": f"y{suffix}", "range": [-0.02, 1.02],
                "tickvals": PERCENT_TICKS, "ticktext": PERCENT_WORDS, "fixedrange": True, "zeroline": False,
                "gridcolor": theme.grid, "tickfont": quiet,
                "title": {"text": f"share of the image {words}", "font": {"size": 12, "color": theme.quiet}},
            },
            f"yaxis{suffix}": {
                "anchor": f"x{suffix}", "range": [-0.03, 1.03], "fixedrange": True, "zeroline": False,
                "gridcolor": theme.grid, "tickvals": PERCENT_TICKS, "tickfont": quiet,
                "title": {
                    "text": "" if column else "probability of the answer", "font": {"size": 12, "color": theme.quiet},
                },
            },
        }  # fmt: skip
    legend = {"orientation": "h", "x": 0, "y": 1.14, "font": {"size": 12}}
    margin = {"l": 48, "r": 8, "t": 30, "b": 44}
    return go.Figure(traces, base_layout(theme, height=300, margin=margin, showlegend=True, legend=legend, **layout))


def maps_beside(
    maps: Sequence[tuple[str, NDArray[Any], NDArray[Any]]], names: tuple[str, str], theme: Theme = LIGHT
) -> go.Figure:
    """Return, for each kind of map, two of them beside each other on one scale: shares of the map's own sum.

    Args:
        maps: Kind of map, then two maps of shape (rows, columns), 0 or more; a map that is 0 everywhere stays so.
        names: What to call the two.
        theme: Light or dark.
    """
    traces: list[Trace] = []
    notes: list[dict[str, Any]] = []
    layout: dict[str, Any] = {}
    scale = [[at / (len(CIVIDIS) - 1), color] for at, color in enumerate(CIVIDIS)]
    for pair, (kind, *both) in enumerate(maps):
        shares = [one / (float(one.sum()) or 1.0) for one in both]
        highest = max(float(one.max()) for one in shares)
        for side, (share, name) in enumerate(zip(shares, names, strict=True)):
            column = 2 * pair + side
            suffix = str(column + 1) if column else ""
            left = column / (2 * len(maps))
            domain = (left + 0.01, left + 1 / (2 * len(maps)) - 0.01)
            traces.append(
                {
                    "type": "heatmap", "z": share, "zmin": 0, "zmax": highest or 1.0, "colorscale": scale,
                    "showscale": False, "xaxis": f"x{suffix}", "yaxis": f"y{suffix}",
                    "hovertext": [[percent(value) + " of the map" for value in row] for row in share.tolist()],
                    "hoverinfo": "text",
                }
            )  # fmt: skip
            hidden = {"visible": False, "fixedrange": True, "constrain": "domain"}
            layout |= {
                f"xaxis{suffix}": {**hidden, "domain": domain, "anchor": f"y{suffix}"},
                f"yaxis{suffix}": {
                    **hidden, "anchor": f"x{suffix}", "autorange": "reversed", "scaleanchor": f"x{suffix}",
                },
            }  # fmt: skip
            notes.append(
                {
                    "text": f"{escape(kind)}, {escape(name)}", "x": sum(domain) / 2, "y": 1.0, "xref": "paper",
                    "yref": "paper", "xanchor": "center", "yanchor": "bottom", "showarrow": False,
                    "font": {"size": 12, "color": theme.quiet},
                }
            )  # fmt: skip
    margin = {"l": 8, "r": 8, "t": 28, "b": 8}
    return go.Figure(traces, base_layout(theme, height=250, margin=margin, annotations=notes, **layout))


def pointing_marks(rows: Sequence[Row], theme: Theme = LIGHT) -> go.Figure:
    """Return how many times its chance each map has inside the object, by object, with intervals; the line is chance.

    Filled: the generator's map. Hollow: the verifier's. Circle: attention. Diamond: gradient.

    Args:
        rows: Of one VLM, of `backend.services.saliency_pointing_table.pointing_table`. One whose ratio is undefined,
            or 0 (which the scale has no place for), is left out.
        theme: Light or dark.
    """
    known = [row for row in rows if row["times_chance"]]
    objects = list(dict.fromkeys(row["object"] for row in known))
    series = [(seat, kind) for seat in ("generator", "verifier") for kind in _MAPS]
    traces: list[Trace] = []
    for nth, (seat, kind) in enumerate(series):
        own = [row for row in known if (row["seat"], row["map"]) == (seat, kind)]
        place, _, symbol = _MAPS[kind]
        color = VLM_COLORS[place][theme is not LIGHT]
        ends = [(row["times_chance_low"], row["times_chance_high"], row["times_chance"]) for row in own]
        traces.append(
            {
                "type": "scatter", "mode": "markers", "name": f"{seat}, {kind}",
                "x": [row["times_chance"] for row in own],
                "y": [objects.index(row["object"]) + (nth - 1.5) * 0.18 for row in own],
                "error_x": {
                    "type": "data", "symmetric": False, "color": color, "thickness": 1.5, "width": 0,
                    "array": [0 if high is None else high - value for _, high, value in ends],
                    "arrayminus": [0 if low is None else value - low for low, _, value in ends],
                },
                "marker": {
                    "symbol": symbol + ("" if seat == "generator" else "-open"), "size": 9, "color": color,
                    "line": {"width": 1.5, "color": color},
                },
                "hovertext": [_pointing_words(row) for row in own], "hoverinfo": "text",
            }
        )  # fmt: skip
    names = [escape("all of them" if name == "all" else str(name)) for name in objects]
    values = [value for row in known for value in (row["times_chance_low"], row["times_chance_high"]) if value]
    values += [1.0, *(row["times_chance"] for row in known)]
    layout = base_layout(
        theme,
        height=90 + 62 * max(len(objects), 1),
        margin={"l": 8, "r": 16, "t": 34, "b": 44},
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "font": {"size": 12}},
        xaxis={
            "type": "log", "range": [np.log10(min(values) / 1.2), np.log10(max(values) * 1.2)], "tickvals": _TICKS,
            "ticktext": [f"{tick:g}" for tick in _TICKS], "gridcolor": theme.grid, "fixedrange": True,
            "zeroline": False, "tickfont": {"size": 11, "color": theme.quiet},
            "title": {
                "text": "times as much of the map inside the object as of an even one (1 is chance)",
                "font": {"size": 12, "color": theme.quiet},
            },
        },
        yaxis={
            "tickvals": list(range(len(objects))), "ticktext": [f"{name}  " for name in names],
            "range": [len(objects) - 0.5, -0.5], "fixedrange": True, "automargin": True, "showgrid": False,
            "zeroline": False,
        },
        shapes=[
            {
                "type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper",
                "line": {"color": theme.quiet, "width": 1.5, "dash": "dash"},
            }
        ],
    )  # fmt: skip
    return go.Figure(traces, layout)


def _line(
    shares: Sequence[float], values: Sequence[float], name: str, color: str, dash: str, symbol: str, column: int
) -> Trace:
    return {
        "type": "scatter", "mode": "lines+markers", "x": list(shares), "y": list(values), "name": name,
        "legendgroup": name, "showlegend": column == 0, "line": {"color": color, "dash": dash, "width": 2},
        "marker": {"symbol": symbol, "size": 6, "color": color, "line": {"width": 1, "color": color}},
        "hovertext": [
            f"{name}<br>{percent(share)} of the image<br>probability {value:.3f}"
            for share, value in zip(shares, values, strict=True)
        ],
        "hoverinfo": "text",
    }  # fmt: skip


def _pointing_words(row: Row) -> str:
    low, high = row["times_chance_low"], row["times_chance_high"]
    interval = "" if low is None else f" ({low:.2f}–{high:.2f})"
    return (
        f"<b>{escape(str(row['vlm']))}</b>, {row['seat']}, {row['map']}<br>{row['times_chance']:.2f} times chance"
        f"{interval}<br>{percent(row['mass'])} of the map on {percent(row['area'])} of the image<br>"
        f"brightest place inside: {row['hits_k']:,}/{row['n']:,}; by chance {percent(row['chance_hit'])}<br>"
        f"n = {row['n']:,} maps of {row['n_images']:,} frames"
    )
