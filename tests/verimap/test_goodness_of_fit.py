"""Information criteria and pseudo-R², on the paper's printed numbers and by hand."""

import numpy as np
import pytest

from backend.verimap.goodness_of_fit import (
    LOGIT_VARIANCE,
    akaike,
    bayes,
    mcfadden,
    slope_aware_variance,
    trace_variance,
    variance_explained,
)


@pytest.mark.parametrize(
    ("loglik", "df", "printed"), [(-19844.1, 4, 39696.2), (-13055.9, 5, 26121.7), (-11767.4, 11, 23556.7)]
)
def test_akaike_gives_the_printed_table_3(loglik: float, df: int, printed: float) -> None:
    assert akaike(loglik, df) == pytest.approx(printed, abs=0.11)


def test_bayes_gives_the_printed_table_3_for_32_000_answers_but_for_m0() -> None:
    assert bayes(-13055.9, 5, 32_000) == pytest.approx(26163.6, abs=0.2)
    assert bayes(-11767.4, 11, 32_000) == pytest.approx(23648.8, abs=0.2)
    assert abs(bayes(-19844.1, 4, 32_000) - 39729.1) > 0.5


def test_mcfadden_gives_the_printed_407() -> None:
    assert mcfadden(-11767.4, -19844.1) == pytest.approx(0.407, abs=5e-4)
    assert mcfadden(0.0, 0.0) is None


def test_the_sum_of_the_printed_traces_gives_the_printed_r2() -> None:
    covariances = [np.diag([0.316, 0.485]), np.diag([1.582, 4.876]), np.diag([0.048, 0.128])]
    random = trace_variance(covariances)
    assert random == pytest.approx(7.435)
    share = 0.3521  # of answers that are generator errors and give the printed marginal R²; then the other follows
    found = variance_explained(4.05**2 * share * (1 - share), random, LOGIT_VARIANCE)
    assert (found.marginal, found.conditional) == pytest.approx((0.259, 0.773), abs=2e-3)


def test_the_slope_aware_variance_is_the_mean_over_answers() -> None:
    covariances = [np.array([[1.0, -0.5], [-0.5, 2.0]]), np.array([[3.0]])]
    predictors = np.array([[1.0, 0.0], [1.0, 1.0]])
    # gen_err 0: 1 + 3; gen_err 1: 1 - 1 + 2 + 3; three answers of the latter kind to one of the former
    assert slope_aware_variance(covariances, predictors, [1, 3]) == pytest.approx((4 + 3 * 5) / 4)
