"""A job as a page shows it: how far it is while it runs, and what came of it.

The link holds the job (``?job=id``); without it the store's newest job is shown, so a
person who leaves the page finds it again, and so does everybody else who looks.
"""

__all__ = ["note_jobs", "show_job", "show_work", "start_job", "time_words"]

from html import escape
from itertools import count

import streamlit as st

from backend.domain.progress import Cancelled
from backend.errors import BadLines
from backend.services.ingest.report import ImportReport
from backend.services.jobs import JOBS, Job, JobState, Progress, Task
from backend.store.store import Store
from pages.ui.errors import show_error
from pages.ui.import_report import plural, show_bad_lines, show_report

PARAMETER = "job"

OVER = "jobs_over"
"""The store's jobs that were over when this drawing of the page began."""

REFRESH = 0.5
"""Seconds between two looks at a job."""

come_into_view = st.components.v2.component(
    "parallax_job",
    js="""
let last = ""
export default ({ data, parentElement }) => {
  if (data.job === last) return
  last = data.job
  const element = parentElement.host ?? parentElement
  element.scrollIntoView({ block: "center" })
}
""",
)
"""Scrolls to a job once, when it appears: the button that started it may lie far below."""


def note_jobs(store: Store) -> None:
    """Note which jobs are over. To be called before anything is counted, each time that the page is drawn.

    The end of a job is shown where everything on the page is from after it; until then the job is shown at work.
    """
    st.session_state[OVER] = {job.id for job in JOBS.of(store) if job.is_over}


def start_job(store: Store, task: Task) -> None:
    """Start a job, put it into the link, and draw the page anew with it."""
    _go_to(JOBS.start(store, task))


def show_job(store: Store) -> None:
    """Draw the job the link names, or else the store's newest; nothing where there is none."""
    asked = st.query_params.get(PARAMETER)
    jobs = JOBS.of(store)
    job = next((job for job in jobs if job.id == asked), None) if asked else _most_urgent(jobs)
    if job is None:
        if asked:
            _show_unknown()
        return
    with st.container(border=True, key="job"):
        with st.container(horizontal=True):
            st.html(f"<strong style='overflow-wrap:anywhere'>{escape(job.task.title)}</strong>")
            come_into_view(key="job_in_view", data={"job": job.id}, width=1, height=1)
        if job.id in st.session_state[OVER]:
            _show_end(job)
        else:
            _watch(job)


def show_work(store: Store) -> None:
    """Draw the job at work, for pages that start none: what they show may come to be more when it is over."""
    job = next((job for job in JOBS.of(store) if job.id not in st.session_state[OVER]), None)
    if job is not None:
        with st.container(border=True, key="work"):
            st.html(f"<strong style='overflow-wrap:anywhere'>{escape(job.task.title)}</strong>")
            _watch(job)


def time_words(seconds: float) -> str:
    """Return a duration in words, as coarse as an estimate is: ``about 40 s``, ``about 3 min``."""
    if seconds < 1:
        return "about a second"
    if seconds < 90:
        return f"about {seconds:.0f} s"
    if seconds < 90 * 60:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"


def progress_words(progress: Progress) -> str:
    """Return how far a stage is: ``reading core.jsonl: 4,100 of 27,736 (15 %), 9,000 a second, about 3 s left``."""
    words = progress.stage
    if progress.total is not None and progress.share is not None:
        words += f": {progress.done:,} of {progress.total:,} ({progress.share:.0%})".replace("%)", " %)")
    elif progress.done:
        words += f": {progress.done:,}"
    if progress.rate and progress.rate >= 1:
        words += f", {progress.rate:,.0f} a second"
    if progress.seconds_left is not None:
        words += f", {time_words(progress.seconds_left)} left"
    return words


def _most_urgent(jobs: list[Job]) -> Job | None:
    """Return the job that runs, else the newest."""
    return next((job for job in jobs if job.state is JobState.RUNNING), next(iter(jobs), None))


def _show_unknown() -> None:
    st.info("This job is not known any more: it was closed, or Parallax was started again. What went in stands below.")
    if st.button("Close", key="forget_job"):
        _leave()


def _watch(job: Job) -> None:
    """Draw how far a job is, again and again, and the whole page anew when it is over.

    Only the clock draws the page anew. The first look belongs to a run that a person may have begun by pressing
    a button further down; ``st.rerun`` would break that run off before it comes to the button, and the press
    would be lost.
    """
    looks = count()

    @st.fragment(run_every=REFRESH)
    def look() -> None:
        if next(looks) and job.is_over:
            st.rerun()
        _show_running(job)

    look()


def _show_running(job: Job) -> None:
    """Draw a job that has not ended."""
    progress = job.progress
    waiting = job.state is JobState.WAITING
    words = "Waits until the job before it is over" if waiting else progress_words(progress)
    percent = 100 * (progress.share or 0.0)
    known = "" if progress.share is None else f"aria-valuenow='{percent:.0f}' "
    st.html(
        f"<div role='progressbar' aria-valuemin='0' aria-valuemax='100' {known}"
        "aria-label='Progress of this stage' style='height:6px;margin:0 0 .5rem;border-radius:3px;"
        "background:color-mix(in srgb, currentColor 12%, transparent)'>"
        f"<div style='height:100%;width:{percent:.1f}%;border-radius:3px;background:#0072B2'></div></div>"
        f"<div style='overflow-wrap:anywhere;color:color-mix(in srgb, currentColor 72%, transparent)'>"
        f"{escape(words)}</div>"
    )
    stopping = job.stopping.is_set()
    if st.button("Stopping" if stopping else "Cancel", disabled=stopping, key=f"cancel_{job.id}"):
        JOBS.cancel(job)
        st.rerun()


def _show_end(job: Job) -> None:
    """Draw what came of a job."""
    if isinstance(job.error, Cancelled):
        st.text("Cancelled; nothing was changed.")
    elif isinstance(job.error, BadLines):
        _show_refusal(job, job.error)
    elif job.error is not None:
        show_error(job.error)
    elif isinstance(job.result, ImportReport):
        show_report(job.result, key=f"report_{job.id}")
    with st.container(horizontal=True):
        if job.can_skip_bad_lines and st.button("Skip bad lines and import the rest", key=f"skip_{job.id}"):
            _go_to(JOBS.skip_bad_lines(job))
        if st.button("Close", key=f"close_{job.id}"):
            JOBS.dismiss(job)
            _leave()


def _show_refusal(job: Job, error: BadLines) -> None:
    """Draw the bad lines that stopped an import."""
    st.html(
        f"<div role='alert'>{plural(len(error.lines), 'bad line')}; nothing was imported. "
        "Mend the file and import it again, or import its good lines alone.</div>"
    )
    show_bad_lines(error.lines, key=f"refused_{job.id}")


def _go_to(job: Job) -> None:
    st.query_params[PARAMETER] = job.id
    st.rerun()


def _leave() -> None:
    if PARAMETER in st.query_params:
        del st.query_params[PARAMETER]
    st.rerun()
