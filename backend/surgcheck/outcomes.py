"""What became of a pair: each of its two answers is right or wrong, and an outcome names the combination.

The original question names what it asks about, the less-biased one only points: what is right with that
hint and wrong without it did not rest on the picture.
"""

__all__ = ["PairOutcome", "pair_outcome"]

from enum import StrEnum


class PairOutcome(StrEnum):
    """What became of a pair: the answer to its original question, then that to its less-biased one."""

    BOTH_RIGHT = "both_right"
    HINT_ONLY = "hint_only"
    POINTED_ONLY = "pointed_only"
    BOTH_WRONG = "both_wrong"

    @property
    def label(self) -> str:
        """In the paper's words for the two questions."""
        return _WORDS[self][0]

    @property
    def plain(self) -> str:
        """The same for a clinician."""
        return _WORDS[self][1]


_WORDS = {
    PairOutcome.BOTH_RIGHT: ("original right, less-biased right", "right with the hint and without it"),
    PairOutcome.HINT_ONLY: ("original right, less-biased wrong", "right with the hint, wrong without it"),
    PairOutcome.POINTED_ONLY: ("original wrong, less-biased right", "wrong with the hint, right without it"),
    PairOutcome.BOTH_WRONG: ("original wrong, less-biased wrong", "wrong with the hint and without it"),
}


def pair_outcome(original_correct: bool, less_biased_correct: bool) -> PairOutcome:
    """Return the outcome of one pair; an answer that is missing, failed or empty is wrong."""
    if original_correct:
        return PairOutcome.BOTH_RIGHT if less_biased_correct else PairOutcome.HINT_ONLY
    return PairOutcome.POINTED_ONLY if less_biased_correct else PairOutcome.BOTH_WRONG
