"""Promises of the cells: one a run, task and turn, nothing pooled, every figure as worked out by hand."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from backend.domain.statistics.intervals import wilson_interval
from backend.services.verimap_cells import (
    any_verification,
    cell_table,
    placed,
    verdict_table,
    verification_choices,
    verifier_places,
)
from backend.store.store import Store
from backend.store.verification_filters import UNLABELLED, VerificationFilter
from backend.verimap.outcomes import Policy, Treatment
from backend.verimap.quadrants import PlaneThresholds
from tests.services.verification_store import (
    ATLAS,
    BEACON,
    DISEASE,
    MODALITY,
    OWN,
    SPATIAL,
    VQA_RAD,
    make_verification_store,
    run_id,
)

FIRST = VerificationFilter(turns=(0,))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with make_verification_store(tmp_path_factory.mktemp("verdicts") / "verdicts.duckdb") as made:
        yield made


def cells_of(store: Store, chosen: VerificationFilter = FIRST, policy: Policy | None = None) -> list[dict[str, Any]]:
    verdicts = verdict_table(store, chosen)
    plain = verdicts[verdicts["condition"].astype(object) == "plain"]
    return [
        {str(key): value for key, value in row.items()}
        for row in cell_table(store, plain, policy or Policy()).to_dict("records")
    ]


def cell(rows: list[dict[str, Any]], suite: str, generator: str, verifier: str, task: str | None) -> dict[str, Any]:
    wanted = {"suite": suite, "generator": generator, "verifier": verifier, "task": task}
    [found] = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
    return found


@pytest.mark.parametrize(
    ("suite", "generator", "verifier", "task", "counts", "metrics"),
    [
        (VQA_RAD, ATLAS, ATLAS, MODALITY, (2, 1, 1, 0), {"error": 1 / 4, "fpr": 1 / 2, "fnr": 0, "bias": 1 / 4}),
        (VQA_RAD, ATLAS, ATLAS, DISEASE, (0, 1, 1, 1), {"error": 2 / 3, "fpr": 1 / 2, "bias": 0, "dskew": 0}),
        (VQA_RAD, ATLAS, BEACON, DISEASE, (1, 0, 1, 0), {"error": 1 / 2, "fpr": 1, "bias": 1 / 2, "dskew": 1 / 2}),
        (VQA_RAD, BEACON, ATLAS, MODALITY, (2, 2, 0, 0), {"error": 0, "fpr": 0, "fnr": 0, "bias": 0, "dskew": None}),
        (OWN, ATLAS, ATLAS, SPATIAL, (1, 0, 2, 0), {"error": 2 / 3, "fpr": 1, "bias": 2 / 3, "dskew": 2 / 3}),
        (OWN, ATLAS, ATLAS, None, (1, 0, 1, 0), {"error": 1 / 2, "fpr": 1, "fnr": 0}),
        (OWN, ATLAS, BEACON, DISEASE, (0, 1, 0, 0), {"error": 0, "fpr": 0, "fnr": None, "dskew": None}),
    ],
)  # fmt: skip
def test_a_cell_has_the_counts_and_metrics_worked_out_by_hand(
    store: Store,
    suite: str,
    generator: str,
    verifier: str,
    task: str | None,
    counts: tuple[int, ...],
    metrics: dict[str, float | None],
) -> None:
    row = cell(cells_of(store), suite, generator, verifier, task)
    assert tuple(row[name] for name in ("tp", "tn", "fp", "fn")) == counts
    assert row["n"] == sum(counts)
    for key, value in metrics.items():
        assert row[key] == (None if value is None else pytest.approx(value)), key


def test_there_is_a_cell_a_run_and_task_and_nothing_is_pooled(store: Store) -> None:
    rows = cells_of(store)
    assert len(rows) == 14
    assert len({row["key"] for row in rows}) == 14
    assert sum(row["n"] for row in rows) == 39, "43 verdicts, 2 unjudged, 2 without a verdict left out"
    assert {row["turn"] for row in rows} == {0} and {row["condition"] for row in rows} == {"plain"}


def test_each_turn_of_a_loop_is_a_cell_of_its_own(store: Store) -> None:
    rows = cells_of(store, VerificationFilter(suites=(VQA_RAD,), generators=(ATLAS,), verifiers=(ATLAS,)))
    assert [(row["task"], row["turn"]) for row in rows] == [
        (task, turn) for task in (MODALITY, DISEASE) for turn in range(3)
    ]


def test_a_second_measurement_of_the_same_pair_is_a_second_cell(tmp_path: Path) -> None:
    with make_verification_store(tmp_path / "twice.duckdb") as store:
        verified = run_id(VQA_RAD, ATLAS, ATLAS)
        with store.write() as cursor:
            cursor.execute(
                "INSERT INTO runs SELECT * REPLACE ('again' AS run_id) FROM runs WHERE run_id = ?", [verified]
            )
            cursor.execute(
                "INSERT INTO verifications SELECT * REPLACE ('again' AS run_id) FROM verifications WHERE run_id = ?",
                [verified],
            )
        chosen = VerificationFilter(suites=(VQA_RAD,), generators=(ATLAS,), verifiers=(ATLAS,), turns=(0,))
        rows = cells_of(store, chosen)
    assert [row["n"] for row in rows] == [4, 4, 3, 3]
    assert {row["run_id"] for row in rows} == {verified, "again"}


def test_undecided_verdicts_are_counted_as_the_policy_says(store: Store) -> None:
    rejected = cell(cells_of(store), VQA_RAD, ATLAS, ATLAS, DISEASE)
    dropped = cell(cells_of(store, policy=Policy(uncertain=Treatment.DROP)), VQA_RAD, ATLAS, ATLAS, DISEASE)
    assert (rejected["tn"], rejected["n"], rejected["n_dropped"]) == (1, 3, 0)
    assert (dropped["tn"], dropped["n"], dropped["n_dropped"]) == (0, 2, 1)
    assert rejected["n_uncertain"] == dropped["n_uncertain"] == 1
    assert rejected["n_unjudged"] == 1
    unparsed = cell(cells_of(store, policy=Policy(unparsed=Treatment.REJECT)), VQA_RAD, ATLAS, BEACON, DISEASE)
    assert (unparsed["tn"], unparsed["n"], unparsed["n_unparsed"]) == (1, 3, 1)


def test_shares_have_wilson_s_interval_and_their_counts(store: Store) -> None:
    row = cell(cells_of(store), VQA_RAD, ATLAS, ATLAS, MODALITY)
    expected = wilson_interval(1 / 4, 4)
    assert expected is not None
    assert (row["error_low"], row["error_high"]) == (expected.low, expected.high)
    assert (row["fpr_k"], row["fpr_n"]) == (1, 2)


def test_a_cell_says_who_verifies_and_where_it_comes_from(store: Store) -> None:
    rows = cells_of(store)
    own, cross = cell(rows, VQA_RAD, ATLAS, ATLAS, MODALITY), cell(rows, OWN, ATLAS, BEACON, SPATIAL)
    assert (own["is_self"], own["origin"], own["vlm_group"], own["group"]) == (
        True, "precomputed", "general_open", "perceptual",
    )  # fmt: skip
    assert (cross["is_self"], cross["origin"], cross["vlm_group"]) == (False, "imported", "medical_open")
    assert cell(rows, OWN, ATLAS, ATLAS, None)["group"] is None


def test_cells_stand_in_the_order_of_the_paper_and_the_unlabelled_ones_last(store: Store) -> None:
    rows = cells_of(store)
    assert [row["suite"] for row in rows] == [VQA_RAD] * 8 + [OWN] * 6
    assert [row["task"] for row in rows[8:]] == [SPATIAL, SPATIAL, DISEASE, DISEASE, None, None]


def test_conditions_on_outcomes_and_words_leave_the_verdicts_whole(store: Store) -> None:
    everything = verdict_table(store, FIRST)
    chosen = VerificationFilter(
        turns=(0,), verdict_outcomes=("fp",), text="liver", pairing="self", conditions=("plain",)
    )
    assert len(verdict_table(store, chosen)) == len(everything) == 67


def test_a_small_cell_has_a_place_and_is_told_to_be_small(store: Store) -> None:
    verdicts = verdict_table(store, FIRST)
    table = cell_table(store, verdicts[verdicts["condition"].astype(object) == "plain"], Policy())
    for min_n, small in ((30, True), (4, False)):
        rows = placed(table, PlaneThresholds(min_n=min_n)).to_dict("records")
        row = cell([{str(key): value for key, value in one.items()} for one in rows], VQA_RAD, BEACON, BEACON, MODALITY)
        assert row["too_small"] is small
        assert (row["quadrant_fpr"], row["quadrant_bias"], row["quadrant_dskew"]) == ("mirage", "mirage", "mirage")


def test_a_cell_without_a_value_has_no_place_on_that_panel() -> None:
    rows = pd.DataFrame([{"error": 0.5, "fpr": None, "bias": 0.5, "dskew": None, "n": 40}], dtype=object)
    [row] = placed(rows, PlaneThresholds()).to_dict("records")
    assert (row["quadrant_fpr"], row["quadrant_bias"], row["quadrant_dskew"]) == (None, "mirage", None)


def test_the_choices_are_those_of_the_store(store: Store) -> None:
    choices = verification_choices(store)
    assert choices.suites == (VQA_RAD, OWN)
    assert choices.tasks == (MODALITY, SPATIAL, DISEASE, UNLABELLED)
    assert choices.generators == choices.verifiers == (ATLAS, BEACON)
    assert choices.conditions == ("plain", "two_step", "image_withheld", "image_swapped")
    assert (choices.turns, choices.origins) == ((0, 1, 2), ("imported", "precomputed"))


def test_printed_vlms_keep_the_first_shapes(store: Store) -> None:
    places = verifier_places(store)
    assert list(places)[:2] == ["Gemma-3", "MedGemma"] and places["Phi-4-Multimodal"] == 5
    assert (places[ATLAS], places[BEACON]) == (6, 7)


def test_an_empty_store_has_no_verification_and_nothing_to_choose(tmp_path: Path) -> None:
    with Store.create(tmp_path / "empty.duckdb") as empty:
        assert not any_verification(empty)
        assert verification_choices(empty).tasks == ()
        assert cell_table(empty, verdict_table(empty, VerificationFilter()), Policy()).empty
