"""Verifiers compared: the way from self- to cross-verification (Fig. 6), relatives (B3, B4), and the controls.

Tables of `services.verimap_comparisons` in, plotly figures out. Every point carries in ``customdata`` what lies
behind it. Text of a data set is escaped, and enters as hover text, never as a template.
"""

__all__ = ["crossing_arrows", "relation_lines", "unchanged_shares"]

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from backend.domain.metric import percent, points
from backend.figures.style import LIGHT, Theme, base_layout, short_name
from backend.figures.tasks import TASK_NAMES, task_color
from backend.figures.verimap_hover import AXES, task_words
from backend.verimap.metrics import METRICS

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, Any]
Trace = dict[str, Any]

_LESS = ("#0072B2", "#5AB4F0")
"""Colour of a rate that falls, in the light and the dark theme."""


def crossing_arrows(table: "pd.DataFrame", theme: Theme = LIGHT) -> go.Figure:
    """Return, on each panel of the plane, an arrow a task from self (filled) to cross (hollow).

    A task of which error or axis is undefined on either side has no arrow on that panel.

    Args:
        table: Rows of `self_to_cross`.
        theme: Light or dark.
    """
    rows = _records(table)
    traces: list[Trace] = []
    notes: list[dict[str, Any]] = []
    layout: dict[str, Any] = {}
    errors = [row[f"error_{side}"] for row in rows for side in "ab" if row[f"error_{side}"] is not None]
    across = _near(errors)
    for column, axis in enumerate(AXES):
        suffix = "" if column == 0 else str(column + 1)
        key = axis.value
        own = [
            row for row in rows if all(row[f"{name}_{side}"] is not None for name in ("error", key) for side in "ab")
        ]
        up = _near([row[f"{key}_{side}"] for row in own for side in "ab"])
        left = column * 1.06 / 3
        layout |= {
            f"xaxis{suffix}": {
                "domain": (left, left + 0.88 / 3), "anchor": f"y{suffix}", "range": across, "fixedrange": True,
                "zeroline": False, "gridcolor": theme.grid, **_ticks(across),
                "tickfont": {"size": 11, "color": theme.quiet},
                "title": {"text": "verifier error, %", "font": {"size": 12, "color": theme.quiet}, "standoff": 4},
            },
            f"yaxis{suffix}": {
                "anchor": f"x{suffix}", "range": up, "fixedrange": True, "zeroline": False,
                "gridcolor": theme.grid, **_ticks(up), "tickfont": {"size": 11, "color": theme.quiet},
                "title": {
                    "text": f"{METRICS[key].label}, %", "font": {"size": 12, "color": theme.quiet}, "standoff": 2,
                },
            },
        }  # fmt: skip
        for row in own:
            color = task_color(row["task"], theme)
            notes.append(
                {
                    "x": row["error_b"], "y": row[f"{key}_b"], "ax": row["error_a"], "ay": row[f"{key}_a"],
                    "xref": f"x{suffix}", "yref": f"y{suffix}", "axref": f"x{suffix}", "ayref": f"y{suffix}",
                    "showarrow": True, "arrowhead": 2, "arrowsize": 1, "arrowwidth": 1.4, "arrowcolor": color,
                    "standoff": 6, "startstandoff": 5, "text": "",
                }
            )  # fmt: skip
            for side, hollow in (("a", ""), ("b", "-open")):
                traces.append(
                    {
                        "type": "scatter", "mode": "markers", "xaxis": f"x{suffix}", "yaxis": f"y{suffix}",
                        "x": [row[f"error_{side}"]], "y": [row[f"{key}_{side}"]],
                        "marker": {
                            "symbol": f"circle{hollow}", "size": 10, "color": color,
                            "line": {"width": 1.5, "color": color},
                        },
                        "customdata": [[row["task"] or "", "self" if side == "a" else "cross", key]],
                        "hovertext": [_crossing_words(row, key)], "hoverinfo": "text", "cliponaxis": False,
                    }
                )  # fmt: skip
    return go.Figure(
        traces,
        base_layout(theme, height=330, margin={"l": 50, "r": 8, "t": 10, "b": 40}, annotations=notes, **layout),
    )


def relation_lines(table: "pd.DataFrame", names: tuple[str, str], theme: Theme = LIGHT) -> go.Figure:
    """Return the FPR by task of a VLM verifying itself (circle) and of its relative (diamond), joined by a line.

    The line is solid blue where the relative accepts fewer wrong answers, dotted grey where it does not.

    Args:
        table: Rows of `relation_table`, of one relation. A task without an FPR on one side shows the other alone.
        names: What to call the two.
        theme: Light or dark.
    """
    rows = sorted(
        (row for row in _records(table) if row["fpr_a"] is not None or row["fpr_b"] is not None),
        key=lambda row: row["fpr_a"] if row["fpr_a"] is not None else row["fpr_b"],
    )
    blue = _LESS[theme is not LIGHT]
    traces: list[Trace] = []
    for at, row in enumerate(rows):
        if row["fpr_a"] is not None and row["fpr_b"] is not None:
            falls = row["fpr_b"] < row["fpr_a"]
            traces.append(
                {
                    "type": "scatter", "mode": "lines", "x": [row["fpr_a"], row["fpr_b"]], "y": [at, at],
                    "line": {"color": blue if falls else theme.quiet, "width": 2, "dash": "solid" if falls else "dot"},
                    "hoverinfo": "skip",
                }
            )  # fmt: skip
    for side, symbol, color in (("a", "circle", theme.text), ("b", "diamond", blue)):
        own = [(at, row) for at, row in enumerate(rows) if row[f"fpr_{side}"] is not None]
        traces.append(
            {
                "type": "scatter", "mode": "markers",
                "x": [row[f"fpr_{side}"] for _, row in own], "y": [at for at, _ in own],
                "marker": {"symbol": symbol, "size": 10, "color": color},
                "error_x": _bars([row for _, row in own], f"fpr_{side}", color),
                "customdata": [[row["task"] or "", side] for _, row in own],
                "hovertext": [_relation_words(row, names) for _, row in own], "hoverinfo": "text", "cliponaxis": False,
            }
        )  # fmt: skip
    return go.Figure(
        traces,
        base_layout(
            theme,
            height=60 + 30 * max(len(rows), 1),
            margin={"l": 92, "r": 12, "t": 6, "b": 40},
            xaxis=_share_axis("FPR", theme),
            yaxis={
                "tickvals": list(range(len(rows))), "ticktext": [TASK_NAMES[row["task"]] for row in rows],
                "range": [-0.6, max(len(rows), 1) - 0.4], "showgrid": False, "zeroline": False, "fixedrange": True,
            },
        ),
    )  # fmt: skip


def unchanged_shares(tables: Mapping[str, "pd.DataFrame"], theme: Theme = LIGHT) -> go.Figure:
    """Return how many verdicts stay the same when the image is withheld or swapped, a row a generator and verifier.

    Args:
        tables: Name of a control → its rows of `condition_table`; at most two.
        theme: Light or dark.
    """
    pairs = list(
        dict.fromkeys((row["verifier"], row["generator"]) for table in tables.values() for row in _records(table))
    )
    pairs.reverse()
    looks = (("circle", theme.text), ("diamond", _LESS[theme is not LIGHT]))
    traces: list[Trace] = []
    for (name, table), (symbol, color), shift in zip(tables.items(), looks, (0.14, -0.14), strict=False):
        own = [row for row in _records(table) if row["unchanged"] is not None]
        traces.append(
            {
                "type": "scatter", "mode": "markers", "name": name,
                "x": [row["unchanged"] for row in own],
                "y": [pairs.index((row["verifier"], row["generator"])) + shift for row in own],
                "marker": {"symbol": symbol, "size": 10, "color": color},
                "error_x": _bars(own, "unchanged", color),
                "customdata": [[row["generator"], row["verifier"], name] for row in own],
                "hovertext": [_unchanged_words(row, name) for row in own], "hoverinfo": "text", "cliponaxis": False,
            }
        )  # fmt: skip
    return go.Figure(
        traces,
        base_layout(
            theme,
            height=92 + 40 * max(len(pairs), 1),
            margin={"l": 8, "r": 12, "t": 30, "b": 40},
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "font": {"size": 12}},
            xaxis=_share_axis("verdicts unchanged", theme),
            yaxis={
                "tickvals": list(range(len(pairs))), "ticktext": [_pair_words(*pair) for pair in pairs],
                "range": [-0.6, max(len(pairs), 1) - 0.4], "showgrid": False, "zeroline": False, "fixedrange": True,
                "automargin": True,
            },
        ),
    )  # fmt: skip


def _pair_words(verifier: str, generator: str) -> str:
    name = escape(short_name(verifier))
    return f"{name}, own answers" if verifier == generator else f"{name} on {escape(short_name(generator))}"


def _crossing_words(row: Row, key: str) -> str:
    lines = [f"<b>{task_words(row['task'])}</b>"]
    for name in ("error", key):
        lines.append(
            f"{METRICS[name].label} self {_percent(row[f'{name}_a'])} → cross {_percent(row[f'{name}_b'])}, "
            f"{_change(row, name)}"
        )
    lines.append(f"n = {row['n_a']:,} self, {row['n_b']:,} cross, {row['n_images']:,} images")
    lines.append(f"{row['n_generators']:,} generators, {row['n_verifiers']:,} cross-verifiers")
    return "<br>".join(lines)


def _relation_words(row: Row, names: tuple[str, str]) -> str:
    lines = [f"<b>{task_words(row['task'])}</b>"]
    for side, name in zip("ab", names, strict=True):
        lines.append(f"FPR by {escape(name)} {_with_interval(row, f'fpr_{side}')}, n = {row[f'n_{side}']:,} verdicts")
    if row["fpr_change"] is not None:
        lines.append(f"change {_change(row, 'fpr')}")
    return "<br>".join(lines)


def _unchanged_words(row: Row, name: str) -> str:
    lines = [
        f"<b>{_pair_words(row['verifier'], row['generator'])}</b>",
        f"{escape(name)}: {_with_interval(row, 'unchanged')} of verdicts unchanged, "
        f"{row['unchanged_k']:,}/{row['unchanged_n']:,}",
        f"{row['unchanged_images']:,} images",
    ]
    if row["n_without"]:
        lines.append(f"{row['n_without']:,} answers without a verdict under one of the two left out")
    return "<br>".join(lines)


def _change(row: Row, key: str) -> str:
    text = points(row[f"{key}_change"])
    low, high = row[f"{key}_change_low"], row[f"{key}_change_high"]
    if low is None:
        return text
    return f"{text} ({points(low).removesuffix(' points')} to {points(high).removesuffix(' points')})"


def _with_interval(row: Row, key: str) -> str:
    text = _percent(row[key])
    if row[f"{key}_low"] is not None:
        text += f" ({100 * row[f'{key}_low']:.1f}–{100 * row[f'{key}_high']:.1f})"
    return text


def _percent(value: float | None) -> str:
    return percent(value).replace("-", "−")


def _bars(rows: Sequence[Row], key: str, color: str) -> dict[str, Any]:
    """Return thin error bars; a value without an interval has none."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if row[f"{key}_high"] is None else row[f"{key}_high"] - row[key] for row in rows],
        "arrayminus": [0 if row[f"{key}_low"] is None else row[key] - row[f"{key}_low"] for row in rows],
        "color": color,
        "thickness": 1,
        "width": 3,
    }


def _share_axis(title: str, theme: Theme) -> dict[str, Any]:
    return {
        "range": [-0.02, 1.03],
        "tickvals": [0, 0.25, 0.5, 0.75, 1],
        "ticktext": ["0", "25", "50", "75", "100 %"],
        "gridcolor": theme.grid,
        "zeroline": False,
        "fixedrange": True,
        "tickfont": {"size": 11, "color": theme.quiet},
        "title": {"text": title, "font": {"size": 12, "color": theme.quiet}, "standoff": 4},
    }


def _near(values: Sequence[float]) -> tuple[float, float]:
    """Return a range around some values, with room for marks; arrows are short, so axes do not begin at 0."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    room = max(0.04, 0.12 * (high - low))
    return low - room, high + room


def _ticks(limits: tuple[float, float]) -> dict[str, Any]:
    step = 0.05 if limits[1] - limits[0] < 0.3 else 0.1 if limits[1] - limits[0] < 0.6 else 0.25
    ticks = [round(tick * step, 2) for tick in range(-20, 21) if limits[0] <= tick * step <= limits[1]]
    return {"tickvals": ticks, "ticktext": [f"{100 * tick:.0f}".replace("-", "−") for tick in ticks]}


def _records(table: "pd.DataFrame") -> list[dict[str, Any]]:
    names = [str(name) for name in table.columns]
    rows = zip(*(table[name].tolist() for name in table.columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]
