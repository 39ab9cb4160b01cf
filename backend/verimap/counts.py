"""The four counts of a verifier and the rates that are made of them (section 3.3).

A rate whose denominator is 0 is undefined: None, never 0. dSkew is computed in closed form, never
from the paper's double sum over all pairs of verifications.
"""

__all__ = ["Counts"]

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counts:
    """Verifications by outcome.

    Raises:
        ValueError: A count is negative.
    """

    tp: int = 0
    """Right answers that were accepted."""
    tn: int = 0
    """Wrong answers that were not."""
    fp: int = 0
    """Wrong answers that were accepted: false acceptances."""
    fn: int = 0
    """Right answers that were not: false rejections."""

    def __post_init__(self) -> None:
        if min(self.tp, self.tn, self.fp, self.fn) < 0:
            raise ValueError("counts are not negative")

    @property
    def n(self) -> int:
        """Verifications counted (N)."""
        return self.tp + self.tn + self.fp + self.fn

    @property
    def n_right(self) -> int:
        """Verifications of right answers."""
        return self.tp + self.fn

    @property
    def n_wrong(self) -> int:
        """Verifications of wrong answers."""
        return self.tn + self.fp

    @property
    def n_errors(self) -> int:
        """Verifications that part from the oracle."""
        return self.fp + self.fn

    @property
    def accuracy(self) -> float | None:
        """(TP + TN) / N."""
        return _share(self.tp + self.tn, self.n)

    @property
    def error(self) -> float | None:
        """(FP + FN) / N, the plane's horizontal axis."""
        return _share(self.n_errors, self.n)

    @property
    def generator_error(self) -> float | None:
        """Share of wrong answers among those verified (p_g)."""
        return _share(self.n_wrong, self.n)

    @property
    def fpr(self) -> float | None:
        """FP / (FP + TN); undefined with no wrong answer."""
        return _share(self.fp, self.n_wrong)

    @property
    def fnr(self) -> float | None:
        """FN / (FN + TP); undefined with no right answer."""
        return _share(self.fn, self.n_right)

    @property
    def bias(self) -> float | None:
        """(FP - FN) / N, in [-1, 1]; above 0 the verifier accepts too much."""
        return _share(self.fp - self.fn, self.n)

    @property
    def dskew(self) -> float | None:
        """(FP - FN)² / (N (FP + FN) - 2 FP FN), in [0, 1]; undefined where FP = FN = 0.

        The closed form of 1 - Σ|d_i - d_j| / Σ|d_i + d_j| over all ordered pairs, i = j among them
        (section 3.3). It has no sign: exchanging FP and FN leaves it as it is.
        """
        return _share((self.fp - self.fn) ** 2, self.n * self.n_errors - 2 * self.fp * self.fn)

    @property
    def signed_dskew(self) -> float | None:
        """Return dSkew with the sign of Bias, in [-1, 1]; it tells the two directions apart, as the paper's cannot."""
        if self.dskew is None:
            return None
        return self.dskew if self.fp >= self.fn else -self.dskew


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
