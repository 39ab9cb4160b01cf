"""Promises of the words for what became of a pair."""

import pytest

from backend.surgcheck.outcomes import PairOutcome, pair_outcome


@pytest.mark.parametrize(
    ("original", "less_biased", "outcome", "plain"),
    [
        (True, True, PairOutcome.BOTH_RIGHT, "right with the hint and without it"),
        (True, False, PairOutcome.HINT_ONLY, "right with the hint, wrong without it"),
        (False, True, PairOutcome.POINTED_ONLY, "wrong with the hint, right without it"),
        (False, False, PairOutcome.BOTH_WRONG, "wrong with the hint and without it"),
    ],
)
def test_both_answers_decide_what_became_of_a_pair(
    original: bool, less_biased: bool, outcome: PairOutcome, plain: str
) -> None:
    assert pair_outcome(original, less_biased) is outcome
    assert outcome.plain == plain
