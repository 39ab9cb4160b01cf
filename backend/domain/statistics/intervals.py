"""Intervals: their kinds, and the Wilson score interval of a proportion.

An interval always says how it was made; where none can be given it is None.
"""

__all__ = ["CONFIDENCE", "Interval", "IntervalMethod", "wilson_interval"]

from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from statistics import NormalDist

CONFIDENCE = 0.95
"""Two-sided confidence of every interval, unless a caller says otherwise."""


class IntervalMethod(StrEnum):
    """How an interval was made."""

    WILSON = "Wilson"
    """Wilson score interval over independent units."""
    CLUSTER_BOOTSTRAP = "cluster bootstrap"
    """Percentiles over resamples of whole clusters (images)."""
    WILSON_OVER_CLUSTERS = "Wilson over clusters"
    """Wilson score interval with clusters as the sample size, where resampling cannot vary."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Two bounds and their origin."""

    low: float
    """Lower bound, in the unit of the value."""
    high: float
    """Upper bound, in the unit of the value."""
    method: IntervalMethod
    """How the bounds were found."""


def wilson_interval(
    proportion: float,
    n: int,
    *,
    confidence: float = CONFIDENCE,
    method: IntervalMethod = IntervalMethod.WILSON,
) -> Interval | None:
    """Return the Wilson score interval of a proportion seen in n independent trials.

    Wilson 1927, without continuity correction. It stays in [0, 1] and has a width at 0 and 1.

    Args:
        proportion: Share in [0, 1]; k / n, or a mean of shares where clusters are the trials.
        n: Number of trials.
        confidence: Two-sided, in (0, 1).
        method: What the interval is to be called.

    Returns:
        The interval, or None for n = 0.
    """
    if n == 0:
        return None
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    centre = (proportion + z2 / (2 * n)) / (1 + z2 / n)
    half = sqrt(z2 * (proportion * (1 - proportion) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    low = 0.0 if proportion == 0 else max(0.0, centre - half)
    high = 1.0 if proportion == 1 else min(1.0, centre + half)
    return Interval(low, high, method)
