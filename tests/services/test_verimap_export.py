"""What is exported as verification records is the same again once it is imported."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.errors import AppError
from backend.services.export_verimap import export_verimap
from backend.services.ingest.files import SourceFile
from backend.services.ingest.verimap_records import import_verification_records
from backend.store.store import Store
from backend.verimap.conditions import Condition
from backend.verimap.verifier import Verdict
from backend.verimap.vocabulary import Task
from tests.services.verification_store import ATLAS, BEACON, OWN, VQA_RAD, make_verification_store, run_id
from tests.services.verimap_files import Row, json_lines, record

SAID = (
    "SELECT v.suite, u.source_id, v.generator, v.verifier, v.condition, v.turn, v.place, v.answer, v.oracle_correct, "
    "v.verdict, v.explanation, v.status, v.error, e.task, i.file, p.question, p.reference "
    "FROM verifications v JOIN units u USING (unit_id) JOIN examples e USING (unit_id) "
    "JOIN probes p ON p.unit_id = v.unit_id JOIN images i ON i.image_id = u.image_id {where} ORDER BY ALL"
)
ENDINGS = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".parquet")


def said(store: Store, where: str = "") -> list[tuple[Any, ...]]:
    """Return all that a record can hold of every verification."""
    return store.rows(SAID.format(where=where))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with make_verification_store(tmp_path / "s.duckdb") as opened:
        yield opened


@pytest.mark.parametrize("ending", ENDINGS)
def test_all_that_a_verifier_said_comes_back(store: Store, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"atlas{ending}"
    n = export_verimap(store, ATLAS, out)
    with Store.create(tmp_path / "fresh.duckdb") as fresh:
        import_verification_records(fresh, [SourceFile.at(out)])
        assert said(fresh) == said(store, f"WHERE v.verifier = '{ATLAS}'")
        assert len(said(fresh)) == n


def test_one_data_set_or_one_run_can_be_chosen(store: Store, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert export_verimap(store, BEACON, out, suite=OWN) == 5
    assert export_verimap(store, run_id(VQA_RAD, ATLAS, ATLAS, condition=Condition.IMAGE_SWAPPED), out) == 8
    assert out.read_text().count('"condition": "image_swapped"') == 8


def test_runs_over_the_same_answers_are_not_pooled_in_a_file(store: Store, tmp_path: Path) -> None:
    same = json_lines(tmp_path / "r.jsonl", [record("1", True, "CORRECT", dataset=VQA_RAD, generator=ATLAS,
                                                    verifier=ATLAS)])  # fmt: skip
    [run] = import_verification_records(store, [same]).runs
    with pytest.raises(AppError, match="several runs over the same answers") as caught:
        export_verimap(store, ATLAS, tmp_path / "out.csv")
    assert run.run_id in caught.value.hint
    assert export_verimap(store, run.run_id, tmp_path / "out.csv") == 1


@pytest.mark.parametrize(
    ("verifier", "suite", "out", "message", "hint"),
    [
        ("Nobody", None, "o.csv", "no VLM 'Nobody'", "VLMs: Atlas"),
        (run_id(VQA_RAD, BEACON), None, "o.csv", "has verified nothing", "Verifiers: Atlas, Beacon"),
        (ATLAS, "slake", "o.csv", "no suite 'slake'", "Suites: own, vqa-rad"),
        (ATLAS, None, "o.xlsx", "does not say which format", ".parquet"),
        (ATLAS, None, "s.duckdb", "does not say which format", ".parquet"),
    ],
)
def test_what_cannot_be_written_is_answered_with_what_can(
    store: Store, tmp_path: Path, verifier: str, suite: str | None, out: str, message: str, hint: str
) -> None:
    with pytest.raises(AppError, match=message) as caught:
        export_verimap(store, verifier, tmp_path / out, suite=suite)
    assert hint in caught.value.hint


_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
_TASKS = dict(zip("abc", (None, *Task), strict=False))


@st.composite
def _records(draw: st.DrawFn) -> list[Row]:
    """Return records of one verifier over few questions, so that many are alike."""
    return [
        record(
            source_id, draw(st.sampled_from((True, False, None))), draw(st.sampled_from((*Verdict, None))),
            task=_TASKS[source_id], generator=draw(st.sampled_from(("A", "ä, \"b\"\n"))), verifier="V;",
            turn=draw(st.integers(0, 2)), answer=draw(_TEXT), explanation=draw(_TEXT),
            condition=draw(st.sampled_from(Condition)), error=draw(st.sampled_from((None, "timeout"))),
        )
        for source_id in draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=8))
    ]  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(rows=_records(), ending=st.sampled_from(ENDINGS))
def test_every_set_of_records_survives_export_and_import(rows: list[Row], ending: str) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        with Store.create(folder / "a.duckdb") as first, Store.create(folder / "b.duckdb") as second:
            import_verification_records(first, [json_lines(folder / "in.jsonl", rows)])
            export_verimap(first, "V;", folder / f"out{ending}")
            import_verification_records(second, [SourceFile.at(folder / f"out{ending}")])
            assert said(second) == said(first)
            assert len(said(first)) == len(rows)
