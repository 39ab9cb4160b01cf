"""``score``: one line out for each line in, in order, from files and pipes."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import call, done, finish, start
from tests.services.endoca_files import prediction_lines, write_jsonl

COMPLEX: dict[str, Any] = {
    "question": "How many polyps are there, and is there a box artifact?",
    "gold_atoms": [
        {"question_class": "polyp_count", "raw_answer": "2", "parsed": "2"},
        {"question_class": "box_artifact_presence", "raw_answer": "yes", "parsed": "yes"},
    ],
    "prediction": "Two polyps and a green box artifact.",
}
TYPED: dict[str, Any] = {
    "id": "t1",
    "complex_question": "Is there any lettering visible?",
    "atomic": [{"q": "Is there text?", "a": "no", "type": "binary"}],
    "candidate": "Yes",
}
ATOMIC: dict[str, Any] = {
    "probe_id": "5::atomic::0",
    "probe_kind": "atomic_direct",
    "question": "Is there text?",
    "gold_question_class": "text_presence",
    "gold_answer": "yes",
    "prediction": "yes",
    "model_id": "A",
}


def scored(*lines: dict[str, Any] | str | bytes) -> list[dict[str, Any]]:
    """Return what comes out for lines through a pipe."""
    parts = [json.dumps(part).encode() if isinstance(part, dict) else part for part in lines]
    encoded = [part.encode() if isinstance(part, str) else part for part in parts]
    result = call("score", "endoca", "-", stdin=b"\n".join(encoded))
    assert result.code == 0
    return [json.loads(line) for line in result.out.splitlines()]


def test_every_shape_of_line_is_scored() -> None:
    whole, typed, atomic = scored(COMPLEX, TYPED, ATOMIC)
    assert [line["correct"] for line in (whole, typed, atomic)] == [True, False, True]
    assert [(atom["expected"], atom["parsed"], atom["correct"]) for atom in whole["atoms"]] == [
        ("2", "2", True),
        ("yes", "yes", True),
    ]
    assert set(whole) == {"correct", "atoms", "scorer", "scorer_version"}
    assert set(whole["atoms"][0]) == {"expected", "parsed", "correct", "rule", "reason"}
    assert typed["id"] == "t1"
    assert (atomic["probe_id"], atomic["model_id"]) == ("5::atomic::0", "A")


def test_a_complex_answer_is_right_only_if_every_part_is() -> None:
    [line] = scored({**COMPLEX, "prediction": "Two polyps, and no box artifact."})
    assert [atom["correct"] for atom in line["atoms"]] == [True, False]
    assert line["correct"] is False


@pytest.mark.parametrize("prediction", ["", "   ", None])
def test_an_empty_answer_is_wrong_and_has_no_value(prediction: str | None) -> None:
    [line] = scored({**COMPLEX, "prediction": prediction})
    assert line["correct"] is False
    assert [atom["parsed"] for atom in line["atoms"]] == [None, None]


def test_a_failed_call_is_wrong_whatever_stands_beside_its_error() -> None:
    [line] = scored({**COMPLEX, "error": "timeout after 60 s"})
    assert line["correct"] is False
    assert {(atom["rule"], atom["parsed"]) for atom in line["atoms"]} == {("failed", None)}
    assert "timeout" in line["atoms"][0]["reason"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("no json", "no JSON object"),
        ("[1, 2]", "JSON object"),
        ("", "blank"),
        (b'{"question": "\xe9"}', "UTF-8"),
        ("[" * 100_000, "no JSON object"),
        ({"prediction": "yes", "gold_atoms": []}, "question"),
        ({**COMPLEX, "gold_atoms": []}, "lacks gold_atoms"),
        ({"question": "Is there text?", "prediction": "yes"}, "lacks gold_atoms"),
        ({"question": "Is there text?", "gold_answer": "yes", "gold_question_class": "text_presence"}, "prediction"),
        ({**TYPED, "atomic": [{"q": "Is there text?", "a": "no", "type": "essay"}]}, "type"),
    ],
)
def test_a_line_that_cannot_be_scored_says_why_in_its_place(line: dict[str, Any] | str | bytes, words: str) -> None:
    before, bad, after = scored(COMPLEX, line, ATOMIC)
    assert (before["correct"], after["correct"]) == (True, True)
    assert set(bad) == {"line", "error"}
    assert bad["line"] == 2
    assert words in bad["error"]


def test_files_may_be_plain_or_gzipped_and_a_pipe_too(tmp_path: Path) -> None:
    lines = [COMPLEX, TYPED, ATOMIC]
    plain = done("score", "endoca", write_jsonl(tmp_path / "a.jsonl", lines)).out
    zipped = write_jsonl(tmp_path / "a.jsonl.gz", lines)
    assert done("score", "endoca", zipped).out == plain
    assert call("score", "endoca", stdin=zipped.read_bytes()).out == plain
    assert done("--json", "score", "endoca", tmp_path / "a.jsonl").out == plain


def test_prediction_files_are_scored_as_the_import_scores_them(tmp_path: Path, store: Path) -> None:
    file = write_jsonl(
        tmp_path / "a.jsonl", prediction_lines("A", lambda line: "no" if line["complexity"] < 3 else "yes")
    )
    lines = [json.loads(line) for line in done("score", "endoca", file).out.splitlines()]
    done("import", "endoca", file, "--store", store)
    [row] = done("metrics", "endoca", "--store", store, "--json").json["rows"]
    right = {kind: sum(line["correct"] for line in lines if kind in line["probe_id"]) for kind in ("complex", "atomic")}
    assert row["complex_accuracy"] == pytest.approx(right["complex"] / 3)
    assert row["atomic_accuracy"] == pytest.approx(right["atomic"] / 6)


def test_a_gzip_stream_that_ends_early_is_said_after_its_last_whole_line(tmp_path: Path) -> None:
    content = b"".join(json.dumps({**ATOMIC, "probe_id": f"{n}"}).encode() + b"\n" for n in range(2_000))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(content, 0)[:-200_000])
    result = done("score", "endoca", tmp_path / "cut.gz")
    *whole, last = [json.loads(line) for line in result.out.splitlines()]
    assert len(whole) > 100
    assert all(line["correct"] for line in whole)
    assert (last["line"], "gzip" in last["error"]) == (len(whole) + 1, True)
    assert "could not be scored" in result.err


@pytest.mark.parametrize(
    ("content", "words"),
    [("{}".encode("utf-16"), "UTF-16"), (b"\x00\x01", "binary"), (b"[{}]", "JSON list"), (b"\x1f\x8bxx", "unpacked")],
)
def test_what_holds_no_lines_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "file").write_bytes(content)
    result = call("score", "endoca", tmp_path / "file")
    assert (result.code, result.out) == (2, "")
    assert words in result.err


def test_a_folder_and_an_absent_file_are_refused(tmp_path: Path) -> None:
    assert "is a folder" in call("score", "endoca", tmp_path).err
    assert "There is no file" in call("score", "endoca", tmp_path / "none").err


def test_nothing_in_is_nothing_out() -> None:
    assert call("score", "endoca", stdin=b"") == (0, "", "")


def test_scoring_opens_no_store_and_works_beside_a_broken_one(tmp_path: Path) -> None:
    broken = tmp_path / "broken.duckdb"
    broken.write_text("no store")
    file = write_jsonl(tmp_path / "a.jsonl", [COMPLEX])
    result = finish(start("score", "endoca", file, PARALLAX_STORE=str(broken)))
    assert (result.code, json.loads(result.out)["correct"]) == (0, True)
