"""What becomes of a cell's rate with nothing to divide by: the FPR of a generator without a wrong answer, say."""

__all__ = ["Undefined"]

from enum import StrEnum


class Undefined(StrEnum):
    """What becomes of a rate with nothing to divide by."""

    DROP = "drop"
    """The cell is left out of what needs the rate."""
    AS_PRINTED = "as-printed"
    """The printed number is taken as measured, an unprinted one and a dSkew of 0 / 0 as 0: the paper's way."""
