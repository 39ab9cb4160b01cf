"""The ways to a run's contradictions: straight to the first, and to all of them."""

__all__ = ["contradiction_links"]

import streamlit as st

from backend.endoca.outcomes import Outcome
from backend.store.filters import UnitFilter
from backend.store.unit_lists import unit_page
from pages.ui.links import CASE, case_query
from pages.ui.resources import kept


def contradiction_links(suite: str, run_id: str) -> None:
    """Draw links to the units a run has right on a wrong part: its first case, where there is one, and the list."""
    apart = UnitFilter(suite, (run_id,), outcomes=(Outcome.INCONSISTENT,))
    first = kept(unit_page, apart, offset=0, limit=1)["unit_id"]
    with st.container(horizontal=True, gap="medium"):
        if len(first):
            one = case_query(str(first.iloc[0]), apart)
            st.page_link(CASE, label="See one: right answer, wrong part", query_params=one)
        st.page_link(CASE, label="Open these cases", query_params=apart.to_query())
