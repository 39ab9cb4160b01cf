"""A pair in the cue workshop while its two questions are asked, and when they are answered, beside earlier answers.

The link holds it (``?trace=id``), so it can be left and come back to, sent, and watched by several people. A pair
that nobody has asked yet stands in the link as ``?unit=``.
"""

__all__ = ["show_pair_to_ask", "show_trace"]

from functools import partial
from html import escape

import streamlit as st

from backend.domain.records import Role
from backend.errors import AppError
from backend.services.cue_workshop import OWN
from backend.services.endoca_series import vlm_places
from backend.services.live_pairs import LivePair, find_pair
from backend.services.live_traces import Ending
from backend.services.pair_traces import PairTrace, live_runs
from backend.services.surgcheck_cases import PairCase, PairRun, load_pair
from backend.store.store import Store
from backend.surgcheck.differing_words import differing_words
from pages.ui.case_view import STYLE as CASE_STYLE
from pages.ui.copy import copy_button
from pages.ui.errors import show_error
from pages.ui.links import CASE
from pages.ui.look_live import show_trace_looks
from pages.ui.pair_table import STYLE, pair_table, question_html
from pages.ui.pair_view import show_frames
from pages.ui.pair_words import outcome_words, run_sentence, text_names
from pages.ui.trace_cards import STYLE as TRACE_STYLE
from pages.ui.trace_words import ending_words, standing_words
from pages.ui.vlm_picker import vlm_picker
from pages.ui.watching import cancel_button, say_ended, show_unstored_end, watch
from pages.ui.workshop_start import begin_anew, go_to, start_pair


def show_pair_to_ask(store: Store, unit_id: str) -> None:
    """Draw a stored pair, what was answered to it live, and the way to ask it."""
    try:
        pair = load_pair(store, unit_id)
    except AppError as error:
        show_error(error)
        st.button("Choose a frame", on_click=begin_anew)
        return
    _styles()
    show_frames(store, pair)
    st.html(pair_table(pair, live_runs(store, pair), vlm_places(store)))
    _show_again(store, pair)


def show_trace(store: Store, trace_id: str) -> None:
    """Draw a pair asked live by its trace's id, while it runs or when it is over."""
    try:
        found = find_pair(store, trace_id)
        if found is None:
            raise AppError(
                f"There is no pair asked live as {trace_id!r} in this store.",
                "It was never stored, or the link comes from another store. Choose a frame.",
            )
        pair = load_pair(store, found.pair.unit_id if isinstance(found, LivePair) else found.unit_id)
    except AppError as error:
        show_error(error)
        st.button("Choose a frame", on_click=begin_anew)
        return
    _styles()
    show_frames(store, pair)
    if isinstance(found, PairTrace):
        _show_stored(store, pair, found)
        show_trace_looks(store, found)
    elif found.is_over and not found.is_stored:
        _show_unstored(pair, found)
    else:  # it goes on, or was stored since it was found: then the next look shows that
        watch(found, partial(_show_running, pair, found))
        return
    _show_again(store, pair)


def _styles() -> None:
    for style in (CASE_STYLE, STYLE, TRACE_STYLE):
        st.html(style)


def _show_running(pair: PairCase, asked: LivePair) -> None:
    st.html(running_table(pair, asked))
    cancel_button(asked)


def running_table(pair: PairCase, asked: LivePair) -> str:
    """Return the two questions with what has been answered so far, as HTML."""
    told, asking = asked.calls, {call.name: call for call in asked.asking}
    standing = "stopping" if asked.is_stopping else standing_words(asked.standing)
    texts = differing_words(pair.original.question, pair.less_biased.question)
    rows = []
    for role, name, words in zip((Role.ORIGINAL, Role.LESS_BIASED), text_names(pair), texts, strict=True):
        if role in told:
            reply = told[role].reply
            said, state = reply.error or reply.text, f"{reply.seconds:.1f} s"
        elif role in asking:
            said, state = asking[role].said, standing
        else:
            said, state = "", "waiting"
        spoken = f'<span class="said">{escape(said)}</span>' if said else ""
        rows.append(
            f'<tr><th scope="row"><span class="role">{name}</span>'
            f'<span class="asked">{question_html(words)}</span></th>'
            f'<td>{spoken}<span class="judged">{escape(state)}</span></td></tr>'
        )
    return (
        f'<div class="pair-answers" role="status"><table><thead><tr><td></td><th scope="col">{escape(asked.vlm.name)}'
        f"</th></tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _show_stored(store: Store, pair: PairCase, trace: PairTrace) -> None:
    """Draw what it came to, this trace first, those before it and runs over the pair's suite beside it."""
    live = live_runs(store, pair)
    here = [run for run in live if run.run_id == trace.trace_id]
    others = [run for run in (*reversed(live), *pair.runs) if run.run_id != trace.trace_id]
    st.html(f'<p class="pair-verdict" role="status">{escape(_verdict(pair, here[0]))}</p>')
    st.html(pair_table(pair, [*here, *others], vlm_places(store)))
    if len(trace.calls) < 2 or trace.problem:
        ending = Ending.CANCELLED if trace.was_cancelled else Ending.FAILED
        say_ended(ending_words(ending, trace.problem, kept=True))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.page_link(CASE, label="Open its case", query_params={"unit": pair.unit_id})
        copy_button("Copy link", key="copy_trace")


def _verdict(pair: PairCase, run: PairRun) -> str:
    return f"{outcome_words(pair, run).capitalize()}. {run_sentence(pair, run)}"


def _show_unstored(pair: PairCase, asked: LivePair) -> None:
    """Draw one that ended with nothing to keep, or that could not be kept."""
    st.html(running_table(pair, asked))
    show_unstored_end(asked)


def _show_again(store: Store, pair: PairCase) -> None:
    """Draw the way to ask it, with the same cue or another."""
    st.subheader("Ask again" if live_runs(store, pair) else "Ask")
    vlm = vlm_picker("vlm")
    with st.container(horizontal=True, gap="small"):
        if st.button("Ask both", type="primary", disabled=vlm is None, key="ask_again") and vlm is not None:
            try:
                start_pair(store, pair.unit_id, vlm)
            except AppError as error:
                show_error(error)
        thing = OWN if pair.annotation_id is None else pair.annotation_id
        another = {"image": pair.frame.image_id} | ({} if pair.box is None else {"thing": str(thing)})
        st.button("Point with another cue", on_click=go_to, kwargs=another, key="another_cue")
        st.button("Choose another frame", on_click=begin_anew, key="begin_anew")
