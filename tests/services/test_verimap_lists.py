"""Verifications as a list: failures first, each example met once on the way from case to case."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.errors import AppError
from backend.services.endoca_series import records
from backend.services.removal import remove_run
from backend.services.verimap_lists import (
    case_at,
    unverified_runs,
    verdicts_of_runs,
    verification_neighbours,
    verification_page,
)
from backend.store.store import Store
from backend.store.verification_filters import VerificationFilter, verification_count
from backend.verimap.conditions import Condition
from tests.services.verification_store import (
    ATLAS,
    BEACON,
    OWN,
    VQA_RAD,
    fill_verification_store,
    make_verification_store,
    run_id,
    unit_of,
)

FIRST = VerificationFilter(suites=(VQA_RAD,), turns=(0,))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with make_verification_store(tmp_path_factory.mktemp("lists") / "verifications.duckdb") as opened:
        yield opened


def test_false_acceptances_come_first_then_false_rejections_then_replies_without_a_verdict(store: Store) -> None:
    rows = records(verification_page(store, FIRST, offset=0, limit=50))
    assert [row["outcome"] for row in rows[:12]] == ["fp"] * 8 + ["fn"] * 4
    assert [(row["source_id"], row["verdict"], row["outcome"]) for row in rows[12:14]] == [
        ("7", None, None),
        ("8", None, None),
    ]
    assert len(rows) == verification_count(store, FIRST) == 32


def test_a_row_holds_what_was_asked_answered_and_said(store: Store) -> None:
    chosen = VerificationFilter(suites=(VQA_RAD,), turns=(0,), generators=(ATLAS,), verifiers=(BEACON,))
    row = records(verification_page(store, chosen, offset=0, limit=1))[0]
    assert (row["unit_id"], row["question"], row["reference"], row["answer"]) == (
        unit_of(VQA_RAD, "6"),
        "Is the <i>liver</i> normal?",
        "No",
        "Yes",
    )
    assert (row["oracle_correct"], row["verdict"], row["image_file"], row["image_at_hand"]) == (
        False,
        "CORRECT",
        "c.jpg",
        False,
    )


def test_what_is_not_known_is_none(store: Store) -> None:
    rows = records(verification_page(store, VerificationFilter(), offset=0, limit=100))
    by_source = {row["source_id"]: row for row in rows if row["generator"] == ATLAS}
    assert by_source["p1"]["task"] is None and by_source["p5"]["image_file"] == ""
    unjudged = next(row for row in rows if row["oracle_correct"] is None)
    assert unjudged["outcome"] is None


def test_pages_follow_each_other(store: Store) -> None:
    whole = records(verification_page(store, FIRST, offset=0, limit=50))
    second = records(verification_page(store, FIRST, offset=5, limit=5))
    assert second == whole[5:10]


def test_alike_records_are_rows_of_their_own(store: Store) -> None:
    chosen = VerificationFilter(suites=(OWN,), verifiers=(ATLAS,), text="p3")
    assert verification_count(store, chosen) == len(verification_page(store, chosen, offset=0, limit=9)) == 2


def test_the_way_from_case_to_case_meets_each_example_once_in_the_lists_order(store: Store) -> None:
    rows = records(verification_page(store, FIRST, offset=0, limit=50))
    in_order = list(dict.fromkeys(row["unit_id"] for row in rows))
    assert len(in_order) == 8
    assert [case_at(store, FIRST, position) for position in range(1, 9)] == in_order
    for place, unit in enumerate(in_order, 1):
        found = verification_neighbours(store, FIRST, unit)
        assert (found.position, found.total) == (place, 8)
        assert found.previous == (in_order[place - 2] if place > 1 else None)
        assert found.next == (in_order[place] if place < 8 else None)


def test_an_example_outside_the_list_has_no_place_in_it(store: Store) -> None:
    found = verification_neighbours(store, FIRST, unit_of(OWN, "p1"))
    assert (found.position, found.total) == (None, 8)
    assert verification_neighbours(store, VerificationFilter(suites=("nope",)), unit_of(OWN, "p1")).total == 0


def test_a_position_that_the_list_no_longer_has_is_an_error_that_says_so(store: Store) -> None:
    with pytest.raises(AppError, match="no case 9"):
        case_at(store, FIRST, 9)


def test_an_empty_store_has_an_empty_list(tmp_path_factory: pytest.TempPathFactory) -> None:
    with Store.create(tmp_path_factory.mktemp("empty") / "empty.duckdb") as empty:
        assert verification_page(empty, VerificationFilter(), offset=0, limit=9).empty
        fill_verification_store(empty)
        assert not verification_page(empty, VerificationFilter(), offset=0, limit=9).empty


@pytest.mark.parametrize(
    ("runs", "n"),
    [
        ((run_id(VQA_RAD, ATLAS, BEACON),), 8),
        ((run_id(VQA_RAD, ATLAS, ATLAS, condition=Condition.IMAGE_WITHHELD),), 8),
        ((run_id(VQA_RAD, ATLAS, ATLAS), run_id(VQA_RAD, ATLAS, ATLAS, condition=Condition.IMAGE_SWAPPED)), 8),
        ((run_id(VQA_RAD, ATLAS),), 16),
        ((run_id(VQA_RAD, ATLAS, turn=1),), 8),
        (("no such run",), 0),
    ],
    ids=["a verifier", "a control", "a verifier and its control", "a generator", "a later turn", "unknown"],
)
def test_a_run_leads_to_its_verdicts_and_a_generator_s_to_those_on_its_answers(
    store: Store, runs: tuple[str, ...], n: int
) -> None:
    chosen = verdicts_of_runs(store, (VQA_RAD,), runs)
    assert (chosen.suites, verification_count(store, chosen)) == ((VQA_RAD,), n)


def test_controls_of_a_generator_s_answers_are_not_pooled_with_plain_verdicts(store: Store) -> None:
    assert verdicts_of_runs(store, (VQA_RAD,), (run_id(VQA_RAD, ATLAS),)).conditions == ()
    withheld = run_id(VQA_RAD, ATLAS, ATLAS, condition=Condition.IMAGE_WITHHELD)
    assert verdicts_of_runs(store, (VQA_RAD,), (withheld,)).conditions == (Condition.IMAGE_WITHHELD,)


def test_runs_whose_answers_nobody_verified_are_told_from_the_others(tmp_path: Path) -> None:
    asked = [run_id(VQA_RAD, ATLAS), run_id(VQA_RAD, BEACON), run_id(VQA_RAD, BEACON, BEACON), "no such run"]
    with make_verification_store(tmp_path / "unverified.duckdb") as store:
        assert unverified_runs(store, asked) == []
        for verifier in (ATLAS, BEACON):
            remove_run(store, run_id(VQA_RAD, BEACON, verifier))
        [run] = unverified_runs(store, asked)
        assert (run.run_id, run.suite, run.stage) == (run_id(VQA_RAD, BEACON), VQA_RAD, "direct")
        assert (run.n_answers, run.first_unit) == (8, unit_of(VQA_RAD, "1"))
        assert verification_count(store, verdicts_of_runs(store, (VQA_RAD,), (run.run_id,))) == 0
