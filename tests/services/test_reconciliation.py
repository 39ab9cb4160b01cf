"""Whole runs before and after reconciliation: figures worked out by hand, and lists that hold what they count."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.records import Stage
from backend.domain.vlm import Decoding
from backend.endoca.asr import Variant
from backend.endoca.reconciliation import Move, part_moves
from backend.services.endoca_series import records
from backend.services.ingest.answers import Answer, put_answers
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.noise_floor import again_setting, noise_floor
from backend.services.opening import open_store
from backend.services.reconciliation import (
    Reconciliation,
    _outcomes,
    _parts,
    change_table,
    coverage_table,
    decision_tracking,
    move_table,
    reconciled_table,
    reconciliations,
)
from backend.services.runs.plan import Plan, VlmIdentity
from backend.services.runs.record import new_record
from backend.store.filters import UNREADABLE, UnitFilter
from backend.store.store import Store
from backend.store.unit_lists import unit_count, unit_page
from tests.services.endoca_files import manifest_lines, write_jsonl
from tests.services.reconciled_store import (
    AGAIN,
    ATOMIC,
    DIRECT,
    REVISED,
    SUITE,
    VLM,
    make_store,
    put,
    run_id,
    run_key,
)

WHOLE = UnitFilter(suite=SUITE)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = tmp_path_factory.mktemp("reconciled") / "store.duckdb"
    make_store(path)
    with open_store(path) as opened:
        yield opened


def of_variant(store: Store, variant: Variant) -> Reconciliation:
    [found] = [one for one in reconciliations(store, WHOLE) if one.variant is variant]
    return found


def samples(store: Store, chosen: UnitFilter) -> list[str]:
    return list(unit_page(store, chosen, offset=0, limit=50)["source_id"])


def test_revise_and_select_of_one_direct_run_are_one_reconciliation_a_variant(store: Store) -> None:
    asr, control = reconciliations(store, WHOLE)
    assert (asr.variant, control.variant) == (Variant.ASR, Variant.SELF)
    assert asr.runs == (run_id(Stage.DIRECT), run_id(Stage.REVISE), run_id(Stage.SELECT))
    assert control.runs == (run_id(Stage.DIRECT), run_id(Stage.SELF_REVISE), run_id(Stage.SELF_SELECT))
    assert (asr.vlm, asr.vlm_group, asr.revised) == (VLM, "medical_open", run_id(Stage.REVISE))


def test_runs_of_another_prompt_version_are_another_reconciliation(tmp_path: Path) -> None:
    make_store(tmp_path / "store.duckdb", both=False)
    with open_store(tmp_path / "store.duckdb") as store:
        other = replace(run_key(Stage.SELECT), prompt_version="endoca-2")
        put(store, other, REVISED, run_id(Stage.DIRECT), {"11": ("answer", "consistent", "", "")})
        found = {one.prompt_version: one for one in reconciliations(store, WHOLE)}
        assert found["endoca-2"].revise is None
        assert found["endoca-2"].revised == other.run_id, "a Select run holds Revise's answers"
        assert found["endoca-1"].select == run_id(Stage.SELECT)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (UnitFilter(suite=SUITE, runs=(run_id(Stage.DIRECT),)), 2),
        (UnitFilter(suite=SUITE, runs=(run_id(Stage.SELF_SELECT),)), 1),
        (UnitFilter(suite=SUITE, groups=("medical_open",)), 2),
        (UnitFilter(suite=SUITE, groups=("closed_source",)), 0),
        (UnitFilter(suite=SUITE, origins=("imported",)), 0),
        (UnitFilter(suite="core"), 0),
    ],
)
def test_a_filter_on_runs_chooses_reconciliations(store: Store, chosen: UnitFilter, expected: int) -> None:
    assert len(reconciliations(store, chosen)) == expected
    assert len(reconciled_table(store, chosen)) == expected


def test_the_tables_of_the_paper_by_hand(store: Store) -> None:
    asr, control = records(reconciled_table(store, WHOLE))
    assert (asr["direct.complex_accuracy_k"], asr["direct.complex_accuracy_n"]) == (1, 3), "sample 22 alone"
    assert (asr["revised.complex_accuracy_k"], asr["revised.complex_accuracy_n"]) == (1, 3), "sample 11 alone"
    assert (asr["direct.joint_accuracy_k"], asr["revised.joint_accuracy_k"]) == (0, 1)
    assert (asr["direct.inconsistency"], asr["revised.inconsistency"]) == (1, 0)
    assert (asr["complex_change"], asr["joint_change"]) == (0, pytest.approx(1 / 3))
    assert asr["inconsistency_change"] == -1
    assert (asr["repairs"], asr["harms"], asr["complex_change_p"]) == (1, 1, 1)
    assert (asr["select.coverage_k"], asr["select.coverage_n"]) == (2, 3)
    assert (asr["select.selective_accuracy_k"], asr["select.selective_accuracy_n"]) == (1, 2)
    assert (asr["n_unreadable"], asr["n_echoed"], asr["n_unanswered"]) == (1, 0, 0)

    assert control["direct.complex_accuracy"] == asr["direct.complex_accuracy"], "one direct run"
    assert (control["repairs"], control["harms"]) == (1, 0)
    assert control["revised.complex_accuracy_k"] == 2
    assert control["select.selective_accuracy"] == 1
    assert (control["n_unreadable"], control["n_echoed"]) == (0, 1), "33 repeats another answer"


def test_joint_accuracy_is_complex_accuracy_times_consistency_at_every_step(store: Store) -> None:
    for row in records(reconciled_table(store, WHOLE)):
        for step in ("direct", "revised", "select"):
            inconsistency = row[f"{step}.inconsistency"]
            expected = row[f"{step}.complex_accuracy"] * (1 - inconsistency)
            assert row[f"{step}.joint_accuracy"] == pytest.approx(expected)


def test_nothing_in_the_tables_is_nan_and_steps_that_decide_nothing_have_no_coverage(store: Store) -> None:
    for table in (reconciled_table(store, WHOLE), change_table(store, WHOLE)):
        assert not [value for row in records(table) for value in row.values() if value is not None and pd.isna(value)]
    row = records(reconciled_table(store, WHOLE))[0]
    assert row["direct.coverage"] is None and row["revised.selective_accuracy"] is None


def test_repairs_and_harms_stand_by_complexity_and_class(store: Store) -> None:
    rows = {
        (row["by"], row["group"]): row
        for row in records(change_table(store, WHOLE))
        if row["revised"] == run_id(Stage.REVISE)
    }
    counts = {key: (row["n"], row["repairs"], row["harms"]) for key, row in rows.items()}
    assert counts == {
        ("complexity", 1): (1, 1, 0),
        ("complexity", 2): (1, 0, 1),
        ("complexity", 3): (1, 0, 0),
        ("question_class", "box_artifact_presence"): (1, 0, 1),
        ("question_class", "instrument_presence"): (1, 0, 0),
        ("question_class", "polyp_count"): (2, 0, 1),
        ("question_class", "text_presence"): (2, 1, 0),
    }
    assert rows["question_class", "text_presence"]["change"] == 0.5
    assert rows["complexity", 1]["change_low"] is None, "one image cannot be resampled"


def test_repairs_and_harms_are_the_lists_that_their_links_open(store: Store) -> None:
    for row in records(change_table(store, WHOLE)):
        where = UnitFilter(suite=SUITE, runs=(row["revised"],))
        if row["by"] == "complexity":
            where = replace(where, complexities=(row["group"],))
        else:
            where = replace(where, classes=(row["group"],))
        repaired = replace(where, right=row["revised"], wrong=row["base"])
        harmed = replace(where, right=row["base"], wrong=row["revised"])
        assert unit_count(store, repaired) == row["repairs"]
        assert unit_count(store, harmed) == row["harms"]


def test_a_part_that_takes_its_premises_value_has_moved_to_it(store: Store) -> None:
    asr = {
        (row["question_class"], row["move"]): row
        for row in records(move_table(store, of_variant(store, Variant.ASR), WHOLE))
    }
    moved = {key: (row["n_parts"], row["n_right_before"], row["n_right_after"]) for key, row in asr.items()}
    assert moved == {
        ("box_artifact_presence", Move.KEPT): (1, 1, 1),
        ("instrument_presence", Move.KEPT): (1, 1, 1),
        ("polyp_count", Move.KEPT): (1, 1, 1),
        ("polyp_count", Move.TO_PREMISE): (1, 1, 0),
        ("text_presence", Move.KEPT): (1, 0, 0),
        ("text_presence", Move.TO_PREMISE): (1, 0, 1),
    }
    of_class = move_table(store, of_variant(store, Variant.ASR), UnitFilter(suite=SUITE, classes=("polyp_count",)))
    assert set(of_class["question_class"]) == {"polyp_count"}


def test_decisions_are_held_against_correctness(store: Store) -> None:
    asr = of_variant(store, Variant.ASR)
    found = decision_tracking(store, asr, WHOLE)
    assert found is not None and found.area is not None
    assert found[:4] == (1, 1, 0, 1)
    assert found.area.value == 1, "11 is trusted more than 22 and 33"
    curve = coverage_table(store, asr, WHOLE)
    assert list(curve["coverage"]) == pytest.approx([1 / 3, 2 / 3, 1])
    assert list(curve["accuracy"]) == pytest.approx([1, 1 / 2, 1 / 3])
    assert list(curve["consistency"]) == ["consistent", "partly consistent", None]
    assert list(curve["agreement"]) == pytest.approx([1, 1, 2 / 3])


def test_without_a_select_run_nothing_is_decided(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.duckdb") as store:
        import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / f"{SUITE}.jsonl", manifest_lines()))])
        put(store, run_key(Stage.REVISE), REVISED, put(store, run_key(Stage.DIRECT), DIRECT))
        [one] = reconciliations(store, WHOLE)
        assert decision_tracking(store, one, WHOLE) is None
        assert coverage_table(store, one, WHOLE).empty
        [row] = records(reconciled_table(store, WHOLE))
        assert (row["select"], row["select.coverage"], row["n_unreadable"]) == (None, None, 0)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (UnitFilter(suite=SUITE, runs=(run_id(Stage.SELECT),), decision="answer"), ["11", "22"]),
        (UnitFilter(suite=SUITE, runs=(run_id(Stage.SELECT),), decision="abstain"), ["33"]),
        (UnitFilter(suite=SUITE, runs=(run_id(Stage.REVISE),), decision="abstain"), []),
        (UnitFilter(suite=SUITE, runs=(run_id(Stage.SELECT),), consistency="partly consistent"), ["22"]),
        (UnitFilter(suite=SUITE, runs=(run_id(Stage.SELECT),), consistency=UNREADABLE), ["33"]),
        (UnitFilter(suite=SUITE, runs=(run_id(Stage.REVISE),), moved="to_premise"), ["11", "22"]),
        (
            UnitFilter(suite=SUITE, runs=(run_id(Stage.REVISE),), moved="to_premise", classes=("text_presence",)),
            ["11"],
        ),
        (UnitFilter(suite=SUITE, runs=(run_id(Stage.DIRECT),), moved="kept"), []),
    ],
)
def test_decisions_labels_and_moves_choose_cases(store: Store, chosen: UnitFilter, expected: list[str]) -> None:
    assert samples(store, chosen) == expected


def test_a_unit_without_a_decision_is_withheld_and_counted_apart_from_unreadable_ones(tmp_path: Path) -> None:
    make_store(tmp_path / "store.duckdb", both=False)
    with open_store(tmp_path / "store.duckdb") as store:
        with store.write() as cursor:
            cursor.execute("DELETE FROM decisions WHERE unit_id LIKE '%:22'")
        select = (run_id(Stage.SELECT),)
        assert samples(store, UnitFilter(suite=SUITE, runs=select, decision="abstain")) == ["22", "33"]
        assert samples(store, UnitFilter(suite=SUITE, runs=select, consistency=UNREADABLE)) == ["22", "33"]
        [row] = records(reconciled_table(store, WHOLE))
        assert (row["select.coverage_k"], row["n_unreadable"], row["n_undecided"]) == (1, 1, 1)


def test_failed_decisions_are_not_called_unreadable_and_an_empty_reply_is(tmp_path: Path) -> None:
    make_store(tmp_path / "store.duckdb", both=False)
    with open_store(tmp_path / "store.duckdb") as store:
        with store.write() as cursor:
            for sample, problem, reply in (
                ("11", "The call timed out after 30 s. Try again.", ""),
                ("22", "Not asked: the call for its direct answer failed.", ""),
                ("33", "not one JSON object", ""),
            ):
                cursor.execute(
                    "UPDATE decisions SET decision = 'abstain', consistency = NULL, problem = ?, reply = ? "
                    "WHERE unit_id = ?",
                    [problem, reply, f"{SUITE}:{sample}"],
                )
        [row] = records(reconciled_table(store, WHOLE))
        assert (row["n_unreadable"], row["n_select_failed"], row["n_undecided"]) == (1, 2, 0)


def test_revised_answers_that_are_missing_or_failed_are_counted_and_so_are_the_harms_among_them(
    tmp_path: Path,
) -> None:
    """Right before was sample 22 alone; it fails, and 11 is missing."""
    with open_store(tmp_path / "store.duckdb") as store:
        import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / f"{SUITE}.jsonl", manifest_lines()))])
        put(store, run_key(Stage.REVISE), {"22": "", "33": REVISED["33"]}, put(store, run_key(Stage.DIRECT), DIRECT))
        with store.write() as cursor:
            failed = [Answer(f"{SUITE}:22::complex", "", "The call timed out.")]
            put_answers(cursor, run_key(Stage.REVISE), failed, "a test", None)
        [row] = records(reconciled_table(store, WHOLE))
        assert (row["n_unanswered"], row["harms"], row["harms_unanswered"], row["repairs"]) == (2, 1, 1, 0)


SENTENCES = st.sampled_from(
    ["Yes.", "No.", "", "Two polyps and a green box artifact.", "Three polyps and no box artifact.",
     "No residual polyps.", "I cannot say.", "One polyp, and a box artifact."]
)  # fmt: skip


ATTEMPTS = st.tuples(SENTENCES, SENTENCES, st.sampled_from(["2", "3", "many", ""]), SENTENCES)


@settings(max_examples=3, deadline=None)
@given(st.lists(ATTEMPTS, min_size=5, max_size=8))
def test_the_filter_on_moves_lists_exactly_the_units_that_the_definition_moves(
    tmp_path_factory: pytest.TempPathFactory, attempts: list[tuple[str, str, str, str]]
) -> None:
    path = tmp_path_factory.mktemp("moves")
    with open_store(path / "store.duckdb") as store:
        import_endoca(store, [SourceFile.at(write_jsonl(path / f"{SUITE}.jsonl", manifest_lines()))])
        for number, (direct, revised, count, box) in enumerate(attempts):
            atomic = ATOMIC | {"22::atomic::0": count, "22::atomic::1": box}
            setting = f"attempt {number}"
            base = put(store, run_key(Stage.DIRECT, setting), DIRECT | {"22": direct}, atomic_answers=atomic)
            put(store, run_key(Stage.REVISE, setting), DIRECT | {"22": revised}, base, atomic_answers=atomic)
        for one in reconciliations(store, WHOLE):
            parts = part_moves(_parts(store, one, _outcomes(store, one, WHOLE)[1]))
            for move in Move:
                for classes in ((), ("polyp_count",)):
                    of_class = parts[parts["question_class"].isin(classes)] if classes else parts
                    expected = of_class.loc[of_class["move"] == move, "unit_id"].nunique()
                    chosen = UnitFilter(suite=SUITE, runs=(one.revised,), moved=move, classes=classes)
                    assert unit_count(store, chosen) == expected


def test_the_noise_floor_counts_what_a_second_decoding_changes(store: Store) -> None:
    [floor] = noise_floor(store, run_id(Stage.DIRECT), WHOLE)
    assert floor.second == run_id(Stage.DIRECT, "again")
    assert (floor.differing.k, floor.differing.n, floor.n_other_words) == (1, 3, 1)
    assert (floor.result.a_wrong_b_right, floor.result.a_right_b_wrong) == (1, 0)


def test_there_is_no_noise_floor_without_a_second_direct_run(tmp_path: Path) -> None:
    make_store(tmp_path / "store.duckdb", again=False, both=False)
    with open_store(tmp_path / "store.duckdb") as store:
        assert noise_floor(store, run_id(Stage.DIRECT), WHOLE) == []


@pytest.mark.parametrize(
    ("setting", "again"),
    [("", "again"), ("zero-shot", "zero-shot again"), ("zero-shot again", "zero-shot again")],
)
def test_a_decoding_again_has_the_same_setting_and_the_word_after_it(setting: str, again: str) -> None:
    assert again_setting(setting) == again


def test_another_setting_decoding_or_build_is_no_decoding_again(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.duckdb") as store:
        import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / f"{SUITE}.jsonl", manifest_lines()))])
        base = put(store, run_key(Stage.DIRECT, "zero-shot"), DIRECT)
        again = put(store, run_key(Stage.DIRECT, "zero-shot again"), AGAIN)
        for other in (
            run_key(Stage.DIRECT, "fine-tuned"),
            run_key(Stage.DIRECT, "again"),
            replace(run_key(Stage.DIRECT, "zero-shot"), decoding="greedy, 20 new tokens"),
        ):
            put(store, other, AGAIN)
        assert [floor.second for floor in noise_floor(store, base, WHOLE)] == [again]
        assert [floor.second for floor in noise_floor(store, again, WHOLE)] == [base]
        for build, others in (("first", [again]), ("second", [])):
            with store.write() as cursor:
                cursor.execute("DELETE FROM run_facts")
                for run, weights in ((base, "first"), (again, build)):
                    record = new_record(plan_of(weights), 64)
                    cursor.execute("INSERT INTO run_facts VALUES (?, ?)", [run, record.model_dump_json()])
            assert [floor.second for floor in noise_floor(store, base, WHOLE)] == others


def plan_of(weights: str) -> Plan:
    """Return a plan of the VLM with such weights; nothing is asked."""
    return Plan(run_key(Stage.DIRECT), VlmIdentity(VLM, None, {"weights": weights}), Decoding(), "0" * 64, ())


def test_a_unit_that_the_second_run_did_not_answer_says_nothing_about_noise(tmp_path: Path) -> None:
    make_store(tmp_path / "store.duckdb", again=False, both=False)
    with open_store(tmp_path / "store.duckdb") as store:
        put(store, run_key(Stage.DIRECT, "again"), {"22": DIRECT["22"]})
        [floor] = noise_floor(store, run_id(Stage.DIRECT), WHOLE)
        assert (floor.differing.k, floor.differing.n) == (0, 1)


def test_a_part_of_the_suite_is_chosen_by_questions_alone(store: Store) -> None:
    part = UnitFilter(suite=SUITE, complexities=(1, 2), outcomes=("mixed",), decision="abstain")
    rows: list[dict[str, Any]] = records(reconciled_table(store, part))
    assert [row["n_units"] for row in rows] == [2, 2], "conditions on answers choose cases, not figures"
