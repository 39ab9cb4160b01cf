"""Charts and tables in which a click opens what lies behind it, once.

A chart keeps a selection for as long as it is drawn, and would open the same thing at every
rerun, yet not when the same point is clicked again. So each click on a point is taken once,
and the chart is drawn anew without a selection.

In a table the header, the Tab key and the arrow keys choose a cell as a click does, so that a
choice alone says nothing: it opens with the button below the table, by mouse or Enter. A
table of cases or runs also has a button in each row. It is never drawn anew and keeps its sorting.
"""

__all__ = ["OPEN", "chosen_cell", "clickable_chart", "clickable_table"]

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import plotly.graph_objects as go
import streamlit as st

OPEN = "open"
"""Column of a table's own buttons; its cells hold their words."""

_PLOT_CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}


def clickable_chart(figure: go.Figure, *, key: str, alt: str) -> list[Any] | None:
    """Draw a figure and return the ``customdata`` of the point just clicked, else None.

    Args:
        figure: Its points carry ``customdata``.
        key: Unique on the page.
        alt: What the figure shows, for a screen reader; our own words.
    """
    point: list[Any] | None = st.session_state.pop(f"{key}_clicked", None)
    drawn = f"{key}_{st.session_state.get(f'{key}_clicks', 0)}"
    st.plotly_chart(
        figure,
        theme=None,
        key=drawn,
        on_select=lambda: _take_point(key, drawn),
        selection_mode="points",
        config=_PLOT_CONFIG,
        alt=alt,
    )
    return point


def clickable_table(
    data: Any,
    *,
    key: str,
    words: Callable[[int, str], str | None],
    ask: str,
    column_config: Mapping[str, Any],
    **more: Any,
) -> tuple[int, str] | None:
    """Draw a table with a button for the chosen cell; return row number and column of what was just opened, else None.

    Args:
        data: What `st.dataframe` takes. A column `OPEN` becomes buttons, one a row.
        key: Unique on the page.
        words: What a cell would open, by row number and column: plain text. None: nothing to open.
        ask: What to choose, while nothing is chosen.
        column_config: As of `st.dataframe`.
        more: Further arguments of `st.dataframe`.
    """
    row_key = f"{key}_row"
    config = {**column_config}
    if OPEN in getattr(data, "data", data):
        config[OPEN] = st.column_config.ButtonColumn("", width=70, pinned=True, type="secondary", key=row_key)
    cell = chosen_cell(data, key=key, column_config=config, **more)
    chosen = None if cell is None else words(*cell)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        pressed = st.button("Open", key=f"{key}_open", disabled=chosen is None)
        told = escape(ask if chosen is None else chosen)
        st.html(f"<div style='font-size:.88em;opacity:.8;overflow-wrap:anywhere'>{told}</div>", width="stretch")
    in_row = st.session_state.get(row_key)
    if in_row is not None:
        return int(in_row["row"]), OPEN
    return cell if pressed else None


def chosen_cell(data: Any, *, key: str, **more: Any) -> tuple[int, str] | None:
    """Draw a table and return row number and column of the cell last chosen in it, if any.

    The Escape key, by which the keyboard leaves a table, takes the mark away; the choice stays
    for as long as the table holds the same rows.

    Args:
        data: What `st.dataframe` takes.
        key: Unique on the page.
        more: Further arguments of `st.dataframe`.
    """
    event = st.dataframe(data, key=key, on_select="rerun", selection_mode="single-cell", hide_index=True, **more)
    rows = getattr(data, "data", data)
    cells = event["selection"]["cells"]
    if cells:
        st.session_state[f"{key}_chosen"] = rows, (int(cells[0][0]), str(cells[0][1]))
    chosen_of, cell = st.session_state.get(f"{key}_chosen", (None, (0, "")))
    if not rows.equals(chosen_of) or cell[0] >= len(rows):
        return None
    chosen: tuple[int, str] = cell
    return chosen


def _take_point(key: str, drawn: str) -> None:
    points = st.session_state[drawn]["selection"]["points"]
    if points and points[0].get("customdata"):
        st.session_state[f"{key}_clicked"] = list(points[0]["customdata"])
        st.session_state[f"{key}_clicks"] = st.session_state.get(f"{key}_clicks", 0) + 1
