"""Promises of long work: one at a time, told as it goes, stoppable, and kept for whoever looks later."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from backend.domain.progress import Cancelled, Report
from backend.errors import AppError, BadLine, BadLines
from backend.services.jobs import KEPT, Job, Jobs, JobState, Progress, Task
from backend.services.opening import open_store
from backend.store.store import Store

PATIENCE = 20.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.duckdb") as opened:
        yield opened


@pytest.fixture
def jobs() -> Jobs:
    return Jobs()


class Gate:
    """Work that reports, then waits until it is let through."""

    def __init__(self, result: object = "done") -> None:
        self.reached = threading.Event()
        self.open = threading.Event()
        self.result = result

    def __call__(self, report: Report) -> object:
        report("waiting at the gate", 1, 4)
        self.reached.set()
        assert self.open.wait(PATIENCE)
        report("past the gate", 4, 4)
        return self.result


def wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came to pass"
        time.sleep(0.005)


def finished(job: Job) -> Job:
    wait(lambda: job.is_over)
    return job


def failing(error: Exception) -> Callable[[Report], object]:
    def work(report: Report) -> object:
        raise error

    return work


def test_a_job_keeps_what_its_work_returned(store: Store, jobs: Jobs) -> None:
    job = finished(jobs.start(store, Task("Count", lambda report: 42)))
    assert (job.state, job.result, job.error) == (JobState.DONE, 42, None)


def test_starting_a_job_does_not_wait_for_it(store: Store, jobs: Jobs) -> None:
    gate = Gate()
    job = jobs.start(store, Task("Slow", gate))
    assert gate.reached.wait(PATIENCE)
    assert job.state is JobState.RUNNING
    gate.open.set()
    assert finished(job).state is JobState.DONE


def test_a_running_job_says_how_far_it_is(store: Store, jobs: Jobs) -> None:
    gate = Gate()
    job = jobs.start(store, Task("Slow", gate))
    assert gate.reached.wait(PATIENCE)
    progress = job.progress
    assert (progress.stage, progress.done, progress.total, progress.share) == ("waiting at the gate", 1, 4, 0.25)
    gate.open.set()
    finished(job)


@pytest.mark.parametrize(
    ("progress", "share", "rate", "left"),
    [
        (Progress("reading", 25, 100, 5.0), 0.25, 5.0, 15.0),
        (Progress("reading", 100, 100, 5.0), 1.0, 20.0, 0.0),
        (Progress("reading", 120, 100, 5.0), 1.0, 24.0, 0.0),
        (Progress("looking", 25, None, 5.0), None, 5.0, None),
        (Progress("reading", 0, 100, 5.0), 0.0, None, None),
        (Progress("reading", 25, 100, 0.1), 0.25, None, None),
        (Progress("reading", 0, 0, 5.0), None, None, None),
    ],
)
def test_rate_and_time_left_are_said_only_where_they_are_known(
    progress: Progress, share: float | None, rate: float | None, left: float | None
) -> None:
    assert (progress.share, progress.rate, progress.seconds_left) == (share, rate, left)


def test_jobs_of_one_store_run_one_after_another_in_their_order(store: Store, jobs: Jobs) -> None:
    gate, order = Gate(), []
    first = jobs.start(store, Task("First", gate))
    second = jobs.start(store, Task("Second", lambda report: order.append("second")))
    third = jobs.start(store, Task("Third", lambda report: order.append("third")))
    assert gate.reached.wait(PATIENCE)
    assert [job.state for job in (first, second, third)] == [JobState.RUNNING, JobState.WAITING, JobState.WAITING]
    gate.open.set()
    finished(third)
    assert order == ["second", "third"]


def test_jobs_of_two_stores_do_not_wait_for_each_other(store: Store, jobs: Jobs, tmp_path: Path) -> None:
    gate = Gate()
    slow = jobs.start(store, Task("Slow", gate))
    with open_store(tmp_path / "other.duckdb") as other:
        assert finished(jobs.start(other, Task("Quick", lambda report: 1))).state is JobState.DONE
    gate.open.set()
    finished(slow)


def test_a_cancelled_job_leaves_the_store_as_it_was(store: Store, jobs: Jobs) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def work(report: Report) -> None:
        with store.write() as cursor:
            cursor.execute("INSERT INTO imports (kind, source, report) VALUES ('endoca', 'x', '{}')")
            reached.set()
            assert go_on.wait(PATIENCE)
            report("writing", 1, 2)

    version = store.data_version
    job = jobs.start(store, Task("Write", work))
    assert reached.wait(PATIENCE)
    jobs.cancel(job)
    go_on.set()
    assert finished(job).state is JobState.CANCELLED
    assert isinstance(job.error, Cancelled)
    assert store.value("SELECT count(*) FROM imports") == 0
    assert store.data_version == version


def test_a_waiting_job_is_cancelled_at_once_and_never_runs(store: Store, jobs: Jobs) -> None:
    gate, ran = Gate(), []
    first = jobs.start(store, Task("First", gate))
    second = jobs.start(store, Task("Second", lambda report: ran.append(1)))
    assert gate.reached.wait(PATIENCE)
    jobs.cancel(second)
    assert second.state is JobState.CANCELLED
    gate.open.set()
    assert finished(first).state is JobState.DONE
    assert ran == []


def test_an_app_error_is_kept_as_it_is(store: Store, jobs: Jobs) -> None:
    error = AppError("The file is empty.", "Choose another.")
    job = finished(jobs.start(store, Task("Import", failing(error))))
    assert (job.state, job.error) == (JobState.FAILED, error)


def test_a_bug_is_kept_logged_and_stops_no_other_job(
    store: Store, jobs: Jobs, caplog: pytest.LogCaptureFixture
) -> None:
    bug = finished(jobs.start(store, Task("Import", failing(KeyError("polyp")))))
    assert bug.state is JobState.FAILED and isinstance(bug.error, KeyError)
    assert "A job ended in a bug" in caplog.text
    assert finished(jobs.start(store, Task("Count", lambda report: 1))).state is JobState.DONE


def test_a_job_is_found_by_its_id_and_by_its_store(store: Store, jobs: Jobs) -> None:
    first = finished(jobs.start(store, Task("First", lambda report: 1)))
    second = finished(jobs.start(store, Task("Second", lambda report: 2)))
    assert jobs.find(first.id) is first
    assert jobs.find("unknown") is None
    assert jobs.of(store) == [second, first]


def test_only_the_newest_finished_jobs_are_kept(store: Store, jobs: Jobs) -> None:
    made = [finished(jobs.start(store, Task(str(n), lambda report: 1))) for n in range(KEPT + 5)]
    assert len(jobs.of(store)) <= KEPT + 1
    assert jobs.of(store)[0] is made[-1]
    assert jobs.find(made[0].id) is None


def test_temporary_files_are_released_when_the_work_is_over(store: Store, jobs: Jobs) -> None:
    for work in (lambda report: 1, failing(AppError("a", "b")), failing(KeyError())):
        released: list[int] = []
        job = finished(jobs.start(store, Task("Import", work, release=partial(released.append, 1))))
        assert job.is_over and released == [1]


def refused(released: list[int], second: Callable[[Report], object]) -> Task:
    bad = BadLines([BadLine(3, "not JSON")], "Mend it.")
    return Task("Import", failing(bad), second, lambda: released.append(1))


def test_a_job_stopped_by_bad_lines_keeps_its_files_until_it_has_run_without_them(store: Store, jobs: Jobs) -> None:
    released: list[int] = []
    job = finished(jobs.start(store, refused(released, lambda report: "the rest")))
    assert job.can_skip_bad_lines and released == []

    again = finished(jobs.skip_bad_lines(job))
    assert (again.state, again.result, released) == (JobState.DONE, "the rest", [1])
    assert jobs.find(job.id) is None
    with pytest.raises(AppError, match="cannot be run again"):
        jobs.skip_bad_lines(job)


def test_closing_a_job_stopped_by_bad_lines_releases_its_files(store: Store, jobs: Jobs) -> None:
    released: list[int] = []
    job = finished(jobs.start(store, refused(released, lambda report: 1)))
    jobs.dismiss(job)
    jobs.dismiss(job)
    assert released == [1]
    assert jobs.of(store) == []


def test_closing_a_job_closes_the_older_ones_that_are_over_and_no_other(store: Store, jobs: Jobs) -> None:
    gate = Gate()
    old = finished(jobs.start(store, Task("Old", lambda report: 1)))
    seen = finished(jobs.start(store, Task("Seen", lambda report: 2)))
    newer = finished(jobs.start(store, Task("Newer", lambda report: 3)))
    running = jobs.start(store, Task("Running", gate))
    jobs.dismiss(seen)
    assert jobs.find(old.id) is None
    assert jobs.of(store) == [running, newer]
    gate.open.set()
    finished(running)


def test_a_job_that_runs_cannot_be_dismissed(store: Store, jobs: Jobs) -> None:
    gate = Gate()
    job = jobs.start(store, Task("Slow", gate))
    assert gate.reached.wait(PATIENCE)
    jobs.dismiss(job)
    assert jobs.find(job.id) is job
    gate.open.set()
    finished(job)
