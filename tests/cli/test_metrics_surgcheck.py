"""``metrics surgcheck`` and ``blind surgcheck``: the contract's columns, and unknown names answered with the known."""

from pathlib import Path
from typing import Any

import pytest

from backend.services.opening import open_store
from tests.cli.calling import call, done
from tests.services.surgcheck_store import PAIRS, put_answered, put_judgements, put_pairs, references

CONTRACT = [
    "model", "setting", "suite", "variant", "n", "accuracy", "macro_f1", "macro_f1_union", "weighted_f1", "judge_mean",
    "judge_accuracy", "n_unscored", "gap", "gap_low", "gap_high",
]  # fmt: skip
RIGHT = references()


@pytest.fixture
def paired(store: Path) -> Path:
    """Five pairs in 'small', answered by 'Steady' and 'Leaning' (3 less-biased wrong; judged), and two in 'other'."""
    wrong = {"1:less_biased": "grasper", "2:less_biased": "retract", "5:less_biased": "hook"}
    with open_store(store) as opened:
        put_pairs(opened)
        put_pairs(opened, PAIRS[1:3], suite="other", dataset="elsewhere")
        put_answered(opened, "Steady", RIGHT)
        leaning = put_answered(opened, "Leaning", RIGHT | wrong, setting="zero-shot")
        put_answered(
            opened, "Leaning", {"1:original": "hook", "2:original": "clip"}, setting="zero-shot", stage="text_only"
        )
        put_answered(opened, "Steady", references(PAIRS[1:3]), suite="other")
        put_judgements(opened, leaning, {"1:original": 5, "2:original": 2, "1:less_biased": None, "2:less_biased": 4})
    return store


def rows_of(store: Path, *arguments: str) -> list[dict[str, Any]]:
    value = done("metrics", "surgcheck", *arguments, "--store", store, "--json").json
    assert list(value) == ["rows"]
    return list(value["rows"])


def test_a_row_a_variant_has_the_contract_s_columns_in_order(paired: Path) -> None:
    rows = rows_of(paired, "--suite", "small")
    assert [list(row)[: len(CONTRACT)] for row in rows] == [CONTRACT] * len(rows)
    assert [(row["model"], row["setting"], row["variant"]) for row in rows] == [
        ("Leaning", "zero-shot", "original"),
        ("Leaning", "zero-shot", "less_biased"),
        ("Leaning", "zero-shot", "text_only"),
        ("Steady", "fine-tuned", "original"),
        ("Steady", "fine-tuned", "less_biased"),
    ]


def test_figures_are_those_of_hand_and_undefined_ones_null(paired: Path) -> None:
    original, less, text_only, *_ = rows_of(paired, "--suite", "small")
    assert (original["accuracy"], less["accuracy"]) == (1.0, pytest.approx(0.4))
    assert (less["gap"], original["gap"], text_only["gap"]) == (pytest.approx(0.6), None, None)
    assert less["gap_low"] < less["gap"] < less["gap_high"]
    assert (original["judge_mean"], original["judge_accuracy"], original["n_unscored"]) == (3.5, 0.5, 0)
    assert (less["judge_mean"], less["judge_accuracy"], less["n_unscored"]) == (4.0, 1.0, 1)
    # Asked with the image withheld: one box and one position question of five; the other kinds were not asked.
    assert (text_only["n"], text_only["n_unasked"], text_only["n_missing"]) == (4, 1, 2)
    steady = rows_of(paired, "--model", "Steady", "--suite", "small")[0]
    assert (steady["judge_mean"], steady["judge_accuracy"], steady["n_unscored"]) == (None, None, 0)


@pytest.mark.parametrize(
    ("by", "values", "n"),
    [
        ("task", ["Instrument_Count", "Instrument", "Action", "Triplet"], [1, 1, 2, 1]),
        ("cue", ["none", "box", "position"], [1, 3, 1]),
        ("level", ["observation", "composition"], [4, 1]),
        ("suite", ["small"], [5]),
    ],
)
def test_the_key_of_a_breakdown_is_a_column(paired: Path, by: str, values: list[str], n: list[int]) -> None:
    rows = rows_of(paired, "--model", "Steady", "--suite", "small", "--by", by)
    less = [row for row in rows if row["variant"] == "less_biased"]
    assert [row[by] for row in less] == values
    assert [row["n"] for row in less] == n
    assert all(row["accuracy"] == 1 and row["gap"] == 0 for row in less)


def test_suites_are_never_pooled(paired: Path) -> None:
    rows = [row for row in rows_of(paired, "--model", "Steady") if row["variant"] == "original"]
    assert [(row["suite"], row["n"]) for row in rows] == [("other", 2), ("small", 5)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--model", "Nobody"), ("Nobody", "Leaning, Steady")),
        (("--suite", "core"), ("core", "other, small")),
        (("--by", "colour"), ("colour", "task, cue, level")),
    ],
)
def test_an_unknown_name_is_answered_with_the_known_ones(
    paired: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    result = call("metrics", "surgcheck", *arguments, "--store", paired, "--json")
    assert (result.code, result.out) == (2, "")
    assert all(word in result.err for word in words)


def test_people_see_percent_points_and_intervals(paired: Path) -> None:
    shown = done("metrics", "surgcheck", "--suite", "small", "--store", paired).out
    for words in ("VLM", "less biased", "text only", "40.0 %", "+60.0 points", "3.50"):
        assert words in shown


def test_a_store_without_runs_has_no_rows(store: Path) -> None:
    done("init", "--store", store)
    assert rows_of(store) == []
    assert "Import prediction files" in done("metrics", "surgcheck", "--store", store).err


def test_the_text_look_up_is_a_run_like_any_other(paired: Path) -> None:
    """Learned on pairs 2 and 3: the hook dissects, the grasper retracts; for "the tool" the alphabet decides."""
    report = done("blind", "surgcheck", "--learn", "other", "--answer", "small", "--store", paired, "--json").json
    assert (report["vlm"], report["n_answers"], report["n_new"], report["n_missing"]) == ("Text look-up", 10, 10, 0)
    rows = rows_of(paired, "--model", "Text look-up", "--by", "task")
    right = {(row["task"], row["variant"]): row["accuracy"] for row in rows}
    assert (right["Action", "original"], right["Action", "less_biased"]) == (1.0, 0.5)
    assert {(row["n_empty"], row["vlm_group"], row["origin"]) for row in rows if row["task"] == "Triplet"} == {
        (1, "blind", "precomputed")
    }
    again = done("blind", "surgcheck", "--learn", "other", "--answer", "small", "--store", paired, "--json").json
    assert (again["run_id"], again["n_new"], again["n_unchanged"]) == (report["run_id"], 0, 10)


@pytest.mark.parametrize(
    ("learn", "words"),
    [("small", "learning from the test"), ("smal", "Suites in the store: other, same frames, small")],
)
def test_the_look_up_never_learns_from_the_test(paired: Path, learn: str, words: str) -> None:
    with open_store(paired) as opened:
        put_pairs(opened, PAIRS[:1], suite="same frames")
    refused = call("blind", "surgcheck", "--learn", learn, "--answer", "small", "--store", paired)
    assert (refused.code, words in refused.err) == (2, True)
    refused = call("blind", "surgcheck", "--learn", "same frames", "--answer", "small", "--store", paired)
    assert "1 frames of suite small are in suite same frames too" in refused.err
