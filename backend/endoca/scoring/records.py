"""What goes into the scorer and what comes out of it."""

__all__ = ["AnswerScore", "Atom", "AtomScore", "Rule"]

from dataclasses import dataclass
from enum import StrEnum

from backend.endoca.vocabulary import QuestionType


class Rule(StrEnum):
    """Which rule decided an atom; stable ids that exports and filters may rely on."""

    EMPTY = "empty"
    """Nothing was answered."""
    REFUSAL = "refusal"
    NON_COMMITTAL = "non-committal"
    """The answer says that nothing can be said."""
    HEDGE = "hedge"
    """The statement was taken back by "possibly", "may", "suspected" …"""
    SELF_CORRECTION = "self-correction"
    CONTRADICTION = "contradiction"
    ALTERNATIVES = "alternatives"
    """ "A or B" where one was asked for."""
    VAGUE_COUNT = "vague-count"
    """ "multiple", "at least two", "1-2": no count."""
    NOT_NAMED = "not-named"
    """Something is said to be there, but not what, where or how many."""
    UNANSWERED = "unanswered"
    """The answer does not speak of this part of the question."""
    BARE_ANSWER = "bare-answer"
    """One word or number that answers the only part asked for."""
    BARE_LIST = "bare-list"
    """Items in the order of the question's parts."""
    KEY_VALUE = "key-value"
    """ "text: yes", JSON keys."""
    STATEMENT = "statement"
    """A statement about the thing asked for."""
    NEGATION = "negation-scope"
    """A statement that denies the thing asked for."""
    EXCEPTION = "exception"
    """ "no polyps other than one"."""
    COUNT_NOUN = "count-noun"
    """A number bound to its noun."""
    LABEL_SET = "label-set"
    REMOVAL = "removal-status"
    SHARED_EVIDENCE = "shared-evidence"
    """A statement about another part that settles this one."""
    FREE_TEXT = "free-text"
    """A question outside Kvasir-VQA, compared as normalised text."""


@dataclass(frozen=True, slots=True)
class Atom:
    """One atomic question with its reference."""

    question_class: str
    """Kvasir-VQA-x1 class name; "" where only the type is known."""
    reference: str
    """As stored: raw ("not relevant") or parsed ("not_applicable")."""
    question: str = ""
    """The atomic question's text, used where `question_class` is empty."""
    question_type: QuestionType | None = None


@dataclass(frozen=True, slots=True)
class AtomScore:
    """What was made of the answer for one atom."""

    expected: str
    """The reference in its canonical form."""
    parsed: str | None
    """The value read, several admissible ones joined with " or "; None where none could be read."""
    correct: bool
    rule: str
    reason: str
    """For a clinician: why this value, or why none."""


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The score of one answer: right only if it matches every atom."""

    correct: bool
    atoms: tuple[AtomScore, ...]

    @property
    def parsed_all(self) -> bool:
        """Whether a value could be read for every atom."""
        return all(atom.parsed is not None for atom in self.atoms)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was answered."""
        return all(atom.rule == Rule.EMPTY for atom in self.atoms)
