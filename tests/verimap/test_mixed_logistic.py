"""Logistic mixed models: lme4's fits, closed forms, planted truths, and data without an answer."""

import json
from math import exp, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from backend.verimap.grouping import FACTORS
from backend.verimap.mixed_logistic import LogisticFit, fit_logistic
from tests.verimap.simulated_counts import Truth, design_of, drawn_counts

LME4: dict[str, Any] = json.loads((Path(__file__).parent / "lme4_fits.json").read_text("utf-8"))
SHAPES = {"M0": (False, 1), "M1": (True, 1), "M2": (True, 2)}


def counts(rows: list[list[Any]]) -> pd.DataFrame:
    """Return rows as a table."""
    return pd.DataFrame(rows, columns=LME4["columns"])


def fitted(rows: pd.DataFrame, model: str) -> LogisticFit:
    """Fit M0, M1 or M2."""
    fixed_slope, effects = SHAPES[model]
    return fit_logistic(design_of(rows, fixed_slope=fixed_slope, effects=effects))


@pytest.mark.parametrize(("name", "model"), [(name, model) for name in LME4["sets"] for model in SHAPES])
def test_small_singular_and_nearly_separated_data_are_fitted_as_by_lme4(name: str, model: str) -> None:
    data, theirs = counts(LME4["sets"][name]["rows"]), LME4["sets"][name]["models"][model]
    fit = fitted(data, model)
    assert fit.converged, fit.problem
    assert fit.estimates is not None
    assert fit.estimates.loglik == pytest.approx(theirs["loglik"], abs=1e-4)
    assert fit.singular == theirs["singular"]
    assert [effect.value for effect in fit.estimates.fixed] == pytest.approx(np.atleast_1d(theirs["beta"]), abs=1e-3)
    assert [effect.se for effect in fit.estimates.fixed] == pytest.approx(np.atleast_1d(theirs["se"]), rel=5e-3)


def test_without_groups_it_is_the_log_odds_ratio_of_a_two_by_two_table() -> None:
    rows = counts([["t", "m", "d", 0, 12, 40], ["t", "m", "d", 1, 45, 60]])
    fit = fitted(rows, "M1")
    assert fit.estimates is not None
    intercept, slope = fit.estimates.fixed
    expected = log(45 / 15) - log(12 / 28)
    assert intercept.value == pytest.approx(log(12 / 28), abs=1e-5)
    assert slope.value == pytest.approx(expected, abs=1e-5)
    assert slope.se == pytest.approx(sqrt(1 / 12 + 1 / 28 + 1 / 45 + 1 / 15), rel=1e-5)
    assert slope.z == pytest.approx(expected / slope.se, rel=1e-6)
    assert (slope.odds_ratio, slope.odds_ratio_high) == pytest.approx(
        (exp(expected), exp(expected + 1.959964 * slope.se)), rel=1e-4
    )
    assert (fit.n, fit.n_rows, fit.df, fit.singular) == (100, 2, 2, False)


def test_groups_that_do_not_differ_are_singular_and_fitted_as_one() -> None:
    rows = counts([[t, m, d, g, 3 + 4 * g, 10] for t in "ab" for m in "cd" for d in "ef" for g in (0, 1)])
    fit = fitted(rows, "M2")
    assert fit.converged, fit.problem
    assert fit.singular is True
    assert fit.estimates is not None
    for term in fit.estimates.terms:
        assert (term.intercept_variance, term.slope_variance, term.correlation) == (0, 0, None)
    assert fit.estimates.fixed[1].value == pytest.approx(2 * log(7 / 3), abs=1e-5)


def test_a_planted_truth_is_recovered() -> None:
    truth = Truth(-1.0, 2.5, [(0.5, 0.6), (0.8, 1.0), (0.3, 0.4)], -0.6)
    fit = fitted(drawn_counts(truth, (12, 12, 12), 30, seed=3), "M2")
    assert fit.estimates is not None
    for effect, planted in zip(fit.estimates.fixed, (truth.intercept, truth.slope), strict=True):
        assert abs(effect.value - planted) < 3 * effect.se
    for term, (intercept, slope) in zip(fit.estimates.terms, truth.deviations, strict=True):
        assert sqrt(term.intercept_variance) == pytest.approx(intercept, rel=0.5)
        assert term.slope_variance is not None
        assert sqrt(term.slope_variance) == pytest.approx(slope, rel=0.5)
        assert term.correlation is not None
        assert -1 <= term.correlation < 0


def test_levels_deviate_towards_their_own_data() -> None:
    rows = counts(
        [
            [task, vlm, "d", gen_err, errors, 50]
            for task in "abc"
            for vlm, errors_at in (("weak", (5, 15)), ("strong", (5, 48)))
            for gen_err, errors in enumerate(errors_at)
        ]
    )
    fit = fitted(rows, "M2")
    assert fit.estimates is not None
    strong, weak = next(term.levels for term in fit.estimates.terms if term.factor == "model")
    assert strong.slope is not None and weak.slope is not None
    assert strong.slope > 0 > weak.slope
    slope = fit.estimates.fixed[1].value
    assert strong.odds_ratio == pytest.approx(exp(slope + strong.slope))
    assert strong.odds_ratio_low is not None and strong.odds_ratio_high is not None
    assert strong.odds_ratio_low < exp(slope + strong.slope) < strong.odds_ratio_high


@pytest.mark.parametrize("seed", [0, 1])
def test_relabelling_groups_and_reordering_rows_change_nothing(seed: int) -> None:
    rows = counts(LME4["sets"]["small_4"]["rows"])
    random = np.random.default_rng(seed)
    moved = rows.sample(frac=1, random_state=seed)
    for factor in FACTORS:
        names = sorted(set(moved[factor]))
        moved[factor] = moved[factor].map(dict(zip(names, random.permutation(names), strict=True)))
    before, after = fitted(rows, "M2").estimates, fitted(moved, "M2").estimates
    assert before is not None and after is not None
    assert after.loglik == pytest.approx(before.loglik, abs=1e-6)
    assert [e.value for e in after.fixed] == pytest.approx([e.value for e in before.fixed], abs=1e-4)
    assert [e.se for e in after.fixed] == pytest.approx([e.se for e in before.fixed], rel=1e-3)


def test_calling_errors_right_turns_the_signs_around() -> None:
    rows = counts(LME4["sets"]["small_0"]["rows"])
    turned = rows.assign(ver_err=rows["n"] - rows["ver_err"])
    before, after = fitted(rows, "M1").estimates, fitted(turned, "M1").estimates
    assert before is not None and after is not None
    assert after.loglik == pytest.approx(before.loglik, abs=1e-7)
    assert [-e.value for e in after.fixed] == pytest.approx([e.value for e in before.fixed], abs=1e-4)


@pytest.mark.parametrize("right_rows", [0, 10])
def test_separated_data_have_no_numbers_and_say_why(right_rows: int) -> None:
    rows = counts([[t, m, "d", g, right_rows if g == 0 else 6, 10] for t in "ab" for m in "cd" for g in (0, 1)])
    for model in ("M1", "M2"):
        fit = fitted(rows, model)
        assert (fit.converged, fit.singular, fit.estimates) == (False, None, None)
        assert "separated" in fit.problem
    assert fitted(rows, "M0").converged


def test_groups_that_are_all_or_nothing_run_to_infinity_and_are_not_shown() -> None:
    rows = counts([[t, "m", "d", g, n * 200, 200] for t, n in (("a", 0), ("b", 1), ("c", 0), ("e", 1)) for g in (0, 1)])
    fit = fitted(rows, "M0")
    assert (fit.converged, fit.estimates) == (False, None)
    assert fit.problem


def test_one_kind_of_generator_answer_has_no_effect_to_estimate() -> None:
    rows = counts([[t, "m", "d", 1, k, 10] for t, k in (("a", 2), ("b", 7))])
    assert "same value" in fitted(rows, "M1").problem
    assert fitted(rows, "M0").converged
