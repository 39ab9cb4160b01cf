"""From an answer to one value for each atom.

Reading never sees a reference: it is a function of the question, the atoms' classes and the answer, and the
comparison comes afterwards. So an answer that is right for one count is wrong for every other.
"""

__all__ = ["read_answer"]

import re
from functools import lru_cache

from backend.endoca.scoring.answer_parts import split_answer
from backend.endoca.scoring.binary import read_box, read_finding, read_text
from backend.endoca.scoring.counts import read_count
from backend.endoca.scoring.free_text import read_free_text
from backend.endoca.scoring.labels import read_colors, read_labels
from backend.endoca.scoring.lexicon import Topic
from backend.endoca.scoring.locations import read_location
from backend.endoca.scoring.polyp_size import read_polyp_size
from backend.endoca.scoring.question_parts import Part, parts_of
from backend.endoca.scoring.reading import Reading, unread, value_of
from backend.endoca.scoring.records import Rule
from backend.endoca.scoring.removal_status import read_removal_status
from backend.endoca.scoring.statements import NO_COUNT, Mention, Statements, statements_of
from backend.endoca.vocabulary import BY_NAME, QuestionType

_REFUSAL = re.compile(
    r"\b(?:i'?m sorry|i am sorry|i apologi[sz]e|as an ai|as a language model|(?:can't|cannot|can not|unable to|not able to|won't"
    r"|not qualified to) (?:\w+ ){0,2}?(?:help|assist|analy[sz]e|interpret|view the|view images|process|diagnose|offer|comply"
    r"|access|answer|respond|provide)\b|no image (?:was |is )?(?:provided|attached|available|uploaded)"
    r"|(?:please|kindly) (?:consult|provide|upload))",
    re.I,
)
_ONE_WORD_UNDECIDED = re.compile(r"(?:n/?a|unknown|unanswerable|null|nan|uncertain|not sure|undefined)\W*\Z", re.I)
_LETTERS = re.compile(r"[A-Za-z0-9]")
_LOCATIONS = ("instrument_location", "landmark_location", "abnormality_location")


@lru_cache(maxsize=65_536)
def read_answer(question: str, classes: tuple[str, ...], answer: str) -> tuple[Reading, ...]:
    """Read one value for each class.

    Args:
        question: The complex or atomic question the VLM was asked.
        classes: Class names in the atoms' order. ``?count`` stands for an atom of which only the type is known.
        answer: What the VLM said, verbatim.
    """
    known = tuple(name for name in classes if name[:1] != "?")
    parts = parts_of(question, known if len(known) == len(classes) else tuple(n for n in classes if n[:1] != "?"))
    if len(known) < len(classes):
        return _read_with_free_text(question, classes, answer)
    text, given, form = split_answer(answer, parts, classes)
    if not _LETTERS.search(text):
        return _all(classes, unread(Rule.EMPTY, "is empty"))
    if given is None:
        return _read_prose(text, parts.parts, classes, joined=parts.one_answer_for_all)
    rule = Rule.KEY_VALUE if form == "key" else Rule.BARE_LIST
    readings = []
    for part, name, piece in zip(parts.parts, classes, given, strict=True):
        if piece is None or not _LETTERS.search(piece):
            readings.append(unread(Rule.UNANSWERED, "gives no answer to this part"))
            continue
        reading = _read_prose(piece, (part,), (name,), joined=False)[0]
        readings.append(reading._replace(rule=rule) if reading.values else reading)
    if form == "list" and not all(r.values for r in readings):
        prose = _read_prose(text, parts.parts, classes, joined=parts.one_answer_for_all)
        if sum(bool(r.values) for r in prose) > sum(bool(r.values) for r in readings):
            return prose
    return tuple(readings)


def _all(classes: tuple[str, ...], reading: Reading) -> tuple[Reading, ...]:
    return (reading,) * len(classes)


def _read_with_free_text(question: str, classes: tuple[str, ...], answer: str) -> tuple[Reading, ...]:
    """Read atoms of which some are known by their type alone."""
    known = tuple(name for name in classes if name[:1] != "?")
    text, _, _ = split_answer(answer, parts_of(question, ("text_presence",)), ("text_presence",))
    if not _LETTERS.search(text):
        return _all(classes, unread(Rule.EMPTY, "is empty"))
    if _REFUSAL.search(text) or _ONE_WORD_UNDECIDED.match(text):
        return _all(classes, unread(Rule.NON_COMMITTAL, "does not answer"))
    read = statements_of(text)
    from_known = iter(read_answer(question, known, answer) if known else ())
    return tuple(
        read_free_text(QuestionType(name[1:]), text, read) if name[:1] == "?" else next(from_known) for name in classes
    )


def _read_prose(text: str, parts: tuple[Part, ...], classes: tuple[str, ...], *, joined: bool) -> tuple[Reading, ...]:
    """Read a text that does not say itself which words answer which part."""
    if _REFUSAL.search(text):
        return _all(classes, unread(Rule.REFUSAL, "declines to answer"))
    if _ONE_WORD_UNDECIDED.match(text) and not (classes == ("polyp_removal_status",) and text[:1] in "nN" and len(text) < 5 and text[1:2] in "/aA"):
        return _all(classes, unread(Rule.NON_COMMITTAL, "does not commit itself"))
    read = statements_of(text)
    if read.corrected:
        return _all(classes, unread(Rule.SELF_CORRECTION, "takes back what it said first"))
    mentions = [m for m in read.mentions if not m.unreal]
    if any(at for value, at in read.polars if 0 < at < len(read.mentions) and mentions):
        return _all(classes, unread(Rule.SELF_CORRECTION, "says yes or no in the middle of its statements"))
    said = {value for value, _ in read.polars}
    if len(said) > 1:
        return _all(classes, unread(Rule.CONTRADICTION, "says both yes and no"))
    polar = said.pop() if said else None
    if len(classes) == 1:
        return (_read_single(text, read, mentions, polar, parts[0], classes[0]),)
    return _read_several(text, read, mentions, polar, parts, classes, joined=joined)


def _read_class(name: str, mentions: list[Mention], text: str, *, only_location: bool) -> Reading:
    """Read one class from statements."""
    match name:
        case "text_presence":
            return read_text(mentions)
        case "box_artifact_presence":
            return read_box(mentions)
        case "finding_presence":
            return read_finding(mentions)
        case "finding_count" | "polyp_count" | "instrument_count":
            return read_count(name, mentions)
        case "polyp_removal_status":
            return read_removal_status(mentions)
        case "polyp_size":
            return read_polyp_size(mentions, text)
        case "abnormality_color" | "landmark_color":
            return read_colors(name, mentions)
        case "instrument_location" | "landmark_location" | "abnormality_location":
            return read_location(name, mentions, only_location=only_location)
        case _:
            return read_labels(name, mentions)


_SILENT = frozenset({Rule.UNANSWERED, Rule.NOT_NAMED})


def _read_single(text: str, read: Statements, mentions: list[Mention], polar: bool | None, part: Part, name: str) -> Reading:
    """Read an answer to one atom, where a bare word refers to it."""
    if name == "polyp_type" and text.strip(" .").lower() == "is":
        return value_of("paris is", Rule.BARE_ANSWER, "names paris is")
    if part.asks_other:
        for m in mentions:
            m.other = False
    reading = _read_class(name, mentions, text, only_location=True)
    bare = [m for m in mentions if not m.topic]
    if reading.rule in _SILENT and bare:
        elliptical = _read_elliptical(bare, part, name)
        if elliptical is not None:
            reading = elliptical if reading.rule is Rule.UNANSWERED or not elliptical.values else reading
    elif reading.values and bare and BY_NAME[name].type is QuestionType.COUNT:
        numbers = {str(m.number) for m in bare if m.number is not None and m.explicit and not m.added}
        if numbers and not numbers <= reading.values and not read.corrected:
            return unread(Rule.CONTRADICTION, "gives two different numbers")
    elif reading.values and bare and reading.rule in (Rule.STATEMENT, Rule.NEGATION) and any(m.hedged for m in bare):
        return unread(Rule.HEDGE, "takes its statement back with a hedge")
    if polar is not None:
        return _with_polar(reading, polar, part, name, read)
    if reading.rule in _SILENT and not reading.values and (read.undecided or (read.hedged and not mentions)):
        return unread(Rule.NON_COMMITTAL, "does not commit itself")
    if reading.rule in _SILENT and any(m.topic == Topic.NOT_APPLICABLE for m in mentions):
        return unread(Rule.NON_COMMITTAL, "calls the question not applicable")
    return reading


def _read_elliptical(bare: list[Mention], part: Part, name: str) -> Reading | None:
    """Read statements without a subject: "visible", "none", "there are two"."""
    if any(m.hedged for m in bare):
        return unread(Rule.HEDGE, "answers only with a hedge")
    numbers = {m.number for m in bare if m.number is not None}
    if BY_NAME[name].type is QuestionType.COUNT and numbers:
        if NO_COUNT in numbers:
            return unread(Rule.VAGUE_COUNT, "gives no exact number")
        added = [m.number or 0 for m in bare if m.number is not None]
        total = sum(added) if all(m.added for m in bare[1:] if m.number is not None) else added[0]
        if len(numbers) > 1 and total not in numbers and not all(m.added for m in bare[1:]):
            return unread(Rule.CONTRADICTION, "gives two different numbers")
        return value_of(str(total), Rule.BARE_ANSWER, f"counts {total}")
    denied = {m.negated for m in bare if m.number in (None, 0)}
    if len(denied) > 1:
        return unread(Rule.CONTRADICTION, "says both present and absent")
    if not denied:
        return None
    values = part.no if denied.pop() else part.yes
    if values:
        return Reading(values, Rule.BARE_ANSWER, "answers the question in a word")
    return unread(Rule.NOT_NAMED, "confirms without naming what was asked for")


def _agrees(values: frozenset[str], polar: bool, part: Part, name: str) -> bool | None:
    """Whether a plain yes or no goes with the values read; None where it cannot be told."""
    meaning = part.yes if polar else part.no
    if name == "polyp_removal_status" or BY_NAME[name].type is QuestionType.BINARY:
        return bool(values & meaning) if meaning else None
    nothing = BY_NAME[name].nothing
    if not part.no:
        return None
    if polar and part.yes and len(part.yes) == 1 and part.yes != frozenset({nothing}):
        return bool(values & part.yes) or nothing not in values
    return (nothing in values) != (polar == (nothing not in part.yes))


def _with_polar(reading: Reading, polar: bool, part: Part, name: str, read: Statements) -> Reading:
    """Combine a plain yes or no with what the rest of the answer says."""
    word = "yes" if polar else "no"
    if reading.values:
        agrees = _agrees(reading.values, polar, part, name)
        if agrees is False:
            return unread(Rule.CONTRADICTION, f'says "{word}" and then states the opposite')
        meaning = part.yes if polar else part.no
        narrowed = reading.values & meaning
        return reading._replace(values=narrowed) if agrees and len(reading.values) > 1 and narrowed else reading
    if reading.rule not in _SILENT:
        return reading
    if read.undecided or (read.hedged and not any(m.topic for m in read.mentions)):
        return unread(Rule.HEDGE, f'says "{word}" only with a hedge')
    values = part.yes if polar else part.no
    if not polar and reading.rule is Rule.NOT_NAMED:
        return unread(Rule.CONTRADICTION, 'says "no" and then speaks of one')
    if values:
        return Reading(values, Rule.BARE_ANSWER, f'answers "{word}"')
    if BY_NAME[name].type is QuestionType.COUNT:
        return unread(Rule.VAGUE_COUNT, f'says "{word}" but not how many')
    return unread(Rule.NOT_NAMED, f'says "{word}" without naming what was asked for')


def _read_several(
    text: str,
    read: Statements,
    mentions: list[Mention],
    polar: bool | None,
    parts: tuple[Part, ...],
    classes: tuple[str, ...],
    *,
    joined: bool,
) -> tuple[Reading, ...]:
    """Read an answer to several atoms: each takes the statements about its own thing."""
    spoken = [m for m in mentions if m.topic]
    bare_no = not spoken and (polar is False or (polar is None and any(m.negated for m in mentions) and not any(not m.negated for m in mentions)))
    if bare_no and joined and not read.hedged and not read.undecided:
        return tuple(Reading(p.no, Rule.BARE_ANSWER, "answers every part with no") if p.no else unread(Rule.UNANSWERED, "says nothing about this part") for p in parts)
    if read.all_or_none is not None and len(classes) == 2 and not spoken:
        values = [p.yes if read.all_or_none else p.no for p in parts]
        return tuple(Reading(v, Rule.BARE_ANSWER, "answers both parts at once") if v else unread(Rule.NOT_NAMED, "confirms without naming what was asked for") for v in values)
    if not spoken and (read.undecided or read.hedged):
        return _all(classes, unread(Rule.NON_COMMITTAL, "does not commit itself"))
    places = [name for name in classes if name in _LOCATIONS]
    for part in parts:
        if part.asks_other:
            for m in mentions:
                m.other = False
    readings = tuple(
        _read_class(name, mentions, text, only_location=len(set(places)) == 1) for name in classes
    )
    if polar is not None and spoken:
        agreements = [_agrees(r.values, polar, p, n) for r, p, n in zip(readings, parts, classes, strict=True) if r.values]
        if agreements and not any(agreements) and False in agreements:
            word = "yes" if polar else "no"
            return _all(classes, unread(Rule.CONTRADICTION, f'says "{word}" and then states the opposite'))
    return readings
