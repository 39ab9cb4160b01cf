"""Promises of the choice of pairs: what fits, in which order, in which words, and that a link gives it back."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backend.domain.records import Stage
from backend.errors import AppError
from backend.store.pair_filters import PairFilter, pair_count, pair_neighbours, pair_page
from backend.store.store import Store
from backend.surgcheck.tasks import Task
from tests.services.pair_store import ARROW_ACTION, HINTED, PAIRS, SILENT, STEADY, SUITE, make_pair_store, run_id

N_ACTIONS = sum(pair.task is Task.ACTION for pair in PAIRS.values())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with make_pair_store(tmp_path_factory.mktemp("pairs") / "pairs.duckdb") as made:
        yield made


@pytest.mark.parametrize(
    ("chosen", "n", "sentence"),
    [
        (PairFilter(), len(PAIRS), "every pair in the store"),
        (PairFilter(SUITE), len(PAIRS), "suite pairs"),
        (PairFilter("other"), 0, "suite other"),
        (PairFilter(tasks=("Action",)), N_ACTIONS, "Action questions"),
        (PairFilter(tasks=("Action",), cues=("arrow", "box")), 4, "Action questions, cue arrow or box"),
        (PairFilter(levels=("reasoning",)), 4, "level reasoning"),
        (PairFilter(text=" INDICATED by "), None, "with “INDICATED by”"),
        (PairFilter(text="013"), 1, "with “013”"),
        (PairFilter(runs=(run_id(STEADY),)), len(PAIRS), f"{run_id(STEADY)}"),
        (PairFilter(pair_outcomes=("hint_only",)), N_ACTIONS, "“right with the hint, wrong without it”"),
        (PairFilter(runs=(run_id(STEADY),), pair_outcomes=("hint_only",)), 0, None),
        (PairFilter(runs=(run_id(HINTED),), pair_outcomes=("both_right",)), len(PAIRS) - N_ACTIONS, None),
        (PairFilter(runs=(run_id(SILENT),), pair_outcomes=("hint_only",)), N_ACTIONS - 1, None),
        (PairFilter(runs=(run_id(SILENT),), pair_outcomes=("both_wrong",)), 1, None),
        (PairFilter(statuses=("missing",)), N_ACTIONS, "with a missing answer"),
        (PairFilter(statuses=("missing", "failed")), N_ACTIONS, "with a missing answer or a failed call"),
        (PairFilter(statuses=("empty",)), 0, "with an empty answer"),
        (
            PairFilter(runs=(run_id(SILENT),), statuses=("failed",), variant="original"),
            1,
            f"with a failed call to the original question by {run_id(SILENT)}",
        ),
        (PairFilter(statuses=("failed",), variant="less_biased"), 0, "with a failed call to the less-biased question"),
        (PairFilter(statuses=("missing",), variant="text_only"), 0, "with a missing answer without the image"),
        (PairFilter(runs=(run_id(STEADY),), statuses=("missing",)), 0, None),
        (PairFilter(runs=(run_id(SILENT),), pair_outcomes=("both_wrong",), statuses=("failed",)), 1, None),
        (PairFilter(runs=(run_id(STEADY, Stage.TEXT_ONLY),), pair_outcomes=("both_right", "hint_only")), 0, None),
    ],
)
def test_a_filter_chooses_what_its_sentence_says(
    store: Store, chosen: PairFilter, n: int | None, sentence: str | None
) -> None:
    assert n is None or pair_count(store, chosen) == n
    assert len(pair_page(store, chosen, offset=0, limit=100)) == pair_count(store, chosen)
    assert sentence is None or chosen.sentence() == sentence
    assert PairFilter.from_query(chosen.to_query()) == chosen


def test_a_question_that_was_never_asked_is_no_missing_answer(tmp_path: Path) -> None:
    missing = PairFilter(runs=(run_id(STEADY),), statuses=("missing",))
    arrows = PairFilter(cues=("arrow",))
    with make_pair_store(tmp_path / "pairs.duckdb") as store:
        of_arrows = "run_id = ? AND role = 'less_biased' AND unit_id IN (SELECT unit_id FROM pairs WHERE cue = 'arrow')"
        with store.write() as cursor:
            cursor.execute(f"UPDATE scores SET status = 'missing' WHERE {of_arrows}", [run_id(STEADY)])
        assert (pair_count(store, missing), pair_count(store, arrows) > 1) == (0, True)
        with store.write() as cursor:
            cursor.execute(
                f"UPDATE scores SET status = 'read' WHERE {of_arrows} AND unit_id = ?", [run_id(STEADY), ARROW_ACTION]
            )
        assert pair_count(store, missing) == pair_count(store, arrows) - 1


def test_a_question_of_whose_kind_a_run_holds_no_answer_was_not_asked_and_has_no_outcome(tmp_path: Path) -> None:
    every = ("both_right", "hint_only", "pointed_only", "both_wrong")
    of_steady = PairFilter(runs=(run_id(STEADY),), cues=("arrow",), pair_outcomes=every)
    with make_pair_store(tmp_path / "pairs.duckdb") as store:
        assert pair_count(store, of_steady) > 1
        arrows = "SELECT unit_id FROM pairs WHERE cue = 'arrow'"
        with store.write() as cursor:
            cursor.execute(
                f"UPDATE scores SET status = 'missing', correct = false WHERE role = 'less_biased' AND run_id = ? "
                f"AND unit_id IN ({arrows})",
                [run_id(STEADY)],
            )
        assert pair_count(store, of_steady) == 0
        assert pair_count(store, replace(of_steady, cues=("box",))) > 1


def test_a_page_counts_the_runs_that_were_asked_both_questions_and_those_that_part(store: Store) -> None:
    row = pair_page(store, PairFilter(text="013"), offset=0, limit=1).iloc[0]
    assert (row["n_runs"], row["n_hint_only"], row["n_pointed_only"]) == (3, 1, 0)
    assert row["original"] == "What action is the grasper indicated by the red arrow performing?"
    assert row["less_biased"] == "What action is the tool indicated by the red arrow performing?"
    of_steady = pair_page(store, PairFilter(text="013", runs=(run_id(STEADY),)), offset=0, limit=1).iloc[0]
    assert (of_steady["n_runs"], of_steady["n_hint_only"]) == (1, 0)


def test_neighbours_are_those_of_the_chosen_list(store: Store) -> None:
    chosen = PairFilter(pair_outcomes=("hint_only",))
    listed = list(pair_page(store, chosen, offset=0, limit=100)["unit_id"])
    at = listed.index(ARROW_ACTION)
    place = pair_neighbours(store, chosen, ARROW_ACTION)
    assert (place.total, place.position) == (N_ACTIONS, at + 1)
    assert (place.previous, place.next) == (listed[at - 1], listed[at + 1])
    assert pair_neighbours(store, PairFilter("other"), ARROW_ACTION).total == 0
    assert pair_neighbours(store, PairFilter(tasks=("CVS",)), ARROW_ACTION).position is None


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"tasks": "Juggling"}, "the task 'Juggling'"),
        ({"cues": "box~laser"}, "the cue 'laser'"),
        ({"pair_outcomes": "inconsistent"}, "the pair outcome 'inconsistent'"),
        ({"statuses": "read"}, "the answer status 'read'"),
        ({"variant": "sung"}, "the variant 'sung'"),
    ],
)
def test_a_link_that_cannot_be_meant_is_answered_with_what_is_known(query: dict[str, str], words: str) -> None:
    with pytest.raises(AppError) as told:
        PairFilter.from_query(query)
    assert words in told.value.message
    assert told.value.hint.startswith("Known: ")
