"""Where a case stands in its list: position, previous and next by key, back to the list, the link.

The address holds the case and the filter, so it can be sent, and the browser's Back works.
"""

__all__ = ["choose_case", "go_to", "leave_case", "show_place"]

from collections.abc import Mapping
from functools import partial
from html import escape

import streamlit as st

from backend.services.explore import run_names
from backend.services.store_contents import totals
from backend.store.filters import UnitFilter
from backend.store.queries import Neighbours, unit_page
from pages.ui.case_steps import case_steps
from pages.ui.copy import copy_button
from pages.ui.links import DATA, ENDOCA, LIST, address_of
from pages.ui.resources import kept
from pages.ui.unit_table import show_units


def show_place(place: Neighbours, chosen: UnitFilter, names: Mapping[str, str]) -> None:
    """Draw the row that leads through the list, and the sentence of its filter.

    Args:
        place: Where the case stands.
        chosen: The filter of the list.
        names: What to call a run, by run id.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        back_to = address_of(ENDOCA, chosen.to_query(), LIST)
        case_steps(place.position, place.total, back_to, partial(go_to, chosen))
        st.space("stretch")
        copy_button("Copy link", key="copy_link")
    st.html(_list_words(chosen, names, "" if place.position else " This case is not among them."))


def choose_case(chosen: UnitFilter) -> None:
    """Draw what the page is for, and the filter's cases to choose one from."""
    what = "A case is one image with a complex question, its parts, and what every VLM answered."
    if not kept(totals).units:
        st.text(f"{what} There is none in the store yet.")
        st.page_link(DATA, label="Import a suite on the Data page")
        return
    st.text(f"{what} Choose one.")
    st.html(_list_words(chosen, kept(run_names)))
    show_units(chosen, key="cases")
    st.page_link(ENDOCA, label="Filter the list on Paired answers", query_params=chosen.to_query())


def leave_case() -> None:
    """Take the case out of the link; the list stays."""
    del st.query_params["unit"]


def _list_words(chosen: UnitFilter, names: Mapping[str, str], more: str = "") -> str:
    sentence = escape(chosen.sentence(names))
    return f'<div style="font-size:.85rem;opacity:.8;overflow-wrap:anywhere">List: {sentence}.{more}</div>'


def go_to(chosen: UnitFilter, position: int) -> None:
    """Write into the link the case at a position of the list, from 1."""
    st.query_params["unit"] = str(kept(unit_page, chosen, offset=position - 1, limit=1)["unit_id"].iloc[0])
