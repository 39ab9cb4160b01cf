"""What becomes of a verdict."""

import pytest

from backend.verimap.outcomes import Policy, Treatment, VerdictOutcome, verdict_outcome
from backend.verimap.verifier import Verdict

TP, FP, TN, FN = VerdictOutcome
REJECT, DROP = Treatment


@pytest.mark.parametrize(
    ("right", "verdict", "policy", "outcome"),
    [
        (True, Verdict.CORRECT, Policy(), TP),
        (False, Verdict.CORRECT, Policy(), FP),
        (True, Verdict.INCORRECT, Policy(), FN),
        (False, Verdict.INCORRECT, Policy(), TN),
        (True, Verdict.UNCERTAIN, Policy(), FN),
        (False, Verdict.UNCERTAIN, Policy(), TN),
        (False, Verdict.UNCERTAIN, Policy(uncertain=DROP), None),
        (True, None, Policy(), None),
        (True, None, Policy(unparsed=REJECT), FN),
        (False, None, Policy(uncertain=DROP, unparsed=REJECT), TN),
        (False, None, Policy(uncertain=REJECT, unparsed=DROP), None),
    ],
)
def test_only_correct_accepts_and_the_policy_decides_on_the_undecided(
    right: bool, verdict: Verdict | None, policy: Policy, outcome: VerdictOutcome | None
) -> None:
    assert verdict_outcome(right, verdict, policy) is outcome


def test_a_policy_says_in_words_what_it_does() -> None:
    assert Policy().sentence == (
        "UNCERTAIN verdicts count as not accepted; replies without a verdict are left out and counted."
    )
