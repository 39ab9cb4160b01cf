"""Local VLMs in warm child processes: they answer, wait their turn, stop at once, and die without the app."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from backend.domain.progress import Cancelled
from backend.domain.vlm import Ask, Decoding, Reply, said_nothing
from backend.errors import AppError
from backend.vlm import worker, worker_child, worker_queue
from backend.vlm.loading import LocalSpec
from backend.vlm.worker import Phase, Standing, WorkerError, Workers, WorkerVlm
from backend.vlm.worker_child import ChildProcess
from tests.conftest import ROOT
from tests.vlm.worker_fakes import FACTORY

TASK = Decoding(max_new_tokens=5, watched=("yes", "no"))


def until(condition: Callable[[], object]) -> None:
    """Wait for a condition, a minute at most."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has reaped yet has."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z"


def ask(vlm: WorkerVlm, prompt: str) -> Reply:
    return vlm.answer(None, prompt, TASK, said_nothing)


def pid_of(vlm: WorkerVlm) -> int:
    return int(ask(vlm, "pid").text)


@pytest.fixture
def workers() -> Iterator[Workers]:
    made = Workers(FACTORY, imports=())
    yield made
    made.stop_all()


@pytest.fixture
def vlm(workers: Workers) -> WorkerVlm:
    return WorkerVlm(LocalSpec("steady", "Fake"), workers)


@pytest.fixture
def long_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time enough to stop softly, however slow the machine is."""
    monkeypatch.setattr(worker, "GRACE", 60)
    monkeypatch.setattr(worker_child, "GRACE", 60)


@pytest.fixture
def aside() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


class TestAnswers:
    def test_the_pieces_come_while_it_talks_and_add_up_to_the_reply(self, vlm: WorkerVlm) -> None:
        pieces: list[str] = []
        reply = vlm.answer(None, "say two |polyps, |naïve 息肉\n", TASK, pieces.append)
        assert reply.text == "two polyps, naïve 息肉\n"
        assert pieces == ["two ", "polyps, ", "naïve 息肉\n"]

    def test_a_reply_arrives_with_all_it_holds_and_the_image_as_a_full_path(
        self, vlm: WorkerVlm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        reply = vlm.answer(Path("frame.png"), "facts", TASK, said_nothing)
        assert reply == Reply(str(tmp_path / "frame.png"), "", 7, True, 2.5, {"yes": 0.25, "no": 0.75})

    def test_text_that_is_no_valid_unicode_arrives_verbatim(self, vlm: WorkerVlm) -> None:
        assert ask(vlm, "surrogate").text == "\ud800 é"

    def test_many_asks_are_answered_in_their_order_as_one_call(self, vlm: WorkerVlm) -> None:
        asks = [Ask(None, f"say {number}") for number in range(200)]
        assert [reply.text for reply in vlm.answer_all(asks, TASK)] == [str(number) for number in range(200)]

    def test_no_asks_start_nothing(self, vlm: WorkerVlm, workers: Workers) -> None:
        assert vlm.answer_all([], TASK) == []
        assert workers.status() == []

    def test_a_missing_reply_is_an_error_and_never_a_shorter_list(self, vlm: WorkerVlm) -> None:
        with pytest.raises(WorkerError, match="cannot be read"):
            vlm.answer_all([Ask(None, "say 1"), Ask(None, "forget")], TASK)

    def test_what_libraries_print_and_read_never_meets_the_messages(self, vlm: WorkerVlm) -> None:
        assert ask(vlm, "print").text == "read '' and b''"
        assert ask(vlm, "say fine").text == "fine"


class TestProcess:
    def test_it_starts_at_the_first_call_and_stays_warm(self, vlm: WorkerVlm, workers: Workers) -> None:
        assert workers.status() == []
        assert vlm.standing == Standing(Phase.ABSENT, 0)
        first = pid_of(vlm)
        assert first != os.getpid()
        assert pid_of(vlm) == first
        assert vlm.standing == Standing(Phase.READY, 0)

    def test_it_is_shared_by_all_who_use_the_same_spec(self, vlm: WorkerVlm, workers: Workers) -> None:
        assert pid_of(WorkerVlm(LocalSpec("steady", "Fake"), workers)) == pid_of(vlm)

    def test_it_leads_a_session_of_its_own(self, vlm: WorkerVlm) -> None:
        pid = pid_of(vlm)
        assert os.getsid(pid) == os.getpgid(pid) == pid

    def test_it_has_no_way_to_the_store(self, vlm: WorkerVlm) -> None:
        loaded = set(json.loads(ask(vlm, "modules").text))
        assert not {"duckdb", "backend.store", "streamlit"} & loaded
        code = f"import sys, {worker.FACTORY.partition(':')[0]}; print('duckdb' in sys.modules, 'torch' in sys.modules)"
        told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        assert told.stdout.split() == ["False", "False"]

    def test_the_status_says_what_is_loaded_since_when_and_what_it_takes(
        self, vlm: WorkerVlm, workers: Workers, aside: ThreadPoolExecutor, tmp_path: Path
    ) -> None:
        batch = aside.submit(vlm.answer_all, [Ask(None, "say 1"), Ask(None, f"gate {tmp_path / 'go'}")], TASK)
        until(lambda: vlm.standing.phase == Phase.ANSWERING)
        (busy,) = workers.status()
        assert (busy.name, busy.phase, busy.n_calls, busy.n_asks) == ("Fake", Phase.ANSWERING, 1, 2)
        (tmp_path / "go").touch()
        batch.result()
        (idle,) = workers.status()
        assert (idle.phase, idle.n_calls, idle.n_asks) == (Phase.READY, 0, 0)
        assert (idle.device, idle.total_bytes, idle.free_bytes) == ("abacus", 1000, 600)
        assert idle.facts == {"dtype": "beads"}
        assert idle.since is not None and idle.since.tzinfo is not None
        assert not Path("/proc/self/statm").exists() or (idle.process_bytes or 0) > 1_000_000

    def test_it_says_when_the_weights_are_being_loaded(
        self, workers: Workers, aside: ThreadPoolExecutor, tmp_path: Path
    ) -> None:
        vlm = WorkerVlm(LocalSpec(f"wait {tmp_path / 'weights'}", "Slow"), workers)
        reply = aside.submit(ask, vlm, "say loaded")
        until(lambda: vlm.standing.phase == Phase.LOADING)
        (tmp_path / "weights").touch()
        assert reply.result().text == "loaded"

    def test_stop_all_ends_every_process_and_call_and_the_next_call_starts_anew(
        self, vlm: WorkerVlm, workers: Workers, aside: ThreadPoolExecutor
    ) -> None:
        pid = pid_of(vlm)
        calls = [aside.submit(ask, user, "deaf /dev/null") for user in (vlm, WorkerVlm(vlm.spec, workers))]
        until(lambda: [(each.phase, each.n_calls) for each in workers.status()] == [(Phase.ANSWERING, 2)])
        workers.stop_all()
        for call in calls:
            with pytest.raises(Cancelled):
                call.result()
        assert is_gone(pid)
        assert workers.status() == []
        assert ask(vlm, "say again").text == "again"

    def test_it_ends_when_its_stdin_closes(self) -> None:
        command = [sys.executable, "-m", "backend.vlm.worker_process", "--factory", FACTORY]
        child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        child.communicate(timeout=60)
        assert child.returncode == 0

    @pytest.mark.parametrize("prompt", ["say idle", "forever"])
    def test_it_ends_when_its_parent_is_killed_also_while_it_answers(self, prompt: str) -> None:
        pid = _left_alone(f"vlm.answer(None, {prompt!r}, TASK, lambda piece: print(piece, flush=True)); input()")
        until(lambda: is_gone(pid))

    def test_what_it_started_ends_with_it(self, tmp_path: Path) -> None:
        noted = tmp_path / "helper"
        begin = f"import threading; threading.Thread(target=ask, args=(vlm, 'deaf {noted}')).start()"
        wait = f"until(lambda: Path({str(noted)!r}).exists() and Path({str(noted)!r}).read_text())"
        pid = _left_alone(f"{begin}; {wait}; print('begun', flush=True); input()")
        until(lambda: is_gone(pid) and is_gone(int(noted.read_text())))


class TestFailures:
    @pytest.mark.parametrize(
        ("order", "said"),
        [
            (f"kill {int(signal.SIGKILL)}", "most likely because memory ran out"),
            (f"kill {int(signal.SIGSEGV)}", r"crashed \(SIGSEGV\)"),
            (f"kill {int(signal.SIGABRT)}", r"crashed \(SIGABRT\)"),
            ("exit 3", r"ended \(exit code 1\)"),
            ("fail RuntimeError CUDA error: device-side assert triggered", "CUDA error: device-side assert"),
            ('garble {"is": "rep', "cannot be read"),
            ('garble ["done"]', "cannot be read"),
            ('garble {"is": "unheard of"}', "cannot be read"),
            ('garble {"is": "reply", "reply": {"words": ""}}', "cannot be read"),
            ("garble LONG", "cannot be read"),
            ("complain layers", "Complained about layers"),
        ],
    )
    def test_a_process_that_cannot_go_on_is_an_error_with_a_next_step_and_the_next_call_starts_another(
        self, vlm: WorkerVlm, order: str, said: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("WORKER_TEST_KEY", "sesame-open-now")
        pid = pid_of(vlm)
        with pytest.raises(WorkerError, match=said) as error:
            ask(vlm, order)
        assert error.value.hint
        assert is_gone(pid)
        assert pid_of(vlm) != pid

    @pytest.mark.parametrize(
        ("order", "said"),
        [("fail RuntimeError shapes differ", "RuntimeError: shapes differ"), ("fail MemoryError", "not enough memory")],
    )
    def test_a_call_that_fails_is_a_reply_with_an_error_and_the_vlm_stays(
        self, vlm: WorkerVlm, order: str, said: str
    ) -> None:
        pid = pid_of(vlm)
        reply = ask(vlm, order)
        assert reply.text == ""
        assert said in reply.error
        batch = vlm.answer_all([Ask(None, order), Ask(None, "say 1")], TASK)
        assert all(said in each.error for each in batch)
        assert pid_of(vlm) == pid

    def test_a_process_that_died_idle_is_replaced_without_a_word(self, vlm: WorkerVlm) -> None:
        pid = pid_of(vlm)
        os.kill(pid, signal.SIGKILL)
        until(lambda: is_gone(pid))
        assert pid_of(vlm) != pid

    def test_so_is_one_whose_death_the_system_has_not_told_yet(
        self, vlm: WorkerVlm, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pid = pid_of(vlm)
        os.kill(pid, signal.SIGKILL)
        until(lambda: is_gone(pid))
        with monkeypatch.context() as patched:
            patched.setattr(ChildProcess, "is_alive", property(lambda child: True))
            reply = ask(vlm, "say 3")
        assert not reply.error
        assert pid_of(vlm) != pid

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("refuse", "The weights are not here."),
            ("break", "The VLM failed (ValueError: no such layer)."),
            ("die", "The VLM's process crashed (SIGABRT)."),
        ],
    )
    def test_an_error_while_loading_comes_out_as_it_was_said(self, workers: Workers, source: str, message: str) -> None:
        vlm = WorkerVlm(LocalSpec(source, "Broken"), workers)
        for _ in range(2):
            with pytest.raises(AppError) as error:
                ask(vlm, "say 1")
            assert error.value.message == message
            assert source != "refuse" or error.value.hint == "Fetch them."
        assert workers.status() == []

    def test_the_details_are_the_last_lines_of_stderr_without_values_of_the_environment(
        self, vlm: WorkerVlm, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("WORKER_TEST_KEY", "sesame-open-now")
        with pytest.raises(WorkerError) as error:
            ask(vlm, "complain loudly")
        assert error.value.details.splitlines() == [f"line {number} $WORKER_TEST_KEY" for number in range(10, 60)]


class TestCancel:
    @pytest.mark.usefixtures("long_grace")
    def test_a_vlm_that_stops_at_its_next_token_stays_warm(self, vlm: WorkerVlm, aside: ThreadPoolExecutor) -> None:
        pid = pid_of(vlm)
        talking = threading.Event()
        call = aside.submit(vlm.answer, None, "forever", TASK, lambda _: talking.set())
        talking.wait(60)
        vlm.cancel()
        with pytest.raises(Cancelled):
            call.result()
        assert pid_of(vlm) == pid

    def test_one_that_does_not_stop_is_killed_with_all_it_started(
        self, vlm: WorkerVlm, aside: ThreadPoolExecutor, tmp_path: Path
    ) -> None:
        pid, noted = pid_of(vlm), tmp_path / "helper"
        call = aside.submit(ask, vlm, f"deaf {noted}")
        until(lambda: noted.exists() and noted.read_text())
        vlm.cancel()
        with pytest.raises(Cancelled):
            call.result()
        until(lambda: is_gone(pid) and is_gone(int(noted.read_text())))
        assert pid_of(vlm) != pid

    def test_one_that_is_being_loaded_is_killed(
        self, workers: Workers, aside: ThreadPoolExecutor, tmp_path: Path
    ) -> None:
        vlm = WorkerVlm(LocalSpec(f"wait {tmp_path / 'weights'}", "Slow"), workers)
        call = aside.submit(ask, vlm, "say 1")
        until(lambda: vlm.standing.phase == Phase.LOADING)
        vlm.cancel()
        with pytest.raises(Cancelled):
            call.result()
        assert workers.status() == []

    def test_cancelling_nothing_changes_nothing(self, vlm: WorkerVlm) -> None:
        vlm.cancel()
        pid = pid_of(vlm)
        vlm.cancel()
        assert pid_of(vlm) == pid

    @pytest.mark.usefixtures("long_grace")
    @pytest.mark.parametrize("raised", [Cancelled(), ValueError("not mine")])
    def test_what_a_listener_raises_comes_out_and_nothing_is_left_for_the_next_call(
        self, vlm: WorkerVlm, raised: Exception
    ) -> None:
        def listen(_: str) -> None:
            raise raised

        pid = pid_of(vlm)
        with pytest.raises(type(raised)) as error:
            vlm.answer(None, "forever", TASK, listen)
        assert error.value is raised
        with pytest.raises(type(raised)):
            vlm.answer(None, "say a|b|c", TASK, listen)
        assert pid_of(vlm) == pid


class TestTurns:
    def test_calls_pass_in_the_order_they_came_and_see_how_many_are_before_them(
        self, vlm: WorkerVlm, workers: Workers, aside: ThreadPoolExecutor, tmp_path: Path
    ) -> None:
        users = [WorkerVlm(vlm.spec, workers) for _ in range(4)]
        order: list[int] = []
        calls = _queue_up(users, order, aside, tmp_path)
        assert [user.standing.n_before for user in users] == [0, 1, 2, 3]
        assert [user.standing.phase for user in users[1:]] == [Phase.WAITING] * 3
        (tmp_path / "go").touch()
        for call in calls:
            call.result()
        assert order == [0, 1, 2, 3]

    def test_cancelling_a_waiting_call_touches_no_other(
        self, vlm: WorkerVlm, workers: Workers, aside: ThreadPoolExecutor, tmp_path: Path
    ) -> None:
        pid = pid_of(vlm)
        users = [WorkerVlm(vlm.spec, workers) for _ in range(3)]
        order: list[int] = []
        first, second, third = _queue_up(users, order, aside, tmp_path)
        users[1].cancel()
        with pytest.raises(Cancelled):
            second.result()
        assert users[2].standing == Standing(Phase.WAITING, 1)
        (tmp_path / "go").touch()
        first.result()
        third.result()
        assert order == [0, 2]
        assert pid_of(vlm) == pid

    def test_another_vlm_stops_the_idle_one(self, vlm: WorkerVlm, workers: Workers) -> None:
        pid = pid_of(vlm)
        assert ask(WorkerVlm(LocalSpec("steady", "Other"), workers), "say 1").text == "1"
        assert is_gone(pid)
        assert [status.name for status in workers.status()] == ["Other"]

    def test_another_vlm_waits_for_the_busy_one(
        self, vlm: WorkerVlm, workers: Workers, aside: ThreadPoolExecutor, tmp_path: Path
    ) -> None:
        other = WorkerVlm(LocalSpec("steady", "Other"), workers)
        order: list[int] = []
        calls = _queue_up([vlm, other], order, aside, tmp_path)
        assert other.standing == Standing(Phase.WAITING, 1)
        (tmp_path / "go").touch()
        for call in calls:
            call.result()
        assert order == [0, 1]

    @pytest.mark.parametrize(("patience", "expected"), [(0.0, [0, 1, 2]), (1000.0, [0, 2, 1])])
    def test_the_warm_vlm_goes_first_until_whoever_waits_for_another_loses_patience(
        self,
        vlm: WorkerVlm,
        workers: Workers,
        aside: ThreadPoolExecutor,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        patience: float,
        expected: list[int],
    ) -> None:
        monkeypatch.setattr(worker_queue, "PATIENCE", patience)
        users = [vlm, WorkerVlm(LocalSpec("steady", "Other"), workers), WorkerVlm(vlm.spec, workers)]
        order: list[int] = []
        calls = _queue_up(users, order, aside, tmp_path)
        (tmp_path / "go").touch()
        for call in calls:
            call.result()
        assert order == expected

    def test_where_there_is_room_both_stay_warm(self) -> None:
        workers = Workers(FACTORY, imports=(), room=2)
        try:
            one, two = (WorkerVlm(LocalSpec("steady", name), workers) for name in ("One", "Two"))
            assert [pid_of(one), pid_of(two)] == [pid_of(one), pid_of(two)]
            assert [status.name for status in workers.status()] == ["One", "Two"]
        finally:
            workers.stop_all()


def _queue_up(users: list[WorkerVlm], order: list[int], aside: ThreadPoolExecutor, folder: Path) -> list[Future[None]]:
    """Let each ask once, the first one before a gate ("go" opens it), and note the order in which they end."""

    def take_part(number: int) -> None:
        ask(users[number], f"gate {folder / 'go'}" if number == 0 else "say 1")
        order.append(number)

    calls = []
    for number, user in enumerate(users):
        calls.append(aside.submit(take_part, number))
        wanted = Phase.ANSWERING if number == 0 else Phase.WAITING
        until(lambda user=user, wanted=wanted: user.standing.phase == wanted)  # type: ignore[misc]
    return calls


def _left_alone(act: str) -> int:
    """Let a process of its own start a worker and act until it prints, kill it, and return the worker's id."""
    begin = "from tests.vlm.test_worker import *; workers = Workers(FACTORY, imports=())"
    code = f"{begin}; vlm = WorkerVlm(LocalSpec('steady', 'Fake'), workers); print(pid_of(vlm), flush=True); {act}"
    pipe = subprocess.PIPE
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.stdout.readline()
    parent.kill()
    parent.communicate()
    return pid
