"""What pairs can be chosen by, and one run's answers beside them."""

from collections.abc import Iterator

import pytest

from backend.domain.records import Stage
from backend.services.endoca_series import records
from backend.services.surgcheck_lists import answered_pairs, pair_choices
from backend.store.pair_filters import PairFilter
from backend.store.store import Store
from backend.surgcheck.tasks import Cue, Level, Task
from tests.services.pair_store import ARROW_ACTION, HINTED, PAIRS, SILENT, STEADY, SUITE, make_pair_store, run_id

ACTIONS = PairFilter(suite=SUITE, tasks=("Action",))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with make_pair_store(tmp_path_factory.mktemp("lists") / "pairs.duckdb") as opened:
        yield opened


def test_a_suite_offers_what_it_has_in_the_paper_s_order(store: Store) -> None:
    found = pair_choices(store, SUITE)
    assert found.tasks == tuple(Task)
    assert found.levels == tuple(Level)
    assert found.cues == tuple(Cue)
    assert found.n_pairs == len(PAIRS)


def test_an_unknown_suite_offers_nothing(store: Store) -> None:
    assert pair_choices(store, "nope") == ((), (), (), 0)


def test_a_run_s_two_answers_stand_beside_each_pair(store: Store) -> None:
    rows = records(answered_pairs(store, ACTIONS, run_id(HINTED), offset=0, limit=50))
    assert len(rows) == 8
    row = next(row for row in rows if row["unit_id"] == ARROW_ACTION)
    assert (row["original_answer"], row["original_status"], row["original_correct"]) == ("retract", "read", True)
    assert (row["less_biased_answer"], row["less_biased_status"], row["less_biased_correct"]) == ("clip", "read", False)


def test_what_has_no_answer_has_no_text(store: Store) -> None:
    rows = records(answered_pairs(store, ACTIONS, run_id(SILENT), offset=0, limit=50))
    row = next(row for row in rows if row["unit_id"] == ARROW_ACTION)
    assert (row["original_answer"], row["original_status"]) == (None, "failed")
    assert (row["less_biased_answer"], row["less_biased_status"]) == (None, "missing")


def test_what_was_not_asked_has_no_status(store: Store) -> None:
    [row] = records(answered_pairs(store, ACTIONS, run_id(STEADY, Stage.TEXT_ONLY), offset=0, limit=1))
    assert (row["original_status"], row["less_biased_answer"], row["less_biased_status"]) == ("read", None, None)


def test_outcomes_are_those_of_the_run_alone_and_pages_follow_each_other(store: Store) -> None:
    lost = PairFilter(suite=SUITE, pair_outcomes=("hint_only",))
    assert answered_pairs(store, lost, run_id(STEADY), offset=0, limit=50).empty
    whole = records(answered_pairs(store, lost, run_id(HINTED), offset=0, limit=50))
    second = records(answered_pairs(store, lost, run_id(HINTED), offset=3, limit=3))
    assert [row["unit_id"] for row in second] == [row["unit_id"] for row in whole[3:6]]
