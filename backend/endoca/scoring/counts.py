"""Count questions: a number bound to its noun.

"Count questions [are mapped] to integers." A range, "multiple", "at least two" or "about two" is no count;
"a polyp" is one; "one large and two small polyps" is three; a size, a date or overlay digits are not
counted. A number in one part of the answer never answers for another noun.
"""

__all__ = ["read_count"]

from collections.abc import Sequence

from backend.endoca.scoring.lexicon import Topic
from backend.endoca.scoring.reading import Reading, unread, value_of
from backend.endoca.scoring.records import Rule
from backend.endoca.scoring.statements import NO_COUNT, Mention

_NAMES = {
    "polyp_count": ("polyp", "polyps"),
    "finding_count": ("finding", "findings"),
    "instrument_count": ("instrument", "instruments"),
}


def _about(question_class: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Select the statements about the counted thing.

    Findings are counted by the word itself; where it does not occur, or carries no number, by the diseases
    and polyps named.
    """
    if question_class == "polyp_count":
        return [m for m in mentions if (m.topic == Topic.POLYP or m.also == Topic.POLYP)]
    if question_class == "instrument_count":
        about = [m for m in mentions if m.topic == Topic.INSTRUMENT]
        generic = [m for m in about if not m.label]
        return generic if any(m.negated or m.number is not None for m in generic) else about
    general = [m for m in mentions if m.topic == Topic.FINDING or m.also == Topic.FINDING]
    if general and all(m.other and m.number for m in general):
        return [m for m in mentions if m in general or (m.topic in (Topic.POLYP, Topic.DISEASE) and not m.negated)]
    if any(m.number is not None or (m.negated and not m.excepted and not m.other) for m in general):
        return general
    named = [m for m in mentions if m.topic in (Topic.POLYP, Topic.DISEASE) and not m.negated]
    return [*general, *named] if not general else [*general, *(m for m in named if m.number is not None)]


def _total(stated: Sequence[Mention]) -> int | None:
    """Add up the numbers of positive statements; None where they disagree.

    The first number is the total; numbers joined to it inside one phrase ("a sessile polyp and a
    pedunculated one") add up unless they merely break the total down.
    """
    numbers = [(m.number, m.added) for m in stated if m.number is not None]
    total = numbers[0][0]
    assert total is not None  # noqa: S101
    joined = total
    parts = 0
    agreeing = True
    for number, added in numbers[1:]:
        assert number is not None  # noqa: S101
        parts += number
        if added:
            joined += number
        else:
            agreeing = agreeing and number == total
    if parts == total and len(numbers) > 2:
        return total
    return joined if agreeing else None


def _without_residual(about: list[Mention], mentions: Sequence[Mention]) -> list[Mention]:
    """Leave out "some polyps remain" where another statement speaks of the number."""
    residual = {m.clause for m in mentions if m.topic == Topic.REMAINS}
    if not residual:
        return about
    rest = [m for m in about if m.clause not in residual]
    return rest or about


def read_count(question_class: str, mentions: Sequence[Mention]) -> Reading:
    """Read how many there are.

    A singular noun without an article in headline style ("polyp seen in the colon") is one.
    """
    one, many = _NAMES[question_class]
    about = [m for m in _about(question_class, mentions) if not m.other or m.number is not None]
    about = _without_residual(about, mentions)
    denied = [m for m in about if m.negated and not m.excepted and not m.hedged]
    stated = [m for m in about if not m.negated]
    hedged = [m for m in about if m.hedged]
    firm = [m for m in stated if not m.hedged]
    if hedged and (not firm or any(m.number is not None and m.explicit for m in hedged)) and not (denied and not stated):
        return unread(Rule.HEDGE, f"gives the number of {many} only with a hedge")
    if not firm and not denied:
        return unread(Rule.UNANSWERED, f"says nothing about {many}")
    if firm and any(m.alternative for m in firm if m.number is not None or not m.plural):
        return unread(Rule.ALTERNATIVES, f'offers {many} as an alternative joined by "or"')
    if not firm:
        return value_of("0", Rule.NEGATION, f"states that there are no {many}")
    vague = {m.clause for m in firm if m.number == NO_COUNT}
    if vague:
        exact = [m for m in firm if m.number is not None and m.number > 1 and m.clause not in vague]
        if len({m.number for m in exact}) == 1 and all(m.number != 1 for m in firm):
            return value_of(str(exact[0].number), Rule.COUNT_NOUN, f"counts {exact[0].number} {many}")
        return unread(Rule.VAGUE_COUNT, f"gives no exact number of {many}")
    numbered = [m for m in firm if m.number is not None]
    if not numbered:
        singular = [m for m in firm if not m.plural and not m.definite]
        if singular and not denied and len(singular) == len(firm):
            return value_of("1", Rule.COUNT_NOUN, f"names one {one}")
        if denied and all(m.definite or not m.plural for m in firm):
            return unread(Rule.CONTRADICTION, f"says that there are {many} and that there are none")
        return unread(Rule.VAGUE_COUNT, f"says that there are {many} but not how many")
    if denied and not all(m.number == 0 for m in numbered):
        if any(not m.subjects for m in denied):
            return unread(Rule.CONTRADICTION, f"says that there are {many} and that there are none")
    total = _total(numbered)
    if total is None:
        return unread(Rule.CONTRADICTION, f"gives two different numbers of {many}")
    rule = Rule.EXCEPTION if any(m.also for m in numbered) else Rule.COUNT_NOUN
    return value_of(str(total), rule, f"counts {total} {one if total == 1 else many}")
