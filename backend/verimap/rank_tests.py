"""Tests by ranks: Wilcoxon's for pairs, Kruskal and Wallis' for groups (sections 3.4 and 4.4).

Each result says its hypothesis in words and what it was counted over.
"""

__all__ = ["Alternative", "GroupTest", "SignedRankTest", "kruskal_wallis", "wilcoxon_signed_rank"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from scipy.stats import kruskal, rankdata, wilcoxon

_EXACT_UP_TO = 50
"""So many pairs that differ are tested by the exact distribution, where no two differences tie."""
_DECIMALS = 12
"""Differences are rounded to so many decimals: fractions that differ by rounding alone are a tie."""


class Alternative(StrEnum):
    """Which difference a test looks for."""

    GREATER = "greater"
    LESS = "less"
    TWO_SIDED = "two-sided"


_SIGNS = {Alternative.GREATER: ">", Alternative.LESS: "<", Alternative.TWO_SIDED: "≠"}


@dataclass(frozen=True, slots=True)
class SignedRankTest:
    """Wilcoxon's signed-rank test."""

    hypothesis: str
    """The alternative, as "H1: self > cross, one-sided"."""
    n_pairs: int
    """Pairs with both values."""
    n_equal: int
    """Of these, pairs without a difference; Wilcoxon's test leaves them out."""
    n_undefined: int
    """Pairs left out because a value is undefined."""
    statistic: float
    """Sum of the ranks of positive differences; 0 where no pair differs."""
    p: float
    """1.0 where no pair differs."""
    exact: bool
    """From the exact distribution; otherwise by the normal approximation."""


@dataclass(frozen=True, slots=True)
class GroupTest:
    """Kruskal and Wallis' test."""

    hypothesis: str
    groups: dict[str, int]
    """Values by group; groups without a value are left out."""
    statistic: float
    """H, corrected for ties."""
    df: int
    p: float
    """From chi-squared."""


def wilcoxon_signed_rank(
    first: Sequence[float | None],
    second: Sequence[float | None],
    *,
    names: tuple[str, str],
    alternative: Alternative = Alternative.TWO_SIDED,
) -> SignedRankTest | None:
    """Test whether paired values differ.

    Args:
        first: One value a pair; None or NaN where undefined.
        second: The other value of each pair.
        names: What the two are called in the hypothesis.
        alternative: Said of the first against the second.

    Returns:
        The test; None without a whole pair.
    """
    pairs = np.array([_numbers(first), _numbers(second)])
    whole = ~np.isnan(pairs).any(axis=0)
    if not whole.any():
        return None
    differences = np.round(pairs[0, whole] - pairs[1, whole], _DECIMALS)
    differing = differences[differences != 0]
    sides = "two-sided" if alternative is Alternative.TWO_SIDED else "one-sided"
    hypothesis = f"H1: {names[0]} {_SIGNS[alternative]} {names[1]}, {sides}"
    exact = len(differing) <= _EXACT_UP_TO and len(np.unique(np.abs(differing))) == len(differing)
    statistic, p = 0.0, 1.0
    if len(differing):
        statistic = float(rankdata(np.abs(differing))[differing > 0].sum())
        method = "exact" if exact else "asymptotic"
        p = float(wilcoxon(differing, alternative=alternative.value, method=method).pvalue)
    n = int(whole.sum())
    return SignedRankTest(hypothesis, n, n - len(differing), len(whole) - n, statistic, p, exact)


def kruskal_wallis(groups: Mapping[str, Sequence[float | None]]) -> GroupTest | None:
    """Test whether groups of values differ in location.

    Args:
        groups: Values by name; None or NaN where undefined.

    Returns:
        The test; None with fewer than two groups, or where all values are equal.
    """
    values = {name: _numbers(given) for name, given in groups.items()}
    values = {name: given[~np.isnan(given)] for name, given in values.items()}
    values = {name: given for name, given in values.items() if len(given)}
    if len(values) < 2 or np.ptp(np.concatenate(list(values.values()))) == 0:
        return None
    found = kruskal(*values.values())
    return GroupTest(
        f"H1: not all {len(values)} groups have the same distribution",
        {name: len(given) for name, given in values.items()},
        float(found.statistic),
        len(values) - 1,
        float(found.pvalue),
    )


def _numbers(values: Sequence[float | None]) -> npt.NDArray[np.float64]:
    """Return values as numbers, what is undefined as NaN."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
