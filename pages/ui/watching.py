"""What the pages of live calls share: drawing them while they run, the way to stop them, and what ended them early."""

__all__ = ["cancel_button", "say_ended", "show_unstored_end", "watch"]

from collections.abc import Callable
from html import escape
from itertools import count

import streamlit as st

from backend.services.live_calls import LiveCalls
from backend.services.live_traces import Ending
from backend.vlm.worker import WorkerError
from pages.ui.copy import copy_button
from pages.ui.errors import show_error
from pages.ui.trace_words import ending_words

REFRESH = 0.4
"""Seconds between two looks at calls that run."""


def watch(calls: LiveCalls, draw: Callable[[], None]) -> None:
    """Draw calls again and again until they are over, then the page once.

    Only the clock draws the page anew, never a press (as in `pages.ui.job_view`).
    """
    looks = count()

    @st.fragment(run_every=REFRESH)
    def look() -> None:
        if next(looks) and calls.is_over:
            st.rerun()
        draw()

    look()


def cancel_button(calls: LiveCalls) -> None:
    """Draw the button that stops calls."""
    stopping = calls.is_stopping
    st.button("Stopping" if stopping else "Cancel", disabled=stopping, on_click=calls.cancel, key=f"cancel_{calls.id}")


def show_unstored_end(calls: LiveCalls) -> None:
    """Draw why calls ended with nothing to keep, or could not be kept."""
    for error in (calls.error, calls.unsaved):
        if error is not None:
            show_error(error)
            if isinstance(error, WorkerError) and error.details:
                copy_button("Copy the VLM's last words", error.details, key="last_words")
    if calls.error is None and calls.unsaved is None:
        say_ended(ending_words(Ending.CANCELLED if calls.is_stopping else Ending.FAILED, "", kept=False))


def say_ended(words: str) -> None:
    """Draw how calls ended before their end."""
    st.html(f'<p role="status" style="margin:0;font-size:.9rem">{escape(words)}</p>')
