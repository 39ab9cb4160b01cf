"""Coupling: the printed cells under both treatments, the store's own cells by hand, tests with their pairs."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backend.services.endoca_series import records
from backend.services.verimap_coupling import (
    CellSource,
    cell_points,
    count_fits,
    coupling_cells,
    fitted_line,
    metric_fits,
    self_cross_tests,
    task_slopes,
    task_tests,
)
from backend.store.store import Store
from backend.store.verification_filters import BOTH, VerificationFilter
from backend.verimap.undefined_rates import Undefined
from tests.services.verification_store import ATLAS, BEACON, DISEASE, MODALITY, OWN, VQA_RAD, make_verification_store

SELF = VerificationFilter(pairing="self")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with make_verification_store(tmp_path_factory.mktemp("coupling") / "coupling.duckdb") as made:
        yield made


def test_the_store_s_cells_are_self_verified_first_answers(store: Store) -> None:
    cells = coupling_cells(store, SELF, CellSource.STORE)
    rows = {(row["suite"], row["task"], row["model"]): row for row in records(cells.table)}
    assert len(rows) == 6 and cells.n_unlabelled == 2
    own = rows[VQA_RAD, DISEASE, ATLAS]
    assert [own[name] for name in ("tp", "tn", "fp", "fn", "n", "dataset")] == [0, 1, 1, 1, 3, "VQA-RAD"]
    assert (own["generator_accuracy"], own["fpr"], own["fnr"]) == (pytest.approx(100 / 3), 50, 100)


def test_cross_cells_name_both_vlms_and_both_pairings_keep_them_apart(store: Store) -> None:
    cross = coupling_cells(store, replace(SELF, pairing="cross"), CellSource.STORE).table
    assert set(cross["model"]) == {f"{ATLAS} by {BEACON}", f"{BEACON} by {ATLAS}"}
    both = coupling_cells(store, replace(SELF, pairing=BOTH), CellSource.STORE).table
    assert len(both) == len(cross) + 6


def test_an_undefined_rate_is_none_among_the_points(store: Store) -> None:
    points = {
        (row["suite"], row["task"], row["model"]): row
        for row in records(cell_points(coupling_cells(store, SELF, CellSource.STORE), Undefined.DROP))
    }
    own = points[OWN, DISEASE, ATLAS]
    assert (own["p_g"], own["fpr"], own["fnr"], own["dskew"], own["bias"]) == (1.0, 0.0, None, None, 0.0)


def test_the_printed_slope_of_fpr_falls_once_undefined_rates_are_left_out(store: Store) -> None:
    printed = coupling_cells(store, SELF, CellSource.PRINTED)
    taken, dropped = (metric_fits(printed, undefined)["fpr"] for undefined in (Undefined.AS_PRINTED, Undefined.DROP))
    assert taken.fit.estimates is not None and dropped.fit.estimates is not None
    assert (taken.fit.n, dropped.fit.n, dropped.n_dropped) == (210, 208, 2)
    assert taken.fit.estimates.slope.value == pytest.approx(0.216, abs=0.001)
    assert dropped.fit.estimates.slope.value == pytest.approx(0.022, abs=0.001)
    causal = {undefined: task_slopes(printed, undefined)["fpr"]["causal_explanation"] for undefined in Undefined}
    as_printed, left_out = causal[Undefined.AS_PRINTED], causal[Undefined.DROP]
    assert as_printed is not None and left_out is not None
    assert [as_printed.slope, left_out.slope] == [pytest.approx(0.78, abs=0.01), pytest.approx(0.07, abs=0.005)]


def test_the_line_is_the_population_s_with_its_band(store: Store) -> None:
    fit = metric_fits(coupling_cells(store, SELF, CellSource.PRINTED), Undefined.DROP)["bias"]
    assert fit.fit.estimates is not None
    line = fitted_line(fit, 0.0, 1.0)
    intercept, slope = fit.fit.estimates.intercept, fit.fit.estimates.slope
    assert line[0] == (0.0, intercept.value, intercept.low, intercept.high)
    assert line[-1][:2] == pytest.approx((1.0, intercept.value + slope.value))
    assert all(low < value < high for _, value, low, high in line)


def test_a_fit_that_did_not_converge_has_no_line(store: Store) -> None:
    fits = metric_fits(coupling_cells(store, SELF, CellSource.STORE), Undefined.DROP)
    assert fits["fnr"].fit.estimates is None and fitted_line(fits["fnr"], 0.0, 1.0) == []


def test_answers_are_counted_once_by_whether_the_generator_erred(store: Store) -> None:
    coupling = count_fits(coupling_cells(store, SELF, CellSource.STORE))
    assert coupling is not None
    assert {model.fit.n for model in coupling.models.values()} == {7 + 8 + 4}, "both of VQA-RAD and Atlas's of own"
    assert count_fits(coupling_cells(store, SELF, CellSource.PRINTED)) is None, "the paper prints no counts"


def test_self_and_cross_are_paired_by_answers(store: Store) -> None:
    rows = {row["metric"]: row for row in records(self_cross_tests(store, SELF))}
    assert list(rows) == ["error", "fpr", "bias", "dskew"]
    error = rows["error"]
    # Atlas: modality 1/4 and 1/4, disease 2/3 and 1/2, spatial 2/3 and 1/2, disease of own 0 and 0;
    # Beacon: modality 2/4 and 0, disease 3/4 and 2/3.
    assert (error["n_pairs"], error["n_equal"], error["hypothesis"]) == (6, 2, "H1: self > cross, one-sided")
    assert error["mean"] == pytest.approx((0 + 1 / 6 + 1 / 6 + 0 + 1 / 2 + 1 / 12) / 6)
    assert rows["dskew"]["n_undefined"] == 2
    chosen = VerificationFilter(verifiers=(ATLAS,))
    assert {row["n_pairs"] for row in records(self_cross_tests(store, chosen)) if row["metric"] == "error"} == {2}


def test_without_cross_verification_there_is_no_pair(store: Store) -> None:
    assert self_cross_tests(store, VerificationFilter(verifiers=("nobody",))).empty


def test_cells_are_compared_between_tasks(store: Store) -> None:
    rows = records(task_tests(coupling_cells(store, SELF, CellSource.STORE), Undefined.DROP))
    fpr = next(row for row in rows if row["metric"] == "fpr")
    assert (fpr["n"], fpr["n_tasks"], fpr["df"]) == (6, 3, 2)
    assert MODALITY in set(coupling_cells(store, SELF, CellSource.STORE).table["task"])


def test_a_store_without_verdicts_has_no_cells(tmp_path: Path) -> None:
    with Store.create(tmp_path / "empty.duckdb") as empty:
        cells = coupling_cells(empty, SELF, CellSource.STORE)
        assert cells.table.empty and metric_fits(cells, Undefined.DROP) == {}
        assert count_fits(cells) is None and self_cross_tests(empty, SELF).empty
