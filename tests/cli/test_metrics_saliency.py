"""``metrics saliency``: the contract's columns, null for what is undefined, and how many looks the rows rest on."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import call, done
from tests.services.grounding_store import NO_ANSWER, NO_MEMORY, make_grounding_store
from tests.services.verification_store import ATLAS, BEACON, DISEASE, MODALITY, OWN, VQA_RAD, run_id

CONTRACT = [
    "suite", "generator", "verifier", "condition", "turn", "task", "proxy", "n", "n_undefined", "generator_mean",
    "verifier_mean", "generator_even", "verifier_even", "gap", "gap_low", "gap_high", "p", "d_paired", "d_pooled",
    "kruskal_statistic", "kruskal_df", "kruskal_p",
]  # fmt: skip


@pytest.fixture
def looked(store: Path) -> Path:
    make_grounding_store(store).close()
    return store


def rows_of(store: Path, *arguments: str) -> list[dict[str, Any]]:
    value = done("metrics", "saliency", *arguments, "--store", store, "--json").json
    assert list(value) == ["rows"]
    return list(value["rows"])


def test_a_row_is_a_run_with_a_group_and_a_proxy(looked: Path) -> None:
    rows = rows_of(looked)
    assert all(list(row)[: len(CONTRACT)] == CONTRACT for row in rows)
    assert [(row["verifier"], row["task"], row["proxy"]) for row in rows] == [
        (verifier, task, proxy)
        for verifier, tasks in ((ATLAS, (None, MODALITY, DISEASE)), (BEACON, (None, MODALITY)))
        for proxy in ("fraction", "times_even", "gradient")
        for task in tasks
    ]
    assert {row["run_id"] for row in rows} == {run_id(VQA_RAD, ATLAS, ATLAS), run_id(VQA_RAD, ATLAS, BEACON)}


def test_a_row_without_a_task_is_over_all_and_tests_between_tasks(looked: Path) -> None:
    every, modality, disease = rows_of(looked, "--model", ATLAS)[:3]
    assert (every["n"], every["gap"]) == (6, pytest.approx(1.25 / 6))
    assert every["gap_low"] < every["gap"] < every["gap_high"]
    assert every["kruskal_df"] == 1 and 0 < every["kruskal_p"] < 1
    assert (modality["n"], modality["generator_even"], modality["kruskal_p"]) == (4, pytest.approx(0.8), None)
    assert (disease["gap"], disease["verifier_even"]) == (pytest.approx(0.225), pytest.approx(0.2))


def test_what_is_undefined_is_null_and_counted(looked: Path) -> None:
    row = next(row for row in rows_of(looked) if (row["proxy"], row["task"]) == ("gradient", DISEASE))
    assert (row["n"], row["n_undefined"]) == (1, 1)
    assert all(row[name] is None for name in ("gap_low", "d_paired", "d_pooled", "generator_even", "verifier_even"))


def test_a_table_is_by_outcome_where_asked(looked: Path) -> None:
    rows = [row for row in rows_of(looked, "--by", "outcome", "--model", ATLAS) if row["proxy"] == "fraction"]
    assert "task" not in rows[0]
    assert [(row["outcome"], row["n"]) for row in rows] == [(None, 6), ("tp", 2), ("fp", 2), ("tn", 1), ("fn", 1)]


def test_the_table_for_people_says_how_many_looks_it_rests_on(looked: Path) -> None:
    told = done("metrics", "saliency", "--store", looked).out
    assert "looked into on both sides" in told and "Kruskal–Wallis H = " in told
    assert f"5 verifications without a look at the generator: {NO_ANSWER}" in told, "controls are told of, too"
    assert f"1 verification without a look at the verifier: {NO_MEMORY}" in told


def test_a_suite_without_looks_and_unknown_names_say_what_to_do(looked: Path) -> None:
    assert rows_of(looked, "--suite", OWN) == []
    told = done("metrics", "saliency", "--suite", OWN, "--store", looked)
    assert "0 of 11 verifications" in told.err and "saliency run" in told.err
    unknown = call("metrics", "saliency", "--model", "GPT", "--store", looked)
    assert unknown.code == 2 and f"VLMs: {ATLAS}, {BEACON}." in unknown.err
    assert call("metrics", "saliency", "--suite", "none", "--store", looked).code == 2
