"""Failure cases of one run, both ways round (Fig. 6): what is right with the hint alone, and what without it alone."""

__all__ = ["show_failures"]

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from backend.services.surgcheck_answers import of_questions
from backend.store.pair_filters import PairFilter, pair_count
from backend.surgcheck.outcomes import PairOutcome
from pages.ui.links import CASE
from pages.ui.resources import kept
from pages.ui.surgcheck_cards import show_cards
from pages.ui.surgcheck_words import pairs_counted

Row = Mapping[str, Any]


def show_failures(runs: Sequence[Row], chosen: PairFilter) -> None:
    """Draw the choice of a run and a direction, both kept in the link, and the cards.

    Args:
        runs: Rows of `drop_table` by accuracy, asked in both ways; the first is shown where the link names none.
        chosen: The page's filter; conditions on answers are put aside.
    """
    by_run = {row["run_id"]: row for row in runs}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        run_id = _choose_run({run: str(row["label"]) for run, row in by_run.items()})
        outcome = _choose_outcome(by_run[run_id])
    listed = replace(of_questions(chosen), runs=(run_id,), pair_outcomes=(outcome.value,))
    total = kept(pair_count, listed)
    if not total:
        st.text("There is no such pair.")
        return
    show_cards(listed, total, key="failures")
    st.page_link(CASE, label=f"All {pairs_counted(total)} as a table", query_params=listed.to_query())


def _choose_run(labels: Mapping[str, str]) -> str:
    asked = st.query_params.get("of", "")
    st.session_state["failures_of"] = asked if asked in labels else next(iter(labels))
    picked = st.selectbox(
        "Answers of",
        list(labels),
        key="failures_of",
        format_func=lambda run: labels.get(run, run),
        on_change=_write,
        args=("of", "failures_of"),
        label_visibility="collapsed",
        width=260,
    )
    return str(picked)


def _choose_outcome(row: Row) -> PairOutcome:
    counts = {PairOutcome.HINT_ONLY: row["n_hint_only"], PairOutcome.POINTED_ONLY: row["n_pointed_only"]}
    asked = st.query_params.get("failures", "")
    st.session_state["failures_way"] = asked if asked in counts else PairOutcome.HINT_ONLY.value
    picked = st.segmented_control(
        "What became of the pair",
        [outcome.value for outcome in counts],
        key="failures_way",
        format_func=lambda way: f"{PairOutcome(way).plain}: {counts[PairOutcome(way)]:,}",
        required=True,
        on_change=_write,
        args=("failures", "failures_way"),
        label_visibility="collapsed",
    )
    return PairOutcome(str(picked))


def _write(name: str, state: str) -> None:
    st.query_params[name] = st.session_state[state]
