"""The cluster bootstrap agrees with scipy, with exact enumeration and with theory."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from backend.domain.statistics.intervals import IntervalMethod, wilson_interval
from backend.domain.statistics.resampling import (
    Ratio,
    cluster_weights,
    percentile_interval,
    ratio_intervals,
    resampled_sums,
)

SHARE = Ratio(0, 1)


def clustered_answers(n_clusters: int, seed: int) -> np.ndarray:
    """Right and all answers of clusters whose difficulty differs, shape (clusters, 2)."""
    rng = np.random.default_rng(seed)
    asked = rng.integers(1, 6, size=n_clusters)
    right = rng.binomial(asked, rng.beta(2, 2, size=n_clusters))
    return np.column_stack([right, asked]).astype(float)


def test_every_resample_draws_as_many_clusters_as_there_are() -> None:
    weights = cluster_weights(37, 200, seed=1)
    assert weights.shape == (200, 37)
    assert weights.dtype == np.float32
    assert (weights >= 0).all()
    assert (weights.sum(axis=1) == 37).all()


def test_weights_are_drawn_once_for_a_seed_and_cannot_be_changed() -> None:
    first = cluster_weights(11, 50, seed=3)
    assert cluster_weights(11, 50, seed=3) is first
    assert not np.array_equal(cluster_weights(11, 50, seed=4), first)
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] = 9


def test_resamples_follow_the_exact_bootstrap_distribution() -> None:
    # All 4**4 = 256 equally likely resamples of four clusters, written out.
    sums = np.array([[0, 1], [1, 2], [3, 3], [1, 4]], dtype=float)
    exact = Counter(
        round(sums[list(drawn), 0].sum() / sums[list(drawn), 1].sum(), 9) for drawn in product(range(4), repeat=4)
    )
    resamples = 40_000
    totals = resampled_sums(sums, resamples=resamples, seed=5)
    seen = Counter(np.round(totals[:, 0] / totals[:, 1], 9).tolist())
    assert set(seen) == set(exact)
    for value, ways in exact.items():
        chance = ways / 256
        assert seen[value] / resamples == pytest.approx(chance, abs=5 * np.sqrt(chance / resamples))


def test_totals_of_counts_are_exact() -> None:
    sums = np.random.default_rng(0).integers(0, 1000, size=(500, 3))
    weights = cluster_weights(500, 100, seed=2).astype(np.int64)
    assert np.array_equal(resampled_sums(sums, resamples=100, seed=2), weights @ sums)


def test_the_interval_agrees_with_scipy_within_monte_carlo_error() -> None:
    sums = clustered_answers(40, seed=7)
    [ours] = ratio_intervals(sums, [SHARE], resamples=20_000)
    theirs = bootstrap(
        (sums[:, 0], sums[:, 1]),
        lambda right, asked, axis: right.sum(axis=axis) / asked.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(8),
    ).confidence_interval
    assert ours is not None
    assert ours.low == pytest.approx(theirs.low, abs=0.005)
    assert ours.high == pytest.approx(theirs.high, abs=0.005)


def test_the_width_agrees_with_the_cluster_robust_variance() -> None:
    sums = clustered_answers(400, seed=9)
    share = sums[:, 0].sum() / sums[:, 1].sum()
    residuals = sums[:, 0] - share * sums[:, 1]
    standard_error = np.sqrt(400 / 399 * (residuals**2).sum()) / sums[:, 1].sum()
    [interval] = ratio_intervals(sums, [SHARE], resamples=10_000)
    assert interval is not None
    assert interval.method is IntervalMethod.CLUSTER_BOOTSTRAP
    assert (interval.high - interval.low) / (2 * 1.96) == pytest.approx(standard_error, rel=0.05)


def test_answers_that_hang_together_make_a_wider_interval_than_wilson() -> None:
    right = np.random.default_rng(1).integers(0, 2, size=200)
    [interval] = ratio_intervals(np.column_stack([5 * right, np.full(200, 5)]), [SHARE])
    independent = wilson_interval(right.mean(), 1000)
    assert interval is not None
    assert independent is not None
    assert interval.high - interval.low > 1.8 * (independent.high - independent.low)


@pytest.mark.parametrize(
    ("sums", "share", "contributing"),
    [
        pytest.param([[2, 2], [1, 1], [3, 3]], 1.0, 3, id="all right"),
        pytest.param([[0, 2], [0, 1], [0, 3]], 0.0, 3, id="all wrong"),
        pytest.param([[1, 2], [2, 4], [1, 2], [3, 6]], 0.5, 4, id="the same share in each"),
        pytest.param([[1, 3], [2, 6]], 1 / 3, 2, id="a share that binary cannot hold"),
        pytest.param([[1, 1], [1, 1], [0, 0], [0, 0]], 1.0, 2, id="clusters without denominator do not count"),
    ],
)
def test_where_resampling_cannot_vary_the_interval_is_wilsons_over_clusters(
    sums: list[list[int]], share: float, contributing: int
) -> None:
    [interval] = ratio_intervals(sums, [SHARE])
    assert interval == wilson_interval(share, contributing, method=IntervalMethod.WILSON_OVER_CLUSTERS)


@pytest.mark.parametrize(
    "sums",
    [
        pytest.param(np.zeros((0, 2)), id="no cluster"),
        pytest.param([[1, 2]], id="one cluster"),
        pytest.param([[0, 0], [0, 0], [0, 0]], id="no denominator"),
        pytest.param([[1, 2], [0, 0], [0, 0]], id="one cluster with a denominator"),
    ],
)
def test_fewer_than_two_clusters_that_count_give_no_interval(sums: np.ndarray) -> None:
    assert ratio_intervals(sums, [SHARE]) == [None]


def test_resamples_without_denominator_are_left_out() -> None:
    # Two of three clusters count, with shares 0 and 1: what remains is 0, a mixture or 1.
    [interval] = ratio_intervals([[0, 1], [1, 1], [0, 0]], [SHARE])
    assert interval is not None
    assert (interval.low, interval.high) == (0.0, 1.0)


def test_an_interval_needs_half_of_the_resamples() -> None:
    defined, undefined = np.linspace(0, 1, 10), np.full(10, np.nan)
    assert percentile_interval(np.concatenate([defined, undefined])) is not None
    assert percentile_interval(np.concatenate([defined, undefined, [np.nan]])) is None
    assert percentile_interval(undefined) is None


def test_many_ratios_at_once_give_the_same_as_each_alone() -> None:
    sums = np.hstack([clustered_answers(30, seed) for seed in range(4)])
    ratios = [Ratio(0, 1), Ratio(2, 3), Ratio(4, 5), Ratio(6, 7)]
    alone = [ratio_intervals(sums[:, [r.numerator, r.denominator]], [SHARE])[0] for r in ratios]
    assert ratio_intervals(sums, ratios) == alone
    assert ratio_intervals(sums, []) == []


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=0, max_size=30))
def test_bounds_are_fractions_and_never_meet(clusters: list[tuple[int, int]]) -> None:
    [interval] = ratio_intervals(np.array(clusters, dtype=float).reshape(-1, 2), [SHARE], resamples=200)
    if interval is not None:
        assert 0 <= interval.low < interval.high <= 1
