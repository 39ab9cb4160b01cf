"""Laplace's approximation, against an independent one and against its own differences."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from backend.verimap.laplace import LaplaceLikelihood, LogisticDesign, RandomTerm, lambda_matrix
from tests.verimap.simulated_counts import Truth, design_of, drawn_counts

TRUTH = Truth(-1, 2, [(0.5, 0.7), (1, 1), (0.3, 0.3)], -0.5)
COUNTS = drawn_counts(TRUTH, (3, 3, 2), 12, seed=5)
parameters = st.lists(st.floats(-2, 2), min_size=11, max_size=11).map(np.array)


def one_factor(errors: list[int], trials: list[int]) -> LogisticDesign:
    """An intercept, and a random one for each row."""
    n = len(errors)
    term = RandomTerm("task", tuple(map(str, range(n))), 1)
    return LogisticDesign(np.array(errors, float), np.array(trials, float), np.ones((n, 1)), np.eye(n), (term,))


@pytest.mark.parametrize("sd", [0.0, 0.4, 3.0, -0.4])
def test_independent_groups_give_the_product_of_their_own_approximations(sd: float) -> None:
    errors, trials, beta = [3, 0, 9], [10, 4, 9], -0.5
    total = 0.0
    for k, n in zip(errors, trials, strict=True):

        def loss(u: float, k: int = k, n: int = n) -> float:
            return float(n * np.logaddexp(0, beta + sd * u) - k * (beta + sd * u) + u * u / 2)

        found = minimize_scalar(loss, method="brent", options={"xtol": 1e-12})
        p = 1 / (1 + np.exp(-(beta + sd * found.x)))
        total += -found.fun - np.log(1 + sd**2 * n * p * (1 - p)) / 2
    at = LaplaceLikelihood(one_factor(errors, trials)).at(np.array([sd, beta]))
    assert at.value == pytest.approx(total, abs=1e-7)


@settings(max_examples=30, deadline=None)
@given(parameters)
def test_the_gradient_is_that_of_the_value(point: np.ndarray) -> None:
    likelihood = LaplaceLikelihood(design_of(COUNTS, effects=2))
    step = 1e-4
    differences = [
        (likelihood.at(point + step * axis).value - likelihood.at(point - step * axis).value) / (2 * step)
        for axis in np.eye(11)
    ]
    assert likelihood.at(point).gradient == pytest.approx(np.array(differences), rel=1e-4, abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(parameters)
def test_the_sign_of_a_cholesky_column_says_nothing(point: np.ndarray) -> None:
    likelihood = LaplaceLikelihood(design_of(COUNTS, effects=2))
    flipped = point.copy()
    flipped[[0, 1]] *= -1
    flipped[5] *= -1
    assert likelihood.at(flipped).value == pytest.approx(likelihood.at(point).value, abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(parameters, parameters)
def test_where_the_last_call_was_changes_nothing(here: np.ndarray, before: np.ndarray) -> None:
    fresh, used = (LaplaceLikelihood(design_of(COUNTS, effects=2)) for _ in range(2))
    used.at(5 * before)
    assert used.at(here).value == pytest.approx(fresh.at(here).value, abs=1e-9)


def test_counts_say_what_their_single_answers_say() -> None:
    single = COUNTS.loc[COUNTS.index.repeat(COUNTS["n"])].assign(n=1)
    errors = [1 if i < k else 0 for k, n in zip(COUNTS["ver_err"], COUNTS["n"], strict=True) for i in range(n)]
    single = pd.DataFrame(single).assign(ver_err=errors)
    point = np.array([0.5, -0.2, 0.3, 1, 0.1, 0.4, 0.2, 0, 0.1, -1, 2])
    counted, apart = (LaplaceLikelihood(design_of(rows, effects=2)).at(point) for rows in (COUNTS, single))
    assert counted.value == pytest.approx(apart.value, abs=1e-8)
    assert counted.gradient == pytest.approx(apart.gradient, abs=1e-6)


def test_lambda_repeats_each_factor_once_a_level() -> None:
    terms = (RandomTerm("task", ("a", "b"), 2), RandomTerm("model", ("x",), 1))
    assert lambda_matrix(np.array([1.0, 2.0, 3.0, 4.0]), terms).tolist() == [
        [1, 0, 0, 0, 0],
        [2, 3, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 2, 3, 0],
        [0, 0, 0, 0, 4],
    ]
