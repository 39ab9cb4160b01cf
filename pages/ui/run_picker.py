"""Choosing up to six series for a figure that would not be readable with more; the choice is in the link."""

__all__ = ["READABLE", "pick_series"]

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from backend.figures.style import BLIND_GROUP

READABLE = 6
"""So many series can be told apart on a radar."""

_SEPARATOR = "~"


def pick_series(rows: Sequence[Mapping[str, Any]], *, key: str) -> list[str]:
    """Draw the choice and return the keys of the chosen series, in the table's order.

    By default the best six by joint accuracy, runs before printed rows. The blind baseline is no
    VLM and is not offered. Keys in the link that the table does not hold are left out.

    Args:
        rows: The rows of `series_table`.
        key: Name of the link's parameter, and of the control.
    """
    offered = [row for row in rows if row["vlm_group"] != BLIND_GROUP]
    labels = {row["series"]: row["label"] for row in offered}
    asked = [name for name in st.query_params.get(key, "").split(_SEPARATOR) if name in labels][:READABLE]
    chosen = asked or _best(offered)
    state = f"pick_{key}"
    st.session_state[state] = chosen
    st.multiselect(
        f"VLMs shown, up to {READABLE}",
        list(labels),
        key=state,
        format_func=lambda name: labels.get(name, name),
        max_selections=READABLE,
        on_change=_write,
        args=(key, state),
        label_visibility="collapsed",
        placeholder="The best six; choose others",
    )
    return [name for name in labels if name in chosen]


def _best(offered: Sequence[Mapping[str, Any]]) -> list[str]:
    def rank(row: Mapping[str, Any]) -> tuple[bool, float]:
        score = row["joint_accuracy"]
        return row["run_id"] is None, 1.0 if score is None else -score

    return [row["series"] for row in sorted(offered, key=rank)[:READABLE]]


def _write(key: str, state: str) -> None:
    chosen = st.session_state[state]
    if chosen:
        st.query_params[key] = _SEPARATOR.join(chosen)
    elif key in st.query_params:
        del st.query_params[key]
