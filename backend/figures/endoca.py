"""The figures of paired answers: radar, rank slope, complexity, outcome bars, class table.

Tables of `services.endoca_series` in, plotly figures out. Every point carries in
``customdata`` what lies behind it: the key of its series, then what the point stands for. Text of
a data set is escaped, and enters as hover text, never as a template.
"""

__all__ = [
    "RADAR_AXES",
    "class_heat",
    "complexity_facets",
    "outcome_bars",
    "rank_slope",
    "score_radar",
]

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from backend.domain.metric import NOT_AVAILABLE, percent
from backend.figures.style import (
    BLIND_GROUP,
    LIGHT,
    OUTCOME_COLORS,
    Mark,
    Theme,
    base_layout,
    mark_of,
    scale_color,
    text_on,
)

if TYPE_CHECKING:
    import pandas as pd
    from pandas.io.formats.style import Styler

RADAR_AXES = {
    "complex_accuracy": "Complex",
    "atomic_accuracy": "Atomic",
    "all_atomic_accuracy": "All-atomic",
    "joint_accuracy": "Joint",
    "consistency": "Consistency",
}
"""Metric → its name on the radar; on all of them outside is better."""

_TICKS = [0.0, 0.25, 0.5, 0.75, 1.0]
_TICK_TEXT = ["0", "25", "50", "75", "100 %"]


def score_radar(series: "pd.DataFrame", theme: Theme = LIGHT) -> go.Figure:
    """Return the radar of accuracies and consistency, all higher-is-better.

    All-atomic accuracy is an axis where one of the series has it; a series without it has a gap
    there, not a line past it.

    Args:
        series: Up to six rows of `series_table`, and the blind baseline's.
        theme: Light or dark.
    """
    axes = [key for key in RADAR_AXES if key in series and series[key].notna().any()] or list(RADAR_AXES)
    figure = go.Figure()
    for row in _records(series):
        mark = _mark(row, theme)
        closed = [*axes, axes[0]]
        figure.add_scatterpolar(
            r=[row.get(key) for key in closed],
            theta=[RADAR_AXES[key] for key in closed],
            mode="lines+markers",
            line={"color": mark.color, "width": 1.5 if _is_blind(row) else 2, "dash": mark.dash},
            marker={"symbol": mark.symbol, "size": 9, "color": mark.color, "line": {"width": 1.5, "color": mark.color}},
            customdata=[[row["series"], key] for key in closed],
            hovertext=[hover_text(row, key, RADAR_AXES[key]) for key in closed],
            hoverinfo="text",
            connectgaps=False,
            cliponaxis=False,
            name=escape(str(row["label"])),
        )
    line = {"gridcolor": theme.grid, "linecolor": theme.grid}
    figure.update_layout(
        base_layout(
            theme,
            dragmode="zoom",
            height=350,
            margin={"l": 82, "r": 82, "t": 26, "b": 22},
            polar={
                "bgcolor": "rgba(0,0,0,0)",
                "gridshape": "linear",
                "angularaxis": {"direction": "clockwise", "rotation": 90, "tickfont": {"size": 14}, **line},
                "radialaxis": {
                    "range": [0, 1.06],
                    "tickvals": _TICKS,
                    "ticktext": _TICK_TEXT,
                    "tickfont": {"size": 11, "color": theme.quiet},
                    "angle": 90,
                    "tickangle": 90,
                    "showline": False,
                    **line,
                },
            },
        )
    )
    return figure


def rank_slope(series: "pd.DataFrame", theme: Theme = LIGHT) -> go.Figure:
    """Return the ranks by complex accuracy beside those by joint accuracy, a line a series.

    Equal values share a rank and lie below each other. Series without one of the two are left out.

    Args:
        series: Rows of `series_table`.
        theme: Light or dark.
    """
    ranked = series[series["complex_accuracy"].notna() & series["joint_accuracy"].notna()]
    sides = ("complex_accuracy", "joint_accuracy")
    places = {key: ranked[key].astype(float).rank(ascending=False, method="first") for key in sides}
    ranks = {key: ranked[key].astype(float).rank(ascending=False, method="min").astype(int) for key in sides}
    figure = go.Figure()
    for at, row in zip(ranked.index, _records(ranked), strict=True):
        mark = _mark(row, theme)
        label = escape(str(row["label"]))
        words = [f"{label}  <b>{_short(row[key])}</b>  " for key in sides[:1]]
        words += [f"  <b>{_short(row[sides[1]])}</b>  {label}"]
        figure.add_scatter(
            x=[0, 1],
            y=[places[key][at] for key in sides],
            mode="lines+markers+text",
            line={"color": mark.color, "width": 1.75, "dash": mark.dash},
            marker={"symbol": mark.symbol, "size": 9, "color": mark.color, "line": {"width": 1.5, "color": mark.color}},
            text=words,
            textposition=["middle left", "middle right"],
            textfont={"size": 12, "color": theme.quiet if _is_blind(row) else theme.text},
            customdata=[[row["series"], key] for key in sides],
            hovertext=[
                f"{hover_text(row, key, name)}<br>rank {ranks[key][at]} of {len(ranked)}"
                for key, name in zip(sides, ("Complex accuracy", "Joint accuracy"), strict=True)
            ],
            hoverinfo="text",
            cliponaxis=False,
        )
    font = {"size": 12, "color": theme.quiet}
    head = {"showarrow": False, "yref": "paper", "y": 1, "yanchor": "bottom", "font": font}
    figure.update_layout(
        base_layout(
            theme,
            height=max(240, 58 + 21 * len(ranked)),
            margin={"l": 4, "r": 4, "t": 30, "b": 4},
            xaxis={"range": [-1.35, 2.35], "visible": False, "fixedrange": True},
            yaxis={"range": [len(ranked) + 0.6, 0.4], "visible": False, "fixedrange": True},
            annotations=[
                {**head, "x": 0, "xanchor": "right", "text": "Complex accuracy, %"},
                {**head, "x": 1, "xanchor": "left", "text": "Joint accuracy, %"},
            ],
        )
    )
    return figure


def complexity_facets(complexity: "pd.DataFrame", theme: Theme = LIGHT, *, columns: int = 3) -> go.Figure:
    """Return accuracy against complexity, a panel a VLM: complex answer, and all parts.

    Where more complex answers are right than have all their parts right, the rest must stand on
    a wrong part: the distance is drawn in orange. The blind baseline's complex accuracy is the
    dashed grey line in every panel.

    Args:
        complexity: Rows of `complexity_table` of up to six runs, and the blind baseline's.
        theme: Light or dark.
        columns: Panels side by side.
    """
    blind = complexity[complexity["vlm_group"] == BLIND_GROUP]
    shown = complexity[complexity["vlm_group"] != BLIND_GROUP]
    if shown.empty:
        shown = blind
    order = list(dict.fromkeys(shown["series"]))
    levels = sorted(int(level) for level in complexity["complexity"].unique())
    columns = min(columns, max(1, len(order)))
    n_rows = max(1, -(-len(order) // columns))
    labels = dict(zip(shown["series"], shown["label"], strict=True))
    titles = [escape(str(labels[key])) for key in order]
    figure = make_subplots(
        rows=n_rows, cols=columns, shared_yaxes=True, shared_xaxes=True, subplot_titles=titles or None,
        horizontal_spacing=0.035, vertical_spacing=0.16 if n_rows > 1 else 0.0,
    )  # fmt: skip
    for number, key in enumerate(order):
        cell = {"row": number // columns + 1, "col": number % columns + 1}
        rows = _records(shown[shown["series"] == key].sort_values("complexity"))
        mark = _mark(rows[0], theme)
        if not blind.empty and not _is_blind(rows[0]):
            base = _records(blind.sort_values("complexity"))
            figure.add_scatter(**_level_trace(base, "complex_accuracy", _mark(base[0], theme), width=1.25), **cell)
        for row in rows:
            over = (row["complex_accuracy"] or 0) > (row["all_atomic_accuracy"] or 0)
            if over and not _is_blind(row):
                figure.add_scatter(
                    x=[row["complexity"]] * 2,
                    y=[row["all_atomic_accuracy"], row["complex_accuracy"]],
                    mode="lines",
                    line={"color": theme.contradiction, "width": 7},
                    opacity=0.55,
                    hoverinfo="skip",
                    **cell,
                )
        parts = Mark(theme.text, "line-ew-open", "dot")
        figure.add_scatter(**_level_trace(rows, "all_atomic_accuracy", parts, width=1.25), **cell)
        figure.add_scatter(**_level_trace(rows, "complex_accuracy", mark, width=2, bounds=True), **cell)
    tick_font = {"size": 11, "color": theme.quiet}
    axis = {"gridcolor": theme.grid, "zeroline": False, "tickfont": tick_font, "fixedrange": True}
    figure.update_xaxes(tickvals=levels, range=[min(levels, default=1) - 0.35, max(levels, default=1) + 0.35], **axis)
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(range=[-0.04, 1.08], tickvals=_TICKS, ticktext=_TICK_TEXT, **axis)
    figure.update_annotations(font={"size": 13, "color": theme.text})
    figure.update_layout(base_layout(theme, height=60 + 170 * n_rows, margin={"l": 34, "r": 8, "t": 30, "b": 26}))
    return figure


def outcome_bars(outcomes: "pd.DataFrame", theme: Theme = LIGHT) -> go.Figure:
    """Return what became of the units, a stacked bar a run, the right answers first.

    Args:
        outcomes: One row a run and outcome: series, label, vlm_group, outcome, plain (the outcome in
            words), n_units, n_total (the run's units). Runs are drawn by their share of supported units.
        theme: Light or dark.
    """
    supported = outcomes[outcomes["outcome"] == "supported"].set_index("series")
    share = (supported["n_units"] / supported["n_total"]).to_dict()
    order = sorted(dict.fromkeys(outcomes["series"]), key=lambda key: share.get(key, 0.0))
    labels = {row["series"]: escape(str(row["label"])) for row in _records(outcomes)}
    figure = go.Figure()
    for outcome in (*OUTCOME_COLORS, "not_answered"):
        rows = _records(outcomes[outcomes["outcome"] == outcome])
        if not rows:
            continue
        pair = OUTCOME_COLORS.get(outcome)
        color = None if pair is None else pair[theme is not LIGHT]
        shares = [row["n_units"] / row["n_total"] for row in rows]
        figure.add_bar(
            orientation="h",
            y=[row["series"] for row in rows],
            x=shares,
            marker={
                "color": color or "rgba(0,0,0,0)",
                "line": {"width": 1, "color": theme.quiet if color is None else theme.ground},
            },
            text=[f"{100 * value:.0f}" if value >= 0.05 else "" for value in shares],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"size": 12, "color": theme.text if color is None else text_on(color)},
            customdata=[[row["series"], outcome] for row in rows],
            hovertext=[
                f"<b>{labels[row['series']]}</b><br>{escape(str(row['plain']))}<br>"
                f"{percent(value)}, {row['n_units']:,}/{row['n_total']:,} units"
                for row, value in zip(rows, shares, strict=True)
            ],
            hoverinfo="text",
        )
    figure.update_layout(
        base_layout(
            theme,
            barmode="stack",
            bargap=0.28,
            height=max(150, 50 + 32 * len(order)),
            margin={"l": 8, "r": 24, "t": 4, "b": 26},
            xaxis={
                "range": [0, 1], "tickvals": _TICKS, "ticktext": _TICK_TEXT, "showgrid": False, "zeroline": False,
                "tickfont": {"size": 11, "color": theme.quiet}, "fixedrange": True,
            },
            yaxis={
                "categoryorder": "array", "categoryarray": order, "tickvals": order,
                "ticktext": [labels[key] + "  " for key in order], "fixedrange": True, "automargin": True,
            },
        )
    )  # fmt: skip
    return figure


def class_heat(
    table: "pd.DataFrame", columns: Sequence[str], texts: Mapping[tuple[int, str], str] | None = None
) -> "Styler":
    """Return a table of shares whose cells are coloured, dark for 0 and light for 1.

    Args:
        table: One row a question class; the columns to colour hold fractions or None.
        columns: Which these are.
        texts: What a cell reads, by (row number, column), where it is more than the percentage; no braces.

    Returns:
        Percent with one decimal, "N/A" uncoloured; the text's contrast is AA on every colour.
    """
    numbers = table.reset_index(drop=True).astype(dict.fromkeys(columns, float))
    numbers[list(columns)] *= 100
    styler = numbers.style.map(_heat, subset=list(columns))
    styler = styler.format("{:.1f}", subset=list(columns), na_rep=NOT_AVAILABLE)
    words: dict[int, dict[Any, Any]] = {}
    for (at, key), text in (texts or {}).items():
        words.setdefault(at, {})[key] = text
    for at, of_row in words.items():
        styler = styler.format(of_row, subset=([at], list(of_row)))
    return styler


def hover_text(row: Mapping[str, Any], key: str, name: str) -> str:
    """Return what a point says: its series, metric, value, interval and counts, and how to go on."""
    value = row.get(key)
    text = f"<b>{escape(str(row['label']))}</b><br>{escape(name)} {percent(value)}"
    low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
    if low is not None and high is not None:
        text += f" ({100 * low:.1f}–{100 * high:.1f})"
    n = row.get(f"{key}_n")
    if n is not None:
        counted = row.get(f"{key}_k")
        text += f"<br>n = {n:,}" if counted is None else f"<br>{counted:,}/{n:,}"
    elif row.get("n_printed"):
        text += f"<br>printed, over {row['n_printed']:,} questions"
    return text


def _level_trace(
    rows: Sequence[Mapping[str, Any]], key: str, mark: Mark, *, width: float, bounds: bool = False
) -> dict[str, Any]:
    """Return one line over complexity as the arguments of a scatter trace."""
    names = {"complex_accuracy": "Complex accuracy", "all_atomic_accuracy": "All-atomic accuracy"}
    trace: dict[str, Any] = {
        "x": [row["complexity"] for row in rows],
        "y": [row[key] for row in rows],
        "mode": "lines+markers",
        "line": {"color": mark.color, "width": width, "dash": mark.dash},
        "marker": {"symbol": mark.symbol, "size": 9, "color": mark.color, "line": {"width": 1.5, "color": mark.color}},
        "customdata": [[row["series"], key, int(row["complexity"])] for row in rows],
        "hovertext": [f"{hover_text(row, key, names[key])}<br>complexity {row['complexity']}" for row in rows],
        "hoverinfo": "text",
    }
    if bounds and all(row[f"{key}_low"] is not None for row in rows):
        trace["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": [row[f"{key}_high"] - row[key] for row in rows],
            "arrayminus": [row[key] - row[f"{key}_low"] for row in rows],
            "color": mark.color,
            "thickness": 1,
            "width": 3,
        }
    return trace


def _heat(percentage: Any) -> str:
    """Return the colours of one cell of percentages."""
    if percentage != percentage:
        return ""
    ground = scale_color(percentage / 100)
    return f"background-color: {ground}; color: {text_on(ground)}"


def _records(table: "pd.DataFrame") -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def _mark(row: Mapping[str, Any], theme: Theme) -> Mark:
    return mark_of(int(row["place"]), row["vlm_group"], row["origin"], theme)


def _is_blind(row: Mapping[str, Any]) -> bool:
    return bool(row["vlm_group"] == BLIND_GROUP)


def _short(fraction: float | None) -> str:
    """Return a percentage without its sign, where the axis or the head of a table says it."""
    return NOT_AVAILABLE if fraction is None else f"{100 * fraction:.1f}"
