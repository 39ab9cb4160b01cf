"""Live verifications of one example, one below the other."""

__all__ = ["show_beside"]

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from backend.services.live_verdicts import PERSON, trace_verdicts
from backend.services.verification_traces import VerificationTrace
from backend.services.verimap_cases import VerificationCase
from pages.ui.import_report import plural
from pages.ui.live_start import go_to
from pages.ui.plain import plain
from pages.ui.tags import vlm_name
from pages.ui.verify_words import course_words, said_words, truths


def show_beside(
    case: VerificationCase, traces: Sequence[VerificationTrace], places: Mapping[str, int], here: str
) -> None:
    """Draw what was verified live about an example.

    Args:
        case: The example.
        traces: Its traces, oldest first.
        places: Each VLM's place in the store, which gives it its colour.
        here: Id of the trace shown above.
    """
    st.subheader("Side by side")
    st.caption(f"{plural(len(traces), 'live verification')} of this example, oldest first.")
    heads = ("Answered by", "Judged by", "Answer", "The answer is", "Verdict", "How", "When")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    rows = "".join(_row(case, trace, places, is_here=trace.trace_id == here) for trace in traces)
    st.html(f'<div class="trace-beside"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>')
    with st.container(horizontal=True, gap="small", key="other_traces"):
        for trace in traces:
            if trace.trace_id != here:
                st.button(
                    f"Open {plain(_generator(trace))}, judged by {plain(trace.verifier.vlm.name)}, "
                    f"{trace.created_at:%H:%M:%S} UTC",
                    on_click=go_to,
                    kwargs={"trace": trace.trace_id},
                    key=f"open_{trace.trace_id}",
                )


def _row(case: VerificationCase, trace: VerificationTrace, places: Mapping[str, int], *, is_here: bool) -> str:
    verdicts = trace_verdicts(case, trace)
    verifier = trace.verifier.vlm
    answered = escape(PERSON)
    if trace.generator is not None:
        vlm = trace.generator.vlm
        answered = vlm_name(vlm.name, vlm.group, places.get(vlm.name))
    when = f"{trace.created_at:%Y-%m-%d %H:%M} UTC{' <small>shown above</small>' if is_here else ''}"
    cells = [
        answered,
        vlm_name(verifier.name, verifier.group, places.get(verifier.name)),
        f'<span class="said">{escape(" → ".join(one.answer or "nothing" for one in verdicts)) or "–"}</span>',
        escape(truths(case, verdicts)) or "–",
        escape(" → ".join(said_words(one) for one in verdicts)) or "–",
        escape(course_words(trace.verification.course)) or "one verdict",
        when,
    ]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _generator(trace: VerificationTrace) -> str:
    return trace.generator.vlm.name if trace.generator else PERSON
