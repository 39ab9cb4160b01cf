"""Promises of live reconciliations: seen as they run, stopped at any moment, stored once, and told why they ended."""

import io
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from PIL import Image

from backend.domain.vlm import Ask, Decoding, OnText, Reply
from backend.endoca.asr import StepName, Variant
from backend.endoca.decision import Verdict
from backend.errors import AppError
from backend.services.live import LiveRun, LiveRuns
from backend.services.live_traces import Ending, StoredTrace, load_trace, unit_traces
from backend.services.live_units import unit_to_ask
from backend.services.runs.plan import VlmIdentity
from backend.store.store import Store
from backend.vlm.loading import LocalSpec
from backend.vlm.worker import Phase, Workers, WorkerVlm
from tests.services.live_fakes import FACTORY, SELECTED, orders
from tests.services.run_files import draw_images, drawn_store

UNIT = "drawn:22"
"""How many polyps are there, and is there a box artifact? Two parts."""

WHO = VlmIdentity("Fake VLM", "general_open", {"weights": "none"})


def until(condition: Callable[[], object]) -> None:
    """Wait for a condition, at most twenty seconds."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with drawn_store(tmp_path, images=draw_images(tmp_path / "images")) as made:
        yield made


@pytest.fixture
def workers() -> Iterator[Workers]:
    made = Workers(FACTORY, imports=())
    yield made
    made.stop_all()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the fake VLM finds its orders."""
    made = tmp_path / "vlm"
    made.mkdir()
    return made


class Desk:
    """Starts reconciliations of the unit, each on a line of its own to one fake VLM."""

    def __init__(self, store: Store, workers: Workers, folder: Path) -> None:
        self.runs = LiveRuns()
        self.store = store
        self.workers = workers
        self.folder = folder

    def start(self, variant: Variant = Variant.ASR) -> LiveRun:
        vlm = WorkerVlm(LocalSpec(source=str(self.folder), name=WHO.name), self.workers)
        return self.runs.start(self.store, unit_to_ask(self.store, UNIT), vlm, lambda: WHO, variant)

    def ended(self, variant: Variant = Variant.ASR) -> LiveRun:
        run = self.start(variant)
        assert run.wait(60)
        return run

    def stored(self, run: LiveRun) -> StoredTrace:
        found = load_trace(self.store, run.id)
        assert found is not None
        return found


@pytest.fixture
def desk(store: Store, workers: Workers, folder: Path) -> Desk:
    return Desk(store, workers, folder)


def reaches(run: LiveRun, step: str) -> None:
    """Wait until a step waits in the VLM, as it was ordered to; the parts are asked at once and do not stream."""
    until(lambda: [one for one in run.asking if one.name == step and (one.said or step == "atomic")])


def names(run: LiveRun | StoredTrace) -> list[str]:
    return [f"{step.name} {step.position}" for step in run.trace.steps]


def test_a_reconciliation_that_ran_to_its_end_is_stored_whole(desk: Desk) -> None:
    run = desk.ended()
    stored = desk.stored(run)
    assert names(stored) == ["direct 0", "atomic 0", "atomic 1", "revise 0", "select 0"]
    assert stored.trace == run.trace
    assert (stored.trace.direct, stored.trace.revised, stored.trace.final) == ("one polyp", "two polyps", "two polyps")
    assert stored.trace.steps[-1].reply.text == SELECTED
    assert [step.question for step in stored.trace.steps][1:3] == [
        "How many polyps are in the image?",
        "Is there a green/black box artefact?",
    ]
    assert (stored.ending, stored.problem, stored.origin) == (Ending.DONE, "", "live")
    assert (stored.vlm, stored.prompt_version) == (WHO, "endoca-1")
    assert stored.decodings == {
        "direct": "greedy, 80 new tokens",
        "atomic": "greedy, 80 new tokens",
        "revise": "greedy, 120 new tokens",
        "select": "greedy, 120 new tokens",
    }
    assert stored.image_sha256 == run.unit.image_sha256
    assert stored.trace.steps[0].reply.seconds == 0.25


def test_the_control_asks_no_part(desk: Desk) -> None:
    stored = desk.stored(desk.ended(Variant.SELF))
    assert names(stored) == ["direct 0", "revise 0", "select 0"]
    assert stored.trace.variant is Variant.SELF


def test_while_it_runs_the_steps_so_far_and_the_words_so_far_are_seen(desk: Desk) -> None:
    orders(desk.folder, revise="wait")
    run = desk.start()
    reaches(run, "revise")
    assert names(run) == ["direct 0", "atomic 0", "atomic 1"]
    [asking] = run.asking
    assert (asking.name, asking.said, asking.prompt[:7]) == (StepName.REVISE, "so far ", "Look at")
    assert not run.is_over
    assert desk.runs.find(desk.store, run.id) is run
    (desk.folder / "go").touch()
    assert run.wait(60)
    assert isinstance(desk.runs.find(desk.store, run.id), StoredTrace)
    assert run.asking == ()


@pytest.mark.parametrize("step", ["direct", "atomic", "revise", "select"])
def test_cancelled_at_any_step_it_keeps_what_was_answered(desk: Desk, step: str) -> None:
    before = {"direct": 0, "atomic": 1, "revise": 3, "select": 4}[step]
    orders(desk.folder, **{step: "wait"})
    run = desk.start()

    reaches(run, step)
    run.cancel()
    assert run.wait(60)
    assert len(run.trace.steps) == before
    assert run.error is None
    if before:
        assert desk.stored(run).ending is Ending.CANCELLED
        assert names(desk.stored(run)) == names(run)
    else:
        assert not run.is_stored
        assert load_trace(desk.store, run.id) is None
        assert desk.runs.find(desk.store, run.id) is run


def test_after_a_cancelled_one_the_next_runs_to_its_end(desk: Desk) -> None:
    orders(desk.folder, revise="wait")
    run = desk.start()
    reaches(run, "revise")
    run.cancel()
    assert run.wait(60)
    orders(desk.folder)
    assert desk.stored(desk.ended()).ending is Ending.DONE
    assert len(unit_traces(desk.store, UNIT)) == 2


def test_two_people_wait_for_each_other_and_see_it(desk: Desk) -> None:
    orders(desk.folder, direct="wait")
    first = desk.start()
    reaches(first, "direct")
    second = desk.start()
    until(lambda: second.standing is not None and second.standing.phase is Phase.WAITING)
    assert second.standing is not None
    assert second.standing.n_before == 1
    (desk.folder / "go").touch()
    assert first.wait(60)
    assert second.wait(60)
    assert len(unit_traces(desk.store, UNIT)) == 2


def test_one_that_waits_can_be_cancelled_and_the_other_goes_on(desk: Desk) -> None:
    orders(desk.folder, direct="wait")
    first = desk.start()
    reaches(first, "direct")
    second = desk.start()
    until(lambda: second.standing is not None and second.standing.n_before == 1)
    second.cancel()
    assert second.wait(60)
    assert not first.is_over
    (desk.folder / "go").touch()
    assert first.wait(60)
    assert desk.stored(first).ending is Ending.DONE


def test_a_killed_worker_leaves_the_trace_so_far_and_says_what_to_do(desk: Desk) -> None:
    orders(desk.folder, revise="die")
    run = desk.ended()
    assert run.error is not None
    assert "ended the VLM's process" in run.error.message
    assert "ask again" in run.error.hint
    stored = desk.stored(run)
    assert names(stored) == ["direct 0", "atomic 0", "atomic 1"]
    assert stored.ending is Ending.FAILED
    assert "ended the VLM's process" in stored.problem
    orders(desk.folder)
    assert desk.stored(desk.ended()).ending is Ending.DONE


def test_a_failed_call_ends_it_there_and_is_kept_with_its_reason(desk: Desk) -> None:
    orders(desk.folder, revise="fail")
    stored = desk.stored(desk.ended())
    assert names(stored)[-1] == "revise 0"
    assert stored.trace.steps[-1].reply.error == "The call timed out after 30 s. Ask again."
    assert (stored.ending, stored.trace.revised) == (Ending.FAILED, None)


def test_where_nothing_was_answered_nothing_is_stored(desk: Desk) -> None:
    orders(desk.folder, direct="fail")
    run = desk.ended()
    assert not run.is_stored
    assert unit_traces(desk.store, UNIT) == []


def test_a_trace_that_cannot_be_stored_says_why_and_is_still_seen(desk: Desk) -> None:
    orders(desk.folder, select="wait")
    run = desk.start()
    reaches(run, "select")
    with desk.store.write() as cursor:
        cursor.execute("DELETE FROM units WHERE unit_id = ?", [UNIT])
    (desk.folder / "go").touch()
    assert run.wait(60)
    assert run.unsaved is not None
    assert "There is no case" in run.unsaved.message
    assert desk.runs.find(desk.store, run.id) is run
    assert run.trace.decision is not None
    assert run.trace.decision.verdict is Verdict.ANSWER


class Broken:
    """A VLM with a bug, or one that refuses."""

    name = WHO.name

    def __init__(self, error: Exception) -> None:
        self.error = error

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        raise self.error

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        raise self.error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (AppError("The key is refused.", "Check it."), "The key is refused."),
        (RuntimeError("no such layer"), "ended in a bug in Parallax"),
    ],
)
def test_what_ends_it_is_told_and_never_lost_in_a_thread(desk: Desk, error: Exception, said: str) -> None:
    run = desk.runs.start(desk.store, unit_to_ask(desk.store, UNIT), Broken(error), lambda: WHO, Variant.ASR)
    assert run.wait(60)
    assert run.error is not None
    assert said in run.error.message


def test_a_vlm_that_cannot_be_identified_is_not_asked(desk: Desk) -> None:
    def refuse() -> VlmIdentity:
        raise AppError("The weights cannot be read.", "Check their permissions.")

    broken = Broken(AssertionError("it was asked"))
    run = desk.runs.start(desk.store, unit_to_ask(desk.store, UNIT), broken, refuse, Variant.ASR)
    assert run.wait(60)
    assert run.error is not None
    assert "cannot be read" in run.error.message


def test_an_image_that_was_changed_is_not_asked_about(desk: Desk, tmp_path: Path) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (8, 6), (200, 200, 200)).save(picture, "PNG")
    (tmp_path / "images/frame-a.png").write_bytes(picture.getvalue())
    with pytest.raises(AppError, match="has changed since it was attached"):
        unit_to_ask(desk.store, UNIT)
