"""Importing EndoCA files: what goes in, what is refused and where, and that nothing is lost on the way."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from backend.domain.progress import Cancelled
from backend.errors import AppError, BadLines
from backend.services.explore import endoca_metrics
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.report import ImportReport
from backend.services.opening import open_store
from backend.store.filters import UnitFilter
from backend.store.store import Store
from backend.store.unit_lists import unit_page
from tests.services.endoca_files import N_ATOMIC, N_COMPLEX, Line, manifest_lines, prediction_lines, write_jsonl

N_PROBES = N_COMPLEX + N_ATOMIC


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """An empty store."""
    with open_store(tmp_path / "store.duckdb") as opened:
        yield opened


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """The small manifest as a gzipped file."""
    return write_jsonl(tmp_path / "endoca_small.jsonl.gz", manifest_lines())


def bring(store: Store, *paths: Path, **options: Any) -> ImportReport:
    return import_endoca(store, [SourceFile.at(path) for path in paths], **options)


def everything(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Return the content of all tables."""
    tables = [row[0] for row in store.rows("SELECT table_name FROM duckdb_tables() ORDER BY 1")]
    return {table: sorted(store.rows(f"SELECT * FROM {table}"), key=repr) for table in tables}


def metrics(store: Store, **chosen: Any) -> dict[str, Any]:
    [row] = endoca_metrics(store, UnitFilter(**chosen)).to_dict("records")
    return {str(name): value for name, value in row.items()}


def test_a_manifest_becomes_a_suite_named_after_its_file(store: Store, manifest: Path) -> None:
    report = bring(store, manifest)
    [suite] = report.suites
    assert (suite.suite, suite.n_units, suite.n_complex, suite.n_atomic, suite.n_images) == ("small", 3, 3, 6, 2)
    assert store.rows("SELECT role, count(*) FROM probes GROUP BY 1 ORDER BY 1") == [("atomic", 6), ("complex", 3)]


def test_answers_that_are_the_references_are_all_right(store: Store, manifest: Path, tmp_path: Path) -> None:
    bring(store, manifest)
    report = bring(store, write_jsonl(tmp_path / "gold.jsonl", prediction_lines("Gold")))
    [run] = report.runs
    assert (run.suite, run.n_answers, run.n_new, run.n_missing) == ("small", N_PROBES, N_PROBES, 0)
    row = metrics(store)
    assert (row["complex_accuracy"], row["atomic_accuracy"], row["joint_accuracy"], row["inconsistency"]) == (
        1,
        1,
        1,
        0,
    )


def test_empty_answers_are_all_wrong_and_inconsistency_is_undefined(
    store: Store, manifest: Path, tmp_path: Path
) -> None:
    bring(store, manifest)
    bring(store, write_jsonl(tmp_path / "empty.jsonl", prediction_lines("Silent", lambda _: "")))
    row = metrics(store)
    assert (row["complex_accuracy"], row["atomic_accuracy"], row["joint_accuracy"]) == (0, 0, 0)
    assert row["inconsistency"] is None
    assert row["n_empty"] == N_PROBES


def test_importing_twice_changes_nothing(store: Store, manifest: Path, tmp_path: Path) -> None:
    predictions = write_jsonl(tmp_path / "p.jsonl", prediction_lines("Gold"))
    bring(store, manifest)
    bring(store, predictions)
    before = everything(store)
    assert not bring(store, manifest).changed
    assert not bring(store, predictions).changed
    assert everything(store) == before


def test_several_vlms_may_share_a_file(store: Store, manifest: Path, tmp_path: Path) -> None:
    lines = [
        line for pair in zip(prediction_lines("A"), prediction_lines("B", lambda _: "no"), strict=True) for line in pair
    ]
    report = bring(store, manifest, write_jsonl(tmp_path / "two.jsonl", lines))
    assert sorted((run.vlm, run.n_answers) for run in report.runs) == [("A", N_PROBES), ("B", N_PROBES)]


def test_answers_in_two_files_fill_one_run(store: Store, manifest: Path, tmp_path: Path) -> None:
    lines = prediction_lines("Gold")
    bring(store, manifest)
    [first] = bring(store, write_jsonl(tmp_path / "1.jsonl", lines[:4])).runs
    assert first.n_missing == N_PROBES - 4
    [second] = bring(store, write_jsonl(tmp_path / "2.jsonl", lines[4:])).runs
    assert (second.run_id, second.n_new, second.n_missing) == (first.run_id, N_PROBES - 4, 0)
    assert metrics(store)["complex_accuracy"] == 1


def test_a_changed_file_replaces_the_answers_it_names_and_scores_them_anew(
    store: Store, manifest: Path, tmp_path: Path
) -> None:
    bring(store, manifest)
    bring(store, write_jsonl(tmp_path / "p.jsonl", prediction_lines("V")))
    changed = [line for line in prediction_lines("V", lambda _: "yes") if line["probe_id"] == "11::atomic::0"]
    [run] = bring(store, write_jsonl(tmp_path / "q.jsonl", changed)).runs
    assert (run.n_replaced, run.n_new, run.n_unchanged) == (1, 0, 0)
    row = metrics(store)
    assert row["complex_accuracy"] == 1
    assert row["atomic_accuracy"] == pytest.approx(5 / 6)
    assert row["inconsistency"] == pytest.approx(1 / 3)


def test_a_question_without_an_answer_is_wrong_and_counted_as_missing(
    store: Store, manifest: Path, tmp_path: Path
) -> None:
    lines = [line for line in prediction_lines("V") if line["probe_id"] != "22::atomic::1"]
    bring(store, manifest)
    [run] = bring(store, write_jsonl(tmp_path / "p.jsonl", lines)).runs
    assert run.n_missing == 1
    row = metrics(store)
    assert row["n_missing"] == 1
    assert row["atomic_accuracy"] == pytest.approx(5 / 6)
    assert row["joint_accuracy"] == pytest.approx(2 / 3)


def test_a_failed_call_is_wrong_whatever_it_returned(store: Store, manifest: Path, tmp_path: Path) -> None:
    lines = prediction_lines("V")
    lines[0]["error"] = "timeout"
    bring(store, manifest)
    [run] = bring(store, write_jsonl(tmp_path / "p.jsonl", lines)).runs
    assert run.n_failed == 1
    assert store.rows("SELECT status, correct FROM scores WHERE probe_id = 'small:11::complex'") == [("failed", False)]


def test_predictions_without_a_manifest_make_a_suite_of_their_own(store: Store, tmp_path: Path) -> None:
    lines = [line for line in prediction_lines("V") if line["probe_id"] != "33::atomic::2"]
    report = bring(store, write_jsonl(tmp_path / "my_answers.jsonl", lines))
    [suite], [run] = report.suites, report.runs
    assert (suite.suite, suite.n_units, suite.n_atomic, run.n_missing) == ("my_answers", 3, 6, 1)
    assert any("standard words" in note for note in report.notes)


def test_short_prediction_lines_are_enough_where_the_manifest_is_stored(
    store: Store, manifest: Path, tmp_path: Path
) -> None:
    short = [{key: line[key] for key in ("probe_id", "model_id", "prediction")} for line in prediction_lines("V")]
    bring(store, manifest)
    bring(store, write_jsonl(tmp_path / "p.jsonl", short))
    assert metrics(store)["complex_accuracy"] == 1


def test_csv_and_parquet_hold_the_same_as_json_lines(store: Store, tmp_path: Path) -> None:
    frame = pd.DataFrame(manifest_lines())
    nested = frame.assign(**{
        column: frame[column].map(lambda value: json.dumps(value) if isinstance(value, list) else "")
        for column in ("question_class", "gold_atoms")
    })  # fmt: skip
    nested.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "b.parquet")
    write_jsonl(tmp_path / "c.jsonl", manifest_lines())
    for name in ("a.csv", "b.parquet", "c.jsonl"):
        bring(store, tmp_path / name)
    probes = {
        suite: store.rows(
            "SELECT source_id, role, position, question, reference, question_class FROM probes "
            "WHERE suite = ? ORDER BY 1",
            [suite],
        )
        for suite in "abc"
    }
    assert len(probes["c"]) == N_PROBES
    assert probes["a"] == probes["b"] == probes["c"]


def test_an_answer_that_looks_like_json_or_na_stays_verbatim_in_csv(
    store: Store, manifest: Path, tmp_path: Path
) -> None:
    bring(store, manifest)
    frame = pd.DataFrame(
        {"probe_id": ["11::complex", "11::atomic::0"], "model_id": "V", "prediction": ['{"answer": "no"}', "N/A"]}
    )
    frame.to_csv(tmp_path / "p.csv", index=False)
    bring(store, tmp_path / "p.csv")
    assert store.rows("SELECT answer FROM answers ORDER BY probe_id") == [("N/A",), ('{"answer": "no"}',)]


BROKEN_LINES = [
    (b'{"probe_id": "11::complex"', "EOF"),
    (b'["a", "list"]', "object"),
    (b"NaN", "object"),
    (b'{"probe_id": NaN', "EOF"),
    ('{"probe_id": "11::complex", "prediction": "caf\xe9"}'.encode("latin-1"), "not UTF-8"),
    (b'{"question": "no probe id?", "model_id": "V", "prediction": "no"}', "probe_id"),
    (b'{"probe_id": "11::complex", "prediction": "no"}', "no model_id"),
    (b'{"probe_id": "11::complex", "model_id": "V"}', "no prediction"),
    (b'{"probe_id": "11::complex", "model_id": "V", "prediction": "again"}', "second time (first on line 1)"),
    (b'{"probe_id": "99::complex", "model_id": "V", "prediction": "unknown"}', "lacks"),
    (b'{"probe_id": "11::complex", "model_id": "V", "prediction": ["a"]}', "prediction"),
]


@pytest.mark.parametrize(("broken", "says"), BROKEN_LINES)
def test_a_bad_line_stops_a_strict_import_and_is_named(
    store: Store, manifest: Path, tmp_path: Path, broken: bytes, says: str
) -> None:
    bring(store, manifest)
    before = everything(store)
    path = write_jsonl(tmp_path / "p.jsonl", [*prediction_lines("V"), broken])
    with pytest.raises(BadLines) as caught:
        bring(store, path)
    assert [line.number for line in caught.value.lines] == [N_PROBES + 1]
    assert says in caught.value.lines[0].reason
    assert everything(store) == before


@pytest.mark.parametrize(("broken", "says"), BROKEN_LINES)
def test_a_lenient_import_keeps_the_good_lines_and_lists_the_bad(
    store: Store, manifest: Path, tmp_path: Path, broken: bytes, says: str
) -> None:
    bring(store, manifest)
    path = write_jsonl(tmp_path / "p.jsonl", [*prediction_lines("V"), broken])
    report = bring(store, path, lenient=True)
    assert [line.number for line in report.bad_lines] == [N_PROBES + 1]
    assert says in report.bad_lines[0].reason
    assert report.runs[0].n_answers == N_PROBES


def test_a_gzip_stream_that_ends_early_is_a_bad_line_after_the_good_ones(store: Store, tmp_path: Path) -> None:
    lines = [json.dumps(line) for line in manifest_lines()]
    whole = gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0)
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(whole[:-6])
    with pytest.raises(BadLines, match="ends early"):
        bring(store, path)
    report = bring(store, path, lenient=True)
    assert report.suites[0].n_units == 3
    assert "ends early" in report.bad_lines[-1].reason


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.jsonl", b"", "is empty"),
        ("blank.jsonl", b"\n\n  \n", "no line"),
        ("sixteen.jsonl", "{}".encode("utf-16"), "UTF-16"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "binary"),
        ("list.json", b'[{"probe_id": "1"}]', "one JSON list"),
        ("broken.jsonl.gz", b"\x1f\x8b\x08\x00rubbish", "cannot be unpacked"),
        ("broken.parquet", b"PAR1 and no more", "damaged Parquet"),
    ],
)
def test_what_is_no_data_file_is_one_calm_error(
    store: Store, tmp_path: Path, name: str, content: bytes, says: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(AppError, match=says) as caught:
        bring(store, tmp_path / name)
    assert caught.value.hint
    with pytest.raises(AppError, match=says):
        bring(store, tmp_path / name, lenient=True)


def test_a_folder_and_an_absent_file_are_said_to_be_that(store: Store, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="is a folder"):
        bring(store, tmp_path)
    with pytest.raises(AppError, match="no file"):
        bring(store, tmp_path / "absent.jsonl")


def test_a_probe_asked_twice_in_a_manifest_is_a_bad_line(store: Store, tmp_path: Path) -> None:
    lines = manifest_lines()
    with pytest.raises(BadLines) as caught:
        bring(store, write_jsonl(tmp_path / "m.jsonl", [*lines, lines[1]]))
    [bad] = caught.value.lines
    assert (bad.number, "stands already on line 2" in bad.reason) == (N_PROBES + 1, True)


def test_a_sample_without_all_its_atomic_questions_is_a_bad_line_of_a_manifest(store: Store, tmp_path: Path) -> None:
    lines = [line for line in manifest_lines() if line["probe_id"] != "33::atomic::1"]
    path = write_jsonl(tmp_path / "m.jsonl", lines)
    with pytest.raises(BadLines, match="announces 3 atomic questions, has 2"):
        bring(store, path)
    assert bring(store, path, lenient=True).suites[0].n_units == 2


def test_an_unknown_probe_of_a_named_suite_is_a_bad_line(store: Store, manifest: Path, tmp_path: Path) -> None:
    bring(store, manifest)
    lines = prediction_lines("V")
    lines[0] = {**lines[0], "probe_id": "12::complex"}
    with pytest.raises(BadLines, match=r"probe 12::complex .* is not in suite small"):
        bring(store, write_jsonl(tmp_path / "p.jsonl", lines), suite="small")


def test_other_content_under_the_same_ids_is_refused(store: Store, manifest: Path, tmp_path: Path) -> None:
    bring(store, manifest)
    lines = manifest_lines()
    lines[0]["question"] = "Something else?"
    path = write_jsonl(tmp_path / "endoca_small.jsonl", lines)
    with pytest.raises(AppError, match="already holds other content"):
        bring(store, path)
    assert bring(store, path, suite="other").suites[0].n_new == 3


def test_a_suite_grows_only_when_it_is_named_and_its_runs_then_miss_answers(store: Store, tmp_path: Path) -> None:
    lines = manifest_lines()
    bring(store, write_jsonl(tmp_path / "part.jsonl", lines[:2]))
    bring(store, write_jsonl(tmp_path / "p.jsonl", prediction_lines("V")[:2]))
    (tmp_path / "whole").mkdir()
    whole = write_jsonl(tmp_path / "whole" / "part.jsonl", lines)
    with pytest.raises(AppError, match="would add 2 others"):
        bring(store, whole)
    assert bring(store, whole, suite="part").suites[0].n_new == 2
    assert metrics(store)["n_missing"] == N_PROBES - 2


def test_a_probe_of_two_suites_asks_which_one_is_meant(store: Store, manifest: Path, tmp_path: Path) -> None:
    bring(store, manifest)
    bring(store, manifest, suite="twin")
    path = write_jsonl(tmp_path / "p.jsonl", prediction_lines("V"))
    with pytest.raises(AppError, match="several suites"):
        bring(store, path)
    assert bring(store, path, suite="twin").runs[0].suite == "twin"


def test_unused_columns_are_counted_in_a_note(store: Store, tmp_path: Path) -> None:
    lines = [{**line, "latency": 0.2} for line in manifest_lines()]
    report = bring(store, write_jsonl(tmp_path / "m.jsonl", lines))
    assert report.notes == [f"Column latency is not used ({N_PROBES} lines)."]


def test_a_cancelled_import_leaves_the_store_as_it_was(store: Store, manifest: Path, tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int | None) -> None:
        if stage.startswith("scoring"):
            raise Cancelled

    bring(store, manifest)
    before = everything(store)
    with pytest.raises(Cancelled):
        bring(store, write_jsonl(tmp_path / "p.jsonl", prediction_lines("V")), report=stop)
    assert everything(store) == before


@pytest.mark.parametrize(("suite", "counts", "rights"), [
    ("core", (12_000, 15_736, 4_629, {1: 8_264, 2: 3_736}), 11_980),
    ("diagnostic", (6_000, 9_300, 3_347, {1: 3_600, 2: 1_500, 3: 900}), 5_989),
])  # fmt: skip
def test_the_benchmarks_own_files_import_with_the_papers_counts(
    store: Store, shared: Path, tmp_path: Path, suite: str, counts: Any, rights: int
) -> None:
    source = shared / "data" / "kvasir" / "endoca" / f"endoca_{suite}.jsonl.gz"
    report = bring(store, source)
    n_units, n_atomic, n_images, by_complexity = counts
    [made] = report.suites
    assert (made.suite, made.n_units, made.n_atomic, made.n_images) == (suite, n_units, n_atomic, n_images)
    assert dict(store.rows("SELECT complexity, count(*) FROM units GROUP BY 1")) == by_complexity
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        gold = [{**(line := json.loads(text)), "model_id": "Gold", "prediction": line["gold_answer"]} for text in lines]
    bring(store, write_jsonl(tmp_path / "gold.jsonl", gold))
    row = metrics(store)
    assert (row["atomic_accuracy"], row["inconsistency"]) == (1, 0)
    assert row["complex_accuracy_k"] == row["joint_accuracy_k"] >= rights


def csv_of(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_a_stray_quote_in_csv_costs_its_own_row_alone(store: Store, manifest: Path, tmp_path: Path) -> None:
    bring(store, manifest)
    path = csv_of(tmp_path / "p.csv", "probe_id,model_id,prediction", "11::complex,V,no", '11::atomic::0,V,"no" way',
                  "22::complex,V,two polyps")  # fmt: skip
    report = bring(store, path, lenient=True)
    assert [line.number for line in report.bad_lines] == [3]
    assert report.runs[0].n_answers == 2


def test_a_quote_that_is_never_closed_is_named_with_all_it_takes(store: Store, manifest: Path, tmp_path: Path) -> None:
    bring(store, manifest)
    path = csv_of(tmp_path / "p.csv", "probe_id,model_id,prediction", "11::complex,V,no", '11::atomic::0,V,"no',
                  "22::complex,V,two polyps")  # fmt: skip
    report = bring(store, path, lenient=True)
    [bad] = report.bad_lines
    assert (bad.number, "lines 3 to 4" in bad.reason) == (3, True)
    assert report.runs[0].n_answers == 1


@pytest.mark.parametrize(
    "rows",
    [
        (",probe_id,model_id,prediction", "0,11::complex,V,no"),
        ("probe_id;model_id;prediction", "11::complex;V;no"),
        ("probe_id\tmodel_id\tprediction", "11::complex\tV\tno"),
        ("\ufeffprobe_id,model_id,prediction\r", "11::complex,V,no\r"),
    ],
    ids=["with an index", "semicolons", "tabs", "from Excel"],
)
def test_csv_is_read_as_the_usual_programs_write_it(
    store: Store, manifest: Path, tmp_path: Path, rows: tuple[str, str]
) -> None:
    bring(store, manifest)
    assert bring(store, csv_of(tmp_path / "p.csv", *rows)).runs[0].n_new == 1
    assert store.rows("SELECT answer FROM answers") == [("no",)]


def test_two_columns_of_one_name_are_refused(store: Store, manifest: Path, tmp_path: Path) -> None:
    path = csv_of(tmp_path / "p.csv", "probe_id,model_id,prediction,prediction", "11::complex,V,no,yes")
    with pytest.raises(AppError, match="two columns named 'prediction'"):
        bring(store, path)


def test_a_table_of_another_kind_is_refused_as_a_whole(store: Store, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="has no column probe_id; it has 'source', 'question'"):
        bring(store, csv_of(tmp_path / "vqa.csv", "source,question", "a,b", "c,d"))


def test_pythons_notation_in_cells_is_read_like_json(store: Store, tmp_path: Path) -> None:
    pd.DataFrame(manifest_lines()).to_csv(tmp_path / "pandas.csv", index=False)
    assert bring(store, tmp_path / "pandas.csv").suites[0].n_units == N_COMPLEX


def test_numbers_in_tables_with_gaps_are_the_numbers_they_were(store: Store, manifest: Path, tmp_path: Path) -> None:
    bring(store, manifest)
    frame = pd.DataFrame({"probe_id": ["22::atomic::0", "33::atomic::2"], "model_id": "V", "prediction": [2, None]})
    frame.to_parquet(tmp_path / "p.parquet")
    [run] = bring(store, tmp_path / "p.parquet").runs
    assert (run.n_answers, run.n_missing) == (1, N_PROBES - 1)
    assert store.rows("SELECT answer, correct FROM answers JOIN scores USING (run_id, probe_id)") == [("2", True)]


def test_a_prediction_that_is_not_a_number_is_no_answer(store: Store, manifest: Path, tmp_path: Path) -> None:
    bring(store, manifest)
    lines: list[Line | str | bytes] = [*prediction_lines("V")[1:]]
    lines.append('{"probe_id": "11::complex", "model_id": "V", "prediction": NaN}')
    [run] = bring(store, write_jsonl(tmp_path / "p.jsonl", lines)).runs
    assert (run.n_answers, run.n_missing) == (N_PROBES - 1, 1)


def test_sample_ids_of_a_table_with_gaps_are_whole_numbers(store: Store, tmp_path: Path) -> None:
    lines = [{**line, "sample_id": float(line["sample_id"])} for line in manifest_lines()]
    bring(store, write_jsonl(tmp_path / "m.jsonl", lines))
    assert store.rows("SELECT source_id FROM units ORDER BY 1") == [("11",), ("22",), ("33",)]


def test_files_of_one_command_that_share_samples_make_one_suite(store: Store, tmp_path: Path) -> None:
    a = write_jsonl(tmp_path / "a.jsonl", prediction_lines("A"))
    b = write_jsonl(tmp_path / "b.jsonl", prediction_lines("B"))
    report = bring(store, a, b)
    assert [(run.vlm, run.suite) for run in report.runs] == [("A", "a"), ("B", "a")]
    assert not bring(store, a).changed
    assert not bring(store, b).changed


def test_one_vlms_complex_and_atomic_answers_may_come_in_two_files(store: Store, tmp_path: Path) -> None:
    lines = prediction_lines("V")
    files = [
        write_jsonl(tmp_path / f"{kind}.jsonl", [line for line in lines if line["probe_kind"].startswith(kind)])
        for kind in ("complex", "atomic")
    ]
    [run] = bring(store, *files).runs
    assert (run.suite, run.n_answers, run.n_missing) == ("complex", N_PROBES, 0)


def test_files_that_share_no_sample_make_suites_of_their_own(store: Store, tmp_path: Path) -> None:
    other = [{**line, "img_id": f"other-{line['img_id']}"} for line in prediction_lines("V")]
    report = bring(
        store, write_jsonl(tmp_path / "a.jsonl", prediction_lines("V")), write_jsonl(tmp_path / "b.jsonl", other)
    )
    assert sorted(suite.suite for suite in report.suites) == ["a", "b"]


def test_a_file_imported_before_its_manifest_finds_its_way_back(store: Store, manifest: Path, tmp_path: Path) -> None:
    predictions = write_jsonl(tmp_path / "p.jsonl", prediction_lines("V"))
    bring(store, predictions)
    bring(store, manifest)
    assert not bring(store, predictions).changed


def test_one_probe_id_for_two_samples_is_a_bad_line(store: Store, tmp_path: Path) -> None:
    lines = manifest_lines()
    lines[2]["probe_id"] = lines[0]["probe_id"]
    with pytest.raises(BadLines, match="probe 11::complex stands already on line 1"):
        bring(store, write_jsonl(tmp_path / "m.jsonl", lines))


def test_a_lenient_import_without_a_good_line_still_says_what_is_wrong(store: Store, tmp_path: Path) -> None:
    with pytest.raises(BadLines, match="not JSON"):
        bring(store, write_jsonl(tmp_path / "p.jsonl", ["nonsense"]), lenient=True)


@pytest.mark.parametrize("name", ["a:b", "a~b", "a\nb"])
def test_a_suite_is_not_named_with_what_ids_are_joined_with(store: Store, manifest: Path, name: str) -> None:
    with pytest.raises(AppError, match="cannot be named"):
        bring(store, manifest, suite=name)


def test_the_suite_of_live_questions_takes_no_file(store: Store, manifest: Path, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="holds the questions asked live"):
        bring(store, manifest, suite="live")
    with pytest.raises(AppError, match="holds the questions asked live"):
        bring(store, manifest.rename(tmp_path / "live.jsonl"))
    assert store.value("SELECT count(*) FROM suites") == 0


def test_an_empty_suite_name_is_none(store: Store, manifest: Path) -> None:
    assert bring(store, manifest, suite=" ").suites[0].suite == "small"


def test_a_pipe_is_refused_rather_than_waited_for(store: Store, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(AppError, match="no regular file"):
        bring(store, tmp_path / "pipe.jsonl")


def test_parquet_may_be_gzipped(store: Store, tmp_path: Path) -> None:
    pd.DataFrame(manifest_lines()).to_parquet(tmp_path / "m.parquet")
    (tmp_path / "m.parquet.gz").write_bytes(gzip.compress((tmp_path / "m.parquet").read_bytes()))
    assert bring(store, tmp_path / "m.parquet.gz").suites[0].n_units == N_COMPLEX


def test_by_question_class_the_atomic_figures_are_of_the_classs_own_questions(
    store: Store, manifest: Path, tmp_path: Path
) -> None:
    bring(store, manifest)
    lines = [line for line in prediction_lines("V") if line["probe_id"] not in ("33::atomic::1", "33::complex")]
    bring(store, write_jsonl(tmp_path / "p.jsonl", lines))
    table = endoca_metrics(store, UnitFilter(), ["question_class"]).set_index("question_class")
    assert table["n_units"].to_dict() == {
        "box_artifact_presence": 1,
        "instrument_presence": 1,
        "polyp_count": 2,
        "text_presence": 2,
    }
    assert (table.loc["text_presence", "n_atomic"], table.loc["text_presence", "n_missing"]) == (2, 1)
    assert table.loc["polyp_count", "n_missing"] == 0
    assert table["n_missing"].sum() == 1


@pytest.mark.parametrize(
    ("text", "samples"), [("33", ["33"]), ("  FRAME-A ", ["11", "22"]), ("snare", []), ("tube", ["33"])]
)
def test_words_find_questions_references_samples_and_images(
    store: Store, manifest: Path, text: str, samples: list[str]
) -> None:
    bring(store, manifest)
    assert unit_page(store, UnitFilter(text=text), offset=0, limit=9)["source_id"].tolist() == samples
