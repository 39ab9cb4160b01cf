"""The cluster bootstrap: whole images are resampled, never single answers.

Questions about one image share its difficulty, so treating them as independent makes
intervals too narrow. A statistic that is made of sums (a ratio, a rate) needs no data in the
loop: with the sums of each cluster as rows, every resample is a row of counts, and all
resamples together are one matrix product. The counts depend on nothing but the number of
clusters and the seed, so all VLMs over the same images share them.
"""

__all__ = [
    "RESAMPLES",
    "SEED",
    "Ratio",
    "cluster_weights",
    "percentile_interval",
    "ratio_intervals",
    "resampled_sums",
]

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from backend.domain.statistics.intervals import CONFIDENCE, Interval, IntervalMethod, wilson_interval

RESAMPLES = 1000
"""Resamples behind an interval."""
SEED = 20260
"""Seed of every interval: the same data always show the same bounds."""
KEPT_WEIGHTS = 8
"""So many weight matrices are kept; one of 4,629 clusters takes 19 MB."""


class Ratio(NamedTuple):
    """A share as two columns of a matrix of sums."""

    numerator: int
    denominator: int


@lru_cache(maxsize=KEPT_WEIGHTS)
def cluster_weights(n_clusters: int, resamples: int = RESAMPLES, seed: int = SEED) -> npt.NDArray[np.float32]:
    """Return how often each cluster is drawn in each resample.

    Each row is a multinomial draw of ``n_clusters`` from ``n_clusters`` equal cells. The
    result is kept and therefore read-only.

    Returns:
        Shape (resamples, n_clusters); each row adds up to ``n_clusters``.
    """
    drawn = np.random.default_rng(seed).integers(n_clusters, size=(resamples, n_clusters), dtype=np.int32)
    drawn += np.arange(0, resamples * n_clusters, n_clusters, dtype=np.int32)[:, np.newaxis]
    counts = np.bincount(drawn.ravel(), minlength=resamples * n_clusters)
    weights = counts.reshape(resamples, n_clusters).astype(np.float32)
    weights.setflags(write=False)
    return weights


def resampled_sums(sums: npt.ArrayLike, *, resamples: int = RESAMPLES, seed: int = SEED) -> npt.NDArray[np.float64]:
    """Return the column sums of each resample of the clusters.

    Args:
        sums: Shape (clusters, columns): what each cluster adds to each total. Counts are
            summed in single precision, exactly so while a total stays below 2**24.
        resamples: How often to resample.
        seed: Two calls with one seed and one number of clusters use the same resamples.

    Returns:
        Shape (resamples, columns).
    """
    matrix = np.asarray(sums, dtype=np.float32)
    return (cluster_weights(len(matrix), resamples, seed) @ matrix).astype(np.float64)


def percentile_interval(statistics: npt.NDArray[np.float64], *, confidence: float = CONFIDENCE) -> Interval | None:
    """Return the percentile interval of a statistic over its resamples.

    Args:
        statistics: One value a resample; NaN, here alone, marks a resample in which the
            statistic is undefined. Such resamples are left out.
        confidence: Two-sided, in (0, 1).

    Returns:
        The interval, or None when fewer than half of the resamples define the statistic, or
        all of them agree: a width of zero says that resampling cannot vary, not that the
        value is certain.
    """
    [interval] = _percentile_intervals(statistics.reshape(-1, 1), confidence)
    return interval


def _percentile_intervals(statistics: npt.NDArray[np.float64], confidence: float) -> list[Interval | None]:
    """Return the interval of each column of shape (resamples, statistics), as `percentile_interval`."""
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    bounds = np.quantile(statistics, tails, axis=0)
    for column in np.flatnonzero(np.isnan(statistics).any(axis=0)):
        defined = statistics[~np.isnan(statistics[:, column]), column]
        enough = len(defined) > 0 and 2 * len(defined) >= len(statistics)
        bounds[:, column] = np.quantile(defined, tails) if enough else 0.0
    return [
        None if low == high else Interval(low, high, IntervalMethod.CLUSTER_BOOTSTRAP)
        for low, high in bounds.T.tolist()
    ]


def ratio_intervals(
    sums: npt.ArrayLike,
    ratios: Sequence[Ratio],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: float = CONFIDENCE,
) -> list[Interval | None]:
    """Return an interval for each share of two sums, by resampling clusters.

    Where all clusters agree (all right, all wrong, or the same share in each) every resample
    gives the same value. The interval is then Wilson's with the clusters as sample size: the
    answers in a cluster count as one, which errs to the wide side. With a handful of clusters
    the percentile bootstrap errs to the narrow side: show the number of clusters beside it.

    Args:
        sums: Shape (clusters, columns), not negative.
        ratios: Columns to divide; in each cluster the numerator is at most the denominator.
        resamples: How often to resample.
        seed: Seed of the resamples.
        confidence: Two-sided, in (0, 1).

    Returns:
        One entry a ratio; None where fewer than two clusters have a denominator above zero.
    """
    matrix = np.asarray(sums, dtype=np.float64)
    totals = matrix.sum(axis=0)
    contributing = np.count_nonzero(matrix, axis=0)
    can_vary = [ratio for ratio in ratios if contributing[ratio.denominator] > 1 and totals[ratio.numerator] > 0]
    resampled = dict(zip(can_vary, _resampled_intervals(matrix, can_vary, resamples, seed, confidence), strict=True))

    intervals: list[Interval | None] = []
    for ratio in ratios:
        clusters = int(contributing[ratio.denominator])
        interval = resampled.get(ratio)
        if interval is None and clusters > 1:
            share = float(totals[ratio.numerator] / totals[ratio.denominator])
            interval = wilson_interval(
                share, clusters, confidence=confidence, method=IntervalMethod.WILSON_OVER_CLUSTERS
            )
        intervals.append(interval)
    return intervals


def _resampled_intervals(
    matrix: npt.NDArray[np.float64], ratios: Sequence[Ratio], resamples: int, seed: int, confidence: float
) -> list[Interval | None]:
    """Return the percentile interval of each ratio; each column it needs is resampled once."""
    if not ratios:
        return []
    columns, positions = np.unique(np.array(ratios).ravel(), return_inverse=True)
    numerators, denominators = positions.reshape(-1, 2).T
    totals = resampled_sums(matrix[:, columns], resamples=resamples, seed=seed)
    with np.errstate(invalid="ignore"):
        shares = totals[:, numerators] / totals[:, denominators]
    return _percentile_intervals(shares, confidence)
