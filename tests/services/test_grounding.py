"""The grounding gap from the store: which verifications have both looks, their numbers, and tests by hand."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import kruskal, wilcoxon

from backend.domain.records import Origin, RunKey, Stage, System
from backend.services.endoca_series import records
from backend.services.grounding import (
    FailedLooks,
    any_look,
    grounding_counts,
    grounding_table,
    grounding_tests,
    group_filter,
)
from backend.services.ingest.suites import put_run
from backend.store.store import Store
from backend.store.verification_filters import BOTH, UNLABELLED, VerificationFilter, verification_count
from backend.verimap.proxies import ALL, NO_OUTCOME, Proxy
from tests.services.grounding_store import GENERATOR, NO_ANSWER, NO_MEMORY, VERIFIER, Numbers, make_grounding_store, put
from tests.services.verification_store import (
    ATLAS,
    BEACON,
    DISEASE,
    MODALITY,
    OWN,
    VQA_RAD,
    make_verification_store,
    run_id,
    unit_of,
)

SELF = VerificationFilter(runs=(run_id(VQA_RAD, ATLAS, ATLAS),))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with make_grounding_store(tmp_path_factory.mktemp("looks") / "looks.duckdb") as made:
        yield made


@pytest.fixture(scope="module")
def table(store: Store) -> pd.DataFrame:
    return grounding_table(store, SELF)


def test_every_verification_is_counted_once_by_what_was_looked_into(store: Store) -> None:
    counts = grounding_counts(store, VerificationFilter())
    assert counts.n == verification_count(store, VerificationFilter()) == 59
    assert (counts.n_both, counts.n_generator_only, counts.n_verifier_only, counts.n_failed, counts.n_neither) == (
        7, 7, 2, 3, 40,
    )  # fmt: skip
    assert counts.failures == (FailedLooks("generator", NO_ANSWER, 2), FailedLooks("verifier", NO_MEMORY, 1))


def test_the_counts_do_not_depend_on_a_choice_by_looks(store: Store) -> None:
    assert grounding_counts(store, replace(SELF, looked=BOTH)) == grounding_counts(store, SELF)


def test_a_row_is_a_verification_with_both_looks(store: Store) -> None:
    table = grounding_table(store, VerificationFilter())
    assert len(table) == 7
    assert [(row["source_id"], row["verifier"]) for row in records(table)] == [
        ("1", ATLAS), ("1", BEACON), ("2", ATLAS), ("3", ATLAS), ("4", ATLAS), ("5", ATLAS), ("6", ATLAS),
    ]  # fmt: skip
    assert verification_count(store, VerificationFilter(looked=BOTH)) == 7
    assert len(grounding_table(store, VerificationFilter(looked=BOTH))) == 7


def test_a_row_says_whose_looks_they_are_and_every_number(table: pd.DataFrame) -> None:
    first, *_, last = records(table)
    assert {name: first[name] for name in (
        "unit_id", "suite", "task", "generator", "verifier", "condition", "turn", "run_id", "base_run_id",
        "oracle_correct", "verdict", "outcome")} == {
            "unit_id": unit_of(VQA_RAD, "1"), "suite": VQA_RAD, "task": MODALITY, "generator": ATLAS,
            "verifier": ATLAS, "condition": "plain", "turn": 0, "run_id": run_id(VQA_RAD, ATLAS, ATLAS),
            "base_run_id": run_id(VQA_RAD, ATLAS), "oracle_correct": True, "verdict": "CORRECT", "outcome": "tp",
    }  # fmt: skip
    for row in records(table):
        for side, looks in (("generator", GENERATOR), ("verifier", VERIFIER)):
            look: Numbers = looks[row["source_id"]]
            assert (row[f"{side}_fraction"], row[f"{side}_even"], row[f"{side}_gradient"], row[f"{side}_tokens"]) == (
                look.fraction, look.even, look.gradient, look.n_tokens,
            )  # fmt: skip
    assert first["generator_times_even"] == pytest.approx(1.0) and first["verifier_times_even"] == pytest.approx(1.0)
    assert last["verifier_even"] == 0 and last["verifier_times_even"] is None and last["verifier_gradient"] is None


def test_the_filter_s_policy_and_choice_hold(store: Store) -> None:
    accepted = grounding_table(store, replace(SELF, verdict_outcomes=("fp",)))
    assert [row["source_id"] for row in records(accepted)] == ["3", "6"]
    assert grounding_table(store, VerificationFilter(suites=(OWN,))).empty


def test_the_first_look_of_a_two_step_verdict_is_no_answer(tmp_path: Path) -> None:
    with make_verification_store(tmp_path / "store.duckdb") as store:
        verdicts = run_id(VQA_RAD, ATLAS, ATLAS)
        before = RunKey(System.VERIMAP, VQA_RAD, ATLAS, Stage.LOOK, Origin.PRECOMPUTED, "")
        with store.write() as cursor:
            put_run(cursor, before, None, "a test")
            cursor.execute("INSERT INTO run_bases VALUES (?, ?)", [verdicts, before.run_id])
            probe = f"{unit_of(VQA_RAD, '1')}:generate"
            cursor.execute("INSERT INTO answers VALUES (?, ?, 'A scan.', '')", [before.run_id, probe])
        put(store, verdicts, {"1": Numbers(0.5)})
        put(store, before.run_id, {"1": Numbers(0.9)})
        assert grounding_table(store, SELF).empty
        put(store, run_id(VQA_RAD, ATLAS), {"1": Numbers(0.8)})
        assert [row["generator_fraction"] for row in records(grounding_table(store, SELF))] == [0.8]
        assert grounding_counts(store, SELF).n == 8


def test_alike_rows_of_a_file_have_no_look_of_their_own(tmp_path: Path) -> None:
    with make_grounding_store(tmp_path / "store.duckdb") as store:
        with store.write() as cursor:
            cursor.execute(
                "INSERT INTO verifications SELECT * REPLACE (1 AS place) FROM verifications WHERE run_id = ?", SELF.runs
            )
        counts = grounding_counts(store, SELF)
        assert (counts.n, counts.n_both, counts.n_failed, counts.n_neither) == (16, 6, 2, 8)
        assert verification_count(store, replace(SELF, looked=BOTH)) == 6


def test_a_failed_look_is_a_look_and_an_empty_store_has_none(tmp_path: Path) -> None:
    with make_verification_store(tmp_path / "store.duckdb") as store:
        assert not any_look(store)
        assert grounding_table(store, SELF).empty and grounding_counts(store, SELF).n_neither == 8
        put(store, SELF.runs[0], {"1": NO_MEMORY})
        assert any_look(store)


def test_tests_of_each_task_and_of_all_are_those_of_the_formulas(table: pd.DataFrame) -> None:
    every, modality, disease = records(grounding_tests(table, Proxy.FRACTION))
    assert [row["group"] for row in (every, modality, disease)] == [ALL, MODALITY, DISEASE]
    assert (every["n"], every["n_images"], every["n_lower"], every["n_undefined"]) == (6, 3, 5, 0)
    assert every["generator_mean"] == pytest.approx((0.8 + 0.7 + 0.6 + 0.9 + 0.5 + 0.75) / 6)
    assert every["gap"] == pytest.approx((0.3 + 0.3 - 0.1 + 0.3 + 0.2 + 0.25) / 6)
    assert every["gap_low"] < every["gap"] < every["gap_high"]
    assert every["hypothesis"] == "H1: generator > verifier, one-sided"
    assert (modality["generator_even"], modality["verifier_even"]) == (pytest.approx(0.8), pytest.approx(0.5))
    assert disease["verifier_even"] == pytest.approx(0.2)
    assert (modality["gap"], disease["gap"]) == (pytest.approx(0.2), pytest.approx(0.225))
    assert disease["p"] == pytest.approx(wilcoxon([0.2, 0.25], alternative="greater", method="exact").pvalue)
    expected = kruskal([0.3, 0.3, -0.1, 0.3], [0.2, 0.25])
    assert every["kruskal_statistic"] == pytest.approx(expected.statistic)
    assert (every["kruskal_df"], every["kruskal_p"]) == (1, pytest.approx(expected.pvalue))
    assert modality["kruskal_p"] is None and modality["kruskal_df"] is None


def test_an_undefined_value_is_left_out_and_counted(table: pd.DataFrame) -> None:
    every, _, disease = records(grounding_tests(table, Proxy.GRADIENT))
    assert (every["n"], every["n_undefined"], disease["n"], disease["n_undefined"]) == (5, 1, 1, 1)
    assert disease["gap"] == pytest.approx(0.5) and disease["d_paired"] is None and disease["gap_low"] is None
    assert every["generator_even"] is None, "a gradient has no even share"
    _, _, of_times = records(grounding_tests(table, Proxy.TIMES_EVEN))
    assert (of_times["n"], of_times["n_undefined"]) == (1, 1)
    assert of_times["verifier_even"] == pytest.approx(0.4), "over the pairs that count"


def test_a_group_without_a_value_says_n_a_everywhere(table: pd.DataFrame) -> None:
    alone = table[table["source_id"] == "6"]
    every, disease = records(grounding_tests(alone, Proxy.GRADIENT))
    assert {name for name, value in disease.items() if value is not None} == {
        "group", "n", "n_undefined", "n_images", "n_lower",
    }  # fmt: skip
    assert every["kruskal_p"] is None
    assert grounding_tests(alone[:0], Proxy.FRACTION).empty


def test_groups_by_outcome_keep_those_without_one(store: Store, table: pd.DataFrame) -> None:
    dropped = grounding_table(store, replace(SELF, uncertain="drop"))
    assert [row["group"] for row in records(grounding_tests(dropped, Proxy.FRACTION, "outcome"))] == [
        ALL, "tp", "fp", "tn", "fn",
    ]  # fmt: skip
    unjudged = table.assign(outcome=pd.Series([None, *table["outcome"][1:]], dtype=object))
    assert grounding_tests(unjudged, Proxy.FRACTION, "outcome")["group"].tolist()[-1] == NO_OUTCOME


@pytest.mark.parametrize("by", ["task", "outcome"])
@pytest.mark.parametrize("chosen", [SELF, VerificationFilter(generators=(ATLAS,), uncertain="drop")])
def test_the_filter_behind_a_group_chooses_its_pairs(store: Store, chosen: VerificationFilter, by: str) -> None:
    for row in records(grounding_tests(grounding_table(store, chosen), Proxy.FRACTION, by)):  # type: ignore[arg-type]
        assert verification_count(store, group_filter(chosen, by, row["group"])) == row["n"]  # type: ignore[arg-type]


def test_the_filter_behind_what_has_no_outcome_follows_the_policy() -> None:
    def kinds(chosen: VerificationFilter) -> tuple[str, ...]:
        return group_filter(chosen, "outcome", NO_OUTCOME).verdict_outcomes

    assert kinds(VerificationFilter()) == ("unparsed", "unjudged")
    assert kinds(VerificationFilter(uncertain="drop", unparsed="reject")) == ("uncertain", "unjudged")
    assert kinds(VerificationFilter(verdict_outcomes=("tp", "unjudged"))) == ("unjudged",)
    assert group_filter(VerificationFilter(groups=("perceptual",)), "task", UNLABELLED).groups == ()
