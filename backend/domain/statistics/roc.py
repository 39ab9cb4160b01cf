"""How well a score tells two groups apart: the area under the ROC curve."""

__all__ = ["RocArea", "roc_area"]

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from backend.domain.statistics.intervals import CONFIDENCE


@dataclass(frozen=True, slots=True)
class RocArea:
    """The area and its interval."""

    value: float
    """Between 0 and 1; 0.5 tells nothing apart."""
    low: float
    high: float
    """Hanley and McNeil 1982, cut at 0 and 1."""
    n_positive: int
    n_negative: int


def roc_area(positive: Sequence[float], negative: Sequence[float]) -> RocArea | None:
    """Return the chance that a positive has a higher score than a negative, a tie counting half.

    This is the Mann-Whitney U statistic over the number of pairs.

    Args:
        positive: Scores of those that should score high.
        negative: Scores of the others.

    Returns:
        The area; None where either group is empty.
    """
    from scipy.stats import mannwhitneyu

    n, m = len(positive), len(negative)
    if not n or not m:
        return None
    area = float(mannwhitneyu(positive, negative, method="asymptotic").statistic) / (n * m)
    two_positives, two_negatives = area / (2 - area), 2 * area**2 / (1 + area)
    spread = area * (1 - area) + (n - 1) * (two_positives - area**2) + (m - 1) * (two_negatives - area**2)
    reach = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * sqrt(max(spread, 0.0) / (n * m))
    return RocArea(area, max(area - reach, 0.0), min(area + reach, 1.0), n, m)
