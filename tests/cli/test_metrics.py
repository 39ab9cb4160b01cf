"""``metrics`` and ``compare``: the contract's columns, N/A as null, and unknown names answered with the known."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import call, done
from tests.services.endoca_files import manifest_lines, prediction_lines, write_jsonl

METRICS = ["complex_accuracy", "atomic_accuracy", "all_atomic_accuracy", "joint_accuracy", "inconsistency"]
CONTRACT = ["model", "suite", "stage", "n_units", "n_atomic", "n_missing", "n_failed", *METRICS]
FURTHER = ["n_images", "n_empty", "n_unparsed", "setting", "origin", "run_id"]


def rows_of(store: Path, *arguments: str) -> list[dict[str, Any]]:
    """Return the rows of ``metrics endoca``."""
    value = done("metrics", "endoca", *arguments, "--store", store, "--json").json
    assert list(value) == ["rows"]
    return list(value["rows"])


def test_a_row_has_the_contract_s_columns_and_the_metrics_worked_out_by_hand(filled: Path) -> None:
    # Half: 3 of 3 complex right; parts right: text in 11 and in 33, so 2 of 6, and all parts in unit 11 alone.
    good, half = rows_of(filled)
    assert {*CONTRACT, *FURTHER} <= set(half)
    assert {f"{name}{bound}" for name in METRICS for bound in ("_low", "_high")} <= set(half)
    assert not {"coverage", "selective_accuracy"} & set(half)
    assert [half[name] for name in CONTRACT[:7]] == ["Half", "drawn", "direct", 3, 6, 0, 0]
    assert [half[name] for name in METRICS] == pytest.approx([1, 1 / 3, 1 / 3, 1 / 3, 2 / 3])
    assert [good[name] for name in METRICS] == [1, 1, 1, 1, 0]
    assert (half["n_images"], half["n_empty"], half["n_unparsed"]) == (2, 4, 0)
    assert (half["origin"], half["setting"]) == ("imported", "")


def test_empty_answers_give_zeros_and_a_null_inconsistency(filled: Path, tmp_path: Path) -> None:
    done("import", "endoca", write_jsonl(tmp_path / "e.jsonl", prediction_lines("E", lambda _: "")), "--store", filled)
    [row] = rows_of(filled, "--model", "E")
    assert [row[name] for name in ("complex_accuracy", "atomic_accuracy", "joint_accuracy")] == [0, 0, 0]
    assert [row[f"inconsistency{bound}"] for bound in ("", "_low", "_high")] == [None, None, None]
    assert "N/A" in done("metrics", "endoca", "--model", "E", "--store", filled).out


@pytest.mark.parametrize(
    ("by", "values", "n_units"),
    [
        ("complexity", [1, 2, 3], [1, 1, 1]),
        ("outcome", ["inconsistent", "supported"], [2, 1]),
        ("split", ["test"], [3]),
        (
            "question_class",
            ["box_artifact_presence", "instrument_presence", "polyp_count", "text_presence"],
            [1, 1, 2, 2],
        ),
        ("question_type", ["binary", "count", "multi-label"], [3, 2, 1]),
        ("suite", ["drawn"], [3]),
    ],
)
def test_the_key_of_a_breakdown_is_a_column(filled: Path, by: str, values: list[object], n_units: list[int]) -> None:
    rows = rows_of(filled, "--model", "Half", "--by", by)
    assert [row[by] for row in rows] == values
    assert [row["n_units"] for row in rows] == n_units
    for row in rows:
        assert row["joint_accuracy"] == pytest.approx(row["complex_accuracy"] * (1 - (row["inconsistency"] or 0)))


def test_several_breakdowns_may_be_joined_or_repeated(filled: Path) -> None:
    joined = rows_of(filled, "--by", "complexity,outcome")
    assert joined == rows_of(filled, "--by", "complexity", "--by", "outcome")
    assert all({"complexity", "outcome"} <= set(row) for row in joined)


def test_a_vlm_can_be_named_or_meant_by_its_run(filled: Path) -> None:
    [row] = rows_of(filled, "--model", "Half", "--suite", "drawn")
    assert rows_of(filled, "--model", row["run_id"]) == [row]
    assert [row["model"] for row in rows_of(filled, "--model", "Half", "--model", "Good")] == ["Good", "Half"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--model", "Nobody"), ("Nobody", "Good, Half")),
        (("--suite", "core"), ("core", "drawn")),
        (("--by", "colour"), ("colour", "complexity", "question_class", "outcome")),
    ],
)
def test_an_unknown_name_is_answered_with_the_known_ones(
    filled: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    result = call("metrics", "endoca", *arguments, "--store", filled, "--json")
    assert (result.code, result.out) == (2, "")
    assert all(word in result.err for word in words)


def test_an_absent_store_is_not_made_by_reading_it(store: Path) -> None:
    result = call("metrics", "endoca", "--store", store)
    assert (result.code, result.out) == (2, "")
    assert "init" in result.err
    assert not store.exists()


def test_a_store_without_runs_has_no_rows(store: Path) -> None:
    done("init", "--store", store)
    assert rows_of(store) == []
    assert "Import a prediction file" in done("metrics", "endoca", "--store", store).err


def test_people_see_percent_interval_and_counts(filled: Path) -> None:
    shown = done("metrics", "endoca", "--store", filled).out
    assert "VLM" in shown
    assert "33.3 %" in shown
    assert "66.7 %" in shown
    assert "100.0 %" in shown


def test_two_runs_are_compared_on_the_same_units(filled: Path) -> None:
    value = done("compare", "endoca", "--a", "Half", "--b", "Good", "--store", filled, "--json").json
    assert (value["suite"], value["a"]["vlm"], value["b"]["vlm"]) == ("drawn", "Half", "Good")
    cells = {
        row["metric"]: (row["n"], row["both_right"], row["a_right_b_wrong"], row["a_wrong_b_right"], row["both_wrong"])
        for row in value["rows"]
    }
    assert cells == {
        "complex_accuracy": (3, 3, 0, 0, 0),
        "all_atomic_accuracy": (3, 1, 0, 2, 0),
        "joint_accuracy": (3, 1, 0, 2, 0),
    }
    joint = value["rows"][2]
    assert joint["difference"] == pytest.approx(2 / 3)
    assert joint["p_value"] == pytest.approx(0.5)  # both of two flips to one side: 2 × (1/2)²
    assert "+66.7 points" in done("compare", "endoca", "--a", "Half", "--b", "Good", "--store", filled).out


def test_what_cannot_be_compared_says_why(filled: Path, tmp_path: Path) -> None:
    pair = ("compare", "endoca", "--store", filled)
    assert "with itself" in call(*pair, "--a", "Good", "--b", "Good").err
    assert "Good, Half" in call(*pair, "--a", "Good", "--b", "Nobody").err
    first = prediction_lines("Else")[:2]
    other = [{**line, "sample_id": 7, "probe_id": line["probe_id"].replace("11::", "7::")} for line in first]
    done("import", "endoca", write_jsonl(tmp_path / "other.jsonl", other), "--store", filled)
    result = call(*pair, "--a", "Good", "--b", "Else")
    assert (result.code, "share no suite" in result.err) == (2, True)


def test_a_vlm_on_two_suites_has_to_be_told_apart(filled: Path, tmp_path: Path) -> None:
    moved = [
        {**line, "sample_id": line["sample_id"] + 100, "probe_id": "1" + line["probe_id"]} for line in manifest_lines()
    ]
    done("import", "endoca", write_jsonl(tmp_path / "second.jsonl", moved), "--store", filled)
    answers = [{**line, "model_id": "Good", "prediction": "no", "error": ""} for line in moved]
    done("import", "endoca", write_jsonl(tmp_path / "answers2.jsonl", answers), "--store", filled)
    assert [row["suite"] for row in rows_of(filled, "--model", "Good")] == ["drawn", "second"]
    refused = call("export", "endoca", "--model", "Good", "--out", tmp_path / "x.jsonl", "--store", filled)
    assert (refused.code, "--suite: drawn, second" in refused.err) == (2, True)
    refused = call("metrics", "endoca", "--model", "Half", "--suite", "second", "--store", filled)
    assert (refused.code, "It has answered: drawn" in refused.err) == (2, True)
