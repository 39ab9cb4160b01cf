"""From an answer to one value for each atom.

Reading never sees a reference: it is a function of the question, the atoms' classes and the answer, and the
comparison comes afterwards. So an answer that is right for one count is wrong for every other.
"""

__all__ = ["read_answer"]

import re
from functools import lru_cache

from backend.endoca.scoring.answer_parts import split_answer
from backend.endoca.scoring.free_text import read_free_text
from backend.endoca.scoring.mentions import Mention, Statements
from backend.endoca.scoring.one_part import agrees, read_class, read_one_part, without_other
from backend.endoca.scoring.question_parts import Part, parts_of
from backend.endoca.scoring.reading import Reading, unread
from backend.endoca.scoring.records import Rule
from backend.endoca.scoring.statements import statements_of
from backend.endoca.vocabulary import QuestionType

_REFUSAL = re.compile(
    r"\b(?:i'?m sorry|i am sorry|i apologi[sz]e|as an ai|as a language model)\b"
    r"|\b(?:can't|cannot|can not|unable to|not able to|won't|not qualified to) (?:\w+ ){0,2}?"
    r"(?:help|assist|analy[sz]e|interpret|view the|view images|process|diagnose|offer|comply|access|answer|respond"
    r"|provide)\b"
    r"|\bno image (?:was |is )?(?:provided|attached|available|uploaded)|\b(?:please|kindly) (?:consult|provide|upload)",
    re.I,
)
_UNDECIDED_WORD = re.compile(r"(?:n/?a|unknown|unanswerable|null|nan|uncertain|not sure|undefined)\W*\Z", re.I)
_NOT_APPLICABLE_WORD = re.compile(r"n/?a\W*\Z", re.I)
_CONTENT = re.compile(r"[A-Za-z0-9]")
_LOCATIONS = frozenset({"instrument_location", "landmark_location", "abnormality_location"})
_EMPTY = unread(Rule.EMPTY, "is empty")


@lru_cache(maxsize=65_536)
def read_answer(question: str, classes: tuple[str, ...], answer: str) -> tuple[Reading, ...]:
    """Read one value for each class.

    Args:
        question: The complex or atomic question the VLM was asked.
        classes: Class names in the atoms' order. ``?count`` stands for an atom of which only the type is known.
        answer: What the VLM said, verbatim.

    Returns:
        One reading a class, in order. Statements that name their own things go before the order of a list.
    """
    if any(name[:1] == "?" for name in classes):
        return _read_with_free_text(question, classes, answer)
    parts = parts_of(question, classes)
    text, given, form = split_answer(answer, parts, classes)
    if not _CONTENT.search(text):
        return (_EMPTY,) * len(classes)
    if given is None or form == "list":
        prose = _read_prose(text, parts.parts, classes, joined=parts.one_answer_for_all)
        if given is None or all(r.values for r in prose):
            return prose
    rule = Rule.KEY_VALUE if form == "key" else Rule.BARE_LIST
    readings = tuple(
        _read_given(piece, part, name, rule) for part, name, piece in zip(parts.parts, classes, given, strict=True)
    )
    if form == "list" and sum(bool(r.values) for r in prose) > sum(bool(r.values) for r in readings):
        return prose
    return readings


def _read_given(piece: str | None, part: Part, name: str, rule: Rule) -> Reading:
    """Read the piece of the answer that its own form gives to this part."""
    if piece is None or not _CONTENT.search(piece):
        return unread(Rule.UNANSWERED, "gives no answer to this part")
    reading = _read_prose(piece, (part,), (name,), joined=False)[0]
    return reading._replace(rule=rule) if reading.values else reading


def _read_with_free_text(question: str, classes: tuple[str, ...], answer: str) -> tuple[Reading, ...]:
    """Read atoms of which some are known by their type alone."""
    plain = ("text_presence",)
    text, _, _ = split_answer(answer, parts_of(question, plain), plain)
    if not _CONTENT.search(text):
        return (_EMPTY,) * len(classes)
    if _REFUSAL.search(text) or _UNDECIDED_WORD.match(text):
        return (unread(Rule.NON_COMMITTAL, "does not answer"),) * len(classes)
    known = tuple(name for name in classes if name[:1] != "?")
    from_known = iter(read_answer(question, known, answer) if known else ())
    read = statements_of(text)
    return tuple(
        read_free_text(QuestionType(name[1:]), text, read) if name[:1] == "?" else next(from_known) for name in classes
    )


def _stopped(text: str, read: Statements, classes: tuple[str, ...]) -> Reading | None:
    """Return the reading of an answer that answers nothing as a whole: a refusal, a self-correction, yes and no."""
    if _REFUSAL.search(text):
        return unread(Rule.REFUSAL, "declines to answer")
    not_applicable = classes == ("polyp_removal_status",) and _NOT_APPLICABLE_WORD.match(text)
    if _UNDECIDED_WORD.match(text) and not not_applicable:
        return unread(Rule.NON_COMMITTAL, "does not commit itself")
    in_the_middle = any(0 < at < len(read.mentions) for _, at in read.polars)
    if read.corrected or (in_the_middle and len(classes) == 1):
        return unread(Rule.SELF_CORRECTION, "takes back or corrects what it said first")
    if len({value for value, at in read.polars if at == 0 or len(classes) == 1}) > 1:
        return unread(Rule.CONTRADICTION, "says both yes and no")
    return None


def _read_prose(text: str, parts: tuple[Part, ...], classes: tuple[str, ...], *, joined: bool) -> tuple[Reading, ...]:
    """Read a text that does not say itself which words answer which part."""
    read = statements_of(text)
    stopped = _stopped(text, read, classes)
    if stopped is not None:
        return (stopped,) * len(classes)
    mentions = [m for m in read.mentions if not m.unreal]
    polar = read.polars[0][0] if read.polars and (len(classes) == 1 or read.polars[0][1] == 0) else None
    if len(classes) == 1:
        return (read_one_part(text, read, mentions, polar, parts[0], classes[0]),)
    at_once = None if any(m.topic for m in mentions) else _read_at_once(read, mentions, polar, parts, joined=joined)
    return at_once or _read_each(text, mentions, polar, parts, classes)


def _read_at_once(
    read: Statements, mentions: list[Mention], polar: bool | None, parts: tuple[Part, ...], *, joined: bool
) -> tuple[Reading, ...] | None:
    """Read an answer without a thing in it for several parts: "none" to "any A or B?", "both", "neither"."""
    if read.hedged or read.undecided:
        return (unread(Rule.NON_COMMITTAL, "does not commit itself"),) * len(parts)
    denied = polar is False or (polar is None and bool(mentions) and all(m.negated for m in mentions))
    if denied and joined and not any(not m.negated for m in mentions):
        return tuple(_at_once(part.no) for part in parts)
    if read.all_or_none is not None and (len(parts) == 2 or not read.of_two):
        if polar is not None and polar != read.all_or_none:
            return (unread(Rule.CONTRADICTION, "says both yes and no"),) * len(parts)
        return tuple(_at_once(part.yes if read.all_or_none else part.no) for part in parts)
    return None


def _at_once(values: frozenset[str]) -> Reading:
    if not values:
        return unread(Rule.NOT_NAMED, "answers all parts at once without naming what was asked for")
    return Reading(values, Rule.BARE_ANSWER, "answers all parts at once")


def _read_each(
    text: str, mentions: list[Mention], polar: bool | None, parts: tuple[Part, ...], classes: tuple[str, ...]
) -> tuple[Reading, ...]:
    """Let each part take the statements about its own thing.

    A leading yes or no that goes with none of them contradicts the sentence after it.
    """
    only_location = len(_LOCATIONS.intersection(classes)) == 1
    if any(part.asks_other for part in parts):
        mentions = without_other(mentions)
    readings = tuple(read_class(name, mentions, text, only_location=only_location) for name in classes)
    if polar is not None:
        verdicts = [
            agrees(reading.values, polar, part, name)
            for reading, part, name in zip(readings, parts, classes, strict=True)
            if reading.values
        ]
        if False in verdicts and not any(verdicts):
            word = "yes" if polar else "no"
            return (unread(Rule.CONTRADICTION, f'says "{word}" and then states the opposite'),) * len(classes)
    return readings
