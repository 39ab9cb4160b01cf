"""The Wilson interval is scipy's, has a width at 0 and 1, and is None without trials."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from backend.domain.statistics.intervals import IntervalMethod, wilson_interval


@given(st.integers(1, 20_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(counts: tuple[int, int]) -> None:
    k, n = counts
    ours = wilson_interval(k / n, n)
    theirs = binomtest(k, n).proportion_ci(method="wilson")
    assert ours is not None
    assert ours.low == pytest.approx(theirs.low, abs=1e-12)
    assert ours.high == pytest.approx(theirs.high, abs=1e-12)


@given(st.integers(1, 20_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_lies_in_the_unit_interval_around_the_share_and_has_a_width(counts: tuple[int, int]) -> None:
    k, n = counts
    interval = wilson_interval(k / n, n)
    assert interval is not None
    assert 0 <= interval.low <= k / n <= interval.high <= 1
    assert interval.low < interval.high


def test_wilson_of_all_right_is_as_worked_out_by_hand() -> None:
    # z = 1.96: lower bound n / (n + z**2) = 10 / 13.8416
    interval = wilson_interval(1.0, 10)
    assert interval is not None
    assert interval.low == pytest.approx(0.7225, abs=1e-4)
    assert interval.high == 1.0
    assert interval.method is IntervalMethod.WILSON


def test_wilson_without_trials_is_none() -> None:
    assert wilson_interval(0.0, 0) is None
