"""The discrimination–bias plane: verifier error against a measure of bias, cut into four quadrants.

The paper names two corners and describes the other two (section 3.3). Its thresholds are read off
a figure (section 4.2) and are settings here.
"""

__all__ = ["BiasAxis", "PlaneThresholds", "Quadrant", "quadrant", "too_small"]

from dataclasses import dataclass
from enum import StrEnum


class BiasAxis(StrEnum):
    """What can stand on the plane's vertical axis; the values are keys of metrics."""

    FPR = "fpr"
    BIAS = "bias"
    DSKEW = "dskew"
    SIGNED_DSKEW = "signed_dskew"
    """Not the paper's: dSkew alone puts a verifier that rejects everything among the mirages."""


class Quadrant(StrEnum):
    """Where a verifier falls (section 3.3)."""

    MIRAGE = "mirage"
    DESIRED = "desired"
    LENIENT = "lenient"
    UNRELIABLE = "unreliable"

    @property
    def label(self) -> str:
        """The paper's name of the corner; of the two corners without a name, its axes."""
        return _WORDS[self][0]

    @property
    def plain(self) -> str:
        """What the paper says of verifiers that fall there."""
        return _WORDS[self][1]


_WORDS = {
    Quadrant.MIRAGE: ("verification mirage", "often wrong, and its mistakes are acceptances"),
    Quadrant.DESIRED: ("desired regime", "seldom wrong, and not leaning to acceptance"),
    Quadrant.LENIENT: ("low error, high bias", "often correct, but accepts borderline wrong answers"),
    Quadrant.UNRELIABLE: ("high error, low bias", "random or refusing"),
}


@dataclass(frozen=True, slots=True)
class PlaneThresholds:
    """Where the plane is cut; the defaults are the mirage corner of the paper's Fig. 2.

    Raises:
        ValueError: A share is outside [0, 1], or the number of verdicts below 1.
    """

    error: float = 0.40
    """Verifier error from here on is high."""
    fpr: float = 0.60
    """FPR from here on is high."""
    bias: float = 0.35
    """Bias from here on is high."""
    dskew: float = 0.30
    """dSkew, or signed dSkew, from here on is high."""
    min_n: int = 30
    """A cell of fewer verdicts is too small to judge; our choice, the paper prints no n."""

    def __post_init__(self) -> None:
        if not all(0 <= share <= 1 for share in (self.error, self.fpr, self.bias, self.dskew)):
            raise ValueError("thresholds are shares in [0, 1]")
        if self.min_n < 1:
            raise ValueError("a cell has at least one verdict")

    def of(self, axis: BiasAxis) -> float:
        """Return the threshold of a vertical axis."""
        return {BiasAxis.FPR: self.fpr, BiasAxis.BIAS: self.bias}.get(axis, self.dskew)


def quadrant(error: float | None, bias: float | None, axis: BiasAxis, thresholds: PlaneThresholds) -> Quadrant | None:
    """Return where a cell falls; a value on a threshold is high.

    Args:
        error: Verifier error, in [0, 1].
        bias: The value of ``axis``.
        axis: What ``bias`` is.
        thresholds: Where the plane is cut.

    Returns:
        None where either value is undefined: such a cell has no place on the plane.
    """
    if error is None or bias is None:
        return None
    if bias >= thresholds.of(axis):
        return Quadrant.MIRAGE if error >= thresholds.error else Quadrant.LENIENT
    return Quadrant.UNRELIABLE if error >= thresholds.error else Quadrant.DESIRED


def too_small(n: int | None, thresholds: PlaneThresholds) -> bool:
    """Return whether a cell rests on too few verdicts to judge, or on a number that nobody printed."""
    return n is None or n < thresholds.min_n
