"""The generator–verifier visual grounding gap: does the verifier look at the image less than the generator (Fig. 5)?

Each verification is a pair: how much the generator's answer rested on the image, and how much the verifier's reply on
that answer did. The paper compares two proxies; a third of ours sets the first against what even attention would
give, for a verifier's prompt is longer and leaves any image a smaller share.

All of it is correlational. Pairs of one image are not independent: the intervals resample whole images, but
Wilcoxon's and Kruskal and Wallis' tests take every pair for itself, as the paper does, so their p errs to the small
side where images have many questions.
"""

__all__ = ["GroundingGap", "gaps_between", "grounding_gap"]

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from backend.domain.statistics.intervals import Interval
from backend.domain.statistics.resampling import percentile_interval, resampled_sums
from backend.verimap.effect_sizes import PairedDifference, paired_difference
from backend.verimap.proxies import SIDES
from backend.verimap.rank_tests import Alternative, GroupTest, SignedRankTest, kruskal_wallis, wilcoxon_signed_rank

_DECIMALS = 12
"""Differences over the largest value are rounded to so many decimals: what differs by rounding alone is a tie."""


@dataclass(frozen=True, slots=True)
class GroundingGap:
    """How far the two sides of some verifications part. Without a whole pair every number is None."""

    n: int
    """Pairs with both values."""
    n_undefined: int
    """Pairs left out because a value is undefined."""
    n_images: int
    """Images the pairs are of."""
    n_lower: int
    """Pairs in which the verifier's value is below the generator's."""
    generator_mean: float | None
    generator_median: float | None
    verifier_mean: float | None
    verifier_median: float | None
    gap: float | None
    """Mean of generator minus verifier (the paper's Δ)."""
    interval: Interval | None
    """Of the gap, 95 %, images resampled; None where resampling cannot vary, as with one image."""
    test: SignedRankTest | None
    """Of generator > verifier, one-sided."""
    effect: PairedDifference | None
    """Cohen's d in both forms; None with fewer than two pairs."""


def grounding_gap(
    generator: Sequence[float | None], verifier: Sequence[float | None], images: Sequence[str]
) -> GroundingGap:
    """Compare the two sides of some verifications.

    A pair with an undefined value is left out of everything and counted.

    Args:
        generator: One value of a proxy a verification; None or NaN where undefined.
        verifier: The other side of each.
        images: Image id of each; pairs of one image are resampled together.
    """
    pairs = np.array([_numbers(generator), _numbers(verifier)]).reshape(2, -1)
    whole = ~np.isnan(pairs).any(axis=0)
    n = int(whole.sum())
    if not n:
        return GroundingGap(0, len(whole), 0, 0, *(None,) * 8)
    first, second = pairs[:, whole]
    size = _largest(pairs)
    differences = np.round((first - second) / size, _DECIMALS) * size
    of_images = np.asarray(images, dtype=object)[whole]
    return GroundingGap(
        n=n,
        n_undefined=len(whole) - n,
        n_images=len(set(of_images.tolist())),
        n_lower=int((differences > 0).sum()),
        generator_mean=float(first.mean()),
        generator_median=float(np.median(first)),
        verifier_mean=float(second.mean()),
        verifier_median=float(np.median(second)),
        gap=float(differences.mean()),
        interval=_interval(differences, of_images.tolist()),
        test=wilcoxon_signed_rank(
            (first / size).tolist(), (second / size).tolist(), names=SIDES, alternative=Alternative.GREATER
        ),
        effect=paired_difference(first.tolist(), second.tolist()),
    )


def gaps_between(
    generator: Sequence[float | None], verifier: Sequence[float | None], groups: Sequence[str]
) -> GroupTest | None:
    """Test by Kruskal and Wallis whether the gap differs between groups, such as tasks.

    Args:
        generator: As `grounding_gap`.
        verifier: Likewise.
        groups: Group of each verification.

    Returns:
        The test over the differences; None with fewer than two groups, or where all differences are equal.
    """
    by_group: dict[str, list[float | None]] = {}
    pairs = np.array([_numbers(generator), _numbers(verifier)]).reshape(2, -1)
    differences = np.round((pairs[0] - pairs[1]) / _largest(pairs), _DECIMALS)
    for group, difference in zip(groups, differences.tolist(), strict=True):
        by_group.setdefault(group, []).append(difference)
    return kruskal_wallis(by_group)


def _largest(pairs: npt.NDArray[np.float64]) -> float:
    """Return the largest value of whole pairs by size; 1 where there is none but 0."""
    whole = pairs[:, ~np.isnan(pairs).any(axis=0)]
    return float(np.abs(whole).max(initial=0)) or 1.0


def _interval(differences: npt.NDArray[np.float64], images: Sequence[str]) -> Interval | None:
    """Return the cluster bootstrap's interval of a mean difference: the sum of each image over its pairs."""
    places = {image: place for place, image in enumerate(sorted(set(images)))}
    of_pair = np.array([places[image] for image in images])
    sums = np.stack([np.bincount(of_pair, differences), np.bincount(of_pair)], axis=1)
    resampled = resampled_sums(sums)
    return percentile_interval(resampled[:, 0] / resampled[:, 1])


def _numbers(values: Sequence[float | None]) -> npt.NDArray[np.float64]:
    """Return values as numbers, what is undefined as NaN."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
