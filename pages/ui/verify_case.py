"""The case page's section of verifications that somebody watched."""

__all__ = ["show_case_verifications"]

from html import escape

import streamlit as st

from backend.domain.records import System
from backend.services.endoca_series import vlm_places
from backend.services.live_verdicts import PERSON, trace_verdicts
from backend.services.verification_traces import verification_traces
from backend.services.verimap_cases import VerificationCase
from backend.store.store import Store
from pages.ui.links import LIVE
from pages.ui.plain import plain
from pages.ui.trace_cards import STYLE as TRACE_STYLE
from pages.ui.trace_words import ending_words
from pages.ui.verify_cards import STYLE, Seen, verify_cards, verify_summary
from pages.ui.verify_run import verify_head


def show_case_verifications(store: Store, case: VerificationCase) -> int:
    """Draw the live verifications of an example, oldest first; nothing where there is none.

    Returns:
        How many there are.
    """
    traces = verification_traces(store, case.unit_id)
    if not traces:
        return 0
    places = vlm_places(store)
    st.html(TRACE_STYLE)
    st.html(STYLE)
    st.subheader("Verified live")
    st.caption("Answered and judged while somebody watched; counted in no figure.")
    for trace in traces:
        seen = Seen(case, trace.verification, trace_verdicts(case, trace))
        generator = trace.generator.vlm.name if trace.generator else PERSON
        cards = "".join(verify_cards(seen, generator, trace.verifier.vlm.name))
        ended = ending_words(trace.ending, trace.problem, kept=True)
        said = f'<p class="trace-ended">{escape(ended)}</p>' if ended else ""
        st.html(
            f'<div class="trace-one">{verify_head(trace, places)}{verify_summary(seen)}{said}'
            f'<details><summary>every step</summary><div class="trace-cards">{cards}</div></details></div>'
        )
        st.page_link(
            LIVE,
            label=f"Open this verification by {plain(trace.verifier.vlm.name)}",
            query_params={"system": System.VERIMAP, "trace": trace.trace_id},
        )
    return len(traces)
