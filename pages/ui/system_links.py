"""From suites and runs to the pages of their system: the cases, and the page that compares runs."""

__all__ = ["PAGES", "query_of", "show_ways_on"]

from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from backend.domain.records import System
from backend.services.verimap_lists import verdicts_of_runs
from backend.store import queries
from backend.store.filters import UnitFilter
from backend.store.pair_filters import PairFilter
from backend.store.verification_filters import VerificationFilter
from pages.ui.links import CASE, ENDOCA, SURGCHECK, VERIMAP
from pages.ui.resources import kept

PAGES = {
    System.ENDOCA: (ENDOCA, "Paired answers"),
    System.SURGCHECK: (SURGCHECK, "Shortcuts"),
    System.VERIMAP: (VERIMAP, "Mirage plane"),
}
"""System → the page that compares its runs, and its name."""


def show_ways_on(suites: Collection[str], runs: Mapping[str, str], *, key: str) -> None:
    """Draw the links; nothing where the store holds none of the suites any more.

    Args:
        suites: Names of suites.
        runs: Id of a run → its suite, to look at these runs alone.
        key: Unique on the page.
    """
    table = kept(queries.suite_table)
    systems = dict(zip(table["suite"], table["system"], strict=True))
    known = sorted(suite for suite in suites if suite in systems)
    if not known:
        return
    with st.container(horizontal=True, key=key):
        for system in dict.fromkeys(systems[suite] for suite in known):
            own = [suite for suite in known if systems[suite] == system]
            query = query_of(system, own, tuple(run for run, suite in runs.items() if suite in own))
            page, name = PAGES[System(system)]
            st.page_link(CASE, label="Open these cases", query_params=query)
            st.page_link(page, label=f"Open {name}", query_params=query)


def query_of(system: str, suites: Sequence[str], runs: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the link's parameters of some suites of one system, or of runs over them."""
    if system == System.VERIMAP:
        if runs:
            return kept(verdicts_of_runs, tuple(suites), runs).to_query()
        return VerificationFilter(suites=tuple(suites)).to_query()
    suite = suites[0] if len(suites) == 1 else ""
    if system == System.SURGCHECK:
        return PairFilter(suite=suite, runs=runs).to_query()
    return UnitFilter(suite=suite, runs=runs).to_query()
