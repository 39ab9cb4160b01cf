"""A reconciliation on the Live page: as it runs, and when it is over, with those of the same case beside it.

The link holds it (``?trace=id``), so it can be left and come back to, sent, and watched by several people.
"""

__all__ = ["show_live"]

from functools import partial
from html import escape

import streamlit as st

from backend.endoca.asr import Trace
from backend.errors import AppError
from backend.services.cases import Case, load_case
from backend.services.endoca_series import vlm_places
from backend.services.live import LIVE, LiveRun
from backend.services.live_traces import Ending, StoredTrace, unit_traces
from backend.services.trace_scores import TraceScores, score_trace
from backend.store.store import Store
from pages.ui.asr_words import VARIANT_WORDS
from pages.ui.case_view import STYLE as CASE_STYLE
from pages.ui.case_view import case_questions, identity, show_image
from pages.ui.copy import copy_button
from pages.ui.errors import show_error
from pages.ui.import_report import plural
from pages.ui.links import CASE
from pages.ui.live_start import begin_anew, choose_vlm, go_to, start_live
from pages.ui.look_live import show_trace_looks
from pages.ui.plain import plain
from pages.ui.trace_cards import STYLE, trace_cards
from pages.ui.trace_lines import trace_head, verdict_line
from pages.ui.trace_table import side_by_side
from pages.ui.trace_words import ending_words, standing_words
from pages.ui.watching import cancel_button, say_ended, show_unstored_end, watch


def show_live(store: Store, trace_id: str) -> None:
    """Draw a reconciliation by its id, running or over."""
    try:
        found = LIVE.find(store, trace_id)
        if found is None:
            raise AppError(
                f"There is no trace {trace_id!r} in this store.",
                "It was never stored, or the link comes from another store. Choose what to ask about.",
            )
        case = load_case(store, found.unit.unit_id if isinstance(found, LiveRun) else found.unit_id)
    except AppError as error:
        show_error(error)
        st.button("Choose what to ask about", on_click=begin_anew)
        return
    st.html(CASE_STYLE)
    st.html(STYLE)
    left, right = st.columns([6, 5], gap="large")
    with left:
        show_image(store, case.image, height_px=380)
        st.html(identity(case))
        st.html(case_questions(case))
    with right, st.container(key="live_steps"):
        if isinstance(found, StoredTrace):
            _show_stored(store, case, found)
        elif found.is_over and not found.is_stored:
            _show_unstored(case, found)
        else:  # it goes on, or was stored since it was found: then the next look shows that
            watch(found, partial(_show_running, case, found))
            return
    if isinstance(found, StoredTrace):
        show_trace_looks(store, found)
    _show_again(store, case, found.trace_id if isinstance(found, StoredTrace) else "")


def _show_running(case: Case, run: LiveRun) -> None:
    trace, asking = run.trace, run.asking
    standing = "stopping" if run.is_stopping else standing_words(run.standing)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html(
            f'<div class="trace-head" role="status"><strong>{escape(run.vlm.name)}</strong>'
            f"<span>{VARIANT_WORDS[run.variant]}</span><span>{escape(standing)}</span></div>"
        )
        cancel_button(run)
    atomic = [question.question for question in case.questions[1:]]
    for card in trace_cards(
        trace, atomic, score_trace(case.questions, trace), asking=asking, standing=standing, is_over=False
    ):
        st.html(card)


def _show_stored(store: Store, case: Case, stored: StoredTrace) -> None:
    scores = score_trace(case.questions, stored.trace)
    st.html(trace_head(stored, vlm_places(store)))
    _show_cards(case, stored.trace, scores)
    if stored.ending is not Ending.DONE:
        say_ended(ending_words(stored.ending, stored.problem, kept=True))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.page_link(CASE, label="Open its case", query_params={"unit": case.unit_id})
        copy_button("Copy link", key="copy_trace")


def _show_unstored(case: Case, run: LiveRun) -> None:
    """Draw one that ended with nothing to keep, or that could not be kept."""
    _show_cards(case, run.trace, score_trace(case.questions, run.trace))
    show_unstored_end(run)


def _show_cards(case: Case, trace: Trace, scores: TraceScores) -> None:
    atomic = [question.question for question in case.questions[1:]]
    for card in trace_cards(trace, atomic, scores):
        st.html(card)
    st.html(verdict_line(trace, scores) or "<span></span>")


def _show_again(store: Store, case: Case, here: str) -> None:
    """Draw the way to ask again, and what was asked about this case before."""
    st.subheader("Ask again")
    chosen = choose_vlm()
    with st.container(horizontal=True, gap="small"):
        if st.button("Run ASR again", type="primary", disabled=chosen is None, key="run_again") and chosen is not None:
            try:
                start_live(store, case.unit_id, chosen)
            except AppError as error:
                show_error(error)
        st.button("Change the questions", on_click=go_to, kwargs={"unit": case.unit_id}, key="change_questions")
        st.button("Choose something else", on_click=begin_anew, key="begin_anew")
    traces = unit_traces(store, case.unit_id)
    if len(traces) > 1:
        st.subheader("Side by side")
        st.caption(f"{plural(len(traces), 'trace')} of this case, oldest first.")
        st.html(side_by_side(traces, case, vlm_places(store), here))
        with st.container(horizontal=True, gap="small", key="other_traces"):
            for stored in traces:
                if stored.trace_id != here:
                    st.button(
                        _name(stored), on_click=go_to, kwargs={"trace": stored.trace_id}, key=f"open_{stored.trace_id}"
                    )


def _name(stored: StoredTrace) -> str:
    when = f", {stored.created_at:%H:%M:%S} UTC" if stored.created_at else ""
    return f"Open {plain(stored.vlm.name)}, {plain(VARIANT_WORDS[stored.trace.variant])}{when}"
