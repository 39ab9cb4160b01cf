"""Atoms whose question is not one of Kvasir-VQA's: only the type of the question is known.

Yes/no and numbers are read as in any other statement; labels are compared as normalised text, a label set
as a set of such texts.
"""

__all__ = ["normalised_label", "normalised_reference", "read_free_text"]

import re

from backend.endoca.scoring.lexicon import Kind
from backend.endoca.scoring.mentions import NO_COUNT, Statements
from backend.endoca.scoring.reading import Reading, unread, value_of
from backend.endoca.scoring.records import Rule
from backend.endoca.scoring.words import words_of
from backend.endoca.vocabulary import QuestionType

_NOT_WORDS = re.compile(r"[^a-z0-9<>.%+-]+")
_LEADING = re.compile(r"^(?:the|a|an|it is|this is|there is|there are|yes)\s+")
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
    """Read an answer knowing only what type of value is asked for."""
    if read.undecided or read.hedged:
        return unread(Rule.HEDGE, "does not commit itself")
    polars = {value for value, _ in read.polars}
    mentions = [m for m in read.mentions if not m.unreal and not m.excepted]
    if kind is QuestionType.BINARY:
        stated = polars | {not m.negated for m in mentions[:1]}
        if not stated:
            denied = any(w.kind in (Kind.NOT, Kind.NO, Kind.LACK, Kind.ABSENT) for w in words_of(text))
            return (
                value_of("no", Rule.FREE_TEXT, "denies it")
                if denied
                else unread(Rule.UNANSWERED, "says neither yes nor no")
            )
        if len(stated) > 1 or len({m.negated for m in mentions if m.topic == mentions[0].topic}) > 1:
            return unread(Rule.CONTRADICTION, "says both yes and no")
        yes = stated.pop()
        return value_of("yes" if yes else "no", Rule.FREE_TEXT, "affirms it" if yes else "denies it")
    if kind is QuestionType.COUNT:
        if polars == {False} and not mentions:
            return value_of("0", Rule.BARE_ANSWER, "a plain no counts nothing")
        numbers = {m.number for m in mentions if m.number is not None} | {0 for m in mentions if m.negated}
        if len(numbers) != 1 or NO_COUNT in numbers:
            return unread(Rule.VAGUE_COUNT, "gives no single number")
        return value_of(str(numbers.pop()), Rule.FREE_TEXT, "gives one number")
    value = _label_set(text) if kind is QuestionType.MULTI_LABEL else normalised_label(text)
    return value_of(value, Rule.FREE_TEXT, "compared word by word") if value else unread(Rule.EMPTY, "names nothing")
