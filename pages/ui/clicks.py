"""Charts and tables in which a click opens what lies behind it, once.

Streamlit keeps a selection for as long as its chart is drawn, and would open the same thing at
every rerun, yet not when the same point is clicked again. So each click is taken once, and
the chart is drawn anew without a selection.
"""

__all__ = ["clickable_chart", "clickable_table"]

from typing import Any

import plotly.graph_objects as go
import streamlit as st

_PLOT_CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}


def clickable_chart(figure: go.Figure, *, key: str, alt: str) -> list[Any] | None:
    """Draw a figure and return the ``customdata`` of the point just clicked, else None.

    Args:
        figure: Its points carry ``customdata``.
        key: Unique on the page.
        alt: What the figure shows, for a screen reader; our own words.
    """
    point: list[Any] | None = _taken(key)
    drawn = _drawn_key(key)
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


def clickable_table(data: Any, *, key: str, **more: Any) -> tuple[int, str] | None:
    """Draw a table and return row number and column of the cell just clicked, else None.

    Args:
        data: What `st.dataframe` takes.
        key: Unique on the page.
        more: Further arguments of `st.dataframe`.
    """
    cell: tuple[int, str] | None = _taken(key)
    drawn = _drawn_key(key)
    st.dataframe(
        data, key=drawn, on_select=lambda: _take_cell(key, drawn), selection_mode="single-cell", hide_index=True, **more
    )
    return cell


def _drawn_key(key: str) -> str:
    return f"{key}_{st.session_state.get(f'{key}_clicks', 0)}"


def _taken(key: str) -> Any:
    return st.session_state.pop(f"{key}_clicked", None)


def _take_point(key: str, drawn: str) -> None:
    points = st.session_state[drawn]["selection"]["points"]
    if points and points[0].get("customdata"):
        _take(key, list(points[0]["customdata"]))


def _take_cell(key: str, drawn: str) -> None:
    cells = st.session_state[drawn]["selection"]["cells"]
    if cells:
        _take(key, tuple(cells[0]))


def _take(key: str, clicked: Any) -> None:
    st.session_state[f"{key}_clicked"] = clicked
    st.session_state[f"{key}_clicks"] = st.session_state.get(f"{key}_clicks", 0) + 1
