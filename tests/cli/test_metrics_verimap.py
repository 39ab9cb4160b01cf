"""``metrics verimap`` and ``verimap route``: the contract's columns, and unknown names answered with the known."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import call, done
from tests.services.verification_store import ATLAS, BEACON, MODALITY, make_verification_store

CONTRACT = [
    "task", "generator", "verifier", "dataset", "turn", "n", "n_dropped", "tp", "tn", "fp", "fn", "accuracy", "error",
    "fpr", "fnr", "bias", "dskew", "signed_dskew",
]  # fmt: skip


@pytest.fixture
def verified(store: Path) -> Path:
    make_verification_store(store).close()
    return store


def rows_of(store: Path, *arguments: str) -> list[dict[str, Any]]:
    value = done("metrics", "verimap", *arguments, "--store", store, "--json").json
    assert list(value) == ["rows"]
    return list(value["rows"])


def test_a_row_has_the_contract_s_columns_first_and_null_for_what_is_undefined(verified: Path) -> None:
    rows = rows_of(verified, "--by", "task,model,dataset")
    assert all(list(row)[: len(CONTRACT)] == CONTRACT for row in rows)
    own = next(row for row in rows if (row["dataset"], row["task"], row["verifier"]) == (
        "own", "disease_classification", ATLAS))  # fmt: skip
    assert (own["n"], own["fpr"], own["fnr"], own["dskew"], own["bias"]) == (1, 0.0, None, None, 0.0)
    assert own["bias_low"] is None and own["fpr_high"] > 0


@pytest.mark.parametrize(
    ("by", "named"),
    [
        ("", {"generator", "verifier", "dataset"}),
        ("task", {"task"}),
        ("model", {"generator", "verifier"}),
        ("dataset", {"dataset"}),
        ("task,dataset", {"task", "dataset"}),
    ],
)
def test_a_table_is_by_any_of_task_model_and_dataset(verified: Path, by: str, named: set[str]) -> None:
    rows = rows_of(verified, *(["--by", by] if by else []))
    for column in ("task", "generator", "verifier", "dataset"):
        assert any(row[column] is not None for row in rows) == (column in named)
    told = [(*(row[name] for name in CONTRACT[:5]), row["pairing"], row["origin"]) for row in rows]
    assert len(told) == len(set(told)), "every row is another group"


def test_uncertain_verdicts_are_dropped_where_asked(verified: Path) -> None:
    dropped = {row["turn"]: row for row in rows_of(verified, "--uncertain", "drop") if row["verifier"] == ATLAS
               and row["generator"] == ATLAS and row["dataset"] == "vqa-rad"}  # fmt: skip
    assert (dropped[0]["n"], dropped[0]["n_dropped"], dropped[0]["tn"]) == (6, 1, 1)


def test_the_table_for_people_tells_the_policy(verified: Path) -> None:
    told = done("metrics", "verimap", "--store", verified).out
    assert "UNCERTAIN verdicts count as not accepted" in told and BEACON.split()[0] in told


def test_the_table_for_people_says_where_several_runs_are_added_up(verified: Path) -> None:
    assert "Runs" not in done("metrics", "verimap", "--store", verified).out
    assert "Runs" in done("metrics", "verimap", "--by", "dataset", "--store", verified).out
    assert any(row["n_runs"] > 1 for row in rows_of(verified, "--by", "dataset"))


def test_an_unknown_breakdown_and_an_empty_store_say_what_to_do(verified: Path, tmp_path: Path) -> None:
    result = call("metrics", "verimap", "--by", "vlm", "--store", verified)
    assert result.code == 2 and "Known: task, model, dataset." in result.err
    done("init", "--store", tmp_path / "empty.duckdb")
    assert "import verimap --records" in done("metrics", "verimap", "--store", tmp_path / "empty.duckdb").err


def test_a_route_opens_no_store_unless_one_is_named(verified: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARALLAX_STORE", str(verified.parent / "not there" / os.devnull))
    printed = done("verimap", "route", "--task", "modality", "--verifier", "Gemma-3", "--json").json
    assert (printed["decision"], printed["task"], printed["n"]) == ("cross-verify", MODALITY, None)
    assert printed["fpr"] == pytest.approx(0.98) and "Tables 6 to 15" in printed["source"]
    stored = done("verimap", "route", "--task", "modality", "--verifier", ATLAS, "--store", verified, "--json").json
    assert (stored["n"], stored["n_wrong"], stored["generator"]) == (4, 2, ATLAS)
    cross = done("verimap", "route", "--task", "spatial reasoning", "--verifier", BEACON, "--generator", ATLAS,
                 "--store", verified)  # fmt: skip
    assert f"{BEACON} verifying answers of {ATLAS}" in cross.out


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("--task", "vibes", "--verifier", "Gemma-3"), "Tasks: modality_recognition, "),
        (("--task", "modality", "--verifier", "GPT"), "Verifiers: Gemma-3, MedGemma"),
        (("--task", "modality", "--verifier", "Gemma-3", "--generator", "Lingshu"), "--store"),
    ],
)
def test_unknown_tasks_and_verifiers_list_the_known(arguments: tuple[str, ...], hint: str) -> None:
    result = call("verimap", "route", *arguments)
    assert result.code == 2 and hint in result.err


def test_an_unknown_verifier_of_a_store_lists_that_store_s(verified: Path) -> None:
    result = call("verimap", "route", "--task", "modality", "--verifier", "Gemma-3", "--store", verified)
    assert result.code == 2 and f"Verifiers: {ATLAS}, {BEACON}." in result.err
