"""The loop page's tables, by hand from the small store: questions 1 to 8 of VQA-RAD, Atlas by itself over two turns."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backend.domain.statistics.intervals import wilson_interval
from backend.services.endoca_series import records
from backend.services.verimap_loop import (
    ALL_TASKS,
    LoopChoice,
    asked_loops,
    asked_tasks,
    fate_table,
    loop_table,
    rise_table,
    turn_table,
)
from backend.store.store import Store
from backend.store.verification_filters import UNLABELLED, VerificationFilter
from backend.verimap.fates import LoopEnd, LoopRule
from backend.verimap.loop_turns import Cumulation
from backend.verimap.outcomes import Policy, Treatment
from tests.services.verification_store import (
    ATLAS,
    BEACON,
    DISEASE,
    MODALITY,
    OWN,
    VQA_RAD,
    make_verification_store,
    run_id,
)

LOOP = run_id(VQA_RAD, ATLAS, ATLAS, turn=2)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with make_verification_store(tmp_path_factory.mktemp("loop") / "loop.duckdb") as made:
        yield made


def fates_of(store: Store, choice: LoopChoice) -> dict[str, dict[str, Any]]:
    rows = records(fate_table(store, choice))
    assert {row["loop_id"] for row in rows} <= {LOOP}
    return {row["task"]: row for row in rows}


def turns_of(store: Store, choice: LoopChoice) -> dict[tuple[str, int], dict[str, Any]]:
    return {(row["task"], row["turn"]): row for row in records(turn_table(store, choice))}


def test_loops_say_whose_answers_are_reviewed_by_whom(store: Store) -> None:
    [loop] = records(loop_table(store))
    assert (loop["label"], loop["is_self"], loop["n"]) == ("Atlas, reviewed by itself", True, 8)
    for chosen, n in (
        (VerificationFilter(), 1),
        (VerificationFilter(suites=(VQA_RAD,), generators=(ATLAS,), verifiers=(ATLAS,), origins=("precomputed",)), 1),
        (VerificationFilter(suites=(OWN,)), 0),
        (VerificationFilter(verifiers=(BEACON,)), 0),
    ):
        assert len(asked_loops([loop], chosen)) == n


def test_loops_that_would_be_called_alike_carry_the_hash_of_their_ids(tmp_path: Path) -> None:
    with make_verification_store(tmp_path / "twice.duckdb") as store:
        with store.write() as cursor:
            for turn in range(3):
                stages = [
                    run_id(VQA_RAD, ATLAS, ATLAS, turn=turn),
                    *([run_id(VQA_RAD, ATLAS, turn=turn)] if turn else []),
                ]
                for run in stages:
                    again = f"{run[:-10]}again{run[-5:]}"
                    for table in ("runs", "verifications"):
                        cursor.execute(
                            f"INSERT INTO {table} SELECT * REPLACE (? AS run_id) FROM {table} WHERE run_id = ?",
                            [again, run],
                        )
                    cursor.execute(
                        "INSERT INTO run_bases SELECT ?, CASE WHEN contains(base_run_id, '.direct.') THEN base_run_id "
                        "ELSE base_run_id[:-11] || 'again' || base_run_id[-5:] END FROM run_bases WHERE run_id = ?",
                        [again, run],
                    )
        loops = records(loop_table(store))
    assert {loop["label"] for loop in loops} == {
        f"Atlas, reviewed by itself, precomputed, answers of Atlas, turn 2, {tail}"
        for tail in (LOOP[-10:], f"again{LOOP[-5:]}")
    }


def test_the_tasks_of_a_group_are_asked_for_with_it() -> None:
    chosen = VerificationFilter(tasks=(UNLABELLED,), groups=("quantitative",))
    assert asked_tasks(chosen) == (UNLABELLED, "quantitative_measurement")
    assert asked_tasks(VerificationFilter()) == ()


def test_fates_are_counted_by_task_and_add_up(store: Store) -> None:
    found = fates_of(store, LoopChoice(VQA_RAD))
    assert list(found) == [ALL_TASKS, MODALITY, DISEASE]
    names = ("n", "n_wrong", "n_right", "n_locked", "n_still_wrong", "n_corrected", "n_kept", "n_spoiled", "n_unjudged")
    assert [found[ALL_TASKS][name] for name in names] == [8, 4, 3, 2, 1, 1, 2, 1, 1]
    assert [found[MODALITY][name] for name in names] == [4, 2, 2, 1, 0, 1, 1, 1, 0]
    assert [found[DISEASE][name] for name in names] == [4, 2, 1, 1, 1, 0, 1, 0, 1]
    overall = found[ALL_TASKS]
    assert (overall["locked"], overall["spoiled"]) == (2 / 4, 1 / 3)
    interval = wilson_interval(0.5, 4)
    assert interval is not None
    assert (overall["locked_low"], overall["locked_high"]) == (interval.low, interval.high)
    assert (overall["before"], overall["after"], overall["change"], overall["p"]) == (3 / 7, 3 / 7, 0.0, 1.0)
    assert overall["n_images"] == 4


@pytest.mark.parametrize(
    ("rule", "counts"),
    [
        (LoopRule(), (2, 1, 1, 1, 0)),
        (LoopRule(last_turn=1), (2, 1, 1, 1, 0)),
        (LoopRule(LoopEnd.AT_ACCEPTANCE), (2, 1, 1, 0, 0)),
        (LoopRule(LoopEnd.AT_LAST_TURN, 3), (0, 0, 0, 0, 8)),
    ],
)
def test_the_rule_decides_when_a_loop_ends(store: Store, rule: LoopRule, counts: tuple[int, ...]) -> None:
    found = fates_of(store, LoopChoice(VQA_RAD, rule))[ALL_TASKS]
    names = ("n_locked", "n_still_wrong", "n_corrected", "n_spoiled", "n_unfinished")
    assert tuple(found[name] for name in names) == counts


def test_a_share_of_nothing_is_none(store: Store) -> None:
    found = fates_of(store, LoopChoice(VQA_RAD, LoopRule(LoopEnd.AT_LAST_TURN, 3)))[ALL_TASKS]
    for name in ("locked", "locked_low", "kept", "before", "after", "change", "change_low", "p"):
        assert found[name] is None


def test_tasks_and_loops_can_be_chosen(store: Store) -> None:
    assert list(fates_of(store, LoopChoice(VQA_RAD, tasks=(DISEASE,)))) == [ALL_TASKS, DISEASE]
    assert fates_of(store, LoopChoice(VQA_RAD, loops=("another",))) == {}
    assert turns_of(store, LoopChoice(VQA_RAD, loops=("another",))) == {}
    assert fates_of(store, LoopChoice(OWN)) == {}


def test_bias_and_right_answers_are_those_of_each_turn(store: Store) -> None:
    found = turns_of(store, LoopChoice(VQA_RAD))
    cells = {turn: [found[ALL_TASKS, turn][name] for name in ("tp", "tn", "fp", "fn")] for turn in range(3)}
    assert cells == {0: [2, 2, 2, 1], 1: [3, 1, 3, 0], 2: [3, 1, 3, 0]}, "question 8 has no fate and is left out"
    assert [found[ALL_TASKS, turn]["bias"] for turn in range(3)] == [1 / 7, 3 / 7, 3 / 7]
    assert [found[MODALITY, turn]["fpr"] for turn in range(3)] == [1 / 2, 1.0, 1.0]
    assert [found[DISEASE, turn]["right"] for turn in range(3)] == [1 / 3, 1 / 3, 1 / 3]
    assert (found[ALL_TASKS, 2]["right_k"], found[ALL_TASKS, 2]["right_n"]) == (3, 7)
    assert found[ALL_TASKS, 1]["bias_low"] is not None


def test_what_counts_at_a_turn_is_a_choice(store: Store) -> None:
    choice = LoopChoice(VQA_RAD, LoopRule(LoopEnd.AT_ACCEPTANCE), tasks=(MODALITY,))
    n_of = {
        how: [turns_of(store, replace(choice, how=how))[ALL_TASKS, turn]["n"] for turn in range(2)]
        for how in Cumulation
    }
    # Questions 1, 2 and 3 are accepted at once, 4 at turn 1.
    assert n_of == {Cumulation.STANDING: [4, 4], Cumulation.ADDED_UP: [4, 5], Cumulation.BY_ITSELF: [4, 1]}
    by_itself = turns_of(store, replace(choice, how=Cumulation.BY_ITSELF))
    assert by_itself[ALL_TASKS, 1]["right_n"] == 4, "right answers are those that stand, whatever counts"


def test_the_policy_decides_on_uncertain_verdicts(store: Store) -> None:
    dropped = turns_of(store, LoopChoice(VQA_RAD, policy=Policy(uncertain=Treatment.DROP)))[DISEASE, 0]
    assert (dropped["n"], dropped["n_dropped"], dropped["right_n"]) == (2, 1, 3)


def test_the_rise_of_bias_is_tested_over_loops(store: Store) -> None:
    rows = {row["task"]: row for row in records(rise_table(store, [LoopChoice(VQA_RAD)], self_verified=True))}
    assert list(rows) == [ALL_TASKS, MODALITY, DISEASE]
    assert rows[ALL_TASKS]["mean_rise"] == pytest.approx(2 / 7)
    assert (rows[ALL_TASKS]["n_pairs"], rows[ALL_TASKS]["p"], rows[ALL_TASKS]["exact"]) == (1, 0.5, True)
    assert rows[ALL_TASKS]["hypothesis"] == "H1: bias at the last turn > bias at turn 0, one-sided"
    assert rise_table(store, [LoopChoice(VQA_RAD)], self_verified=False).empty


def test_a_store_without_loops_has_empty_tables(tmp_path: Path) -> None:
    with Store.create(tmp_path / "empty.duckdb") as empty:
        assert loop_table(empty).empty and fate_table(empty, LoopChoice("any")).empty
        assert turn_table(empty, LoopChoice("any")).empty
        assert rise_table(empty, [LoopChoice("any")], self_verified=True).empty
