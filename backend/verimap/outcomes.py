"""What became of a verdict: an answer is right or wrong, and the verifier accepts it or not.

The paper's predicted label is 1 for CORRECT alone (section 3.1). What it leaves open is kept as a
recorded choice: UNCERTAIN and a reply without a verdict either count as not accepted, or are
dropped, and dropped ones are counted.
"""

__all__ = ["Policy", "Treatment", "VerdictOutcome", "verdict_outcome"]

from dataclasses import dataclass
from enum import StrEnum

from backend.verimap.verifier import Verdict


class VerdictOutcome(StrEnum):
    """The four cells of the verifier's confusion table."""

    TRUE_ACCEPTANCE = "tp"
    FALSE_ACCEPTANCE = "fp"
    TRUE_REJECTION = "tn"
    FALSE_REJECTION = "fn"

    @property
    def label(self) -> str:
        """In the words of the plane."""
        return _WORDS[self][0]

    @property
    def plain(self) -> str:
        """The same for a clinician."""
        return _WORDS[self][1]


class Treatment(StrEnum):
    """What is made of a verdict that is neither CORRECT nor INCORRECT."""

    REJECT = "reject"
    """The answer counts as not accepted."""
    DROP = "drop"
    """The verification is left out, and counted."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How verdicts are counted; stored with every table made of them.

    Defaults: UNCERTAIN is not accepted, as the paper's definition has it; unparsed replies are
    dropped, as its figures show that it did (its printed accuracies cannot be reached otherwise).
    """

    uncertain: Treatment = Treatment.REJECT
    unparsed: Treatment = Treatment.DROP

    @property
    def sentence(self) -> str:
        """The policy in words, to print below a table."""
        words = {Treatment.REJECT: "count as not accepted", Treatment.DROP: "are left out and counted"}
        return f"UNCERTAIN verdicts {words[self.uncertain]}; replies without a verdict {words[self.unparsed]}."


_WORDS = {
    VerdictOutcome.TRUE_ACCEPTANCE: ("right answer, accepted", "the answer is right, and the verifier says so"),
    VerdictOutcome.FALSE_ACCEPTANCE: ("false acceptance", "the answer is wrong, and the verifier accepts it"),
    VerdictOutcome.TRUE_REJECTION: ("wrong answer, rejected", "the answer is wrong, and the verifier notices"),
    VerdictOutcome.FALSE_REJECTION: ("false rejection", "the answer is right, and the verifier rejects it"),
}


def verdict_outcome(oracle_correct: bool, verdict: Verdict | None, policy: Policy) -> VerdictOutcome | None:
    """Return the outcome of one verification, None where the policy drops it.

    Args:
        oracle_correct: Whether the answer is right (y*).
        verdict: None for a reply without a verdict.
        policy: What to make of the undecided ones.
    """
    if verdict is Verdict.CORRECT:
        return VerdictOutcome.TRUE_ACCEPTANCE if oracle_correct else VerdictOutcome.FALSE_ACCEPTANCE
    dropped = (verdict is None and policy.unparsed is Treatment.DROP) or (
        verdict is Verdict.UNCERTAIN and policy.uncertain is Treatment.DROP
    )
    if dropped:
        return None
    return VerdictOutcome.FALSE_REJECTION if oracle_correct else VerdictOutcome.TRUE_REJECTION
