"""From a form to its job: the button, the start, and what stays in the form until the files have gone in."""

__all__ = ["CHOOSE_FIRST", "fresh", "go_button", "start", "start_with_files"]

from collections.abc import Callable

import streamlit as st

from backend.errors import AppError
from backend.services.ingest.uploads import Uploads
from backend.services.jobs import JOBS, JobState, Task
from backend.store.store import Store
from pages.ui.errors import show_error
from pages.ui.job_view import start_job

CHOOSE_FIRST = "Choose the files first; a file that is still being sent does not count yet."


def go_button(label: str, key: str, *, missing: bool, why: str = CHOOSE_FIRST) -> bool:
    """Draw the button that starts an import; while something is missing it says what.

    Args:
        label: What the button says.
        key: Unique on the page.
        missing: Whether the import cannot start yet.
        why: What is missing, in a sentence.
    """
    return st.button(label, type="primary", key=key, disabled=missing, help=why if missing else None)


def fresh(store: Store, form: str) -> str:
    """Return the key of a form's file choice: another one once an import has taken the files in.

    An import that was refused leaves them chosen, so that what was wrong can be put right and tried again.
    """
    state = st.session_state
    begun: Task | None = state.get(f"{form}_begun")
    if begun is not None and any(
        job.state is JobState.DONE and job.task.release == begun.release for job in JOBS.of(store)
    ):
        state[f"{form}_begun"] = None
        state[f"{form}_taken"] = state.get(f"{form}_taken", 0) + 1
    return f"{form}_{state.get(f'{form}_taken', 0)}"


def start_with_files(store: Store, task: Callable[[Uploads], Task], *forms: str) -> None:
    """Start a job over files, or say here why it cannot be.

    Args:
        store: Where they go.
        task: Makes the job; sent files are copied into the uploads it is given, which it deletes when it is released.
        forms: Names of the file choices that the job uses up, see `fresh`.
    """
    uploads = Uploads()

    def made() -> Task:
        try:
            return task(uploads)
        except BaseException:
            uploads.delete()
            raise

    start(store, made, *forms)


def start(store: Store, task: Callable[[], Task], *forms: str) -> None:
    """Start a job, or say here why it cannot be; see `start_with_files`."""
    try:
        made = task()
    except AppError as error:
        show_error(error)
        return
    for form in forms:
        st.session_state[f"{form}_begun"] = made
    start_job(store, made)
