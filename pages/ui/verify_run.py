"""A verification on the Live page: as it runs, and when it is over, with those of the same example below it.

The link holds it (``?trace=id``), so it can be left and come back to, sent, and watched by several people.
"""

__all__ = ["show_verification_live", "verify_head"]

from collections.abc import Mapping
from functools import partial
from html import escape

import streamlit as st

from backend.domain.records import Origin
from backend.errors import AppError
from backend.services.endoca_series import vlm_places
from backend.services.live_traces import Ending
from backend.services.live_verdicts import PERSON, judged_turns, live_run, trace_verdicts
from backend.services.live_verification import LiveVerification, find_verification
from backend.services.verification_traces import VerificationTrace, verification_traces
from backend.services.verimap_case_loading import load_verification_case
from backend.services.verimap_cases import VerificationCase
from backend.store.store import Store
from pages.ui.case_view import STYLE as CASE_STYLE
from pages.ui.case_view import identity, show_image
from pages.ui.copy import copy_button
from pages.ui.errors import show_error
from pages.ui.links import CASE
from pages.ui.live_start import begin_anew, go_to
from pages.ui.look_live import show_trace_looks
from pages.ui.tags import origin_tag, vlm_name
from pages.ui.trace_cards import STYLE as TRACE_STYLE
from pages.ui.trace_words import ending_words, standing_words
from pages.ui.verification_table import STYLE as EXAMPLE_STYLE
from pages.ui.verification_table import example_html
from pages.ui.verify_beside import show_beside
from pages.ui.verify_cards import STYLE, Seen, verify_cards, verify_summary
from pages.ui.verify_start import choose_verification, start_verification
from pages.ui.verify_words import course_words
from pages.ui.watching import cancel_button, say_ended, show_unstored_end, watch


def show_verification_live(store: Store, trace_id: str) -> None:
    """Draw a verification by its id, running or over."""
    try:
        found = find_verification(store, trace_id)
        if found is None:
            raise AppError(
                f"There is no verification {trace_id!r} in this store.",
                "It was never stored, or the link comes from another store. Choose what to ask about.",
            )
        unit_id = found.example.unit_id if isinstance(found, LiveVerification) else found.unit_id
        case = load_verification_case(store, unit_id)
    except AppError as error:
        show_error(error)
        st.button("Choose what to ask about", on_click=begin_anew)
        return
    for style in (CASE_STYLE, EXAMPLE_STYLE, TRACE_STYLE, STYLE):
        st.html(style)
    left, right = st.columns([6, 5], gap="large")
    with left:
        show_image(store, case.image, height_px=380)
        st.html(identity(case))
        st.html(example_html(case))
    with right, st.container(key="live_steps"):
        if isinstance(found, VerificationTrace):
            _show_stored(store, case, found)
        elif found.is_over and not found.is_stored:
            _show_cards(_seen(case, found), found)
            show_unstored_end(found)
        else:  # it goes on, or was stored since it was found: then the next look shows that
            watch(found, partial(_show_running, case, found))
            return
    if isinstance(found, VerificationTrace):
        show_trace_looks(store, found)
    _show_again(store, case, found)


def _seen(case: VerificationCase, live: LiveVerification) -> Seen:
    verification = live.verification
    run = live_run(live.id, live.verifier.vlm.name)
    return Seen(case, verification, judged_turns(case, verification, _generator(live), run))


def _generator(live: LiveVerification) -> str:
    return live.generator.vlm.name if live.generator else PERSON


def _show_running(case: VerificationCase, live: LiveVerification) -> None:
    standing = "stopping" if live.is_stopping else standing_words(live.standing)
    generator, verifier = _generator(live), live.verifier.vlm.name
    who = verifier if generator == verifier else f"{generator}, judged by {verifier}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html(
            f'<div class="trace-head" role="status"><strong>{escape(who)}</strong>'
            f"<span>{escape(course_words(live.course))}</span><span>{escape(standing)}</span></div>"
        )
        cancel_button(live)
    for card in verify_cards(
        _seen(case, live), generator, verifier, asking=live.asking, standing=standing, is_over=False
    ):
        st.html(card)


def _show_cards(seen: Seen, live: LiveVerification) -> None:
    for card in verify_cards(seen, _generator(live), live.verifier.vlm.name):
        st.html(card)
    st.html(verify_summary(seen) or "<span></span>")


def _show_stored(store: Store, case: VerificationCase, trace: VerificationTrace) -> None:
    seen = Seen(case, trace.verification, trace_verdicts(case, trace))
    generator = trace.generator.vlm.name if trace.generator else PERSON
    st.html(verify_head(trace, vlm_places(store)))
    for card in verify_cards(seen, generator, trace.verifier.vlm.name):
        st.html(card)
    st.html(verify_summary(seen) or "<span></span>")
    if trace.ending is not Ending.DONE:
        say_ended(ending_words(trace.ending, trace.problem, kept=True))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.page_link(CASE, label="Open its case", query_params={"unit": case.unit_id})
        copy_button("Copy link", key="copy_trace")


def verify_head(trace: VerificationTrace, places: Mapping[str, int]) -> str:
    """Return who answered, who judged, and when, as HTML."""
    verifier = trace.verifier.vlm
    names = vlm_name(verifier.name, verifier.group, places.get(verifier.name))
    if trace.generator is None:
        names = f"<span>A person’s answer, judged by</span> {names}"
    elif trace.generator.vlm.name != verifier.name:
        answering = trace.generator.vlm
        names = (
            f"{vlm_name(answering.name, answering.group, places.get(answering.name))} <span>judged by</span> {names}"
        )
    else:
        names = f"{names} <span>judged by itself</span>"
    devices = {asked.device for asked in (trace.generator, trace.verifier) if asked and asked.device}
    about = [
        course_words(trace.verification.course),
        f"prompts {trace.prompt_version}",
        f"{trace.created_at:%Y-%m-%d %H:%M} UTC",
        f"on {', '.join(sorted(devices))}" if devices else "",
    ]
    spans = "".join(f"<span>{escape(text)}</span>" for text in about if text)
    return f'<div class="trace-head">{names} {origin_tag(Origin.LIVE)} {spans}</div>'


def _show_again(store: Store, case: VerificationCase, found: LiveVerification | VerificationTrace) -> None:
    """Draw the way to ask again, and what was verified live about this example before."""
    st.subheader("Verify again")
    course = found.course if isinstance(found, LiveVerification) else found.verification.course
    chosen = choose_verification(course.answer)
    with st.container(horizontal=True, gap="small"):
        if st.button("Verify again", type="primary", disabled=chosen is None, key="run_again") and chosen is not None:
            try:
                start_verification(store, case.unit_id, chosen)
            except AppError as error:
                show_error(error)
        st.button("Change question or answer", on_click=go_to, kwargs={"unit": case.unit_id}, key="change_question")
        st.button("Choose something else", on_click=begin_anew, key="begin_anew")
    traces = verification_traces(store, case.unit_id)
    if len(traces) > 1:
        show_beside(case, traces, vlm_places(store), found.trace_id if isinstance(found, VerificationTrace) else "")
