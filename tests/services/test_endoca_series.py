"""Runs and printed rows stand side by side, told apart, with figures worked out by hand."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from backend.services.endoca_series import (
    BlindFinding,
    blind_finding,
    choices,
    complexity_table,
    endoca_suites,
    group_table,
    lacks_answers,
    of_questions,
    outcome_table,
    printed_shift,
    records,
    runs_of,
    series_table,
    suite_facts,
    vlm_places,
)
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.opening import open_store
from backend.store.filters import UnitFilter
from backend.store.store import Store
from tests.pages.paired_store import PARTED, SILENT, STEADY, SUITE, make_store
from tests.services.endoca_files import prediction_lines, write_jsonl

WHOLE = UnitFilter(suite=SUITE)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Three samples of complexity 1, 2 and 3; three VLMs, of which two have faults."""
    make_store(tmp_path / "store.duckdb")
    with open_store(tmp_path / "store.duckdb") as opened:
        yield opened


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "empty.duckdb") as opened:
        yield opened


def run_ids(store: Store) -> dict[str, str]:
    return {run["vlm"]: run["run_id"] for run in runs_of(store, SUITE)}


def add_blind(store: Store, folder: Path) -> None:
    """Add a baseline that answers every question with its reference."""
    lines = write_jsonl(folder / "blind.jsonl", prediction_lines("Usual answers"))
    import_endoca(store, [SourceFile.at(lines)], vlm_group="blind")


def test_each_run_has_its_scores_with_counts(store: Store) -> None:
    rows = {row["vlm"]: row for row in records(series_table(store, WHOLE))}
    assert set(rows) == {STEADY, PARTED, SILENT}
    parted = rows[PARTED]
    assert parted["complex_accuracy"] == 1
    assert (parted["joint_accuracy_k"], parted["joint_accuracy_n"]) == (2, 3)
    assert (parted["inconsistency_k"], parted["inconsistency_n"]) == (1, 3)
    assert parted["consistency"] == pytest.approx(2 / 3)
    assert parted["consistency_low"] == pytest.approx(1 - parted["inconsistency_high"])
    assert (parted["origin"], parted["vlm_group"], parted["label"]) == ("imported", None, PARTED)
    assert rows[SILENT]["n_missing"] == 1 and rows[SILENT]["n_failed"] == 1


def test_a_run_lacks_answers_above_one_in_twenty_and_a_printed_row_never(store: Store) -> None:
    rows = {row["vlm"]: row for row in records(series_table(store, WHOLE))}
    assert lacks_answers(rows[SILENT]), "two of nine are missing or failed"
    assert not lacks_answers(rows[STEADY])
    counts = {"run_id": "r", "n_units": 40, "n_atomic": 60, "n_missing": 4}
    assert [lacks_answers(counts | {"n_failed": failed}) for failed in (1, 2)] == [False, True]
    assert not lacks_answers({"run_id": None, "n_missing": None})


def test_printed_rows_carry_values_and_nothing_that_was_not_printed(empty: Store) -> None:
    table = series_table(empty, UnitFilter(suite="core"))
    assert len(table) == 11
    assert set(table["origin"]) == {"published"}
    best = records(table[table["vlm"] == "MedGemma-FT"])[0]
    assert (best["complex_accuracy"], best["joint_accuracy"]) == (0.745, 0.558)
    assert best["consistency"] == pytest.approx(0.749)
    assert best["n_printed"] == 27736
    assert best["label"] == "MedGemma-FT, printed"
    unknown = ("run_id", "n_units", "all_atomic_accuracy", "complex_accuracy_low", "complex_accuracy_n", "missing_rate")
    assert [best[key] for key in unknown] == [None] * len(unknown)


def test_nothing_in_a_table_is_nan(empty: Store, store: Store) -> None:
    for table in (series_table(empty, UnitFilter(suite="core")), series_table(store, WHOLE), group_table(store, WHOLE)):
        cells = [value for row in records(table) for value in row.values() if not isinstance(value, tuple)]
        assert not [value for value in cells if value is not None and pd.isna(value)]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (UnitFilter(suite="core"), 11),
        (UnitFilter(suite="core", groups=("closed_source",)), 3),
        (UnitFilter(suite="core", origins=("imported",)), 0),
        (UnitFilter(suite="core", origins=("published",)), 11),
        (UnitFilter(suite="core", complexities=(2,)), 0),
        (UnitFilter(suite="core", splits=("test",)), 0),
        (UnitFilter(suite="core", classes=("polyp_count",)), 0),
        (UnitFilter(suite="core", outcomes=("inconsistent",)), 11),
        (UnitFilter(suite="elsewhere"), 0),
    ],
)
def test_printed_rows_stand_only_for_the_whole_suite(empty: Store, chosen: UnitFilter, expected: int) -> None:
    assert len(series_table(empty, chosen)) == expected


def test_scores_ignore_conditions_on_the_answers(store: Store) -> None:
    by_answer = UnitFilter(
        suite=SUITE, outcomes=("supported",), text="polyp", classes=("polyp_count",), part_wrong=True
    )
    assert of_questions(by_answer) == UnitFilter(suite=SUITE, classes=("polyp_count",))
    chosen = UnitFilter(suite=SUITE, outcomes=("inconsistent",))
    pd.testing.assert_frame_equal(series_table(store, chosen), series_table(store, WHOLE))


def test_complexity_breaks_down_the_runs_asked_for(store: Store) -> None:
    parted = run_ids(store)[PARTED]
    table = complexity_table(store, WHOLE, (parted,))
    assert [(row["complexity"], row["n_units"], row["all_atomic_accuracy"]) for row in records(table)] == [
        (1, 1, 1.0),
        (2, 1, 0.0),
        (3, 1, 1.0),
    ]
    assert set(table["run_id"]) == {parted}


def test_a_group_pools_its_runs_and_names_them(store: Store) -> None:
    [row] = records(group_table(store, WHOLE))
    assert (row["origin"], row["vlm_group"], row["n_runs"], row["n_units"]) == ("imported", "not known", 3, 9)
    assert set(row["run_ids"]) == set(run_ids(store).values())


def test_origins_and_groups_are_never_pooled(store: Store, tmp_path: Path) -> None:
    add_blind(store, tmp_path)
    assert [(row["vlm_group"], row["n_runs"]) for row in records(group_table(store, WHOLE))] == [
        ("blind", 1),
        ("not known", 3),
    ]


def test_outcomes_of_a_run_add_up_to_its_units(store: Store) -> None:
    table = outcome_table(store, UnitFilter(suite=SUITE, outcomes=("supported",)))
    parted = {row["outcome"]: row for row in records(table) if row["vlm"] == PARTED}
    assert {name: row["n_units"] for name, row in parted.items()} == {"supported": 2, "inconsistent": 1}
    assert parted["inconsistent"]["n_total"] == 3
    assert parted["inconsistent"]["plain"] == "right answer, wrong part"


def test_a_vlm_keeps_its_place_when_others_come(store: Store, tmp_path: Path) -> None:
    before = vlm_places(store)
    assert [before[vlm] for vlm in ("InternVL2.5-8B", "Claude Opus 4.7")] == [0, 10], "printed ones as printed"
    assert {before[vlm] for vlm in (STEADY, PARTED, SILENT)} == {11, 12, 13}
    add_blind(store, tmp_path)
    another = write_jsonl(tmp_path / "another.jsonl", prediction_lines("A first name in the alphabet"))
    import_endoca(store, [SourceFile.at(another)])
    assert vlm_places(store) == before | {"A first name in the alphabet": 14}


def test_the_blind_baseline_is_found_last_and_compared_by_joint_accuracy(store: Store, tmp_path: Path) -> None:
    assert blind_finding(records(series_table(store, WHOLE))) is None
    add_blind(store, tmp_path)
    table = series_table(store, WHOLE)
    assert table["vlm"].iloc[-1] == "Usual answers" and table["place"].iloc[-1] == -1
    finding = blind_finding(records(table))
    assert finding is not None and finding.best is not None
    assert finding.baseline["vlm"] == "Usual answers"
    assert finding.best["vlm"] == STEADY
    assert not finding.beats_all, "equal is not above"


@pytest.mark.parametrize(("baseline", "best", "beats"), [(0.65, 0.56, True), (0.5, 0.56, False)])
def test_the_baseline_beats_all_when_the_best_is_below_it(baseline: float, best: float, beats: bool) -> None:
    rows: list[dict[str, Any]] = [{"joint_accuracy": baseline}, {"joint_accuracy": best}]
    assert BlindFinding(*rows).beats_all is beats
    assert not BlindFinding(rows[0], None).beats_all


def test_runs_alike_but_for_their_prompt_have_labels_of_their_own(store: Store) -> None:
    with store.write() as cursor:
        cursor.execute(
            "INSERT INTO runs SELECT 'copy' AS run_id, * EXCLUDE (run_id) FROM runs WHERE vlm = ? LIMIT 1", [STEADY]
        )
        cursor.execute("UPDATE runs SET prompt_version = 'v2' WHERE run_id = 'copy'")
    labels = {run["label"] for run in runs_of(store, SUITE)}
    assert {f"{STEADY} (imported, prompt v2)", f"{STEADY} (imported, prompt unknown)", PARTED} <= labels


def test_what_a_suite_offers_is_listed_once_and_sorted(store: Store) -> None:
    offered = choices(store, SUITE)
    assert offered.complexities == (1, 2, 3)
    assert offered.splits == ("test",)
    assert offered.origins == ("imported",)
    assert choices(store, "core").origins == ("published",)
    assert offered.classes == ("box_artifact_presence", "instrument_presence", "polyp_count", "text_presence")
    assert endoca_suites(store) == [SUITE, "core", "diagnostic"], "suites with units come first"


def test_the_facts_of_a_suite_are_counted(store: Store) -> None:
    assert suite_facts(store, SUITE) == (3, 1, 0, 6, 6)
    assert suite_facts(store, "elsewhere") == (0, 0, 0, 0, 0)


def test_the_largest_printed_change_between_the_suites_is_named(empty: Store) -> None:
    shift = printed_shift(empty)
    assert shift is not None
    assert (shift.vlm, shift.suites) == ("Claude Opus 4.7", ("core", "diagnostic"))
    assert shift.values == pytest.approx((0.761, 0.566))
    assert shift.next_largest == pytest.approx(0.02)


def test_no_change_is_named_where_one_suite_is_printed(empty: Store) -> None:
    with empty.write() as cursor:
        cursor.execute("DELETE FROM published WHERE suite = 'diagnostic'")
    assert printed_shift(empty) is None
