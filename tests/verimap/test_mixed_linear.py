"""Linear mixed models: closed forms, planted truths, and data without an answer."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import linregress

from backend.verimap.grouping import grouped
from backend.verimap.mixed_linear import LinearEstimates, LinearFit, fit_linear


def cells(
    levels: tuple[int, int, int], deviations: tuple[float, float, float], noise: float, seed: int
) -> pd.DataFrame:
    """Draw cells with an intercept of 0.3 and a slope of 0.5."""
    random = np.random.default_rng(seed)
    added = [random.normal(0, sd, n) for n, sd in zip(levels, deviations, strict=True)]
    rows = []
    for place in np.ndindex(*levels):
        x = random.uniform()
        y = 0.3 + 0.5 * x + sum(one[at] for one, at in zip(added, place, strict=True)) + random.normal(0, noise)
        rows.append((*(f"level {at}" for at in place), x, y))
    return pd.DataFrame(rows, columns=["task", "model", "dataset", "x", "y"])


def fitted(table: pd.DataFrame) -> LinearFit:
    """Fit a table with all of its factors."""
    return fit_linear(table["y"], table["x"], grouped(table).used)


def estimates(table: pd.DataFrame) -> LinearEstimates:
    """Fit a table that has an answer."""
    fit = fitted(table)
    assert fit.estimates is not None, fit.problem
    return fit.estimates


def test_without_groups_it_is_ordinary_least_squares() -> None:
    table = cells((5, 1, 1), (0, 0, 0), 0.2, seed=1).assign(task="one")
    found = estimates(table)
    line = linregress(table["x"], table["y"])
    assert (found.slope.value, found.slope.se, found.slope.p) == pytest.approx((line.slope, line.stderr, line.pvalue))
    assert (found.intercept.value, found.intercept.se) == pytest.approx((line.intercept, line.intercept_stderr))
    assert (found.slope.df, found.intercept.df) == pytest.approx((3, 3))
    assert found.r2.marginal == found.r2.conditional


def test_a_balanced_layout_gives_the_variances_of_its_analysis_of_variance() -> None:
    random = np.random.default_rng(2)
    levels, repeats = 6, 8
    x = np.tile(np.linspace(-1, 1, repeats), levels)
    y = np.repeat(random.normal(0, 1, levels), repeats) + 0.4 * x + random.normal(0, 0.5, levels * repeats)
    table = pd.DataFrame({"task": np.repeat(list("abcdef"), repeats), "model": "m", "dataset": "d", "x": x, "y": y})
    found = estimates(table)
    line = linregress(x, y)
    rest = (y - line.slope * x).reshape(levels, repeats)
    within = float(np.square(rest - rest.mean(axis=1, keepdims=True)).sum()) / (levels * repeats - levels - 1)
    between = repeats * float(rest.mean(axis=1).var(ddof=1))
    assert found.residual_variance == pytest.approx(within, rel=1e-6)
    assert found.variances["task"] == pytest.approx((between - within) / repeats, rel=1e-6)
    assert found.slope.se == pytest.approx(np.sqrt(within / np.square(x).sum()), rel=1e-6)
    assert found.slope.df == pytest.approx(levels * repeats - levels - 1, rel=1e-5)
    assert found.intercept.df == pytest.approx(levels - 1, rel=1e-5)


def test_groups_that_do_not_differ_are_singular_with_a_variance_of_exactly_zero() -> None:
    alike = pd.DataFrame(
        [(t, "m", "d", x, x + sign * 0.1) for t in "abc" for x, sign in ((0.1, 1), (0.2, -1), (0.8, -1), (0.9, 1))],
        columns=["task", "model", "dataset", "x", "y"],
    )
    same = fitted(alike)
    assert same.estimates is not None
    assert (same.singular, same.estimates.variances) == (True, {"task": 0.0})


def test_a_planted_truth_is_recovered() -> None:
    found = estimates(cells((12, 10, 10), (0.3, 0.5, 0.2), 0.25, seed=4))
    assert abs(found.slope.value - 0.5) < 3 * found.slope.se
    assert abs(found.intercept.value - 0.3) < 3 * found.intercept.se
    assert found.residual_variance == pytest.approx(0.25**2, rel=0.15)
    for factor, sd in (("task", 0.3), ("model", 0.5), ("dataset", 0.2)):
        assert np.sqrt(found.variances[factor]) == pytest.approx(sd, rel=0.5)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 100), st.floats(-10, 10))
def test_another_unit_of_the_metric_changes_numbers_by_that_unit(seed: int, scale: float, shift: float) -> None:
    table = cells((4, 3, 3), (0.2, 0.3, 0.1), 0.2, seed)
    before, after = fitted(table), fitted(table.assign(y=scale * table["y"] + shift))
    assert before.converged == after.converged
    if before.estimates is None or after.estimates is None:
        return
    assert after.estimates.slope.value == pytest.approx(
        scale * before.estimates.slope.value, rel=1e-4, abs=1e-6 * scale
    )
    assert after.estimates.slope.se == pytest.approx(scale * before.estimates.slope.se, rel=1e-4)
    assert after.estimates.slope.df == pytest.approx(before.estimates.slope.df, rel=1e-3)
    assert after.estimates.residual_variance == pytest.approx(scale**2 * before.estimates.residual_variance, rel=1e-4)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_relabelling_groups_and_reordering_cells_change_nothing(seed: int) -> None:
    table = cells((4, 3, 3), (0.2, 0.3, 0.1), 0.2, seed)
    moved = table.sample(frac=1, random_state=seed).assign(task=lambda t: t["task"].map(lambda name: name[::-1]))
    before, after = estimates(table), estimates(moved)
    assert after.reml_loglik == pytest.approx(before.reml_loglik, abs=1e-7)
    assert after.slope.value == pytest.approx(before.slope.value, rel=1e-5, abs=1e-7)
    assert after.slope.df == pytest.approx(before.slope.df, rel=1e-3)


def test_the_line_at_zero_is_the_intercept_and_its_band_is_narrowest_inside_the_data() -> None:
    found = estimates(cells((5, 4, 4), (0.2, 0.3, 0.1), 0.2, seed=9))
    at_zero = found.predicted(0)
    assert (at_zero.value, at_zero.se, at_zero.df) == pytest.approx(
        (found.intercept.value, found.intercept.se, found.intercept.df)
    )
    assert found.predicted(0.5).se < found.predicted(3).se
    assert found.predicted(2).value == pytest.approx(found.intercept.value + 2 * found.slope.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.head(3), "too few"),
        (lambda t: t.assign(x=0.5), "same in all cells, so there is no slope"),
        (lambda t: t.assign(y=0.5), "metric is the same"),
        (lambda t: t.assign(y=2 * t["x"]), "without a residual"),
        (lambda t: t.assign(task=[str(n) for n in range(len(t))]), "its own task"),
    ],
)
def test_what_cannot_be_fitted_has_no_numbers_and_says_why(change: object, words: str) -> None:
    assert callable(change)
    fit = fitted(change(cells((3, 2, 2), (0.2, 0.2, 0.2), 0.2, seed=1)))
    assert (fit.converged, fit.singular, fit.estimates) == (False, None, None)
    assert words in fit.problem
