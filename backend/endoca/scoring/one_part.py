"""An answer to one part of a question: its statements, its bare words, its plain yes or no.

"Visible", "none", "two" and "no" refer to whatever was asked; what yes and no mean depends on the question
(`question_parts`). A plain yes or no that contradicts the sentence after it makes the answer ambiguous.
"""

__all__ = ["agrees", "read_class", "read_one_part", "without_other"]

from collections.abc import Sequence
from dataclasses import replace

from backend.endoca.scoring.binary import read_box, read_finding, read_text
from backend.endoca.scoring.counts import read_count, total_of
from backend.endoca.scoring.labels import read_colors, read_labels
from backend.endoca.scoring.lexicon import Topic
from backend.endoca.scoring.locations import read_location
from backend.endoca.scoring.mentions import NO_COUNT, Mention, Statements
from backend.endoca.scoring.polyp_size import read_polyp_size
from backend.endoca.scoring.question_parts import Part
from backend.endoca.scoring.reading import Reading, unread, value_of
from backend.endoca.scoring.records import Rule
from backend.endoca.scoring.removal_status import read_removal_status
from backend.endoca.vocabulary import BY_NAME, QuestionType

_SILENT = frozenset({Rule.UNANSWERED, Rule.NOT_NAMED})


def without_other(mentions: Sequence[Mention]) -> list[Mention]:
    """Return the mentions for a question that asks for *other* things itself: "no other findings" answers it."""
    return [replace(m, other=False) if m.other else m for m in mentions]


def read_class(name: str, mentions: Sequence[Mention], text: str, *, only_location: bool) -> Reading:
    """Read the statements about the thing that class `name` asks for.

    Args:
        name: One of the eighteen classes.
        mentions: The answer's statements.
        text: The answer, for a size without a unit.
        only_location: No other location is asked for in the same question.
    """
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


def read_one_part(
    text: str, read: Statements, mentions: list[Mention], polar: bool | None, part: Part, name: str
) -> Reading:
    """Read an answer to one atom.

    Args:
        text: The plain answer.
        read: All its statements.
        mentions: Those that are not counterfactual.
        polar: Its plain yes or no, None where it has none.
        part: What was asked.
        name: The atom's class.
    """
    if name == "polyp_type" and text.strip(" .!").lower() == "is":
        return value_of("paris is", Rule.BARE_ANSWER, "names paris is")
    if part.asks_other:
        mentions = without_other(mentions)
    reading = read_class(name, mentions, text, only_location=True)
    bare = [m for m in mentions if not m.topic]
    if bare:
        reading = _with_bare_words(reading, bare, part, name)
    if polar is not None:
        return _with_polar(reading, polar, part, name, read)
    if reading.rule in _SILENT and (read.undecided or (read.hedged and not mentions)):
        return unread(Rule.NON_COMMITTAL, "does not commit itself")
    if reading.rule in _SILENT and any(m.topic == Topic.NOT_APPLICABLE for m in mentions):
        return unread(Rule.NON_COMMITTAL, "calls the question not applicable")
    return reading


def _with_bare_words(reading: Reading, bare: Sequence[Mention], part: Part, name: str) -> Reading:
    """Combine a reading with the statements that name nothing ("visible", "there are two")."""
    counts = BY_NAME[name].type is QuestionType.COUNT
    if reading.rule in _SILENT:
        elliptical = _read_bare_words(bare, part, counts=counts)
        if elliptical is not None and (reading.rule is Rule.UNANSWERED or not elliptical.values):
            return elliptical
    elif reading.values and counts:
        total = int(next(iter(reading.values)))
        numbers = [m for m in bare if m.number is not None and m.explicit and not m.negated]
        if any(m.number != total and not (m.partial and 0 <= (m.number or 0) < total) for m in numbers):
            return unread(Rule.CONTRADICTION, "gives two different numbers")
    elif reading.rule is Rule.STATEMENT and any(m.negated and m.number is None for m in bare):
        return unread(Rule.CONTRADICTION, "says both present and absent")
    elif reading.rule in (Rule.STATEMENT, Rule.NEGATION) and any(m.hedged for m in bare):
        return unread(Rule.HEDGE, "takes its statement back with a hedge")
    return reading


def _read_bare_words(bare: Sequence[Mention], part: Part, *, counts: bool) -> Reading | None:
    """Read statements without a subject; None where they say nothing to the question."""
    if any(m.hedged for m in bare):
        return unread(Rule.HEDGE, "answers only with a hedge")
    counted = [m for m in bare if m.number is not None]
    if counts and counted:
        if any(m.number == NO_COUNT for m in counted):
            return unread(Rule.VAGUE_COUNT, "gives no exact number")
        total = total_of(counted)
        if total is None:
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


def agrees(values: frozenset[str], polar: bool, part: Part, name: str) -> bool | None:
    """Whether a plain yes or no goes with the values read; None where it cannot be told."""
    known = BY_NAME[name]
    meaning = part.yes if polar else part.no
    if name == "polyp_removal_status" and not polar and values == {"not_applicable"}:
        return None
    if name == "polyp_removal_status" or known.type is QuestionType.BINARY:
        return bool(values & meaning) if meaning else None
    if not part.no:
        return None
    if polar and len(part.yes) == 1 and known.nothing not in part.yes:
        return bool(values & part.yes) or known.nothing not in values
    return (known.nothing in values) != (polar == (known.nothing not in part.yes))


def _with_polar(reading: Reading, polar: bool, part: Part, name: str, read: Statements) -> Reading:
    """Combine a plain yes or no with what the rest of the answer says."""
    word = "yes" if polar else "no"
    meaning = part.yes if polar else part.no
    if reading.values:
        verdict = agrees(reading.values, polar, part, name)
        if verdict is False:
            return unread(Rule.CONTRADICTION, f'says "{word}" and then states the opposite')
        narrowed = reading.values & meaning
        return reading._replace(values=narrowed) if verdict and narrowed else reading
    if reading.rule not in _SILENT:
        return reading
    if read.undecided or (read.hedged and not any(m.topic for m in read.mentions)):
        return unread(Rule.HEDGE, f'says "{word}" only with a hedge')
    if not polar and reading.rule is Rule.NOT_NAMED:
        return unread(Rule.CONTRADICTION, 'says "no" and then speaks of what was asked for')
    if meaning:
        return Reading(meaning, Rule.BARE_ANSWER, f'answers "{word}"')
    if BY_NAME[name].type is QuestionType.COUNT:
        return unread(Rule.VAGUE_COUNT, f'says "{word}" but not how many')
    return unread(Rule.NOT_NAMED, f'says "{word}" without naming what was asked for')
