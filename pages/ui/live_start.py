"""Who is asked and in which variant, and the start of a live reconciliation; the link then holds its trace."""

__all__ = ["LAST", "SUBJECT", "Chosen", "begin_anew", "choose_vlm", "go_to", "start_live", "trace_asked"]

from functools import partial
from typing import NamedTuple

import streamlit as st

from backend.endoca.asr import Variant
from backend.services.live import LIVE
from backend.services.live_calls import LiveRegistry, Watched
from backend.services.live_units import unit_to_ask
from backend.services.runs.identity import identity_of
from backend.store.store import Store
from backend.vlm.entries import VlmEntry
from backend.vlm.registry import Registry
from pages.ui.asr_words import VARIANT_WORDS
from pages.ui.filters import link_choice
from pages.ui.vlm_picker import vlm_picker

LAST = "live_last"
"""Session state: the id of what this person started last on the Live page."""

SUBJECT = ("trace", "unit", "image")
"""Parameters of the link that say what the page is about."""


class Chosen(NamedTuple):
    """Who is asked, and how."""

    entry: VlmEntry
    variant: Variant


def choose_vlm() -> Chosen | None:
    """Draw the choice of a VLM and a variant, both in the link; None where no VLM can be asked here."""
    entry = vlm_picker("vlm")
    words = link_choice("variant", "With its parts or without", list(VARIANT_WORDS.values()))
    variant = next(variant for variant, said in VARIANT_WORDS.items() if said == words)
    if variant is Variant.SELF:
        st.caption("The control: it is asked again without hearing of its parts, so the parts are not asked.")
    return None if entry is None else Chosen(entry, variant)


def start_live(store: Store, unit_id: str, chosen: Chosen) -> None:
    """Start a reconciliation, put it into the link, and draw the page anew with it.

    Raises:
        AppError: The unit cannot be asked about, or the VLM cannot be opened.
    """
    unit = unit_to_ask(store, unit_id)
    vlm = Registry.load().open_vlm(chosen.entry.name)
    run = LIVE.start(store, unit, vlm, partial(identity_of, chosen.entry), chosen.variant)
    st.session_state[LAST] = run.id
    go_to(trace=run.id)
    st.rerun()


def trace_asked(registry: LiveRegistry[Watched]) -> str:
    """Return the trace the link names; without any subject in it, the one of a kind that this person left running."""
    query = st.query_params
    if set(SUBJECT) & set(query):
        return str(query.get("trace", ""))
    last = str(st.session_state.get(LAST, ""))
    run = registry.known(last)
    if run is None or run.is_over:
        return ""
    go_to(trace=last)
    return last


def begin_anew() -> None:
    """Take the subject out of the link, and forget what was started last; what is typed stays."""
    st.session_state.pop(LAST, None)
    go_to()


def go_to(**subject: str) -> None:
    """Write what the page is about into the link; who is asked and how stays."""
    others = {name: value for name, value in st.query_params.to_dict().items() if name not in SUBJECT}
    st.query_params.from_dict({**others, **subject})
