"""The cue workshop's link, and the start of a pair in it; the link then holds its trace."""

__all__ = ["LAST", "begin_anew", "go_to", "start_pair"]

from functools import partial

import streamlit as st

from backend.services.live_pairs import PAIRS, LivePair
from backend.services.pair_units import pair_to_ask
from backend.services.runs.identity import identity_of
from backend.store.store import Store
from backend.vlm.entries import VlmEntry
from backend.vlm.registry import Registry

LAST = "workshop_last"
"""Session state: the id of the pair that this person asked last."""

SUBJECT = ("trace", "unit", "image", "thing")
"""Parameters of the link that say what the page is about."""


def start_pair(store: Store, unit_id: str, entry: VlmEntry) -> None:
    """Ask a VLM both questions of a pair, put that into the link, and draw the page anew with it.

    Raises:
        AppError: The pair cannot be asked, or the VLM cannot be opened.
    """
    pair = pair_to_ask(store, unit_id)
    vlm = Registry.load().open_vlm(entry.name)
    asked = PAIRS.begin(LivePair(store, pair, vlm), partial(identity_of, entry))
    st.session_state[LAST] = asked.id
    go_to(trace=asked.id)
    st.rerun()


def begin_anew() -> None:
    """Take the subject out of the link, and forget the last pair."""
    st.session_state.pop(LAST, None)
    go_to()


def go_to(**subject: str) -> None:
    """Write what the page is about into the link; the VLM stays."""
    others = {name: value for name, value in st.query_params.to_dict().items() if name not in SUBJECT}
    st.query_params.from_dict({**others, **subject})
