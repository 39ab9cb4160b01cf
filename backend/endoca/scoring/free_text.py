"""Atoms whose question is not one of Kvasir-VQA's: only the type of the question is known.

Yes/no and numbers are read as in any other statement; labels are compared as normalised text, a label set
as a set of such texts.
"""

__all__ = ["normalised_label", "normalised_reference", "read_free_text"]

import re

from backend.endoca.scoring.lexicon import Kind
from backend.endoca.scoring.mentions import Statements
from backend.endoca.scoring.reading import Reading, unread, value_of
from backend.endoca.scoring.records import Rule
from backend.endoca.scoring.words import words_of
from backend.endoca.vocabulary import QuestionType

_NOT_WORDS = re.compile(r"[^a-z0-9<>.%+-]+")
_LEADING = re.compile(r"^(?:the|a|an|it is|this is|there is|there are|yes)\s+")
_DENYING = frozenset({Kind.NOT, Kind.NO, Kind.LACK, Kind.ABSENT})
_NOTHING = frozenset({Kind.NO, Kind.NONE, Kind.LACK})
_SET = re.compile(r"\s*(?:;|,|\band\b|\n)\s*")


def normalised_label(text: str) -> str:
    """Return a label in lower case without articles and punctuation; not relevant is not applicable."""
    words = _NOT_WORDS.sub(" ", text.lower().replace("-", " ")).strip(" .")
    while (shorter := _LEADING.sub("", words)) != words:
        words = shorter
    return "not applicable" if words in ("not relevant", "not_applicable", "n a", "na") else words


def _label_set(text: str) -> str:
    return ";".join(sorted({label for part in _SET.split(text.lower()) if (label := normalised_label(part))}))


def normalised_reference(kind: QuestionType, reference: str) -> str:
    """Return a reference in the form that `read_free_text` gives its values."""
    if kind is QuestionType.MULTI_LABEL:
        return _label_set(reference)
    if kind is QuestionType.COUNT:
        return reference.strip().lower().removesuffix(".0")
    return normalised_label(reference)


def read_free_text(kind: QuestionType, text: str, read: Statements) -> Reading:
    """Read an answer knowing only what type of value is asked for.

    Args:
        kind: The type of the atom's question.
        text: The plain answer.
        read: Its statements.
    """
    if read.undecided or read.hedged:
        return unread(Rule.HEDGE, "does not commit itself")
    if kind is QuestionType.BINARY:
        return _yes_or_no(text, read)
    if kind is QuestionType.COUNT:
        return _number(text, read)
    leading = {said for said, at in read.polars if at == 0}
    if kind is QuestionType.CATEGORICAL and len(leading) == len(read.polars) == 1:
        return value_of("yes" if True in leading else "no", Rule.FREE_TEXT, "answers yes or no")
    value = _label_set(text) if kind is QuestionType.MULTI_LABEL else normalised_label(text)
    return value_of(value, Rule.FREE_TEXT, "compared word by word") if value else unread(Rule.EMPTY, "names nothing")


def _yes_or_no(text: str, read: Statements) -> Reading:
    """Read the plain yes or no, else what the first statement says; both must agree."""
    mentions = [m for m in read.mentions if not m.unreal and not m.excepted]
    stated = {value for value, _ in read.polars} | {not m.negated for m in mentions[:1]}
    if not stated:
        denied = any(word.kind in _DENYING for word in words_of(text))
        return (
            value_of("no", Rule.FREE_TEXT, "denies what was asked")
            if denied
            else unread(Rule.UNANSWERED, "says neither yes nor no")
        )
    if len(stated) > 1 or len({m.negated for m in mentions if m.topic == mentions[0].topic}) > 1:
        return unread(Rule.CONTRADICTION, "says both yes and no")
    yes = stated.pop()
    return value_of(
        "yes" if yes else "no", Rule.FREE_TEXT, "affirms what was asked" if yes else "denies what was asked"
    )


def _number(text: str, read: Statements) -> Reading:
    """Read the only number of an answer, whatever it counts; a plain no or none is zero."""
    words = words_of(text)
    if any(word.kind is Kind.VAGUE for word in words):
        return unread(Rule.VAGUE_COUNT, "gives no exact number")
    numbers = {word.number for word in words if word.kind is Kind.NUMBER}
    if not numbers and (any(not value for value, _ in read.polars) or any(w.kind in _NOTHING for w in words)):
        return value_of("0", Rule.FREE_TEXT, "counts nothing")
    if len(numbers) != 1:
        return unread(Rule.VAGUE_COUNT, "gives no single number")
    return value_of(str(numbers.pop()), Rule.FREE_TEXT, "gives one number")
