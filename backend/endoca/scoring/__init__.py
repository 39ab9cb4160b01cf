"""The question-type-aware scorer: rules only, no judge (EndoCA, "Answer Scoring and Metrics").

`score_answer` reads one value per atom out of an answer and compares it with the atom's reference. A
complex answer is right only if every atom is. Reading (`reader`) never sees a reference. The rules where
the paper is silent stand in the modules that apply them.
"""

__all__ = ["SCORER", "SCORER_VERSION", "AnswerScore", "Atom", "AtomScore", "Rule", "score_answer"]

from collections.abc import Sequence

from backend.endoca.scoring.comparison import compared
from backend.endoca.scoring.free_text import normalised_reference
from backend.endoca.scoring.reader import read_answer
from backend.endoca.scoring.records import AnswerScore, Atom, AtomScore, Rule
from backend.endoca.vocabulary import BY_NAME, QuestionType, canonical_reference, class_of_question

SCORER = "parallax-endoca"
"""Name of this scorer, stored with every score."""
SCORER_VERSION = "1"
"""Raised whenever a rule changes a verdict."""


def _class_of(atom: Atom) -> str:
    """Return the class name, or ``?type`` where only the type is known."""
    if atom.question_class in BY_NAME:
        return atom.question_class
    found = class_of_question(atom.question)
    if found is None or (atom.question_type is not None and not _fits(found, atom.question_type)):
        return f"?{atom.question_type or QuestionType.CATEGORICAL}"
    return found


def _fits(name: str, kind: QuestionType) -> bool:
    """Whether a class found by its question can have the type given; label types count as one."""
    labels = {QuestionType.CATEGORICAL, QuestionType.MULTI_LABEL}
    own = BY_NAME[name].type
    return own is kind or {own, kind} <= labels


def _expected(name: str, reference: str) -> str:
    if name[:1] == "?":
        return normalised_reference(QuestionType(name[1:]), reference)
    return canonical_reference(name, reference)


def _nothing(name: str) -> str:
    """Return the value of a label class that names nothing."""
    known = BY_NAME.get(name)
    return known.nothing if known is not None and known.type is QuestionType.MULTI_LABEL else "none"


def score_answer(question: str, atoms: Sequence[Atom], answer: str) -> AnswerScore:
    """Score one answer.

    Args:
        question: What the VLM was asked: a complex question with all atoms of its unit, or an atomic
            question with its one atom.
        atoms: The atoms with their references, in the unit's order.
        answer: What the VLM said, verbatim; empty for a failed call.

    Returns:
        One score an atom, in order. Right only if all are.
    """
    classes = tuple(_class_of(atom) for atom in atoms)
    readings = read_answer(question, classes, answer)
    scores = []
    for atom, name, reading in zip(atoms, classes, readings, strict=True):
        expected = _expected(name, atom.reference)
        right = expected in reading.values
        reason = compared(reading, expected, _nothing(name))
        scores.append(AtomScore(expected, reading.parsed, right, str(reading.rule), reason))
    return AnswerScore(bool(scores) and all(score.correct for score in scores), tuple(scores))
