"""The outcome taxonomy: what became of a paired unit.

The complex answer is right or wrong, and so is each part (atomic answer); an outcome names
the combination. Inconsistent units are the contradiction that EndoCA measures.
"""

__all__ = ["Outcome", "outcome_of"]

from enum import StrEnum


class Outcome(StrEnum):
    """What became of a paired unit: complex answer right or wrong, by the share of parts right."""

    SUPPORTED = "supported"
    INCONSISTENT = "inconsistent"
    COMPOSITION_FAILURE = "composition_failure"
    MIXED = "mixed"
    VISUAL_FACT_FAILURE = "visual_fact_failure"
    NOT_ANSWERED = "not_answered"

    @property
    def label(self) -> str:
        """The paper's term, or ours where the paper has none."""
        return _WORDS[self][0]

    @property
    def plain(self) -> str:
        """The same in plain words."""
        return _WORDS[self][1]


_WORDS = {
    Outcome.SUPPORTED: ("supported", "right answer, every part right"),
    Outcome.INCONSISTENT: ("complex-atomic inconsistency", "right answer, wrong part"),
    Outcome.COMPOSITION_FAILURE: ("composition failure", "wrong answer, every part right"),
    Outcome.MIXED: ("mixed", "wrong answer, some parts right"),
    Outcome.VISUAL_FACT_FAILURE: ("visual-fact failure", "wrong answer, no part right"),
    Outcome.NOT_ANSWERED: ("not answered", "no complex answer; counted as wrong"),
}


def outcome_of(complex_correct: bool, n_atoms: int, n_atoms_correct: int, complex_answered: bool = True) -> Outcome:
    """Return the outcome of one unit.

    A unit whose complex question has no usable answer (missing, failed or empty) is
    NOT_ANSWERED whatever its parts: it is shown apart, and still wrong in every metric.

    Raises:
        ValueError: No atomic question, or more right ones than there are.
    """
    if not 0 <= n_atoms_correct <= n_atoms or n_atoms == 0:
        raise ValueError(
            f"{n_atoms_correct} of {n_atoms} atomic answers right: a unit has at least one atomic question"
        )
    if not complex_answered:
        return Outcome.NOT_ANSWERED
    if n_atoms_correct == n_atoms:
        return Outcome.SUPPORTED if complex_correct else Outcome.COMPOSITION_FAILURE
    if complex_correct:
        return Outcome.INCONSISTENT
    return Outcome.MIXED if n_atoms_correct else Outcome.VISUAL_FACT_FAILURE
