"""The benchmark's own files through the command line: counts, and what references as answers reach."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import done

COUNTS: dict[str, Any] = {
    "core": {"n_complex": 12_000, "n_atomic": 15_736, "n_images": 4_629, "by": {1: 8_264, 2: 3_736}, "right": 11_980},
    "diagnostic": {
        "n_complex": 6_000, "n_atomic": 9_300, "n_images": 3_347, "by": {1: 3_600, 2: 1_500, 3: 900}, "right": 5_989,
    },
}  # fmt: skip


@pytest.fixture(scope="module", params=list(COUNTS))
def suite(request: pytest.FixtureRequest) -> str:
    """A suite's name."""
    return str(request.param)


def answered(manifest: Path, answers: dict[str, str | None]) -> Iterator[str]:
    """Yield prediction lines for each VLM: a fixed answer, or the references where it is None."""
    with gzip.open(manifest, "rt") as file:
        lines = [json.loads(line) for line in file]
    for vlm, answer in answers.items():
        for line in lines:
            said = line["gold_answer"] if answer is None else answer
            yield json.dumps({**line, "model_id": vlm, "prediction": said, "error": ""}) + "\n"


@pytest.fixture(scope="module")
def store(shared: Path, suite: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the suite, answered with its references, with nothing, and with "yes"."""
    folder = tmp_path_factory.mktemp(suite)
    manifest = shared / "data" / "kvasir" / "endoca" / f"endoca_{suite}.jsonl.gz"
    path = folder / "store.duckdb"
    [report] = done("import", "endoca", manifest, "--store", path, "--json").json["suites"]
    expected = COUNTS[suite]
    assert report["suite"] == suite
    assert [report[name] for name in ("n_complex", "n_atomic", "n_images")] == [
        expected[name] for name in ("n_complex", "n_atomic", "n_images")
    ]
    answers = folder / "answers.jsonl"
    answers.write_text("".join(answered(manifest, {"References": None, "Nothing": "", "Yes": "yes"})))
    done("import", "endoca", answers, "--store", path)
    return path


def rows(store: Path, *arguments: str) -> list[dict[str, Any]]:
    """Return metric rows."""
    return list(done("metrics", "endoca", *arguments, "--store", store, "--json").json["rows"])


def test_references_as_answers_are_right(store: Path, suite: str) -> None:
    [row] = rows(store, "--model", "References")
    assert (row["atomic_accuracy"], row["all_atomic_accuracy"], row["inconsistency"]) == (1, 1, 0)
    n = int(row["n_units"])
    assert round(row["complex_accuracy"] * n) >= COUNTS[suite]["right"]
    assert row["joint_accuracy"] == row["complex_accuracy"]
    assert (row["n_missing"], row["n_failed"]) == (0, 0)


def test_empty_answers_are_wrong_and_their_inconsistency_is_null(store: Path) -> None:
    [row] = rows(store, "--model", "Nothing")
    assert [row[name] for name in ("complex_accuracy", "atomic_accuracy", "joint_accuracy")] == [0, 0, 0]
    assert row["inconsistency"] is None
    assert row["n_empty"] == row["n_units"] + row["n_atomic"]


def test_complexities_have_the_paper_s_counts(store: Path, suite: str) -> None:
    found = {row["complexity"]: row["n_units"] for row in rows(store, "--model", "Yes", "--by", "complexity")}
    assert found == COUNTS[suite]["by"]


@pytest.mark.parametrize("by", ["complexity", "question_class", "split", "outcome"])
def test_joint_accuracy_is_complex_accuracy_times_consistency_in_every_row(store: Path, by: str) -> None:
    for row in rows(store, "--by", by):
        consistent = 1 - row["inconsistency"] if row["inconsistency"] is not None else 0
        assert row["joint_accuracy"] == pytest.approx(row["complex_accuracy"] * consistent, abs=1e-12)
        assert row["joint_accuracy"] <= row["complex_accuracy"]


def test_a_breakdown_s_units_add_up(store: Path) -> None:
    [whole] = rows(store, "--model", "Yes")
    for by in ("complexity", "split", "outcome"):
        assert sum(row["n_units"] for row in rows(store, "--model", "Yes", "--by", by)) == whole["n_units"]


def test_the_scorer_s_check_files_come_out_as_labelled(shared: Path) -> None:
    folder = shared / "data" / "kvasir"
    crossed = folder / "derived" / "complex_cross_gold.jsonl.gz"
    for file, bar in ((folder / "scorer_cases.jsonl", 1.0), (crossed, 0.995)):
        with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as opened:
            expected = [json.loads(line)["expected"] for line in opened]
        found = [json.loads(line)["correct"] for line in done("score", "endoca", file).out.splitlines()]
        agreeing = sum(a is b for a, b in zip(expected, found, strict=True))
        assert agreeing >= bar * len(expected)
