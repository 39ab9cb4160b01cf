"""What the Live page asks for: an answer held against its parts, or a verdict on an answer. The link holds it."""

__all__ = ["LIVE_TITLES", "choose_system", "system_asked"]

from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

from backend.domain.records import System
from backend.services.live_verification import VERIFICATIONS
from pages.ui.live_start import LIVE_LINK, go_to

LIVE_TITLES: Mapping[System, str] = MappingProxyType(
    {
        System.ENDOCA: "Does the answer stand when the VLM is asked again with its own parts?",
        System.VERIMAP: "Does the verifier notice when the answer is wrong?",
    }
)

_WORDS = {System.ENDOCA: "Parts (ASR)", System.VERIMAP: "Verdict (VeriMap)"}

_STATE = "live_system"


def system_asked() -> System:
    """Return whose questions the link asks; where it does not say, those of what this person left running."""
    query = st.query_params
    if "system" not in query and LIVE_LINK.left_running(VERIFICATIONS):
        query["system"] = System.VERIMAP
    return System.VERIMAP if query.get("system") == System.VERIMAP else System.ENDOCA


def choose_system(system: System) -> None:
    """Draw the choice. An image in the link stays, a case does not: it belongs to one system."""
    st.session_state[_STATE] = system
    st.segmented_control(
        "What is asked",
        list(_WORDS),
        key=_STATE,
        format_func=lambda one: _WORDS[one],
        required=True,
        on_change=_write,
        label_visibility="collapsed",
    )


def _write() -> None:
    image_id = st.query_params.get("image", "")
    go_to(**({"image": image_id} if image_id else {}))
    st.query_params["system"] = st.session_state[_STATE]
