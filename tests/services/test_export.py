"""What is exported can be imported again, and says the same."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from backend.domain.progress import Cancelled
from backend.errors import AppError
from backend.services.explore import endoca_metrics
from backend.services.export import export_endoca
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.opening import open_store
from backend.store.filters import UnitFilter
from backend.store.store import Store
from tests.services.endoca_files import manifest_lines, prediction_lines, write_jsonl


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with one run: an answer of each kind, and two probes not answered, a complex one among them."""
    lines = prediction_lines("Mixed VLM")
    lines[2].update(prediction="", error="")
    lines[3].update(prediction="", error="timeout")
    lines[7].update(prediction="Ergebnis: “ja” ✓\nsecond line")
    del lines[5], lines[0]
    opened = open_store(tmp_path / "store.duckdb")
    for file in (write_jsonl(tmp_path / "drawn.jsonl", manifest_lines()), write_jsonl(tmp_path / "a.jsonl", lines)):
        import_endoca(opened, [SourceFile.at(file)])
    return opened


def run_of(store: Store) -> str:
    """Return the store's one run."""
    return str(store.value("SELECT run_id FROM runs"))


def metrics(store: Store) -> dict[str, Any]:
    """Return the one run's metrics."""
    return {str(key): value for key, value in endoca_metrics(store, UnitFilter()).drop(columns="run_id").loc[0].items()}


@pytest.mark.parametrize("name", ["drawn.jsonl", "drawn.jsonl.gz"])
def test_an_export_into_an_empty_store_gives_the_same_units_answers_and_metrics(
    store: Store, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    assert export_endoca(store, run_of(store), folder / name) == 9
    with open_store(tmp_path / "second.duckdb") as second:
        report = import_endoca(second, [SourceFile.at(folder / name)])
        assert (report.bad_lines, report.runs[0].n_missing) == ([], 2)
        assert metrics(second) == metrics(store)
        for table in ("units", "probes", "answers"):
            assert sorted(second.rows(f"FROM {table}")) == sorted(store.rows(f"FROM {table}"))
    assert [file.name for file in folder.iterdir()] == [name]


def test_lines_have_the_benchmark_s_columns_and_a_null_prediction_where_there_is_no_answer(
    store: Store, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl.gz"
    export_endoca(store, run_of(store), out)
    lines = [json.loads(line) for line in gzip.decompress(out.read_bytes()).decode().splitlines()]
    for line, known in zip(lines, prediction_lines("Mixed VLM"), strict=True):
        assert {**known, "prediction": line["prediction"], "error": line["error"]} == line
    assert [line["probe_id"] for line in lines if line["prediction"] is None] == ["11::complex", "33::complex"]
    assert [line["error"] for line in lines if line["error"]] == ["timeout"]


def test_what_cannot_be_written_is_refused_and_nothing_is_left_behind(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for out in (folder, tmp_path / "none" / "out.jsonl", store.path):
        with pytest.raises(AppError, match="cannot be written"):
            export_endoca(store, run_of(store), out)
    with pytest.raises(AppError, match="no run"):
        export_endoca(store, "unknown", folder / "out.jsonl")

    def cancel(stage: str, done: int, total: int | None) -> None:
        raise Cancelled

    (folder / "out.jsonl").write_text("older")
    with pytest.raises(Cancelled):
        export_endoca(store, run_of(store), folder / "out.jsonl", cancel)
    assert [(file.name, file.read_text()) for file in folder.iterdir()] == [("out.jsonl", "older")]
