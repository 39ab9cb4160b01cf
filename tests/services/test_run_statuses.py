"""Promises of what became of a VeriMap run's questions: counted and listed as any other run's."""

from pathlib import Path

from backend.domain.records import AnswerStatus
from backend.services.runs.overview import Coverage, run_overview
from backend.services.runs.unread import unread_answers
from tests.services.verification_store import ATLAS, BEACON, VQA_RAD, make_verification_store, run_id, unit_of


def test_verdicts_that_failed_or_cannot_be_read_are_counted_and_listed(tmp_path: Path) -> None:
    failing = run_id(VQA_RAD, BEACON, ATLAS)
    unreadable = run_id(VQA_RAD, ATLAS, BEACON)
    with make_verification_store(tmp_path / "store.duckdb") as store:
        coverage = {run.run_id: run.coverage for run in run_overview(store)}
        failed = unread_answers(store, failing, AnswerStatus.FAILED, offset=0, limit=9)
        unparsed = unread_answers(store, unreadable, AnswerStatus.UNPARSED, offset=0, limit=9)
    assert coverage[failing] == Coverage(8, 7, 0, 0, 1, 0)
    assert coverage[unreadable] == Coverage(8, 7, 1, 0, 0, 0)
    assert failed["unit_id"].tolist() == [unit_of(VQA_RAD, "8")]
    assert unparsed["unit_id"].tolist() == [unit_of(VQA_RAD, "7")]


def test_answers_of_a_generator_are_counted(tmp_path: Path) -> None:
    with make_verification_store(tmp_path / "store.duckdb") as store:
        coverage = {run.run_id: run.coverage for run in run_overview(store)}
    assert coverage[run_id(VQA_RAD, ATLAS)].n_read == 8
