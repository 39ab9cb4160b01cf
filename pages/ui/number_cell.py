"""Numbers in tables: a cell that sorts as a number and reads as words, and the words of intervals and tests."""

__all__ = ["NumberCell", "change_interval", "p_words"]

from typing import Self

from backend.domain.metric import NOT_AVAILABLE, points


class NumberCell(float):
    """A number with its words."""

    words: str
    counts: str = ""
    """What it is a share of: "134/1,937"; for the line that says what a chosen cell holds."""

    @classmethod
    def of(cls, value: float | None, words: str) -> Self | None:
        """Return the cell; None, which a table shows as N/A, where there is no value."""
        if value is None:
            return None
        cell = cls(value)
        cell.words = words
        return cell

    def __str__(self) -> str:
        return self.words


def change_interval(low: float | None, high: float | None) -> str:
    """Return the interval of a difference of two fractions: "−1.0 to +3.1 points"."""
    return NOT_AVAILABLE if low is None or high is None else f"{points(low).removesuffix(' points')} to {points(high)}"


def p_words(p: float | None) -> str:
    """Return a p-value with three decimals."""
    if p is None:
        return NOT_AVAILABLE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
