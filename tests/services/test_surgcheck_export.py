"""A run over pairs that is written to a file and imported again is the same run."""

from pathlib import Path
from typing import Any

import pytest

from backend.errors import AppError
from backend.services.export_surgcheck import export_surgcheck
from backend.store.store import Store
from tests.services.surgcheck_files import N_PAIRS, bring, prediction_rows, write, write_both, write_release

SAID = ("one", "user\nassistant\ndissect", "the hook", None, "")


def held(store: Store) -> list[Any]:
    return [
        store.rows(f"SELECT {columns} FROM {table} ORDER BY ALL")
        for columns, table in (
            ("unit_id, task, cue, picture_id, hand", "pairs"),
            ("probe_id, question, reference", "probes"),
            ("run_id, probe_id, answer, error", "answers"),
            ("run_id, probe_id, status, correct, parts", "scores"),
            ("run_id, probe_id, judge, score, reason, error", "judgements"),
            ("run_id, probe_id, text", "extractions"),
            ("image_id, file, dataset", "images"),
        )
    ]


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_what_is_exported_gives_the_same_run_in_an_empty_store(tmp_path: Path, ending: str) -> None:
    more = {"judge": {"score": 4, "reason": "near", "model": "judge-1"}, "pred_extracted": "hook"}
    write_both(tmp_path / "in", lambda variant: prediction_rows(variant, SAID, more))
    with Store.create(tmp_path / "one.duckdb") as store:
        [run] = bring(store, tmp_path / "in", vlm="Mine", setting="zero-shot", suite="mine").runs
        assert export_surgcheck(store, run.run_id, tmp_path / f"out{ending}") == 2 * N_PAIRS
        before = held(store)
    with Store.create(tmp_path / "two.duckdb") as store:
        bring(store, tmp_path / f"out{ending}", suite="mine")
        assert held(store) == before


def test_answers_without_image_are_exported_as_such(tmp_path: Path) -> None:
    with Store.create(tmp_path / "store.duckdb") as store:
        bring(store, *write_release(tmp_path))
        [run] = bring(store, write(tmp_path / "p_text_only.jsonl", prediction_rows("original")), vlm="Mine").runs
        assert export_surgcheck(store, run.run_id, tmp_path / "out.jsonl") == N_PAIRS
        report = bring(store, tmp_path / "out.jsonl")
        assert (report.runs[0].run_id, report.changed) == (run.run_id, False)


def test_a_run_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with Store.create(tmp_path / "store.duckdb") as store, pytest.raises(AppError, match="no run x over pairs"):
        export_surgcheck(store, "x", tmp_path / "out.jsonl")
