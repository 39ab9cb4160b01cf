"""Two runs on the same units: who is right where, and is the difference more than chance.

A comparison keeps the four cells of the paired table, because equal accuracy can hide many
flips in both directions.
"""

__all__ = ["PairedComparison", "compare_paired", "mcnemar_exact"]

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr

from backend.domain.statistics.intervals import CONFIDENCE
from backend.domain.statistics.resampling import RESAMPLES, SEED, percentile_interval, resampled_sums


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedComparison:
    """Run a against run b on the units that both hold. Differences are b minus a."""

    n: int
    """Units in both runs; all that follows rests on these, `only_in_a` and `only_in_b` apart."""
    n_clusters: int
    """Images behind the shared units."""
    both_right: int
    a_right_b_wrong: int
    a_wrong_b_right: int
    both_wrong: int
    share_a: float | None
    """Share right in a, over the shared units; None where n is 0."""
    share_b: float | None
    """Share right in b, over the shared units; None where n is 0."""
    difference: float | None
    """share_b - share_a, in [-1, 1]; None where n is 0."""
    low: float | None
    """Lower 95 % bound of the difference, clusters resampled; None where there is none."""
    high: float | None
    """Upper 95 % bound of the difference, clusters resampled; None where there is none."""
    p_value: float | None
    """Exact two-sided McNemar test; None where n is 0."""
    only_in_a: int = 0
    """Units of a that b lacks; left out of the comparison."""
    only_in_b: int = 0
    """Units of b that a lacks; left out of the comparison."""

    @property
    def flips(self) -> int:
        """Units on which the two runs part, both ways together."""
        return self.a_right_b_wrong + self.a_wrong_b_right


def mcnemar_exact(a_right_b_wrong: int, a_wrong_b_right: int) -> float:
    """Return the two-sided p-value of the exact McNemar test.

    McNemar 1947 in its exact form: with no difference between the runs, the discordant pairs
    fall on either side like a fair coin. No discordant pair gives 1.0, as in statsmodels: the
    runs were compared and nothing speaks against their being alike. The test takes pairs as
    independent; where units share images, rather trust the clustered interval.

    Args:
        a_right_b_wrong: Pairs that a alone gets right.
        a_wrong_b_right: Pairs that b alone gets right.

    Returns:
        p in (0, 1].
    """
    fewer = min(a_right_b_wrong, a_wrong_b_right)
    return min(1.0, 2 * float(bdtr(fewer, a_right_b_wrong + a_wrong_b_right, 0.5)))


def compare_paired(
    a: npt.NDArray[np.bool_],
    b: npt.NDArray[np.bool_],
    clusters: npt.NDArray[np.generic],
    *,
    only_in_a: int = 0,
    only_in_b: int = 0,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: float = CONFIDENCE,
) -> PairedComparison:
    """Compare two runs unit by unit.

    The interval of the difference comes from resampling clusters. It is None with fewer than
    two clusters, and where all clusters show the same difference (so for two equal runs):
    resampling cannot vary then, and a width of zero would claim certainty.

    Args:
        a: Right or wrong in run a, shape (units,).
        b: Right or wrong in run b, same units in the same order.
        clusters: Cluster (image) of each unit, shape (units,).
        only_in_a: Units of a without partner, to be reported.
        only_in_b: Units of b without partner, to be reported.
        resamples: How often to resample.
        seed: Seed of the resamples.
        confidence: Two-sided, in (0, 1).

    Raises:
        ValueError: The three arrays differ in length.
    """
    if not len(a) == len(b) == len(clusters):
        raise ValueError("a, b and clusters describe the same units and have one length")
    n = len(a)
    a_only, b_only = int(np.sum(a & ~b)), int(np.sum(~a & b))
    both_right = int(np.sum(a & b))
    labels, index = np.unique(clusters, return_inverse=True)
    interval = None
    if len(labels) >= 2:
        sums = np.column_stack(
            [np.bincount(index, weights=b.astype(float) - a), np.bincount(index)],
        )
        totals = resampled_sums(sums, resamples=resamples, seed=seed)
        interval = percentile_interval(totals[:, 0] / totals[:, 1], confidence=confidence)
    return PairedComparison(
        n=n,
        n_clusters=len(labels),
        both_right=both_right,
        a_right_b_wrong=a_only,
        a_wrong_b_right=b_only,
        both_wrong=n - both_right - a_only - b_only,
        share_a=(both_right + a_only) / n if n else None,
        share_b=(both_right + b_only) / n if n else None,
        difference=(b_only - a_only) / n if n else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        p_value=mcnemar_exact(a_only, b_only) if n else None,
        only_in_a=only_in_a,
        only_in_b=only_in_b,
    )
