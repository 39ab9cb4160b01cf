"""The link of a page of live calls: what the page is about, and what this person left running on it."""

__all__ = ["LiveLink"]

from dataclasses import dataclass

import streamlit as st

from backend.services.live_calls import LiveRegistry, Watched
from pages.ui.links import write_link

_SUBJECT = ("trace", "unit", "image")
"""Parameters that say what a page is about."""


@dataclass(frozen=True, slots=True)
class LiveLink:
    """The link of one page."""

    last: str
    """Session state: the id of what this person started last on the page."""
    details: tuple[str, ...] = ()
    """Parameters that say more of a subject, and go with it."""

    def left_running(self, registry: LiveRegistry[Watched]) -> str:
        """Return what of a kind this person left running; nothing where the link says what the page is about."""
        if set(_SUBJECT) & set(st.query_params):
            return ""
        last = str(st.session_state.get(self.last, ""))
        calls = registry.known(last)
        return "" if calls is None or calls.is_over else last

    def trace_asked(self, registry: LiveRegistry[Watched]) -> str:
        """Return the trace the link names; without any subject in it, the one of a kind that is left running."""
        last = self.left_running(registry)
        if last:
            self.go_to(trace=last)
        return str(st.query_params.get("trace", ""))

    def show_started(self, trace_id: str) -> None:
        """Put what was just started into the link, and draw the page anew with it."""
        st.session_state[self.last] = trace_id
        self.go_to(trace=trace_id)
        st.rerun()

    def begin_anew(self) -> None:
        """Take the subject out of the link, and forget what was started last; what is typed stays."""
        st.session_state.pop(self.last, None)
        self.go_to()

    def go_to(self, **subject: str) -> None:
        """Write what the page is about into the link; who is asked and how stays."""
        write_link((*_SUBJECT, *self.details), subject)
