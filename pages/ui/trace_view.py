"""The case page's section of reconciliations: those watched live, and those of batch runs."""

__all__ = ["show_case_traces"]

from html import escape

import streamlit as st

from backend.services.batch_traces import batch_traces
from backend.services.cases import Case
from backend.services.endoca_series import vlm_places
from backend.services.live_traces import unit_traces
from backend.services.trace_scores import score_trace
from backend.store.store import Store
from pages.ui.links import LIVE
from pages.ui.plain import plain
from pages.ui.trace_cards import STYLE, trace_cards
from pages.ui.trace_lines import trace_head, verdict_line
from pages.ui.trace_words import ending_words


def show_case_traces(store: Store, case: Case) -> int:
    """Draw the case page's section of traces: those watched live, then those of batch runs.

    Returns:
        How many there are; where there is none, nothing is drawn.
    """
    traces = [*unit_traces(store, case.unit_id), *batch_traces(store, case)]
    if not traces:
        return 0
    places = vlm_places(store)
    atomic = [question.question for question in case.questions[1:]]
    st.html(STYLE)
    st.subheader("ASR traces")
    st.caption("What a VLM made of its own answers when it was asked again (Atomic-Support Reconciliation).")
    for stored in traces:
        scores = score_trace(case.questions, stored.trace)
        cards = "".join(trace_cards(stored.trace, atomic, scores, has_calls=bool(stored.trace_id)))
        ended = ending_words(stored.ending, stored.problem, kept=True if stored.trace_id else None)
        line = verdict_line(stored.trace, scores) or f'<p class="trace-ended">{escape(ended)}</p>'
        st.html(
            f'<div class="trace-one">{trace_head(stored, places)}{line}'
            f'<details><summary>every step</summary><div class="trace-cards">{cards}</div></details></div>'
        )
        if stored.trace_id:
            st.page_link(
                LIVE,
                label=f"Open this trace of {plain(stored.vlm.name)}",
                query_params={"trace": stored.trace_id},
            )
    return len(traces)
