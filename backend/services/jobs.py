"""Long work beside the pages: one job at a time a store, seen by everybody, and stoppable.

A job runs a service in a thread of its own and outlives the page that started it: whoever
holds its id, or looks at the store, sees how far it is. Jobs for one store wait for each
other in the order they came. A job's result, or the error that ended it, is kept until the
job is dismissed or pushed out by newer ones.
"""

__all__ = ["JOBS", "Job", "JobState", "Jobs", "Progress", "Task", "nothing"]

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import uuid4

from backend.domain.progress import Cancelled, Report
from backend.errors import AppError, BadLines
from backend.store.store import Store

KEPT = 20
"""So many finished jobs a store are kept for looking back."""

RATE_AFTER = 0.5
"""Seconds into a stage before its rate, and the time left, mean anything."""

Work = Callable[[Report], object]
"""Does the work, telling the `Report` it is given of progress; what it returns is the job's result."""


class JobState(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is, at one moment."""

    stage: str
    """What is being done, in words."""
    done: int
    total: int | None
    """Items in this stage; None where unknown."""
    seconds: float
    """Since the stage began."""

    @property
    def rate(self) -> float | None:
        """Items a second in this stage; None where it is too early to say."""
        return self.done / self.seconds if self.seconds >= RATE_AFTER and self.done else None

    @property
    def seconds_left(self) -> float | None:
        """What is left of this stage at its rate so far; None where that cannot be said."""
        rate = self.rate
        return max(self.total - self.done, 0) / rate if rate and self.total is not None else None

    @property
    def share(self) -> float | None:
        """Between 0 and 1; None where the total is unknown."""
        return min(self.done / self.total, 1.0) if self.total else None


def nothing() -> None:
    """Release nothing."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a job shall do."""

    title: str
    """For people: "Import core.jsonl.gz". May hold the name of a user's file."""
    work: Work
    skip_bad_lines: Work | None = None
    """The same work, passing over bad lines; can be asked for where ``work`` ends in `BadLines`."""
    release: Callable[[], None] = nothing
    """Called once, when the task can no longer be run again: deletes temporary files."""


@dataclass(eq=False)
class Job:
    """One task for one store. Made by `Jobs.start`; read its fields, change nothing."""

    task: Task
    store: Store = field(repr=False)
    id: str = field(default_factory=lambda: uuid4().hex[:12])
    state: JobState = JobState.WAITING
    result: object = None
    """What the work returned, once done."""
    error: Exception | None = None
    """What ended it: an `AppError`, or a bug."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when somebody asked the job to stop."""
    _stage: tuple[str, int, int | None, float] = ("", 0, None, 0.0)
    """Stage, done, total, and when the stage began; replaced whole, so that a reader sees one moment."""

    @property
    def is_over(self) -> bool:
        """Whether the job has ended, in whatever way."""
        return self.state not in (JobState.WAITING, JobState.RUNNING)

    @property
    def can_skip_bad_lines(self) -> bool:
        """Whether the job ended because of bad lines, and could go on without them."""
        return isinstance(self.error, BadLines) and self.task.skip_bad_lines is not None

    @property
    def progress(self) -> Progress:
        """How far the job is now."""
        stage, done, total, began = self._stage
        return Progress(stage, done, total, time.monotonic() - began if began else 0.0)

    def report(self, stage: str, done: int, total: int | None) -> None:
        """Take note of progress; the `Report` of the work.

        Raises:
            Cancelled: Somebody asked the job to stop.
        """
        if self.stopping.is_set():
            raise Cancelled
        last_stage, _, _, began = self._stage
        self._stage = (stage, done, total, began if stage == last_stage and began else time.monotonic())

    def run(self) -> None:
        """Do the work in the calling thread and keep what becomes of it."""
        try:
            self.report("starting", 0, None)
            self.state = JobState.RUNNING
            self.result = self.task.work(self.report)
        except Cancelled as stopped:
            self.error, state = stopped, JobState.CANCELLED
        except AppError as error:
            self.error, state = error, JobState.FAILED
        except Exception as bug:  # a thread has nobody above it: the page shows what is kept here
            logging.getLogger(__name__).exception("A job ended in a bug")
            self.error, state = bug, JobState.FAILED
        else:
            state = JobState.DONE
        if not self.can_skip_bad_lines:
            self.task.release()
        self.state = state


class Jobs:
    """All jobs of a process, by store."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        """By id, oldest first."""
        self._queues: dict[Store, deque[Job]] = {}
        """Jobs that wait, of the stores that have a thread at work."""

    def start(self, store: Store, task: Task) -> Job:
        """Start a job, or let it wait until the store's other jobs are over."""
        job = Job(task, store)
        with self._lock:
            self._jobs[job.id] = job
            self._forget_old(store)
            queue = self._queues.get(store)
            if queue is not None:
                queue.append(job)
                return job
            self._queues[store] = deque([job])
        threading.Thread(target=self._work_off, args=(store,), name=f"jobs of {store.path.name}", daemon=True).start()
        return job

    def find(self, job_id: str) -> Job | None:
        """Return the job of that id; None where there is none (any more)."""
        with self._lock:
            return self._jobs.get(job_id)

    def of(self, store: Store) -> list[Job]:
        """Return the store's jobs, newest first."""
        with self._lock:
            return [job for job in reversed(self._jobs.values()) if job.store is store]

    def cancel(self, job: Job) -> None:
        """Stop a job: at once where it waits, else at its next report of progress.

        Work that has passed its last report is finished all the same, and the job says so.
        """
        with self._lock:
            job.stopping.set()
            queue = self._queues.get(job.store)
            waited = queue is not None and job in queue
            if queue is not None and waited:
                queue.remove(job)
        if waited:
            job.run()

    def skip_bad_lines(self, job: Job) -> Job:
        """Start the job's task anew, passing over bad lines; the new job takes the old one's place.

        Raises:
            AppError: The job did not end in bad lines, or was started anew already.
        """
        with self._lock:
            work = job.task.skip_bad_lines
            if work is None or not job.can_skip_bad_lines or self._jobs.pop(job.id, None) is None:
                raise AppError("This import cannot be run again from here.", "Choose its files once more.")
        return self.start(job.store, Task(job.task.title, work, release=job.task.release))

    def dismiss(self, job: Job) -> None:
        """Forget a job that is over, the store's older ones that are over too, and what they kept."""
        with self._lock:
            if job.is_over and job.id in self._jobs:
                made = [other for other in self._jobs.values() if other.store is job.store]
                self._forget(other for other in made[: made.index(job) + 1] if other.is_over)

    def _work_off(self, store: Store) -> None:
        while True:
            with self._lock:
                queue = self._queues[store]
                if not queue:
                    del self._queues[store]
                    return
                job = queue.popleft()
            job.run()

    def _forget_old(self, store: Store) -> None:
        over = [job for job in self._jobs.values() if job.store is store and job.is_over]
        self._forget(over[: max(len(over) - KEPT, 0)])

    def _forget(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            del self._jobs[job.id]
            if job.can_skip_bad_lines:
                job.task.release()


JOBS = Jobs()
"""The jobs of this process."""
