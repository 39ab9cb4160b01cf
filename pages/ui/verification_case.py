"""The case page of an example of VeriMap, and the list of verifications to choose one from."""

__all__ = ["are_verifications_asked_for", "show_verification_case"]

from dataclasses import fields, replace
from functools import partial

import streamlit as st

from backend.domain.records import System
from backend.errors import AppError
from backend.services.cases import suite_system
from backend.services.endoca_series import records
from backend.services.explore import run_names
from backend.services.verification_traces import verification_traces
from backend.services.verimap_case_loading import load_verification_case
from backend.services.verimap_cells import verification_choices
from backend.services.verimap_lists import case_at, verification_neighbours
from backend.services.verimap_loop import loop_table
from backend.store.filters import UnitFilter
from backend.store.pair_filters import PairFilter
from backend.store.store import Store
from backend.store.verification_filters import BOTH, VerificationFilter
from pages.ui.case_place import is_asked_for, list_words, show_place
from pages.ui.errors import show_error
from pages.ui.links import LIST, LOOP, SALIENCY, VERIMAP, address_of
from pages.ui.loop_choices import named_loops
from pages.ui.resources import kept
from pages.ui.verification_list import show_verifications
from pages.ui.verification_view import show_verification
from pages.ui.verification_words import verification_sentence

_SHARED_FIELDS = {field.name for known in (UnitFilter, PairFilter) for field in fields(known)}
_OWN_FIELDS = {field.name for field in fields(VerificationFilter)} - _SHARED_FIELDS
"""Parameters of a link that only a list of verifications has."""


def are_verifications_asked_for() -> bool:
    """Return whether the link names an example of VeriMap, or a list of verifications."""
    return is_asked_for(System.VERIMAP, _OWN_FIELDS)


def show_verification_case(store: Store) -> None:
    """Draw the example the link names, with its place in the list; without one, the list."""
    query = st.query_params.to_dict()
    unit_id = query.get("unit", "")
    try:
        chosen = VerificationFilter.from_query(query)
        case = load_verification_case(store, unit_id) if unit_id else None
    except AppError as error:
        show_error(error)
        st.button("Show every verification", on_click=_show_all)
        return
    if case is None:
        suite = query.get("suite", "")
        if suite and kept(suite_system, suite) == System.VERIMAP:
            chosen = replace(chosen, suites=(suite,))
        st.text("A case is one question with the answers to it and every verdict on them. Choose one.")
        st.html(list_words(chosen.sentence(_names(chosen))))
        show_verifications(chosen, key="verifications")
        return
    asked_live_only = not case.generators and verification_traces(store, unit_id)
    st.text("Asked live; no batch run answers it." if asked_live_only else verification_sentence(case))
    place = kept(verification_neighbours, chosen, unit_id)
    show_place(place, chosen.sentence(_names(chosen)), _list_address(chosen), partial(_go_to, chosen))
    show_verification(store, case, chosen)


def _list_address(chosen: VerificationFilter) -> str:
    """Return the address of the page that lists what a filter chooses.

    Mirage plane and Saliency look at first answers that a VLM verified itself where a link does not say otherwise,
    so this one says so.
    """
    if chosen.loop or chosen.fates:
        return address_of(LOOP, chosen.to_query(), LIST)
    turns = chosen.turns or kept(verification_choices).turns
    page = SALIENCY if chosen.looked else VERIMAP
    return address_of(page, replace(chosen, pairing=chosen.pairing or BOTH, turns=turns).to_query(), LIST)


def _names(chosen: VerificationFilter) -> dict[str, str]:
    """Return what to call runs and, where the list is of one, feedback loops."""
    loops = named_loops(records(kept(loop_table))) if chosen.loop else {}
    return {**kept(run_names), **loops}


def _go_to(chosen: VerificationFilter, position: int) -> None:
    st.query_params["unit"] = kept(case_at, chosen, position)


def _show_all() -> None:
    st.query_params.from_dict({"turns": "0"})
