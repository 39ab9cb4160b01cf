"""What counts at a turn of the feedback loop, when some loops have ended before (section 4.6, Appendix B.5).

The paper draws a "cumulative agreement bias" by turn and does not say what it cumulates, so that is a choice
(`Cumulation`) which stands beside every figure.
"""

__all__ = ["Cumulation", "counted_turns"]

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pandas as pd


class Cumulation(StrEnum):
    """Which verdicts count at a turn."""

    STANDING = "standing"
    """Of each loop the last one given so far: a loop that has ended keeps its verdict."""
    ADDED_UP = "added-up"
    """All that were given so far."""
    BY_ITSELF = "by-itself"
    """Those given in that turn: loops that have ended are not there any more."""

    @property
    def plain(self) -> str:
        """The choice in words, to print below a figure."""
        return _WORDS[self]


_WORDS = {
    Cumulation.STANDING: "At each turn every loop counts with its last verdict so far; one that has ended keeps it",
    Cumulation.ADDED_UP: "At each turn all verdicts given so far are added up",
    Cumulation.BY_ITSELF: "At each turn the verdicts of that turn alone count; loops that have ended are gone",
}


def counted_turns(turns: pd.DataFrame, how: Cumulation, at: Sequence[int]) -> pd.DataFrame:
    """Return the rows that count at each turn.

    Args:
        turns: One row a turn of a loop: turn, ends (the turn its loop ends at), and whatever else; rows after
            a loop's end are put aside. Each loop has every turn up to its end.
        how: Which rows count.
        at: Turns to look at.

    Returns:
        The same columns, and ``at``: a row once for each turn that it counts at, in the order of ``at``.
    """
    own = turns[turns["turn"] <= turns["ends"]]
    turn, ends = own["turn"].to_numpy(dtype=np.int64), own["ends"].to_numpy(dtype=np.int64)
    parts = [own[_counting(how, turn, ends, number)].assign(at=number) for number in at]
    return pd.concat(parts, ignore_index=True) if parts else own.iloc[:0].assign(at=0)


def _counting(
    how: Cumulation, turn: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], number: int
) -> npt.NDArray[np.bool_]:
    """Return which rows count at a turn."""
    counting: npt.NDArray[np.bool_]
    match how:
        case Cumulation.STANDING:
            counting = turn == np.minimum(number, ends)
        case Cumulation.ADDED_UP:
            counting = turn <= number
        case Cumulation.BY_ITSELF:
            counting = turn == number
    return counting
