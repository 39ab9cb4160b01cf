"""A comparison of two runs keeps all four cells, an exact test and a clustered interval."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from backend.domain.statistics.paired_tests import compare_paired, mcnemar_exact

pairs = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 5)), max_size=60)


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_agrees_with_the_binomial_test_of_scipy(b: int, c: int) -> None:
    expected = binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
    assert mcnemar_exact(b, c) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [
        pytest.param(0, 0, 1.0, id="no discordant pair"),
        pytest.param(3, 3, 1.0, id="balanced"),
        pytest.param(0, 5, 2 / 32, id="five to nothing: 2 * (1/2)**5"),
        pytest.param(1, 5, 2 * (1 + 6) / 64, id="one to five: 2 * (1 + 6) * (1/2)**6"),
    ],
)
def test_mcnemar_is_as_worked_out_by_hand(b: int, c: int, p: float) -> None:
    assert mcnemar_exact(b, c) == pytest.approx(p)
    assert mcnemar_exact(c, b) == pytest.approx(p)


def test_mcnemar_of_thousands_of_flips_stays_a_probability() -> None:
    assert 0 <= mcnemar_exact(100, 11_000) < 1e-300
    assert mcnemar_exact(6000, 6000) == 1.0


def test_a_comparison_counts_the_four_cells() -> None:
    a = np.array([1, 1, 1, 0, 0, 0, 0], dtype=bool)
    b = np.array([1, 0, 0, 1, 0, 0, 0], dtype=bool)
    compared = compare_paired(a, b, np.array(["p", "p", "q", "q", "r", "r", "r"]), only_in_a=4, only_in_b=2)
    assert (compared.both_right, compared.a_right_b_wrong, compared.a_wrong_b_right) == (1, 2, 1)
    assert (compared.both_wrong, compared.flips, compared.n, compared.n_clusters) == (3, 3, 7, 3)
    assert (compared.only_in_a, compared.only_in_b) == (4, 2)
    assert compared.share_a == pytest.approx(3 / 7)
    assert compared.share_b == pytest.approx(2 / 7)
    assert compared.difference == pytest.approx(-1 / 7)
    assert compared.p_value == pytest.approx(1.0)


def test_nothing_shared_is_undefined_and_not_zero() -> None:
    nothing = np.array([], dtype=bool)
    compared = compare_paired(nothing, nothing, np.array([], dtype=str), only_in_a=3)
    assert compared.n == 0
    assert (compared.share_a, compared.share_b, compared.difference) == (None, None, None)
    assert (compared.low, compared.high, compared.p_value) == (None, None, None)


@pytest.mark.parametrize(
    ("a", "b", "clusters"),
    [
        pytest.param([1, 0, 1], [1, 0, 1], ["p", "q", "r"], id="equal runs"),
        pytest.param([0, 0, 0], [1, 1, 1], ["p", "q", "r"], id="the same difference everywhere"),
        pytest.param([1, 0, 1], [0, 0, 1], ["p", "p", "p"], id="one image"),
    ],
)
def test_a_difference_that_resampling_cannot_vary_has_no_interval(
    a: list[int], b: list[int], clusters: list[str]
) -> None:
    compared = compare_paired(np.array(a, dtype=bool), np.array(b, dtype=bool), np.array(clusters))
    assert (compared.low, compared.high) == (None, None)
    assert compared.difference is not None
    assert compared.p_value is not None


def test_the_interval_of_a_difference_agrees_with_the_cluster_robust_variance() -> None:
    rng = np.random.default_rng(4)
    clusters = rng.integers(0, 300, size=1200)
    level = rng.random(300)[clusters]
    a, b = rng.random(1200) < level, rng.random(1200) < 0.1 + 0.9 * level
    compared = compare_paired(a, b, clusters, resamples=10_000)
    step = b.astype(float) - a
    residuals = np.bincount(clusters, weights=step - step.mean(), minlength=300)
    standard_error = np.sqrt((residuals**2).sum()) / 1200
    assert compared.low is not None
    assert compared.high is not None
    assert compared.difference == pytest.approx(step.mean())
    assert (compared.high - compared.low) / (2 * 1.96) == pytest.approx(standard_error, rel=0.05)


def test_arrays_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
        compare_paired(np.array([True]), np.array([True, False]), np.array(["p", "q"]))


@settings(max_examples=50, deadline=None)
@given(pairs)
def test_swapping_the_runs_turns_the_comparison_round(rows: list[tuple[bool, bool, int]]) -> None:
    a = np.array([row[0] for row in rows], dtype=bool)
    b = np.array([row[1] for row in rows], dtype=bool)
    clusters = np.array([row[2] for row in rows], dtype=int)
    there = compare_paired(a, b, clusters, resamples=200)
    back = compare_paired(b, a, clusters, resamples=200)
    assert there.p_value == back.p_value
    assert (there.a_right_b_wrong, there.a_wrong_b_right) == (back.a_wrong_b_right, back.a_right_b_wrong)
    assert there.n == there.both_right + there.both_wrong + there.flips
    if there.low is not None and there.high is not None:
        assert back.low == pytest.approx(-there.high)
        assert back.high == pytest.approx(-there.low)
        assert there.low < there.high
    if there.difference is not None and there.share_a is not None and there.share_b is not None:
        assert there.difference == pytest.approx(there.share_b - there.share_a)
