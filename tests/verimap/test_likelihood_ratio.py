"""Likelihood-ratio tests."""

from math import exp

import pytest
from scipy.stats import chi2

from backend.verimap.likelihood_ratio import likelihood_ratio


def test_the_statistic_is_twice_the_gain_and_two_degrees_of_freedom_give_an_exponential_tail() -> None:
    test = likelihood_ratio("M0", "M1", -110.0, -107.0, 2)
    assert test is not None
    assert (test.statistic, test.p) == pytest.approx((6.0, exp(-3.0)))
    assert test.p_mixture is None


def test_one_new_slope_halves_between_one_and_two_degrees_of_freedom() -> None:
    test = likelihood_ratio("M1", "M2", -110.0, -107.0, 2, new_slopes=1)
    assert test is not None
    assert test.p_mixture == pytest.approx((chi2.sf(6, 1) + chi2.sf(6, 2)) / 2)
    assert "conservative" in test.note


def test_three_new_slopes_weigh_binomially_and_are_less_conservative() -> None:
    test = likelihood_ratio("M1", "M2", -110.0, -105.0, 6, new_slopes=3)
    assert test is not None and test.p_mixture is not None
    weights = {3: 1, 4: 3, 5: 3, 6: 1}
    assert test.p_mixture == pytest.approx(sum(w * chi2.sf(10, df) for df, w in weights.items()) / 8)
    assert test.p_mixture < test.p


def test_the_printed_log_likelihoods_give_13576_4_and_not_the_printed_13577_5() -> None:
    test = likelihood_ratio("M0", "M1", -19844.1, -13055.9, 1)
    assert test is not None
    assert (round(test.statistic, 1), test.p) == (13576.4, 0.0)


def test_no_gain_is_a_p_of_one_and_a_loss_beyond_rounding_is_no_test() -> None:
    same = likelihood_ratio("M0", "M1", -10.0, -10.0 - 1e-7, 1)
    assert same is not None
    assert (same.statistic, same.p) == (0.0, 1.0)
    assert likelihood_ratio("M0", "M1", -10.0, -10.1, 1) is None
