"""Coupling: the reference fits of lme4, the published tables, and what each fit has to say of itself."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from backend.verimap.cell_rates import METRICS
from backend.verimap.coupling import CELL_MODEL, COUNT_MODELS, Coupling, fit_cells, fit_counts
from backend.verimap.mixed_linear import LinearEstimates
from backend.verimap.undefined_rates import Undefined
from tests.conftest import ROOT
from tests.verimap.simulated_counts import Truth, drawn_counts

PUBLISHED = pd.read_csv(ROOT / "data" / "published" / "verimap_cells.csv")
COUNTS = drawn_counts(Truth(-1, 2, [(0.5, 0.7), (1, 1), (0.3, 0.3)], -0.5), (3, 3, 2), 12, seed=5)


@pytest.fixture(scope="module")
def reference(shared: Path) -> Path:
    """Fits by lme4."""
    return shared / "reference_values"


@pytest.fixture(scope="module")
def fitted(reference: Path) -> Coupling:
    """The simulated counts of the reference, fitted."""
    return fit_counts(pd.read_csv(reference / "glmm_sim_agg.csv"))


def estimates_of(metric: str, undefined: Undefined) -> LinearEstimates:
    """Fit one metric of the published cells."""
    found = fit_cells(PUBLISHED, undefined)[metric].fit.estimates
    assert found is not None
    return found


@pytest.mark.parametrize("metric", METRICS)
def test_cells_as_printed_are_fitted_as_by_lme4_and_lmertest(metric: str, reference: Path) -> None:
    theirs = json.loads((reference / "lmm_lme4.json").read_text("utf-8"))[metric]
    of_metric = fit_cells(PUBLISHED, Undefined.AS_PRINTED)[metric]
    found = of_metric.fit.estimates
    assert found is not None
    assert (of_metric.fit.n, of_metric.n_dropped, of_metric.fit.singular) == (theirs["n"], 0, theirs["singular"])
    ours = {
        "beta0": found.intercept.value, "se0": found.intercept.se, "df0": found.intercept.df, "p0": found.intercept.p,
        "beta1": found.slope.value, "se1": found.slope.se, "df1": found.slope.df, "p1": found.slope.p,
        **{f"var_{factor}": variance for factor, variance in found.variances.items()},
        "var_resid": found.residual_variance, "r2m": found.r2.marginal, "r2c": found.r2.conditional,
        "reml_loglik": found.reml_loglik,
    }  # fmt: skip
    for name, value in ours.items():
        assert value == pytest.approx(theirs[name], abs=1e-6, rel=1e-6), name
    assert [found.slope.low, found.slope.high] == pytest.approx(theirs["ci1_satterthwaite"], abs=1e-6)


@pytest.mark.parametrize(
    ("metric", "n", "name"),
    [("fnr", 204, "fnr_defined"), ("fpr", 208, "fpr_defined"), ("bias", 210, "bias_all"), ("dskew", 207, "dskew_def"),
     ("fpr_minus_fnr", 202, "diff_defined")],
)  # fmt: skip
def test_cells_with_undefined_rates_dropped_are_fitted_as_by_lme4(
    metric: str, n: int, name: str, reference: Path
) -> None:
    theirs = json.loads((reference / "lmm_undefined_cells_sensitivity.json").read_text("utf-8"))[name]
    of_metric = fit_cells(PUBLISHED)[metric]
    found = of_metric.fit.estimates
    assert found is not None
    assert (of_metric.fit.n, of_metric.n_dropped) == (n, 210 - n)
    assert (found.intercept.value, found.slope.value, found.slope.se, found.slope.p) == pytest.approx(
        (theirs["beta0"], theirs["beta1"], theirs["se1"], theirs["p"]), abs=1e-6
    )


@pytest.mark.parametrize(
    ("row", "metric"), [("FNR", "fnr"), ("FPR", "fpr"), ("Bias", "fpr_minus_fnr"), ("dSkew", "bias")]
)
def test_tables_4_and_5_come_out_of_the_printed_cells_under_other_names(row: str, metric: str, reference: Path) -> None:
    printed: dict[str, Any] = json.loads((reference / "verimap_published_tables_1_5.json").read_text("utf-8"))
    slopes, spread = printed["table4"][row], printed["table5"][row]
    found = estimates_of(metric, Undefined.AS_PRINTED)
    assert found.intercept.value == pytest.approx(slopes["beta0"], abs=3e-3)
    assert found.slope.value == pytest.approx(slopes["beta1"], abs=3e-3)
    assert found.slope.se == pytest.approx(slopes["se"], abs=3e-3)
    assert list(found.variances.values()) == pytest.approx([spread["rt"], spread["model"], spread["ds"]], abs=3e-3)
    assert (found.r2.marginal, found.r2.conditional) == pytest.approx((spread["r2m"], spread["r2c"]), abs=3e-3)
    assert abs(found.residual_variance - spread["sigma2"]) > 3e-3


def test_the_slope_of_fpr_goes_with_two_cells_that_have_no_wrong_answer() -> None:
    printed, dropped = (estimates_of("fpr", undefined).slope for undefined in (Undefined.AS_PRINTED, Undefined.DROP))
    assert (round(printed.value, 3), round(printed.p, 3)) == (0.216, 0.003)
    assert (round(dropped.value, 3), round(dropped.p, 2)) == (0.022, 0.74)


@pytest.mark.parametrize("model", COUNT_MODELS)
def test_counts_are_fitted_as_by_lme4(model: str, reference: Path, fitted: Coupling) -> None:
    theirs = json.loads((reference / "glmm_sim_lme4.json").read_text("utf-8"))[f"{model}_agg"]
    ours = fitted.models[model]
    found = ours.fit.estimates
    assert found is not None
    assert found.loglik == pytest.approx(theirs["loglik"], abs=1e-5)
    assert (ours.fit.n, ours.fit.n_rows, ours.fit.df, ours.fit.singular) == (32_000, 408, theirs["df"], False)
    assert ours.aic == pytest.approx(theirs["aic"], abs=1e-4)
    assert [e.value for e in found.fixed] == pytest.approx(list(theirs["beta"].values()), abs=1e-4)
    assert [e.se for e in found.fixed] == pytest.approx(list(theirs["se"].values()), rel=1e-3)
    spread = {(entry["grp"], entry["var1"], entry.get("var2")): entry for entry in theirs["varcorr"]}
    for term in found.terms:
        assert term.intercept_variance == pytest.approx(spread[term.factor, "(Intercept)", None]["vcov"], rel=1e-3)
        modes = {level["level"]: level for level in theirs["ranef"][term.factor]}
        for level in term.levels:
            assert level.intercept == pytest.approx(modes[level.level]["(Intercept)"], abs=1e-3)
        if model == "M2":
            assert term.slope_variance == pytest.approx(spread[term.factor, "gen_err", None]["vcov"], rel=1e-3)
            correlation = spread[term.factor, "(Intercept)", "gen_err"]["sdcor"]
            assert term.correlation == pytest.approx(correlation, abs=1e-4)
            for level in term.levels:
                assert level.slope == pytest.approx(modes[level.level]["gen_err"], abs=1e-3)


def test_the_planted_truth_behind_the_reference_counts_is_within_its_errors(reference: Path, fitted: Coupling) -> None:
    truth = json.loads((reference / "glmm_sim_truth.json").read_text("utf-8"))
    found = fitted.models["M2"].fit.estimates
    assert found is not None
    for effect, name in zip(found.fixed, ("beta0", "beta1"), strict=True):
        assert abs(effect.value - truth[name]) < 2 * effect.se


def test_tests_and_r2_follow_from_the_fits() -> None:
    coupling = fit_counts(COUNTS)
    logliks = {}
    for name, model in coupling.models.items():
        assert model.fit.estimates is not None
        logliks[name] = model.fit.estimates.loglik
    assert logliks["M0"] < logliks["M1"] <= logliks["M2"]
    first, second = coupling.tests["M0", "M1"], coupling.tests["M1", "M2"]
    assert first is not None and second is not None
    gains = [logliks["M1"] - logliks["M0"], logliks["M2"] - logliks["M1"]]
    assert [first.statistic, second.statistic] == pytest.approx([2 * gain for gain in gains])
    assert (first.df, second.df) == (1, 6)
    assert coupling.r2.mcfadden == pytest.approx(1 - logliks["M2"] / logliks["M0"])
    assert coupling.r2.nakagawa is not None and coupling.r2.slope_aware is not None
    assert 0 < coupling.r2.nakagawa.marginal < coupling.r2.nakagawa.conditional < 1


def test_single_answers_are_added_up_to_the_same_fit() -> None:
    rows = [
        (*keys, int(place < errors), 1) for *keys, errors, n in COUNTS.itertuples(index=False) for place in range(n)
    ]
    single = pd.DataFrame(rows, columns=COUNTS.columns)
    apart, together = (fit_counts(table).models["M1"] for table in (single, COUNTS))
    assert (apart.fit.n, apart.fit.n_rows) == (together.fit.n, together.fit.n_rows)
    assert (apart.aic, apart.bic) == pytest.approx((together.aic, together.bic))


def test_rows_without_an_answer_and_factors_with_one_level_are_left_out_and_told() -> None:
    one_vlm = COUNTS[COUNTS["model"] == "model 0"]
    empty = one_vlm.head(1).assign(task="unasked", ver_err=0, n=0)
    coupling = fit_counts(pd.concat([one_vlm, empty]))
    assert (coupling.n_dropped, coupling.left_out) == (1, ("model",))
    assert coupling.models["M2"].fit.df == 2 + 2 * 3
    found = coupling.models["M2"].fit.estimates
    assert found is not None
    assert [term.factor for term in found.terms] == ["task", "dataset"]


def test_a_model_that_did_not_converge_carries_no_number_and_takes_its_tests_with_it() -> None:
    separated = COUNTS.assign(ver_err=COUNTS["gen_err"] * COUNTS["n"] // 2)
    coupling = fit_counts(separated)
    assert [model.fit.converged for model in coupling.models.values()] == [True, False, False]
    m2 = coupling.models["M2"]
    assert (m2.aic, m2.bic, m2.fit.estimates) == (None, None, None)
    assert set(coupling.tests.values()) == {None}
    assert (coupling.r2.mcfadden, coupling.r2.nakagawa, coupling.r2.slope_aware) == (None, None, None)


def test_one_data_set_alone_is_fitted_without_that_factor() -> None:
    cells = PUBLISHED[PUBLISHED["dataset"] == "PMC-VQA"]
    of_metric = fit_cells(cells)["bias"]
    assert of_metric.left_out == ("dataset",)
    assert of_metric.fit.estimates is not None
    assert set(of_metric.fit.estimates.variances) == {"task", "model"}


def test_every_model_is_said_in_words_and_as_a_formula() -> None:
    for words in (CELL_MODEL, *COUNT_MODELS.values()):
        assert "~" in words.formula
        assert "~" not in words.plain
