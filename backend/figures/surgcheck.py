"""The figures of SurgCheck: original against less-biased by VLM, drops by task and by cue, the text-only ablation.

Tables of `services.surgcheck_series` in, plotly figures out. Every point carries in
``customdata`` what lies behind it: the key of its series, then what the point stands for. Text of a
data set is escaped, and enters as hover text, never as a template.
"""

__all__ = ["CUE_WORDS", "TASK_WORDS", "ablation_bars", "cue_ladder", "drop_slope", "task_drops"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import cycle
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from backend.domain.metric import percent, points
from backend.figures.style import BLIND_GROUP, LIGHT, Mark, Theme, base_layout, mark_of, short_name
from backend.surgcheck.metrics import METRICS, Variant

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, Any]
Trace = dict[str, Any]

TASK_WORDS = {"Instrument_Count": "Instrument count", "anatomy": "Anatomy", "anatomy_hop": "Anatomy-hop"}
"""Task → its name on an axis; any other is called as the release tags it."""

CUE_WORDS = {
    "box": "Box",
    "arrow": "Arrow",
    "position": "Position",
    "periphrasis": "Periphrasis",
    "none": "None",
}
"""Cue → its name on an axis, from the one that shows most to the one that shows nothing."""

VARIANT_WORDS = {Variant.ORIGINAL: "Original", Variant.LESS_BIASED: "Less-biased", Variant.TEXT_ONLY: "Text only"}
"""Variant → its name; text only is the original question without the image."""

_VARIANT_COLORS = {Variant.ORIGINAL: ("#0072B2", "#5AB4F0"), Variant.LESS_BIASED: ("#2A9A88", "#4FD1BD")}
"""Each for the light and the dark theme; text only is drawn hollow."""

_END_NAME = 24
"""So many letters of a name stand at the end of a line."""

_SIDES = (Variant.ORIGINAL, Variant.LESS_BIASED)


def drop_slope(drops: "pd.DataFrame", theme: Theme = LIGHT) -> go.Figure:
    """Return each VLM's value with original and with less-biased questions, a line a series.

    A series that has one of the two alone is a point without a line.

    Args:
        drops: Rows of `drop_table` and of `printed_drops`, of one metric.
        theme: Light or dark.
    """
    rows = _records(drops)
    traces: list[Trace] = []
    dashes = _look_up_dashes(rows)
    for row in rows:
        mark = _mark(row, theme, dashes)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "x": [0, 1],
                "y": [row[side] for side in _SIDES],
                "line": {"color": mark.color, "width": 1.75, "dash": mark.dash},
                "marker": _marker(mark),
                "customdata": [[row["series"], side.value] for side in _SIDES],
                "hovertext": [_value_words(row, side) for side in _SIDES],
                "hoverinfo": "text",
                "cliponaxis": False,
                "name": escape(str(row["label"])),
            }
        )
    values = [row[side] for row in rows for side in _SIDES if row[side] is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    room = max(0.03, 0.06 * (high - low))
    height = max(300, 60 + 24 * len(rows))
    apart = (high - low + 2 * room) * 17 / (height - 46)
    placed = _spread(rows, apart)
    names = [
        {
            "x": 1.05 if row["less_biased"] is not None else 0.05, "y": at, "xref": "x", "yref": "y", "xanchor": "left",
            "showarrow": False, "text": _end_words(row),
            "font": {"size": 12, "color": theme.quiet if _is_blind(row) else theme.text},
        }
        for row, at in placed
    ]  # fmt: skip
    layout = base_layout(
        theme,
        height=height,
        margin={"l": 46, "r": 8, "t": 8, "b": 30},
        annotations=names,
        xaxis={
            "tickvals": [0, 1], "ticktext": ["Original", "Less-biased"], "range": [-0.12, 2.1], "showgrid": False,
            "zeroline": False, "fixedrange": True, "tickfont": {"size": 13},
        },
        yaxis={
            "range": [low - room, max([high + room, *(at + apart for _, at in placed)])], "tickformat": ".0%",
            "gridcolor": theme.grid, "zeroline": False, "tickfont": {"size": 11, "color": theme.quiet},
            "fixedrange": True,
        },
    )  # fmt: skip
    return go.Figure(traces, layout)


def task_drops(drops: "pd.DataFrame", theme: Theme = LIGHT) -> go.Figure:
    """Return what each VLM loses in each task without the names, with intervals (Fig. 3).

    Args:
        drops: Rows of `drop_table` by task, in the order of the axis; where they are by level and task, a
            line parts the levels, and each is named.
        theme: Light or dark.
    """
    figure = _gap_figure(drops, "task", lambda task: TASK_WORDS.get(task, task), theme, joined=False)
    if "level" in drops and len(drops):
        levels = drops.drop_duplicates("task")["level"].tolist()
        _mark_levels(figure, levels, theme)
    return figure


def cue_ladder(drops: "pd.DataFrame", theme: Theme = LIGHT) -> go.Figure:
    """Return what each VLM loses with each cue, a line a series (Fig. 4).

    Args:
        drops: Rows of `drop_table` by cue over a balanced suite.
        theme: Light or dark.
    """
    order = list(CUE_WORDS)
    placed = drops.assign(at=[order.index(cue) for cue in drops["cue"]]).sort_values("at", kind="stable")
    return _gap_figure(placed, "cue", lambda cue: CUE_WORDS[cue], theme, joined=True)


def ablation_bars(ablation: "pd.DataFrame", theme: Theme = LIGHT) -> go.Figure:
    """Return one VLM's scores by task: original, less-biased, and text-only; look-ups are dashed lines (Fig. 5).

    Args:
        ablation: Rows of `ablation_table` of one direct run, and of blind runs. Tasks stand in their order.
        theme: Light or dark.
    """
    rows = [row for row in _records(ablation) if not _is_blind(row)]
    look_ups = [row for row in _records(ablation) if _is_blind(row)]
    tasks = list(dict.fromkeys(row["task"] for row in [*rows, *look_ups]))
    width = 0.26
    traces = [_bars(rows, variant, tasks, (at - 1) * width, width, theme) for at, variant in enumerate(Variant)]
    for series, dash in _look_up_dashes(look_ups).items():
        own = [row for row in look_ups if row["series"] == series]
        traces.append(_look_up_trace(own, tasks, width, dash, theme))
    layout = base_layout(
        theme,
        height=330,
        margin={"l": 46, "r": 8, "t": 30, "b": 28},
        barmode="overlay",
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "font": {"size": 12}},
        xaxis={
            "tickvals": list(range(len(tasks))), "ticktext": [escape(TASK_WORDS.get(task, task)) for task in tasks],
            "range": [-0.6, max(len(tasks), 1) - 0.4], "showgrid": False, "zeroline": False, "fixedrange": True,
        },
        yaxis={
            "range": [0, 1.06], "tickformat": ".0%", "gridcolor": theme.grid, "zeroline": False, "fixedrange": True,
            "tickfont": {"size": 11, "color": theme.quiet},
        },
    )  # fmt: skip
    return go.Figure([trace for trace in traces if trace["x"]], layout)


def _gap_figure(
    drops: "pd.DataFrame", by: str, words: Callable[[str], str], theme: Theme, *, joined: bool
) -> go.Figure:
    """Return gaps by a group, series beside each other; below the zero line is a gain."""
    rows = [row for row in _records(drops) if row["gap"] is not None]
    groups = list(dict.fromkeys(row[by] for row in rows))
    series = list(dict.fromkeys(row["series"] for row in rows))
    step = min(0.12, 0.7 / max(len(series), 1))
    dashes = _look_up_dashes(rows)
    traces: list[Trace] = []
    for place, key in enumerate(series):
        own = [row for row in rows if row["series"] == key]
        shift = (place - (len(series) - 1) / 2) * step
        mark = _mark(own[0], theme, dashes)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers" if joined else "markers",
                "x": [groups.index(row[by]) + shift for row in own],
                "y": [row["gap"] for row in own],
                "line": {"color": mark.color, "width": 1.5, "dash": mark.dash},
                "marker": _marker(mark),
                "error_y": _errors(own, mark),
                "customdata": [[key, "gap", row[by]] for row in own],
                "hovertext": [_gap_words(row, words(row[by])) for row in own],
                "hoverinfo": "text",
                "cliponaxis": False,
                "name": escape(str(own[0]["label"])),
            }
        )
    bounds = [row[key] for row in rows for key in ("gap", "gap_low", "gap_high") if row[key] is not None]
    low, high = min([0.0, *bounds]), max([0.1, *bounds])
    room = 0.05 * (high - low)
    metric = METRICS.get(str(rows[0]["metric"])) if rows else None
    title = f"drop of {metric.label[:1].lower()}{metric.label[1:]}, points" if metric else "drop, points"
    ticks = [tick / 10 for tick in range(-10, 11) if low - room <= tick / 10 <= high + room]
    layout = base_layout(
        theme,
        height=330,
        margin={"l": 52, "r": 8, "t": 28, "b": 28},
        xaxis={
            "tickvals": list(range(len(groups))), "ticktext": [escape(words(group)) for group in groups],
            "range": [-0.5, max(len(groups), 1) - 0.5], "showgrid": False, "zeroline": False, "fixedrange": True,
            "automargin": True,
        },
        yaxis={
            "title": {"text": title, "font": {"size": 12, "color": theme.quiet}},
            "tickvals": ticks, "ticktext": [f"{100 * tick:.0f}".replace("-", "−") for tick in ticks],
            "range": [low - room, high + room], "gridcolor": theme.grid, "zeroline": True, "zerolinecolor": theme.quiet,
            "tickfont": {"size": 11, "color": theme.quiet}, "fixedrange": True,
        },
    )  # fmt: skip
    return go.Figure(traces, layout)


def _mark_levels(figure: go.Figure, levels: Sequence[str], theme: Theme) -> None:
    """Name each level above its groups, which stand together, and part it from the next by a line."""
    begins = [at for at, level in enumerate(levels) if at == 0 or level != levels[at - 1]]
    for begin, end in zip(begins, [*begins[1:], len(levels)], strict=True):
        if begin:
            figure.add_vline(x=begin - 0.5, line={"color": theme.grid, "width": 1})
        figure.add_annotation(
            x=(begin + end - 1) / 2, y=1, yref="paper", yanchor="bottom", showarrow=False,
            text=escape(levels[begin]), font={"size": 12, "color": theme.quiet},
        )  # fmt: skip


def _bars(
    rows: Sequence[Row], variant: Variant, tasks: Sequence[str], shift: float, width: float, theme: Theme
) -> Trace:
    own = [row for row in rows if row[variant] is not None]
    color = _VARIANT_COLORS[variant][theme is not LIGHT] if variant in _VARIANT_COLORS else None
    return {
        "type": "bar",
        "x": [tasks.index(row["task"]) + shift for row in own],
        "y": [row[variant] for row in own],
        "width": width * 0.92,
        "marker": {
            "color": color or "rgba(0,0,0,0)",
            "line": {"width": 0 if color else 1.5, "color": color or theme.quiet},
        },
        "error_y": {
            **_errors(own, Mark(theme.text, "", ""), variant),
            "thickness": 1,
        },
        "customdata": [[row["series"], variant.value, row["task"], row["text_run_id"]] for row in own],
        "hovertext": [_value_words(row, variant, _task(row)) for row in own],
        "hoverinfo": "text",
        "name": VARIANT_WORDS[variant],
    }


def _look_up_trace(rows: Sequence[Row], tasks: Sequence[str], width: float, dash: str, theme: Theme) -> Trace:
    """Return what a look-up reaches with original questions, as a broken line over each task's bars."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    behind: list[list[Any] | None] = []
    told: list[str] = []
    for row in rows:
        if row[Variant.ORIGINAL] is None:
            continue
        middle = tasks.index(row["task"])
        words = _value_words(row, Variant.ORIGINAL, _task(row))
        point = [row["series"], Variant.ORIGINAL.value, row["task"], None]
        xs += [middle - 1.5 * width, middle + 1.5 * width, None]
        ys += [row[Variant.ORIGINAL], row[Variant.ORIGINAL], None]
        behind += [point, point, None]
        told += [words, words, ""]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": xs,
        "y": ys,
        "line": {"color": theme.quiet, "width": 2, "dash": dash},
        "customdata": behind,
        "hovertext": told,
        "hoverinfo": "text",
        "name": escape(short_name(str(rows[0]["vlm"]))),
    }


def _task(row: Row) -> str:
    return escape(TASK_WORDS.get(row["task"], str(row["task"])))


def _value_words(row: Row, side: Variant, group: str = "") -> str:
    """Return what a point says: series, variant, metric, value, interval, n, and the drop where there is one."""
    value = row[side]
    about = (
        f"{VARIANT_WORDS[side]} questions" if side is not Variant.TEXT_ONLY else "Original questions, image withheld"
    )
    place = f"{group}, {about[:1].lower()}{about[1:]}" if group else about
    text = f"<b>{escape(str(row['label']))}</b><br>{place}<br>{METRICS[row['metric']].label} {percent(value)}"
    if row.get(f"{side}_low") is not None:
        text += f" ({100 * row[f'{side}_low']:.1f}–{100 * row[f'{side}_high']:.1f})"
    if row.get(f"{side}_n") is not None:
        text += f"<br>n = {row[f'{side}_n']:,}"
    elif row["run_id"] is None:
        text += "<br>as printed"
    if row.get("gap") is not None:
        text += f"<br>drop {_interval_words(row, 'gap')}"
    return text


def _gap_words(row: Row, group: str) -> str:
    text = (
        f"<b>{escape(str(row['label']))}</b><br>{escape(group)}<br>{METRICS[row['metric']].label} "
        f"{percent(row['original'])} → {percent(row['less_biased'])}<br>drop {_interval_words(row, 'gap')}"
    )
    if row["n_pairs"] is not None:
        text += f"<br>{row['n_pairs']:,} pairs, {row['n_images']:,} frames"
    if row["n_hint_only"] is not None:
        text += f"<br>right by the original alone {row['n_hint_only']:,}, "
        text += f"by the less-biased alone {row['n_pointed_only']:,}"
    if row["p_value"] is not None:
        text += f"<br>{_p_words(row['p_value'])}"
    return text


def _interval_words(row: Row, key: str) -> str:
    text = points(row[key])
    low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
    if low is not None and high is not None:
        text += f" ({points(low).removesuffix(' points')} to {points(high).removesuffix(' points')})"
    return text


def _p_words(p: float) -> str:
    return "p < 0.001 (frames)" if p < 0.001 else f"p = {p:.3f} (frames)"


def _errors(rows: Sequence[Row], mark: Mark, key: str = "gap") -> dict[str, Any]:
    """Return error bars; a value without an interval has none."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if row[f"{key}_high"] is None else row[f"{key}_high"] - row[key] for row in rows],
        "arrayminus": [0 if row[f"{key}_low"] is None else row[key] - row[f"{key}_low"] for row in rows],
        "color": mark.color,
        "thickness": 1,
        "width": 3,
    }


def _spread(rows: Sequence[Row], apart: float) -> list[tuple[Row, float]]:
    """Return each line with the height of its name, so that no two names overlap."""
    ends = [(row, row["less_biased"] if row["less_biased"] is not None else row["original"]) for row in rows]
    placed: list[tuple[Row, float]] = []
    for row, value in sorted((end for end in ends if end[1] is not None), key=lambda end: float(end[1])):
        placed.append((row, max(value, placed[-1][1] + apart) if placed else value))
    return placed


def _end_words(row: Row) -> str:
    """Return the name at the end of a line, with its drop; hollow marks tell what is printed, so the label need not."""
    told = row["label"] if row["run_id"] is not None and not _is_blind(row) else row["vlm"]
    name = escape(short_name(str(told), _END_NAME))
    return name if row["gap"] is None else f"{name}  <b>{points(-row['gap']).removesuffix(' points')}</b>"


def _records(table: "pd.DataFrame") -> list[dict[str, Any]]:
    names = [str(name) for name in table.columns]
    rows = zip(*(table[name].tolist() for name in table.columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _marker(mark: Mark) -> dict[str, Any]:
    return {"symbol": mark.symbol, "size": 9, "color": mark.color, "line": {"width": 1.5, "color": mark.color}}


def _mark(row: Row, theme: Theme, dashes: Mapping[str, str]) -> Mark:
    mark = mark_of(int(row["place"]), row["vlm_group"], row["origin"], theme)
    return replace(mark, dash=dashes.get(row["series"], mark.dash))


def _look_up_dashes(rows: Sequence[Row]) -> dict[str, str]:
    """Return how the line of each series that sees no image is broken; all are grey, and no two alike up to three."""
    series = dict.fromkeys(row["series"] for row in rows if _is_blind(row))
    return dict(zip(series, cycle(("dash", "dot", "dashdot")), strict=False))


def _is_blind(row: Row) -> bool:
    return bool(row["vlm_group"] == BLIND_GROUP)
