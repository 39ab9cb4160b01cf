"""Promises of pairs asked live: both questions are asked of the same picture, and nothing answered is lost."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from backend.domain.progress import Cancelled
from backend.domain.records import LIVE_PAIRS, Role
from backend.domain.vlm import Ask, Decoding, OnText, Reply
from backend.errors import AppError
from backend.services.cue_workshop import OWN, Question, cue_choices, with_own
from backend.services.live_pairs import PAIRS, LivePair, find_pair
from backend.services.pair_traces import PairTrace, live_runs, unit_pair_traces
from backend.services.pair_units import live_pair, pair_to_ask
from backend.services.runs.plan import VlmIdentity
from backend.services.surgcheck_cases import load_pair
from backend.store.store import Store
from backend.surgcheck.outcomes import PairOutcome
from backend.surgcheck.scene_graphs import Hand, Tool, Triplet
from backend.surgcheck.tasks import Cue, Task
from tests.services import pair_store
from tests.services.pair_store import ARROW_ACTION, OTHER, SCENE, make_pair_store, unit_of

WHO = VlmIdentity("Leaning VLM", "general_open", {"weights": "none"})

FRAME = "drawn:7_100.png"


class Leaning:
    """Right where the question names the tool; does what it is told at a step."""

    name = WHO.name

    def __init__(self, at: Callable[[str], Reply | None] = lambda prompt: None) -> None:
        self._at = at
        self.asked: list[tuple[Path | None, str]] = []

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        self.asked.append((image, prompt))
        given = self._at(prompt)
        if given is not None:
            return given
        text = "Retract" if "grasper" in prompt else "clip"
        on_text(text)
        return Reply(text, n_tokens=1, seconds=0.1)

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        raise NotImplementedError


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with make_pair_store(tmp_path / "pairs.duckdb") as made:
        yield made


def asked(store: Store, vlm: Leaning, unit_id: str = ARROW_ACTION) -> LivePair:
    """Ask a pair and wait until it is over."""
    calls = PAIRS.begin(LivePair(store, pair_to_ask(store, unit_id), vlm), lambda: WHO)
    assert calls.wait(20)
    return calls


def test_both_questions_are_asked_of_the_picture_with_the_cue_in_it_and_stored_once(store: Store) -> None:
    vlm = Leaning()
    calls = asked(store, vlm)
    [(first, original), (second, less_biased)] = vlm.asked
    assert first == second and first is not None and first.suffix == ".png"
    assert "grasper indicated by the red arrow" in original and "grasper" not in less_biased
    assert "retract" not in original + less_biased
    trace = find_pair(store, calls.id)
    assert isinstance(trace, PairTrace) and calls.is_stored
    assert {role: told.reply.text for role, told in trace.calls.items()} == {
        Role.ORIGINAL: "Retract",
        Role.LESS_BIASED: "clip",
    }
    assert trace.vlm == WHO
    assert [one.trace_id for one in unit_pair_traces(store, ARROW_ACTION)] == [calls.id]


def test_what_was_answered_live_stands_beside_the_runs_in_their_shape(store: Store) -> None:
    calls = asked(store, Leaning())
    [run] = live_runs(store, load_pair(store, ARROW_ACTION))
    assert (run.run_id, run.vlm, run.origin) == (calls.id, WHO.name, "live")
    assert run.outcome is PairOutcome.HINT_ONLY
    assert run.original is not None and run.original.said.correct, "exact match leaves letter case aside"


def test_a_call_that_fails_leaves_the_other_question_asked(store: Store) -> None:
    calls = asked(store, Leaning(lambda prompt: Reply("", error="timed out") if "grasper" in prompt else None))
    assert calls.is_stored
    [run] = live_runs(store, load_pair(store, ARROW_ACTION))
    assert not run.is_answered
    assert run.original is not None and run.less_biased is not None
    assert (run.original.said.error, run.less_biased.said.text) == ("timed out", "clip")


def test_a_pair_that_was_cancelled_keeps_what_was_answered(store: Store) -> None:
    def cancels(prompt: str) -> Reply | None:
        if "grasper" in prompt:
            return None
        raise Cancelled

    calls = asked(store, Leaning(cancels))
    trace = find_pair(store, calls.id)
    assert isinstance(trace, PairTrace)
    assert trace.was_cancelled and set(trace.calls) == {Role.ORIGINAL}


def test_where_nothing_was_answered_nothing_is_kept_and_the_reason_is_told(store: Store) -> None:
    def breaks(prompt: str) -> Reply | None:
        raise AppError("The key is refused.", "Give another.")

    calls = asked(store, Leaning(breaks))
    assert not calls.is_stored and str(calls.error)
    assert find_pair(store, calls.id) is calls
    assert not unit_pair_traces(store, ARROW_ACTION)
    assert find_pair(store, "nobody") is None


def test_a_pair_of_a_suite_is_found_again_when_the_workshop_makes_it(store: Store) -> None:
    for unit, pair in pair_store.PAIRS.items():
        if pair.frame == SCENE.file_name:
            assert live_pair(store, FRAME, pair) == unit


def test_a_new_pair_is_one_unit_of_a_suite_of_its_own(store: Store) -> None:
    own = Tool(OWN, "scissors", SCENE.anatomies[1].box, Hand.ASSISTANT, Triplet("scissors", "dissect", "cystic_duct"))
    pair = cue_choices(with_own(SCENE, own), OWN, Question(Task.ACTION, 0))[0].pair
    assert pair is not None
    unit = live_pair(store, FRAME, pair)
    assert unit.startswith(f"{LIVE_PAIRS}:") and live_pair(store, FRAME, pair) == unit
    held = load_pair(store, unit)
    assert (held.original.question, held.reference) == ("What action is scissors in the red box performing?", "dissect")
    assert (held.annotation_id, held.box, held.drawing) == (None, own.box, pair.drawing)
    assert held.picture.at_hand and held.picture != held.frame
    calls = asked(store, Leaning(), unit)
    assert calls.is_stored


def test_a_frame_that_is_not_at_hand_cannot_be_asked_about(store: Store) -> None:
    pair = next(pair for pair in pair_store.PAIRS.values() if pair.frame == OTHER.file_name and pair.cue is Cue.BOX)
    with pytest.raises(AppError, match="not at hand"):
        live_pair(store, "drawn:7_200.png", pair)
    with pytest.raises(AppError, match="not at hand"):
        pair_to_ask(store, unit_of(Task.ANATOMY, Cue.ARROW, 9))


def test_a_reconciliation_is_never_taken_for_a_pair(store: Store) -> None:
    asked(store, Leaning())
    with store.write() as cursor:
        cursor.execute(
            "INSERT INTO traces (trace_id, unit_id, vlm, variant, prompt_version, origin, record) "
            "VALUES ('asr1', ?, 'X', 'asr', '1', 'live', '{}')",
            [ARROW_ACTION],
        )
    assert len(unit_pair_traces(store, ARROW_ACTION)) == 1
    assert find_pair(store, "asr1") is None
