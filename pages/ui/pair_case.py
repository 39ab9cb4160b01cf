"""The case page of a pair of SurgCheck, and the list of pairs to choose one from."""

__all__ = ["are_pairs_asked_for", "show_pair_case"]

from dataclasses import fields
from functools import partial

import streamlit as st

from backend.domain.records import System
from backend.errors import AppError
from backend.services.explore import run_names
from backend.services.pair_traces import live_runs
from backend.services.surgcheck_cases import load_pair
from backend.services.surgcheck_suites import surgcheck_suites
from backend.store.filters import UnitFilter
from backend.store.pair_filters import PairFilter, pair_neighbours, pair_page
from backend.store.store import Store
from pages.ui.case_place import is_asked_for, list_words, show_place
from pages.ui.errors import show_error
from pages.ui.links import CASE, address_of
from pages.ui.pair_list import show_pairs
from pages.ui.pair_view import show_pair
from pages.ui.pair_words import pair_sentence
from pages.ui.resources import kept

_OWN_FIELDS = {field.name for field in fields(PairFilter)} - {field.name for field in fields(UnitFilter)}
"""Parameters of a link that only a list of pairs has."""


def are_pairs_asked_for() -> bool:
    """Return whether the link names a pair, or a list of pairs."""
    return is_asked_for(System.SURGCHECK, _OWN_FIELDS)


def show_pair_case(store: Store) -> None:
    """Draw the pair the link names, with its place in the list; without one, the list."""
    try:
        chosen = PairFilter.from_query(st.query_params.to_dict())
        unit_id = st.query_params.get("unit", "")
        pair = load_pair(store, unit_id) if unit_id else None
    except AppError as error:
        show_error(error)
        st.button("Show every pair", on_click=_show_all)
        return
    sentence = chosen.sentence(kept(run_names))
    if pair is None:
        st.text("A pair is one question in two texts: one names what it asks about, the other only points. Choose one.")
        st.html(list_words(sentence))
        show_pairs(chosen, key="pairs")
        return
    live_only = not pair.runs and live_runs(store, pair)
    st.text("Asked live; no batch run answers it." if live_only else pair_sentence(pair, pair.runs))
    listed = chosen.to_query()
    if not ({"suite"} | _OWN_FIELDS) & set(listed):
        listed["suite"] = pair.suite
    place = kept(pair_neighbours, chosen, unit_id)
    show_place(place, sentence, address_of(CASE, listed), partial(_go_to, chosen))
    show_pair(store, pair, chosen)


def _go_to(chosen: PairFilter, position: int) -> None:
    st.query_params["unit"] = str(kept(pair_page, chosen, offset=position - 1, limit=1)["unit_id"].iloc[0])


def _show_all() -> None:
    suites = kept(surgcheck_suites)
    st.query_params.from_dict({"suite": suites[0]} if suites else {})
