"""Deterministic scoring of closed answers: yes or no, an option, a number, one of the things named.

The paper's oracle is a judge for every answer (Appendix A). Where a reference leaves no room for
synonyms, its rule "strict on yes/no, no partial credit" needs none: normalised matching decides,
and every score says by which rule, so that it is never taken for a judge's. An open answer is not
scored here. An answer that these rules cannot read is wrong, and counted apart; a judge may be
asked about it.
"""

__all__ = ["SCORER", "SCORER_VERSION", "ClosedScore", "MatchRule", "Question", "score_closed"]

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Protocol

from backend.domain.records import AnswerStatus
from backend.domain.text import normalise_characters, plain_answer, strip_thinking
from backend.verimap.examples import AnswerType, Option

SCORER = "parallax-verimap-closed-match"
"""Name of this scorer, stored with every score."""
SCORER_VERSION = "1"
"""Raised whenever a rule changes a verdict."""


class MatchRule(StrEnum):
    """What kind of closed answer was expected."""

    OPTION = "option"
    """One of the options, by letter or by text."""
    YES_NO = "yes or no"
    NUMBER = "number"
    NAMED = "one of the things named"
    """The words of the reference, as the question or the data set offers them."""
    SET = "all of the things that apply"
    """The same things as in the reference, in any order, none more and none less."""


@dataclass(frozen=True, slots=True)
class ClosedScore:
    """What matching made of one answer."""

    correct: bool
    status: AnswerStatus
    """READ, UNPARSED or EMPTY; only a read answer can be correct."""
    rule: MatchRule
    expected: str
    """What the reference was read as."""
    read: str | None
    """What the answer was read as; None where it could not be."""


class Question(Protocol):
    """What is known of a question; an `Example` is one."""

    @property
    def question(self) -> str:
        """Its words."""

    @property
    def reference(self) -> str:
        """The ground-truth answer; of a multiple-choice question the text of the right option."""

    @property
    def reference_letter(self) -> str:
        """Letter of the right option; empty without options."""

    @property
    def options(self) -> Sequence[Option]:
        """Its options."""

    @property
    def answer_type(self) -> AnswerType | None:
        """None where the data set does not say."""


def score_closed(example: Question, answer: str) -> ClosedScore | None:
    """Return the score of an answer, or None where the question is open and a judge is needed.

    Options decide first; then the data set's word that all things that apply are asked for; then a reference
    that is yes or no, or a bare number; then the data set's own word that the question is closed.

    Args:
        example: The question with its reference.
        answer: What the VLM said, verbatim.
    """
    said = plain_answer(answer).strip()
    if example.options:
        rule, expected = MatchRule.OPTION, example.reference_letter
        read = _read_option(answer, said, example.options, expected)
    elif example.answer_type is AnswerType.SET:
        rule, expected = MatchRule.SET, _listed(_things(example.reference))
        read = _read_set(said, expected)
    elif (reference := _fold(example.reference)) in ("yes", "no"):
        rule, expected = MatchRule.YES_NO, reference
        read = _read_yes_no(said, example.question)
    elif (number := _bare_number(reference)) is not None:
        rule, expected = MatchRule.NUMBER, number
        read = _read_number(said)
    elif example.answer_type is AnswerType.CLOSED:
        rule, expected = MatchRule.NAMED, reference
        read = _read_named(said, example.question, reference)
    else:
        return None
    if not re.search(r"\w", said):
        return ClosedScore(False, AnswerStatus.EMPTY, rule, expected, None)
    status = AnswerStatus.UNPARSED if read is None else AnswerStatus.READ
    return ClosedScore(read == expected, status, rule, expected, read)


_LETTER = re.compile(r"\A(?:the )?(?:(?:option|choice|answer)\s+)?\(?([A-Z])\)?(?:\s*[.:)\-]\s*(.*))?\Z", re.I | re.S)


def _read_option(answer: str, said: str, options: Sequence[Option], expected: str) -> str | None:
    """Return the letter of the option that was chosen.

    A letter counts alone or before a mark ("B", "(B) Liver", "option B: liver"), so that the article
    in "A large mass" is none; a text beside it may not be another option's. Without a letter the one
    option counts whose words the answer holds, not as a part of another's. Options of the same text
    are one: the expected one's letter stands for all. "A: D" is the answer D.
    """
    texts = {option.letter: _fold(option.text) for option in options}

    def one_of(found: set[str]) -> str | None:
        if len({texts[letter] for letter in found}) != 1:
            return None
        return expected if expected in found else min(found)

    for text in (strip_thinking(normalise_characters(answer)).strip(), said):
        marked = _LETTER.match(text)
        if marked is None or marked[1].upper() not in texts:
            continue
        letter, rest = marked[1].upper(), (marked[2] or "").strip(" .")
        if letter == "A" and rest.upper() in texts:
            return one_of({rest.upper()})
        return one_of({letter} | _mentioned(_fold(rest), texts))
    return one_of(_mentioned(_fold(said), texts))


def _mentioned(folded: str, texts: dict[str, str]) -> set[str]:
    """Return the letters of the options whose words a text holds, those that are a part of another left out."""
    exact = {letter for letter, text in texts.items() if text == folded}
    if exact or not folded:
        return exact
    if _NEGATION.search(folded):
        return set()
    found = {letter for letter, text in texts.items() if text and _holds(folded, text)}
    return {
        letter
        for letter in found
        if not any(texts[letter] != texts[other] and _holds(texts[other], texts[letter]) for other in found)
    }


_YES = re.compile(r"\A(?:yes|y|yeah|yep|true)\b", re.I)
_NO = re.compile(r"\A(?:no|n|nope|false)\b\s*(.*)", re.I | re.S)
_OPENS_A_SENTENCE = re.compile(r"\A(?:[^\w\s]|$|(?:there|it|this|that|these|the|i|they|evidence|sign|signs)\b)", re.I)


def _read_yes_no(said: str, question: str) -> str | None:
    """Return yes or no as the answer begins.

    "No" before a noun ("No fracture") is taken for a no only where the question holds that noun:
    "No abnormality" does not deny that an image is normal. An answer that says both is unread, and
    so is a sentence that begins with neither.
    """
    if _YES.match(said):
        return None if re.match(r"\A\W*\w+\W+(?:(?:and|or)\W+)?no\b", said, re.I) else "yes"
    found = _NO.match(said)
    if not found or re.match(r"\A\W*(?:(?:and|or)\W+)?yes\b", found[1], re.I):
        return None
    if _OPENS_A_SENTENCE.match(found[1]):
        return "no"
    asked = set(_fold(question).split())
    return "no" if asked & set(_fold(found[1]).split()[:4]) else None


_NUMBER_WORDS = MappingProxyType(
    {
        word: str(number)
        for number, word in enumerate(
            ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
        )
    }
    | {"none": "0", "single": "1"}
)
_NUMBER = re.compile(rf"\d+(?:\.\d+)?|\b(?:{'|'.join(_NUMBER_WORDS)})\b", re.I)


def _bare_number(folded: str) -> str | None:
    """Return the number that a reference is; None where it says anything more."""
    return _plain_number(folded) if _NUMBER.fullmatch(folded) else None


def _read_number(said: str) -> str | None:
    """Return the one number in an answer; of several that differ none."""
    numbers = {_plain_number(found) for found in _NUMBER.findall(said)}
    return numbers.pop() if len(numbers) == 1 else None


def _plain_number(text: str) -> str:
    value = float(_NUMBER_WORDS.get(text.lower(), text))
    return str(int(value)) if value.is_integer() else str(value)


_NEGATION = re.compile(r"\b(?:not|no|neither|nor|without|never|cannot)\b")
_OR = re.compile(r"(\w[\w-]*)\s*,?\s+or\s+(?:an? |the )?(\w[\w-]*)", re.I)


def _read_named(said: str, question: str, reference: str) -> str | None:
    """Return the reference where the answer names it, or the other thing that the question offers.

    The things offered are the words beside "or" in the question. Fillers ("the", "side", "image") are no
    matter; an answer with a negation, with both things or with neither is unread, and so is a list of several.
    """
    folded = _fold(said)
    if folded == reference:
        return reference
    if not folded or ";" in said or (_NEGATION.search(folded) and not _NEGATION.search(reference)):
        return None
    offered = {_fold(word) for pair in _OR.findall(question) for word in pair}
    others = {word for word in offered if word and not _holds(reference, word) and _holds(folded, word)}
    if reference and _holds(folded, reference):
        return None if others else reference
    return others.pop() if len(others) == 1 else None


def _read_set(said: str, expected: str) -> str | None:
    """Return the things an answer names, by the alphabet; None for a sentence round one that is expected."""
    things, wanted = _things(said), expected.split("; ")
    round_one = any(thing != one and _holds(thing, one) for thing in things - set(wanted) for one in wanted)
    return None if round_one or not things else _listed(things)


def _things(text: str) -> set[str]:
    return {thing for part in text.split(";") if (thing := _fold(part))}


def _listed(things: set[str]) -> str:
    return "; ".join(sorted(things))


_FILLERS = re.compile(r"\b(?:the|an?|it|is|are|this|on|in|at|of|side|sided|image|picture|view|plane)\b")


@lru_cache(maxsize=4096)
def _fold(text: str) -> str:
    """Return a text in lower case, without marks and fillers; a text of fillers alone stays."""
    plain = " ".join(re.sub(r"[^\w.%<>+-]+", " ", plain_answer(text).lower()).split()).strip(" .")
    return " ".join(_FILLERS.sub(" ", plain).split()) or plain


def _holds(text: str, part: str) -> bool:
    """Return whether the words of ``part`` stand in ``text``, side by side."""
    return f" {part} " in f" {text} "
