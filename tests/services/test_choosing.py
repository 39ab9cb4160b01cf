"""A name typed by a person means a stored suite or run, or is answered with those there are."""

from pathlib import Path

import pytest

from backend.domain.records import Origin, RunKey, Stage, System
from backend.errors import AppError
from backend.services.choosing import find_pair, find_run, find_runs, find_suite
from backend.services.ingest.suites import put_run
from backend.services.opening import open_store
from backend.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two suites; A on both, B on ``one`` in two settings and an ASR stage, C on ``two``."""
    opened = open_store(tmp_path / "store.duckdb")
    runs = [("A", "one", "", "direct"), ("A", "two", "", "direct"), ("C", "two", "", "direct")]
    runs += [
        ("B", "one", "", "direct"),
        ("B", "one", "", "revise"),
        ("D", "one", "x", "direct"),
        ("D", "one", "y", "direct"),
    ]
    with opened.write() as cursor:
        for name in ("one", "two"):
            cursor.execute("INSERT INTO suites (suite, system, source) VALUES (?, 'endoca', '')", [name])
        for vlm, suite, setting, stage in runs:
            put_run(cursor, RunKey(System.ENDOCA, suite, vlm, stage, Origin.IMPORTED, setting), None, "")
    return opened


def test_nothing_named_means_everything_in_order(store: Store) -> None:
    found = [(run.suite, run.vlm, run.setting, run.stage) for run in find_runs(store, System.ENDOCA)]
    assert found == sorted(found)
    assert len(found) == 7
    assert find_runs(store, System.VERIMAP) == []


def test_names_and_ids_restrict_the_runs(store: Store) -> None:
    assert {run.suite for run in find_runs(store, System.ENDOCA, names=["A"])} == {"one", "two"}
    [run] = find_runs(store, System.ENDOCA, names=["A"], suite="two")
    assert find_runs(store, System.ENDOCA, names=[run.run_id]) == [run]


def test_the_direct_answers_are_meant_where_stages_are_several(store: Store) -> None:
    assert find_run(store, System.ENDOCA, "B").stage == Stage.DIRECT


def test_a_pair_stands_on_the_one_suite_both_have_answered(store: Store) -> None:
    a, b = find_pair(store, System.ENDOCA, "A", "B")
    assert (a.suite, b.suite) == ("one", "one")


@pytest.mark.parametrize(
    ("names", "suite", "words"),
    [
        (["Z"], None, "VLMs: A, B, C, D"),
        (["A"], "three", "Suites: one, two"),
        (["C"], "one", "It has answered: two"),
        (["A"], None, "--suite: one, two"),
        (["D"], None, "by its id: D.one"),
        (["B", "C"], None, "B: one; C: two"),
        (["A", "A"], None, "--suite: one, two"),
    ],
)
def test_what_cannot_be_meant_is_answered_with_what_can(
    store: Store, names: list[str], suite: str | None, words: str
) -> None:
    with pytest.raises(AppError, match=words):
        if len(names) == 1:
            find_run(store, System.ENDOCA, names[0], suite=suite)
        else:
            find_pair(store, System.ENDOCA, names[0], names[1], suite=suite)


def test_a_store_without_suites_says_what_to_do(tmp_path: Path) -> None:
    with open_store(tmp_path / "empty.duckdb") as empty, pytest.raises(AppError, match="import a file first"):
        find_suite(empty, System.ENDOCA, "core")
