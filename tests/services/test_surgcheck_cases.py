"""Promises of a pair as a case: what was shown, asked and answered, and what became of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from backend.domain.records import Stage, System
from backend.errors import AppError
from backend.services.cases import suite_system, unit_system
from backend.services.cue_pictures import drawn_picture
from backend.services.surgcheck_cases import PairCase, PairRun, load_pair, pair_runs_in_order
from backend.store.pair_filters import PairFilter
from backend.store.store import Store
from backend.surgcheck.cue_drawing import RED
from backend.surgcheck.grounding_cues import Arrow
from backend.surgcheck.outcomes import PairOutcome
from backend.surgcheck.tasks import Cue, Task
from tests.services.pair_store import (
    ARROW_ACTION,
    HINTED,
    REASON,
    SCENE,
    SILENT,
    STEADY,
    SUITE,
    make_pair_store,
    run_id,
    unit_of,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with make_pair_store(tmp_path_factory.mktemp("pairs") / "pairs.duckdb") as made:
        yield made


@pytest.fixture(scope="module")
def pair(store: Store) -> PairCase:
    return load_pair(store, ARROW_ACTION)


def run_of(pair: PairCase, vlm: str, stage: Stage = Stage.DIRECT) -> PairRun:
    return next(run for run in pair.runs if run.run_id == run_id(vlm, stage))


def test_a_pair_knows_its_frame_its_picture_and_what_is_pointed_at(pair: PairCase) -> None:
    assert pair.frame.file == "7_100.png" and pair.frame.at_hand
    assert pair.picture.file == "7_100_arrow_lt.png" and not pair.picture.at_hand
    assert (pair.task, pair.cue, pair.hand, pair.annotation_id) == (Task.ACTION, Cue.ARROW, "lt", 1)
    assert pair.box == SCENE.tools[0].box
    assert isinstance(pair.drawing, Arrow)
    assert pair.scene == SCENE
    assert pair.reference == "retract"
    assert pair.is_paired


def test_a_question_about_the_whole_frame_points_at_nothing_and_is_asked_in_one_text(store: Store) -> None:
    count = load_pair(store, unit_of(Task.INSTRUMENT_COUNT, Cue.NONE))
    assert (count.box, count.drawing, count.hand, count.annotation_id) == (None, None, None, None)
    assert count.picture == count.frame
    assert not count.is_paired


def test_no_answer_counts_as_wrong_and_is_no_contradiction(pair: PairCase) -> None:
    assert run_of(pair, STEADY).outcome is PairOutcome.BOTH_RIGHT
    hinted = run_of(pair, HINTED)
    assert hinted.outcome is PairOutcome.HINT_ONLY and hinted.contradicts
    silent = run_of(pair, SILENT)
    assert silent.outcome is PairOutcome.BOTH_WRONG and not silent.is_answered and not silent.contradicts
    blind = run_of(pair, STEADY, Stage.TEXT_ONLY)
    assert blind.is_text_only and blind.less_biased is None and blind.outcome is None


def test_a_judges_score_comes_with_its_reason_and_unscored_is_not_wrong(pair: PairCase) -> None:
    hinted = run_of(pair, HINTED)
    assert hinted.original is not None and hinted.less_biased is not None
    assert [(one.score, one.reason) for one in hinted.less_biased.judgements] == [(1, REASON)]
    assert [(one.score, one.error) for one in hinted.original.judgements] == [(None, "the reply was no JSON")]
    assert hinted.original.said.correct


def test_contradictions_come_first_and_runs_outside_the_filter_are_set_apart(pair: PairCase) -> None:
    def names(chosen: PairFilter) -> tuple[list[str], list[str]]:
        asked, others = pair_runs_in_order(pair.runs, chosen)
        return [run.vlm for run in asked], [run.vlm for run in others]

    assert names(PairFilter()) == ([HINTED, SILENT, STEADY, STEADY], [])
    assert names(PairFilter(runs=(run_id(STEADY),))) == ([STEADY], [HINTED, SILENT, STEADY])
    assert names(PairFilter(pair_outcomes=("hint_only",))) == ([HINTED], [SILENT, STEADY, STEADY])


def test_only_units_of_surgcheck_are_pairs(store: Store) -> None:
    assert unit_system(store, ARROW_ACTION) == suite_system(store, SUITE) == System.SURGCHECK
    assert unit_system(store, "drawn:22") is None
    assert suite_system(store, "drawn") is None
    with pytest.raises(AppError, match="no pair 'drawn:22'"):
        load_pair(store, "drawn:22")


def test_a_picture_that_is_not_at_hand_is_drawn_from_its_frame(store: Store, tmp_path: Path) -> None:
    content = drawn_picture(store, ARROW_ACTION)
    assert content is not None
    (tmp_path / "drawn.png").write_bytes(content)
    with Image.open(tmp_path / "drawn.png") as drawn:
        assert drawn.size == (SCENE.width, SCENE.height)
        assert any(color == RED for _, color in drawn.getcolors(100_000) or [])
    assert drawn_picture(store, unit_of(Task.INSTRUMENT_COUNT, Cue.NONE)) is None
    assert drawn_picture(store, "nobody") is None
