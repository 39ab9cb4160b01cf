"""Count questions: a number bound to its noun.

"Count questions [are mapped] to integers." A range, "multiple", "at least two" or "about two" is no count;
"a polyp" is one; "one large and two small polyps" is three; a size, a date or overlay digits are not
counted. A number in one part of the answer never answers for another noun.
"""

__all__ = ["read_count", "total_of"]

from collections.abc import Sequence

from backend.endoca.scoring.lexicon import Topic
from backend.endoca.scoring.mentions import NO_COUNT, Mention, denied_in_part
from backend.endoca.scoring.reading import Reading, unread, value_of
from backend.endoca.scoring.records import Rule

_NAMES = {
    "polyp_count": ("polyp", "polyps"),
    "finding_count": ("finding", "findings"),
    "instrument_count": ("instrument", "instruments"),
}
_GENERAL = {"finding_count": Topic.FINDING, "instrument_count": Topic.INSTRUMENT}
_NAMED = {
    "finding_count": frozenset({Topic.POLYP, Topic.DISEASE}),
    "instrument_count": frozenset({Topic.INSTRUMENT}),
}


def _about(question_class: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Select the statements about the counted thing.

    Findings and instruments are counted by that word itself; where it does not occur, or carries no number,
    by the polyps and diseases, or the kinds of instrument, that are named. "Some polyps remain" is left out
    where another statement speaks of the number.
    """
    if question_class == "polyp_count":
        about = [m for m in mentions if m.topic == Topic.POLYP or m.also == Topic.POLYP]
        residual = {m.clause for m in mentions if m.topic == Topic.REMAINS}
        return [m for m in about if m.clause not in residual] or about
    topic = _GENERAL[question_class]
    general = [m for m in mentions if (m.topic == topic or m.also == topic) and (topic == Topic.FINDING or not m.label)]
    named = [
        m for m in mentions if m.topic in _NAMED[question_class] and m.label and not m.negated and m not in general
    ]
    if any(m.number is not None or (m.negated and not m.excepted and not m.other) for m in general):
        return general
    return [*general, *named] if not general else [*general, *(m for m in named if m.number is not None)]


def total_of(stated: Sequence[Mention]) -> int | None:
    """Add up the numbers of positive statements; None where they disagree.

    The first number is the total; numbers joined to it inside one phrase ("a sessile polyp and a
    pedunculated one") add up unless they merely break the total down. An article ("a sessile polyp is seen")
    is a number only where no other is given.
    """
    counted = any(m.explicit and not m.added for m in stated)
    explicit = [m for m in stated if m.explicit or m.added] if counted else stated
    total = joined = explicit[0].number or 0
    parts = 0
    agreeing = True
    for mention in explicit[1:]:
        number = mention.number or 0
        parts += number
        if mention.added:
            joined += number
        elif not (mention.item and 0 < number < total):
            agreeing = agreeing and number == total
    if parts == total and len(explicit) > 2:
        return total
    return joined if agreeing else None


def _sum_of_kinds(stated: Sequence[Mention]) -> int | None:
    """Count different kinds ("a snare and a tube" are two); a kind named without a number is one."""
    kinds: dict[str, list[Mention]] = {}
    for mention in stated:
        kinds.setdefault(mention.label, []).append(mention)
    totals = []
    for mentions in kinds.values():
        numbered = [m for m in mentions if m.number is not None]
        if not numbered and any(m.plural for m in mentions):
            return None
        totals.append(total_of(numbered) if numbered else 1)
    return sum(t for t in totals if t is not None) if None not in totals else None


def _named_and_others(question_class: str, mentions: Sequence[Mention]) -> int | None:
    """Count "oesophagitis and one additional finding" as two; None where nothing is put that way."""
    if question_class != "finding_count":
        return None
    firm = [m for m in mentions if not m.negated and not m.hedged and not m.alternative]
    general = [m for m in firm if m.topic == Topic.FINDING]
    named = [m for m in firm if m.topic in _NAMED[question_class] and m.number != NO_COUNT]
    if not general or not named or not all(m.other and m.number is not None and m.number > 0 for m in general):
        return None
    kinds = _sum_of_kinds(named)
    return None if kinds is None else kinds + sum(m.number or 0 for m in general)


def _is_normal(question_class: str, mentions: Sequence[Mention]) -> bool:
    """Whether the image is called normal, which counts no finding."""
    normal = [m for m in mentions if m.topic == Topic.NORMAL]
    return question_class == "finding_count" and bool(normal) and not any(m.negated or m.hedged for m in normal)


def _exact_beside_vague(firm: Sequence[Mention]) -> int | None:
    """Return the number that "multiple polyps are present, with two identified" gives after all."""
    vague = {m.clause for m in firm if m.number == NO_COUNT}
    exact = {m.number for m in firm if m.number is not None and m.number > 0 and m.clause not in vague}
    number = exact.pop() if len(exact) == 1 else None
    return number if number is not None and number > 1 else None


def read_count(question_class: str, mentions: Sequence[Mention]) -> Reading:
    """Read how many there are.

    A singular noun without an article in headline style ("polyp seen in the colon") is one, each one joined
    to it by "and" one more. A number that
    is denied ("three polyps, not two") denies that number and not the polyps.
    """
    one, many = _NAMES[question_class]
    beside = _named_and_others(question_class, mentions)
    if beside is not None:
        return value_of(str(beside), Rule.COUNT_NOUN, f"counts {beside} {many}")
    about = [m for m in _about(question_class, mentions) if not m.other or m.number is not None]
    firm = [m for m in about if not m.negated and not m.hedged]
    numbered = [m for m in firm if m.number is not None]
    denied = [m for m in about if m.negated and not m.excepted and not m.hedged]
    if numbered:
        denied = [m for m in denied if not (m.explicit and m.number) and not denied_in_part(m, mentions)]
    hedged = [m for m in about if m.hedged]
    if hedged and not denied and (not firm or any(m.explicit for m in hedged)):
        return unread(Rule.HEDGE, f"gives the number of {many} only with a hedge")
    if not firm:
        if denied or _is_normal(question_class, mentions):
            return value_of("0", Rule.NEGATION, f"states that there are no {many}")
        return unread(Rule.UNANSWERED, f"says nothing about {many}")
    if any(m.alternative for m in firm if m.number is not None or not m.plural):
        return unread(Rule.ALTERNATIVES, f'offers {many} as an alternative joined by "or"')
    if denied:
        return unread(Rule.CONTRADICTION, f"says that there are {many} and that there are none")
    if any(m.number == NO_COUNT for m in firm):
        exact = _exact_beside_vague(firm)
        if exact is None:
            return unread(Rule.VAGUE_COUNT, f"gives no exact number of {many}")
        return value_of(str(exact), Rule.COUNT_NOUN, f"counts {exact} {many}")
    kinds = question_class != "polyp_count" and all(m.label for m in firm)
    if kinds:
        indefinite = [m for m in firm if m.number is not None or not m.definite] or firm
        total = _sum_of_kinds(indefinite)
    elif numbered:
        total = total_of(numbered)
    elif all(not m.plural and not m.definite for m in firm):
        total = 1 + sum(m.added for m in firm[1:])
    else:
        return unread(Rule.VAGUE_COUNT, f"says that there are {many} but not how many")
    if total is None:
        if numbered:
            return unread(Rule.CONTRADICTION, f"gives different numbers of {many}")
        return unread(Rule.VAGUE_COUNT, f"names {many} but not how many")
    rule = Rule.EXCEPTION if any(m.also for m in numbered) else Rule.COUNT_NOUN
    return value_of(str(total), rule, f"counts {total} {one if total == 1 else many}")
