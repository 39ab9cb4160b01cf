"""Where a case stands in its list: position, previous and next by key, back to the list, the link.

The address holds the case and the filter, so it can be sent, and the browser's Back works.
"""

__all__ = ["choose_case", "go_to", "is_asked_for", "leave_case", "list_address", "list_words", "show_place"]

from collections.abc import Callable, Collection
from html import escape

import streamlit as st

from backend.domain.records import System
from backend.services.cases import suite_system, unit_system
from backend.services.explore import run_names
from backend.services.store_contents import totals
from backend.store.filters import UnitFilter
from backend.store.unit_lists import Neighbours, unit_page
from pages.ui.case_steps import case_steps
from pages.ui.copy import copy_button
from pages.ui.links import DATA, ENDOCA, LIST, address_of
from pages.ui.resources import kept
from pages.ui.unit_table import show_units


def is_asked_for(system: System, own_fields: Collection[str]) -> bool:
    """Return whether the link names a case of a research system, or a list of its cases.

    Args:
        system: The system.
        own_fields: Parameters of a link that only its lists have.
    """
    query = st.query_params.to_dict()
    if "unit" in query:
        return kept(unit_system, query["unit"]) == system
    return not query.keys().isdisjoint(own_fields) or kept(suite_system, query.get("suite", "")) == system


def show_place(place: Neighbours, sentence: str, back_to: str, go_to: Callable[[int], None]) -> None:
    """Draw the row that leads through the list, and the sentence of its filter.

    Args:
        place: Where the case stands.
        sentence: The filter of the list, in words.
        back_to: Address of the list.
        go_to: Writes the case at a position of the list, from 1, into the link.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        case_steps(place.position, place.total, back_to, go_to)
        st.space("stretch")
        copy_button("Copy link", key="copy_link")
    st.html(list_words(sentence, "" if place.position else " This case is not among them."))


def list_address(chosen: UnitFilter) -> str:
    """Return the address of the list that a filter chooses, on Paired answers."""
    return address_of(ENDOCA, chosen.to_query(), LIST)


def choose_case(chosen: UnitFilter) -> None:
    """Draw what the page is for, and the filter's cases to choose one from."""
    what = "A case is one image with a complex question, its parts, and what every VLM answered."
    if not kept(totals).units:
        st.text(f"{what} There is none in the store yet.")
        st.page_link(DATA, label="Import a suite on the Data page")
        return
    st.text(f"{what} Choose one.")
    st.html(list_words(chosen.sentence(kept(run_names))))
    show_units(chosen, key="cases")
    st.page_link(ENDOCA, label="Filter the list on Paired answers", query_params=chosen.to_query())


def leave_case() -> None:
    """Take the case out of the link; the list stays."""
    del st.query_params["unit"]


def list_words(sentence: str, more: str = "") -> str:
    """Return which list it is, as HTML.

    Args:
        sentence: The list's filter in words; may hold a data set's.
        more: What else is to be said; our own words.
    """
    return f'<div style="font-size:.85rem;opacity:.8;overflow-wrap:anywhere">List: {escape(sentence)}.{more}</div>'


def go_to(chosen: UnitFilter, position: int) -> None:
    """Write into the link the case at a position of the list, from 1."""
    st.query_params["unit"] = str(kept(unit_page, chosen, offset=position - 1, limit=1)["unit_id"].iloc[0])
