"""Lists of units count each unit once, know what one run answered, and agree with the sums over them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from backend.endoca.metrics import metric_table, metrics_from_image_sums
from backend.services.explore import atomic_by_class
from backend.store.filters import UNREAD, UnitFilter
from backend.store.queries import atom_sums, image_sums, outcome_counts, run_groups, unit_outcomes
from backend.store.store import Store
from backend.store.unit_lists import unit_answers, unit_count, unit_page
from tests.pages.paired_store import PARTED, SILENT, STEADY, SUITE, make_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    make_store(tmp_path / "store.duckdb")
    with Store.open(tmp_path / "store.duckdb") as opened:
        yield opened


def run_of(store: Store, vlm: str) -> str:
    return str(store.value("SELECT run_id FROM runs WHERE vlm = ?", [vlm]))


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (UnitFilter(), 3),
        (UnitFilter(suite=SUITE, complexities=(2, 3)), 2),
        (UnitFilter(suite=SUITE, outcomes=("inconsistent",)), 1),
        (UnitFilter(suite="elsewhere"), 0),
    ],
)
def test_a_unit_counts_once_however_many_runs_answered_it(store: Store, chosen: UnitFilter, expected: int) -> None:
    assert unit_count(store, chosen) == expected
    assert len(unit_page(store, chosen, offset=0, limit=10)) == expected


@pytest.mark.parametrize("status", UNREAD)
def test_the_cases_of_an_answer_status_are_those_behind_its_count(store: Store, status: str) -> None:
    for vlm, sample in ((SILENT, {"unparsed": "33"}.get(status, "22")), (STEADY, None)):
        chosen = UnitFilter(suite=SUITE, runs=(run_of(store, vlm),), statuses=(status,))
        page = unit_page(store, chosen, offset=0, limit=10)
        assert list(page["source_id"]) == ([sample] if sample else [])
        sums = image_sums(store, replace(chosen, statuses=()), ["run_id"])
        assert sums[f"n_{status}"].sum() == len(page), "no sample holds two of a kind"
    assert unit_count(store, UnitFilter(suite=SUITE, statuses=(status,))) == 1
    assert unit_count(store, UnitFilter(suite=SUITE, statuses=tuple(UNREAD))) == 2


def test_a_unit_without_any_run_is_listed(store: Store) -> None:
    with store.write() as cursor:
        cursor.execute("DELETE FROM outcomes")
    assert unit_count(store, UnitFilter(suite=SUITE)) == 3
    assert unit_count(store, UnitFilter(suite=SUITE, runs=(run_of(store, STEADY),))) == 0


def test_a_list_says_whether_the_image_is_at_hand(store: Store) -> None:
    with store.write() as cursor:
        cursor.execute("UPDATE images SET root = '/', path = 'a.png' WHERE file LIKE '%frame-a%'")
    page = unit_page(store, UnitFilter(suite=SUITE), offset=0, limit=10)
    assert dict(zip(page["source_id"], page["image_at_hand"], strict=True)) == {"11": True, "22": True, "33": False}


def test_the_answers_of_a_run_are_verbatim_with_their_outcome(store: Store) -> None:
    answers = unit_answers(store, run_of(store, PARTED), [f"{SUITE}:22"])
    assert answers.to_dict("records") == [
        {
            "unit_id": f"{SUITE}:22",
            "answer": "Two polyps and a green box artifact.",
            "outcome": "inconsistent",
            "n_atoms": 2,
            "n_atoms_correct": 1,
        }
    ]


def test_runs_are_listed_with_origin_and_group(store: Store) -> None:
    with store.write() as cursor:
        cursor.execute("UPDATE runs SET vlm_group = 'medical_open' WHERE vlm = ?", [SILENT])
    groups = run_groups(store, UnitFilter(suite=SUITE)).set_index("run_id")
    assert set(groups["origin"]) == {"imported"}
    assert groups.loc[run_of(store, SILENT), "vlm_group"] == "medical_open"
    assert groups.loc[run_of(store, STEADY), "vlm_group"] == "not known"


FILTERS = [
    UnitFilter(),
    UnitFilter(suite="elsewhere"),
    UnitFilter(suite=SUITE, complexities=(2,)),
    UnitFilter(suite=SUITE, splits=("train",)),
    UnitFilter(suite=SUITE, origins=("imported",), outcomes=("inconsistent", "supported")),
    UnitFilter(suite=SUITE, classes=("polyp_count",), part_wrong=True),
    UnitFilter(suite=SUITE, text="polyps"),
]


@pytest.mark.parametrize("chosen", FILTERS, ids=UnitFilter.sentence)
def test_a_filter_means_the_same_units_in_lists_and_in_sums(store: Store, chosen: UnitFilter) -> None:
    outcomes = unit_outcomes(store, chosen)
    pd.testing.assert_frame_equal(
        metrics_from_image_sums(image_sums(store, chosen, ["run_id", "complexity"]), ["run_id"]),
        metric_table(outcomes, ["run_id"]),
        check_dtype=False,
    )
    assert outcome_counts(store, chosen)["n_units"].sum() == len(outcomes)
    assert unit_page(store, chosen, offset=0, limit=10)["n_runs"].sum() == len(outcomes)


@pytest.mark.parametrize("chosen", FILTERS, ids=UnitFilter.sentence)
def test_a_filter_means_the_same_atomic_questions_as_units(store: Store, chosen: UnitFilter) -> None:
    if not chosen.classes:
        atoms = atom_sums(store, chosen, ["run_id", "complexity", "question_type"], by_image=False)
        assert atoms["n_atomic"].sum() == unit_outcomes(store, chosen)["n_atoms"].sum()
    else:
        assert set(atom_sums(store, chosen, ["question_class"])["question_class"]) == set(chosen.classes)


def test_classes_have_the_same_scores_with_and_without_intervals(store: Store) -> None:
    chosen = UnitFilter(suite=SUITE)
    exact, quick = atomic_by_class(store, chosen), atomic_by_class(store, chosen, False)
    same = ["run_id", "question_class", "n_atomic", "n_missing", "atomic_accuracy", "atomic_accuracy_k"]
    assert exact[same].equals(quick[same])
    assert quick["atomic_accuracy_low"].isna().all() and "n_images" not in quick
