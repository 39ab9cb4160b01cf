"""Where a case stands in its list: position, previous and next by key, back to the list, the link.

The address holds the case and the filter, so it can be sent, and the browser's Back works.
"""

__all__ = ["choose_case", "show_place"]

from collections.abc import Mapping
from html import escape

import streamlit as st

from backend.store.filters import UnitFilter
from backend.store.queries import Neighbours, unit_page
from backend.store.store import Store
from pages.ui.copy import copy_button
from pages.ui.links import CASE, DATA, ENDOCA, case_query

LISTED = 50
"""Cases to pick from where the link names none."""


def show_place(place: Neighbours, chosen: UnitFilter, names: Mapping[str, str]) -> None:
    """Draw the row that leads through the list, and the sentence of its filter.

    Args:
        place: Where the case stands.
        chosen: The filter of the list.
        names: What to call a run, by run id.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Previous",
            shortcut="K",
            disabled=not place.previous,
            on_click=_go_to,
            args=(place.previous,),
            key="previous",
        )
        st.html(f'<span class="case-place">{_position(place)}</span>', width="content")
        st.button("Next", shortcut="J", disabled=not place.next, on_click=_go_to, args=(place.next,), key="next")
        if st.button("Back to the list", shortcut="Escape", type="tertiary", key="back"):
            st.switch_page(ENDOCA, query_params=chosen.to_query())
        st.space("stretch")
        copy_button("Copy link", key="copy_link")
    sentence = chosen.sentence(names)
    listed = "" if place.position else " This case is not among them."
    st.html(f'<div class="case-filter">List: {escape(sentence)}.{listed}</div>')


def choose_case(store: Store, chosen: UnitFilter) -> None:
    """Draw what the page is for, and the first cases of the filter to pick one from."""
    st.text("A case is one image with a complex question, its parts, and what every VLM answered. Choose one.")
    cases = unit_page(store, chosen, offset=0, limit=LISTED)
    if cases.empty:
        st.text("No case fits." if chosen.to_query() else "There is no case in the store yet.")
        st.page_link(DATA, label="Import a suite on the Data page")
        return
    picked = st.dataframe(
        cases[["suite", "source_id", "complexity", "question", "reference", "n_runs", "n_inconsistent"]],
        column_config={
            "suite": "Suite",
            "source_id": "Case",
            "complexity": "Complexity",
            "question": st.column_config.TextColumn("Complex question", width="large"),
            "reference": st.column_config.TextColumn("Reference", width="medium"),
            "n_runs": "Runs",
            "n_inconsistent": st.column_config.NumberColumn(
                "Right answer, wrong part", help="Runs, of those in the filter"
            ),
        },
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="cases",
    )
    if picked["selection"]["rows"]:
        unit_id = str(cases["unit_id"].iloc[picked["selection"]["rows"][0]])
        st.switch_page(CASE, query_params=case_query(unit_id, chosen))
    st.page_link(ENDOCA, label="Filter the whole list on Paired answers", query_params=chosen.to_query())


def _position(place: Neighbours) -> str:
    return f"{place.position:,} of {place.total:,}" if place.position else f"not in this list of {place.total:,}"


def _go_to(unit_id: str) -> None:
    st.query_params["unit"] = unit_id
