"""``import``: what goes in, what is refused, and that nothing goes in by half."""

import csv
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tests.cli.calling import call, done
from tests.services.endoca_files import (
    N_ATOMIC,
    N_COMPLEX,
    SAMPLES,
    Line,
    manifest_lines,
    prediction_lines,
    write_jsonl,
)

TABLES = ("suites", "images", "units", "probes", "runs", "answers", "scores", "outcomes", "published", "imports")


def contents(store: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return every table's rows."""
    with duckdb.connect(str(store), read_only=True) as connection:
        return {table: sorted(connection.execute(f"FROM {table}").fetchall(), key=repr) for table in TABLES}


def metrics(store: Path) -> list[dict[str, Any]]:
    """Return the metric rows without what names the run."""
    rows = done("metrics", "endoca", "--store", store, "--json").json["rows"]
    return [{key: value for key, value in row.items() if key not in ("suite", "run_id")} for row in rows]


def test_a_manifest_makes_a_suite_named_after_its_file(tmp_path: Path, store: Path) -> None:
    file = write_jsonl(tmp_path / "endoca_drawn.jsonl.gz", manifest_lines())
    [suite] = done("import", "endoca", file, "--store", store, "--json").json["suites"]
    assert suite == {
        "suite": "drawn",
        "n_units": 3,
        "n_new": 3,
        "n_complex": N_COMPLEX,
        "n_atomic": N_ATOMIC,
        "n_images": 2,
        "n_pairs": 0,
        "n_completed": 0,
    }


def test_predictions_find_the_stored_suite(filled: Path, tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "more.jsonl", prediction_lines("Third"))
    report = done("import", "endoca", file, "--store", filled, "--json").json
    assert report["suites"] == []
    assert [(run["vlm"], run["suite"], run["n_new"], run["n_missing"]) for run in report["runs"]] == [
        ("Third", "drawn", 9, 0)
    ]


def test_predictions_without_a_manifest_make_a_suite_from_the_references_they_carry(
    tmp_path: Path, store: Path
) -> None:
    lines = [line for line in prediction_lines("A") if line["probe_id"] != "33::atomic::1"]
    report = done("import", "endoca", write_jsonl(tmp_path / "mine.jsonl", lines), "--store", store, "--json").json
    assert [(suite["suite"], suite["n_complex"], suite["n_atomic"]) for suite in report["suites"]] == [("mine", 3, 6)]
    [row] = metrics(store)
    assert (row["n_units"], row["n_atomic"], row["n_missing"]) == (3, 6, 1)


@pytest.mark.parametrize("kind", ["manifest", "predictions"])
def test_importing_twice_changes_nothing(tmp_path: Path, store: Path, kind: str) -> None:
    lines = manifest_lines() if kind == "manifest" else prediction_lines("A")
    file = write_jsonl(tmp_path / "file.jsonl", lines)
    done("import", "endoca", file, "--store", store)
    before = contents(store)
    result = done("import", "endoca", file, "--store", store)
    assert contents(store) == before
    assert "nothing was changed" in result.out


def test_several_files_fill_one_run_and_several_vlms_share_one_file(tmp_path: Path, store: Path) -> None:
    lines = prediction_lines("A")
    files = [
        write_jsonl(tmp_path / "manifest.jsonl", manifest_lines()),
        write_jsonl(tmp_path / "first.jsonl", lines[:4]),
        write_jsonl(tmp_path / "second.jsonl", [*lines[4:], *prediction_lines("B")]),
    ]
    done("import", "endoca", *files, "--store", store)
    rows = metrics(store)
    assert [(row["model"], row["n_missing"], row["joint_accuracy"]) for row in rows] == [("A", 0, 1.0), ("B", 0, 1.0)]


def cells(lines: Sequence[Line]) -> list[dict[str, str]]:
    """Return lines as a table has them: every column, text alone, lists as JSON."""
    names = list(dict.fromkeys(name for line in lines for name in line))

    def as_text(value: object) -> str:
        return json.dumps(value) if isinstance(value, list) else str(value)

    return [{name: as_text(line.get(name, "")) for name in names} for line in lines]


def write_csv(path: Path, lines: Sequence[Line]) -> Path:
    """Write lines as CSV, gzipped where the name says so."""
    rows = cells(lines)
    with gzip.open(path, "wt", newline="") if path.suffix == ".gz" else path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_parquet(path: Path, lines: Sequence[Line]) -> Path:
    """Write lines as Parquet, lists as lists."""
    names = dict.fromkeys(name for line in lines for name in line)
    pq.write_table(pa.Table.from_pylist([{name: line.get(name) for name in names} for line in lines]), path)
    return path


@pytest.mark.parametrize("name", ["answers.csv", "answers.csv.gz", "answers.parquet"])
def test_tables_with_the_same_columns_give_the_same_metrics_as_json_lines(tmp_path: Path, name: str) -> None:
    lines = prediction_lines("A", lambda line: str(line["gold_answer"]) if line["complexity"] > 1 else "")
    plain, table = tmp_path / "plain.duckdb", tmp_path / "table.duckdb"
    done("import", "endoca", write_jsonl(tmp_path / "answers.jsonl", lines), "--store", plain)
    write = write_parquet if name.endswith("parquet") else write_csv
    done("import", "endoca", write(tmp_path / name, lines), "--store", table)
    assert metrics(table) == metrics(plain)
    assert metrics(table)[0]["n_empty"] == 2


Damage = list[str | bytes | Line]


def damaged(kind: str) -> tuple[Damage, int, str]:
    """Return lines of a prediction file, the number of the one bad line, and a word of its reason."""
    lines: Damage = list(prediction_lines("A"))
    if kind == "latin-1":
        return [*lines, '{"probe_id": "é"}'.encode("latin-1")], 10, "UTF-8"
    if kind == "no json":
        return [*lines[:3], "probe 7: yes", *lines[3:]], 4, "expected"
    if kind == "no name":
        return [*lines[:8], {**prediction_lines("A")[8], "model_id": ""}], 9, "model_id"
    if kind == "second answer":
        return [*lines, {**prediction_lines("A")[0], "prediction": "another VLM's"}], 10, "second time"
    return [*lines, {**prediction_lines("A")[0], "probe_id": "99::complex", "sample_id": 99}], 10, "99::complex"


@pytest.mark.parametrize("kind", ["latin-1", "no json", "no name", "second answer", "unknown probe"])
def test_a_bad_line_stops_all_of_it_or_is_left_out_and_listed(filled: Path, tmp_path: Path, kind: str) -> None:
    lines, number, reason = damaged(kind)
    file = write_jsonl(tmp_path / "bad.jsonl", lines)
    before = contents(filled)
    strict = call("import", "endoca", file, "--suite", "drawn", "--store", filled, "--json")
    assert (strict.code, strict.out) == (2, "")
    assert f"bad.jsonl, line {number}: " in strict.err
    assert "1 bad line; nothing was imported" in strict.err
    assert "--lenient" in strict.err
    assert contents(filled) == before
    lenient = done("import", "endoca", file, "--suite", "drawn", "--lenient", "--store", filled, "--json")
    [bad] = lenient.json["bad_lines"]
    assert (bad["number"], bad["file"]) == (number, "bad.jsonl")
    assert reason in bad["reason"]
    assert f"line {number}: {bad['reason']}" in lenient.err
    assert lenient.json["runs"][0]["n_missing"] == (kind == "no name")


def test_the_first_fifty_bad_lines_are_spelled_out_and_all_are_counted(tmp_path: Path, store: Path) -> None:
    file = write_jsonl(tmp_path / "bad.jsonl", [*manifest_lines(), *["no line"] * 73])
    strict = call("import", "endoca", file, "--store", store)
    assert "73 bad lines" in strict.err
    assert strict.err.count("bad.jsonl, line") == 50
    assert "23 more" in strict.err
    lenient = done("import", "endoca", file, "--store", store, "--lenient", "--json")
    assert len(lenient.json["bad_lines"]) == 73
    assert lenient.err.count("bad.jsonl, line") == 50


def test_a_truncated_gzip_file_is_a_bad_line_after_the_lines_that_came_out_of_it(tmp_path: Path, filled: Path) -> None:
    lines = [*prediction_lines("A"), *prediction_lines("B")]
    file = write_jsonl(tmp_path / "cut.jsonl.gz", lines)
    file.write_bytes(file.read_bytes()[:-60])
    strict = call("import", "endoca", file, "--store", filled)
    assert strict.code == 2
    assert "gzip" in strict.err
    assert "Traceback" not in strict.err
    lenient = call("import", "endoca", file, "--lenient", "--store", filled)
    assert lenient.code == 0 or "no line that could be imported" in lenient.err


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.jsonl", b"", "is empty"),
        ("wide.jsonl", '{"probe_id": "1"}'.encode("utf-16"), "UTF-16"),
        ("frame.jsonl", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "binary"),
        ("list.json", b'[{"probe_id": "1"}]', "JSON list"),
        ("broken.jsonl.gz", b"\x1f\x8bnot gzip at all", "unpacked"),
    ],
)
@pytest.mark.parametrize("lenient", [False, True])
def test_what_is_no_data_file_is_refused_as_a_whole(
    tmp_path: Path, store: Path, name: str, content: bytes, words: str, lenient: bool
) -> None:
    (tmp_path / name).write_bytes(content)
    result = call("import", "endoca", tmp_path / name, "--store", store, *(["--lenient"] if lenient else []))
    assert (result.code, result.out) == (2, "")
    assert words in result.err


def test_a_folder_and_an_absent_file_are_refused(tmp_path: Path, store: Path) -> None:
    assert "is a folder" in call("import", "endoca", tmp_path, "--store", store).err
    assert "There is no file" in call("import", "endoca", tmp_path / "none.jsonl", "--store", store).err


def test_a_group_can_be_named_and_changed(tmp_path: Path, store: Path) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", prediction_lines("A"))
    for group in ("medical_open", "general_open"):
        done("import", "endoca", file, "--group", group, "--store", store)
        assert metrics(store)[0]["vlm_group"] == group


def test_a_null_prediction_is_no_answer_and_keeps_a_stored_one(tmp_path: Path, filled: Path) -> None:
    lines = [{**line, "prediction": None} for line in prediction_lines("Good")]
    done("import", "endoca", write_jsonl(tmp_path / "null.jsonl", lines), "--store", filled)
    assert metrics(filled)[0]["joint_accuracy"] == 1.0
    lines = [{**line, "prediction": None} for line in prediction_lines("Silent")]
    lines[0]["error"] = "timeout"
    done("import", "endoca", write_jsonl(tmp_path / "null.jsonl", lines), "--store", filled)
    row = metrics(filled)[2]
    assert (row["n_missing"], row["n_failed"], row["n_empty"], row["inconsistency"]) == (8, 1, 0, None)


def test_images_are_attached_with_the_import_or_after_it(tmp_path: Path, store: Path) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    Image.new("RGB", (8, 8)).save(folder / "frame-a.png")
    file = write_jsonl(tmp_path / "drawn.jsonl", manifest_lines())
    report = done("import", "endoca", file, "--images", folder, "--store", store, "--json").json
    assert (report["images"]["found"], report["images"]["missing"]) == (1, 1)
    Image.new("RGB", (8, 8)).save(folder / "frame-b.png")
    report = done("import", "images", folder, "--store", store, "--json").json
    assert (report["images"]["found"], report["images"]["new"]) == (2, 1)
    absent = call("import", "endoca", file, "--images", tmp_path / "none", "--store", store)
    assert (absent.code, "There is no folder" in absent.err) == (2, True)


def test_an_import_for_which_the_store_is_no_store_says_so(tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "drawn.jsonl", manifest_lines())
    result = call("import", "endoca", file, "--store", file)
    assert result.code == 2
    assert "no Parallax store" in result.err


def write_kvasir(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Write Kvasir-VQA and two files of Kvasir-VQA-x1 made from the drawn samples."""
    vqa = tmp_path / "vqa.csv"
    rows = [(image, question, answer) for _, image, _, _, atoms in SAMPLES for _, question, answer in atoms]
    with vqa.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "question", "answer", "img_id"])
        writer.writerows(("Drawn", question, answer, image) for image, question, answer in rows)
    x1 = [
        {
            "img_id": image,
            "image": f"images/{image}.jpg",
            "complexity": len(atoms),
            "question": question,
            "answer": reference,
            "question_class": [name for name, _, _ in atoms],
            "original": json.dumps([{"q": asked, "a": answer} for _, asked, answer in atoms]),
        }
        for _, image, question, reference, atoms in SAMPLES
    ]
    files = tmp_path / "x1-train.parquet", tmp_path / "x1-test.parquet"
    pq.write_table(pa.Table.from_pylist(x1[:2]), files[0])
    pq.write_table(pa.Table.from_pylist(x1[2:]), files[1])
    return vqa, *files


@pytest.mark.parametrize("repeat", [False, True])
def test_a_suite_is_built_from_kvasir_files_given_in_either_way(tmp_path: Path, store: Path, repeat: bool) -> None:
    vqa, train, test = write_kvasir(tmp_path)
    files: list[str | Path] = ["--x1", train, "--x1", test] if repeat else ["--x1", train, test]
    report = done("import", "kvasir", "--vqa", vqa, *files, "--suite", "mine", "--store", store, "--json").json
    assert [(suite["suite"], suite["n_units"], suite["n_atomic"]) for suite in report["suites"]] == [("mine", 3, 6)]
    with duckdb.connect(str(store), read_only=True) as connection:
        ids = connection.execute("SELECT source_id FROM units ORDER BY 1").fetchall()
    assert ids == [("0",), ("1",), ("2",)]


def test_sizes_that_cannot_be_meant_or_filled_are_refused(tmp_path: Path, store: Path) -> None:
    vqa, train, _ = write_kvasir(tmp_path)
    for sizes, words in (("5", "three sizes"), ("a,b,c", "three sizes"), ("1,7,0", "complexity 2")):
        result = call("import", "kvasir", "--vqa", vqa, "--x1", train, "--sizes", sizes, "--store", store)
        assert result.code == 2
        assert words in result.err, result.err
