"""Cohen's d of paired values (Fig. 5), in both of its common forms.

The paper prints "Cohen's d" beside a paired difference and does not say over which deviation, so both stand
side by side under their own names.
"""

__all__ = ["PairedDifference", "paired_difference"]

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

_ROUNDING = 1e-12
"""Of the largest value: differences that part by no more are the same."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean difference of pairs, in units of two deviations."""

    n: int
    """Pairs with both values."""
    mean: float
    """First minus second."""
    d_paired: float | None
    """Mean over the standard deviation of the differences (d_z); None where they do not vary."""
    d_pooled: float | None
    """Mean over the pooled standard deviation of the two groups (d_av); None where neither varies."""


def paired_difference(first: Sequence[float | None], second: Sequence[float | None]) -> PairedDifference | None:
    """Return the effect size of paired values.

    Args:
        first: One value a pair; None or NaN where undefined.
        second: The other value of each pair.

    Returns:
        The difference; None with fewer than two whole pairs.
    """
    pairs = np.array([[np.nan if value is None else value for value in side] for side in (first, second)], dtype=float)
    pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
    n = pairs.shape[1]
    if n < 2:
        return None
    differences = pairs[0] - pairs[1]
    mean = float(differences.mean())
    varies = np.ptp(differences) > _ROUNDING * np.abs(pairs).max()
    spread = float(differences.std(ddof=1)) if varies else 0.0
    pooled = sqrt(float(pairs.var(axis=1, ddof=1).mean()))
    return PairedDifference(n, mean, mean / spread if spread else None, mean / pooled if pooled else None)
