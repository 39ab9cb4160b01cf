"""Promises of the looks of one example: what was looked into, and which verdicts are on which answers."""

from pathlib import Path

from backend.services.case_looks import example_looks
from backend.services.stored_saliency import LookRow, put_looks
from tests.services.verification_store import ATLAS, OWN, VQA_RAD, make_verification_store, run_id, unit_of

FIRST = unit_of(VQA_RAD, "1")


def test_an_example_nobody_looked_into_has_none(tmp_path: Path) -> None:
    with make_verification_store(tmp_path / "store.duckdb") as store:
        assert example_looks(store, FIRST) is None
        assert example_looks(store, "no such unit") is None


def test_a_verdict_is_on_the_answer_of_its_own_turn_and_a_failed_look_is_there_with_its_reason(tmp_path: Path) -> None:
    answering, judging = run_id(VQA_RAD, ATLAS), run_id(VQA_RAD, ATLAS, ATLAS)
    with make_verification_store(tmp_path / "store.duckdb") as store:
        with store.write() as cursor:
            put_looks(cursor, answering, "{}", [LookRow(f"{FIRST}:generate", "Yes", None, "too long")])
        held = example_looks(store, FIRST)
    assert held is not None
    assert held.probe_id == f"{FIRST}:generate"
    assert {run: look.error for run, look in held.looks.items()} == {answering: "too long"}
    assert held.answered_in[judging] == answering
    assert held.answered_in[run_id(VQA_RAD, ATLAS, ATLAS, turn=1)] == run_id(VQA_RAD, ATLAS, turn=1)
    assert run_id(OWN, ATLAS, ATLAS) not in held.answered_in


def test_a_look_at_an_answer_that_was_replaced_since_is_none(tmp_path: Path) -> None:
    with make_verification_store(tmp_path / "store.duckdb") as store:
        with store.write() as cursor:
            row = LookRow(f"{FIRST}:generate", "another answer", None, "too long")
            put_looks(cursor, run_id(VQA_RAD, ATLAS), "{}", [row])
        assert example_looks(store, FIRST) is None
