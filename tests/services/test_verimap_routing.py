"""Where a question goes: by the printed cells without a store, by the store's own verdicts with one."""

import csv
from collections.abc import Iterator

import pytest

from backend.errors import AppError
from backend.services.endoca_series import records
from backend.services.verimap_cells import cell_table, verdict_table
from backend.services.verimap_routing import printed_route, route_of_cell, stored_route
from backend.store.store import Store
from backend.store.verification_filters import VerificationFilter
from backend.verimap.outcomes import Policy
from backend.verimap.routing import RouteDecision, RoutingThresholds
from backend.verimap.vocabulary import Task
from tests.conftest import ROOT
from tests.services.verification_store import ATLAS, BEACON, MODALITY, SPATIAL, make_verification_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with make_verification_store(tmp_path_factory.mktemp("routing") / "routing.duckdb") as made:
        yield made


def test_a_printed_route_rests_on_the_mean_over_data_sets_with_undefined_rates_left_out() -> None:
    with (ROOT / "data" / "published" / "verimap_cells.csv").open(encoding="utf-8") as opened:
        cells = [
            row for row in csv.DictReader(opened) if (row["task"], row["model"]) == ("causal_explanation", "Gemma-3")
        ]
    found = printed_route(Task.CAUSAL_EXPLANATION, "Gemma-3")
    assert found.cell is not None and found.cell.error is not None and found.cell.fpr is not None
    errors = [100 - float(row["verifier_accuracy"]) for row in cells]
    defined = [float(row["fpr"]) for row in cells if float(row["generator_accuracy"]) < 100]
    assert (len(errors), len(defined)) == (5, 4), "one cell has no wrong answer, hence no FPR"
    assert 100 * found.cell.error == pytest.approx(sum(errors) / 5)
    assert 100 * found.cell.fpr == pytest.approx(sum(defined) / 4)
    assert found.cell.n is None and found.fpr_high is None
    assert found.decision is RouteDecision.EXTERNAL


def test_printed_figures_never_make_a_verifier_trusted() -> None:
    decisions = {printed_route(task, "Lingshu").decision for task in Task}
    assert RouteDecision.TRUST not in decisions


def test_an_unprinted_verifier_is_answered_with_the_printed_ones() -> None:
    with pytest.raises(AppError) as raised:
        printed_route(MODALITY, "GPT")
    assert "Gemma-3, MedGemma" in raised.value.hint and "--store" in raised.value.hint


def test_a_stored_route_adds_up_the_data_sets_and_says_so(store: Store) -> None:
    found = stored_route(store, Task.DISEASE_CLASSIFICATION, ATLAS)
    assert found.cell is not None
    assert (found.cell.n, found.cell.n_wrong, found.cell.generator) == (4, 3, ATLAS), "3 of VQA-RAD and 1 of own"
    assert found.cell.source == "verdicts in the store on VQA-RAD, own"
    cross = stored_route(store, SPATIAL, BEACON, ATLAS)
    assert cross.cell is not None and (cross.cell.generator, cross.cell.n) == (ATLAS, 2)


def test_a_task_without_verdicts_is_said_to_be_unmeasured(store: Store) -> None:
    found = stored_route(store, Task.CAUSAL_EXPLANATION, ATLAS)
    assert found.cell is None and found.decision is RouteDecision.EXTERNAL
    assert "has not been measured" in found.reason


@pytest.mark.parametrize(
    ("verifier", "generator", "hint"),
    [("Nobody", None, f"Verifiers: {ATLAS}, {BEACON}."), (ATLAS, "Nobody", f"whose answers: {ATLAS}, {BEACON}.")],
)
def test_unknown_names_are_answered_with_the_known(
    store: Store, verifier: str, generator: str | None, hint: str
) -> None:
    with pytest.raises(AppError) as raised:
        stored_route(store, MODALITY, verifier, generator)
    assert hint in raised.value.hint


def test_each_cell_of_the_plane_has_its_route_and_a_cell_without_a_task_has_none(store: Store) -> None:
    verdicts = verdict_table(store, VerificationFilter(turns=(0,)))
    rows = records(cell_table(store, verdicts[verdicts["condition"] == "plain"], Policy()))
    for row in rows:
        found = route_of_cell(row, RoutingThresholds())
        assert (found is None) == (row["task"] is None)
        if found is not None:
            assert found.cell is not None and found.cell.n == row["n"]
            assert found.decision is not RouteDecision.TRUST, "a handful of verdicts shows nothing"
