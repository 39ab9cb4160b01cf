"""Choosing up to six series for a figure that would not be readable with more; the choice is in the link."""

__all__ = ["READABLE", "pick_series"]

from typing import TYPE_CHECKING

import streamlit as st

from backend.figures.style import BLIND_GROUP

if TYPE_CHECKING:
    import pandas as pd

READABLE = 6
"""So many series can be told apart on a radar."""

_SEPARATOR = "~"


def pick_series(series: "pd.DataFrame", *, key: str) -> list[str]:
    """Draw the choice and return the keys of the chosen series, in the table's order.

    By default the best six by joint accuracy, runs before printed rows. The blind baseline is no
    VLM and is not offered. Keys in the link that the table does not hold are left out.

    Args:
        series: `series_table`.
        key: Name of the link's parameter, and of the control.
    """
    offered = series[series["vlm_group"] != BLIND_GROUP]
    labels = dict(zip(offered["series"], offered["label"], strict=True))
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
    return [name for name in offered["series"] if name in chosen]


def _best(offered: "pd.DataFrame") -> list[str]:
    ranked = offered.assign(
        printed=offered["run_id"].isna(), score=offered["joint_accuracy"].astype(float).fillna(-1.0)
    ).sort_values(["printed", "score"], ascending=[True, False], kind="stable")
    return [str(name) for name in ranked["series"].head(READABLE)]


def _write(key: str, state: str) -> None:
    chosen = st.session_state[state]
    if chosen:
        st.query_params[key] = _SEPARATOR.join(chosen)
    elif key in st.query_params:
        del st.query_params[key]
