"""Where the VLM looked, one click after a trace is there: the click, how far it is, and two replies side by side.

What was looked into stays with the trace: whoever opens its link sees it, without any VLM.
"""

__all__ = ["show_trace_looks"]

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape

import streamlit as st

from backend.errors import AppError
from backend.services.live_looks import LOOKS, LiveLooks, lines_to, why_no_look
from backend.services.stored_saliency import trace_looks
from backend.services.trace_replies import AnyTrace, TraceReply, shown_image, to_compare, trace_replies
from backend.store.store import Store
from backend.vlm.registry import Registry
from backend.vlm.saliency.kept import KeptSaliency
from pages.ui.errors import show_error
from pages.ui.image_routes import image_url
from pages.ui.import_report import plural
from pages.ui.look_names import reply_name, when_words
from pages.ui.look_words import looked_sentence
from pages.ui.saliency_view import Pane, saliency_view
from pages.ui.trace_words import standing_words
from pages.ui.watching import cancel_button, say_ended, watch

_Looks = Mapping[tuple[str, int], KeptSaliency]


def show_trace_looks(store: Store, trace: AnyTrace) -> None:
    """Draw where the VLM looked when it gave two replies of a stored trace, and the way to look into them.

    Nothing is drawn where no call was answered. What a VLM cannot give is said, and never shown.

    Args:
        store: Holds the trace.
        trace: A reconciliation, a pair or a verification, over.
    """
    replies = trace_replies(trace)
    if not replies:
        return
    with st.container(key="trace_looks"):
        st.subheader("Where the VLM looked")
        looks = LOOKS.of(store, trace.trace_id)
        kept = trace_looks(store, trace.trace_id)
        chosen = _choose(trace.trace_id, replies) if kept or looks is not None else to_compare(replies)
        _show(store, trace, [reply for reply in chosen if reply.key in kept], kept)
        if looks is not None and not looks.is_over:
            watch(looks, partial(_show_running, looks))
            return
        missing = [reply for reply in chosen if reply.key not in kept]
        if looks is not None:
            _show_end(looks, missing)
        _offer(store, trace, missing)


def _show_running(looks: LiveLooks) -> None:
    standing = "stopping" if looks.is_stopping else _standing(looks)
    asking = next(iter(looks.asking), None)
    now = next((one for one in looks.wanted if asking and one.key == (asking.name, asking.position)), None)
    done = f"{looks.n_done} of {plural(len(looks.wanted), 'answer')} looked into"
    parts = [done, f"now: {reply_name(now)}" if now else "", standing]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        spans = "".join(f"<span>{escape(part)}</span>" for part in parts if part)
        st.html(f'<div class="trace-head" role="status"><strong>{escape(looks.vlm.name)}</strong>{spans}</div>')
        cancel_button(looks)


def _standing(looks: LiveLooks) -> str:
    words = standing_words(looks.standing)
    return "looking" if words in ("answering", "asking") else words


def _choose(trace_id: str, replies: Sequence[TraceReply]) -> tuple[TraceReply, ...]:
    """Draw the choice of the two replies that are compared; one that is chosen twice stands once."""
    if len(replies) < 2:
        return tuple(replies)
    by_key = {reply.key: reply for reply in replies}
    chosen = []
    for side, first, column in zip(("Left", "Right"), to_compare(replies), st.columns(2), strict=True):
        with column:
            key = st.selectbox(
                f"{side} picture",
                list(by_key),
                index=list(by_key).index(first.key),
                format_func=lambda one: reply_name(by_key[one]),
                key=f"look_{side}_{trace_id}",
            )
        chosen.append(by_key[key])
    return tuple({reply.key: reply for reply in chosen}.values())


def _show(store: Store, trace: AnyTrace, chosen: Sequence[TraceReply], kept: _Looks) -> None:
    """Draw one or two looks; without the image's file the numbers stay."""
    if not chosen:
        return
    if len(chosen) == 2:
        left, right = chosen
        sentence = looked_sentence(
            (when_words(left), kept[left.key]),
            (when_words(right), kept[right.key]),
            who=(left.vlm.name, right.vlm.name),
        )
        st.html(f'<p style="margin:0">{escape(sentence)}</p>')
    for reply in chosen:
        if reply.by_person:
            st.text(f"A person gave this answer: it is read as if {reply.vlm.name} had given it to the question.")
    image = shown_image(store, trace)
    if image is None:
        st.text("The image that the VLM was shown is not at hand any more, so its maps lie over nothing.")
    saliency_view(
        image_url(image.image_id) if image else None,
        image.width if image else None,
        image.height if image else None,
        [Pane(reply_name(reply), reply.said, kept[reply.key]) for reply in chosen],
        label="Where the VLM looked",
        key=f"looks_{trace.trace_id}",
    )


def _show_end(looks: LiveLooks, missing: Sequence[TraceReply]) -> None:
    """Draw why replies that are chosen were not looked into."""
    for reply in missing:
        if (why := looks.refused.get(reply.key)) is not None:
            say_ended(f"{reply_name(reply)}: {why}")
    if looks.error is not None:
        show_error(looks.error)
    elif looks.is_stopping:
        say_ended("Cancelled. What was looked into until then is kept.")


def _offer(store: Store, trace: AnyTrace, missing: Sequence[TraceReply]) -> None:
    """Draw the click that looks into replies, disabled with its reason where none of their VLMs can be looked into."""
    if not missing:
        return
    registry = Registry.load()
    reasons = {reply.vlm.name: why_no_look(registry, reply.vlm.name) for reply in missing}
    able = [reply for reply in missing if not reasons[reply.vlm.name]]
    names = ", ".join(reply_name(reply) for reply in missing)
    st.text(f"Not looked into yet: {names}. What was said is read again; nothing new is asked.")
    if st.button("Show where it looked", disabled=not able, key=f"look_into_{trace.trace_id}"):
        try:
            LOOKS.start(store, trace, able, lines_to(registry, able))
        except AppError as error:
            show_error(error)
        else:
            st.rerun()
    for why in dict.fromkeys(filter(None, reasons.values())):
        st.text(f"{why}.")
