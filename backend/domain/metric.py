"""What a metric is, and how its value is written for people.

A `Metric` carries all that a reader needs to judge a number: its name in plain words, the
paper's term, the formula, which direction is better and when it is undefined. An `Estimate`
is one measured value with its counts and interval, so that no number travels naked. Values
are fractions; only the text for people is in percent. Undefined is None and reads "N/A".
"""

__all__ = ["NOT_AVAILABLE", "Estimate", "Metric", "describe_estimate", "percent", "points"]

from dataclasses import dataclass

from backend.domain.statistics.intervals import IntervalMethod

NOT_AVAILABLE = "N/A"
"""How an undefined value reads, as in the EndoCA paper below equation 6."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """The meaning of one metric."""

    key: str
    """Column name in tables and JSON."""
    label: str
    """Short name for axes and table heads."""
    term: str
    """The paper's term."""
    plain: str
    """What it says, in words a clinician uses."""
    formula: str
    """Numerator over denominator, in words."""
    higher_is_better: bool
    """Which direction is good."""
    undefined_when: str
    """When the value is N/A, as the rest of a sentence that begins with "N/A"."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One measured fraction with its counts and its 95 % interval.

    Raises:
        ValueError: A value or bound outside [0, 1], NaN included, or half an interval.
    """

    value: float | None
    """Fraction in [0, 1]; None where the metric is undefined."""
    low: float | None
    """Lower bound; None where no interval can be given."""
    high: float | None
    """Upper bound; None where no interval can be given."""
    k: int | None
    """Numerator; None where the value is no share of counted things (a macro F1)."""
    n: int
    """Denominator: how many things the value rests on."""
    method: IntervalMethod | None = None
    """How the interval was made."""

    def __post_init__(self) -> None:
        for number in (self.value, self.low, self.high):
            if number is not None and not 0 <= number <= 1:
                raise ValueError(f"an estimate is a fraction in [0, 1], not {number}")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two bounds")


def percent(fraction: float | None) -> str:
    """Return "55.1 %" for 0.551, one decimal like the papers, and "N/A" for None."""
    return NOT_AVAILABLE if fraction is None else f"{100 * fraction:.1f} %"


def points(difference: float | None) -> str:
    """Return a difference of two fractions in percentage points: "+3.1 points" for 0.031.

    A minus is the minus sign, not a hyphen. What rounds to zero has no sign. None is "N/A".
    """
    if difference is None:
        return NOT_AVAILABLE
    size = f"{abs(100 * difference):.1f}"
    sign = "" if float(size) == 0 else "+" if difference > 0 else "−"
    return f"{sign}{size} points"


def describe_estimate(estimate: Estimate) -> str:
    """Return value, interval and counts: "55.1 % (54.0–56.2), 6,612/12,000".

    Without an interval the brackets are left out, without a numerator the count reads
    "n = 12,000". An undefined value is "N/A" alone: its reason is `Metric.undefined_when`.
    """
    if estimate.value is None:
        return NOT_AVAILABLE
    text = percent(estimate.value)
    if estimate.low is not None and estimate.high is not None:
        text += f" ({100 * estimate.low:.1f}–{100 * estimate.high:.1f})"
    count = f"n = {estimate.n:,}" if estimate.k is None else f"{estimate.k:,}/{estimate.n:,}"
    return f"{text}, {count}"
