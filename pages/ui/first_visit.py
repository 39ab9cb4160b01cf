"""The first visit: while the built-in data set comes into an empty store, the page says so."""

__all__ = ["is_busy", "show_coming_in"]

import streamlit as st

from backend.services.demo.built_in import demo_task
from backend.services.jobs import JOBS, JobState
from backend.store.store import Store
from pages.ui.job_view import show_job

WORDS = (
    "Parallax comes with a data set of its own, so that there is something to look at: **synthetic** frames, drawn by "
    "a program and not taken from patients, questions about them, and what a small VLM really answered. It goes into "
    "the empty store now, and this page fills by itself."
)


def is_busy(store: Store) -> bool:
    """Return whether a job of the store runs or waits.

    To be asked before the page counts anything: a job that ends meanwhile is then still shown, and
    draws the page anew.
    """
    return any(not job.is_over for job in JOBS.of(store))


def show_coming_in(store: Store, *, busy: bool, is_empty: bool) -> None:
    """Draw what comes into the store, or why it did not.

    Args:
        store: The open store.
        busy: As `is_busy` said; the job is then shown.
        is_empty: Whether the store holds no suite: its newest job is then shown, however it ended. Else
            one that is over is shown only where it is the built-in data set's and did not end well.
    """
    newest = next(iter(JOBS.of(store)), None)
    is_demo = newest is not None and newest.task.title == demo_task(store).title
    failed = newest is not None and newest.state in (JobState.FAILED, JobState.CANCELLED)
    if busy and is_demo:
        st.markdown(WORDS)
    if busy or is_empty or (is_demo and failed):
        show_job(store)
