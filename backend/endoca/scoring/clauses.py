"""Where one statement ends and the next begins.

"No X, Y or Z" denies all three, "no X, Y is present" only X, "no X is visible and Y" only X, "no X and one
Y" only X. A list of cells or colours runs through its commas.
"""

__all__ = ["HANDLERS"]

from backend.endoca.scoring.lexicon import Kind, Topic
from backend.endoca.scoring.mentions import NO_COUNT, NOUNS
from backend.endoca.scoring.nouns import box_behind
from backend.endoca.scoring.numbers import number_goes_on
from backend.endoca.scoring.walk import CLAUSE_ENDS, STARTS_ANEW, Walk

_ADVERBS = frozenset({Kind.ADVERB})
_IN_A_ROW = frozenset({Kind.AND, Kind.OR, Kind.DEFINITE, Kind.PREPOSITION, Kind.ADVERB, Kind.COMMA, Kind.ARTICLE})
_HAS_PREDICATE = frozenset({Kind.COPULA, Kind.PREDICATE, Kind.VERB, Kind.YES, Kind.COLON})
_SINGULAR = frozenset({"is", "was", "has", "has been"})


def see_and(walk: Walk, i: int) -> int:
    """Join the next mention to this phrase, or begin a clause of its own."""
    if number_goes_on(walk, i):
        return i + 1
    walk.settle_number()
    if enumeration_goes_on(walk, i + 1):
        walk.and_open = True
        return i + 1
    if denial_follows(walk, i + 1) or walk.predicated or (walk.negators and positive_clause_follows(walk, i + 1)):
        walk.end_clause()
    else:
        colors_end(walk)
    walk.and_open = True
    walk.or_open = False
    return i + 1


def colors_end(walk: Walk) -> None:
    """Colours with no noun of their own are said of the noun before ("…, with white spots and a box")."""
    if walk.last_nouns:
        for mention in [m for m in walk.waiting if m.topic == Topic.COLOR]:
            mention.subjects = tuple(walk.last_nouns)
            walk.waiting.remove(mention)


def denial_follows(walk: Walk, i: int) -> bool:
    """Whether the next phrase brings its own "no"."""
    return walk.ahead(i, _ADVERBS) in (Kind.NO, Kind.NEITHER, Kind.LACK)


def positive_clause_follows(walk: Walk, i: int) -> bool:
    """Whether what follows a connector stands outside the open negation."""
    kind = walk.ahead(i, _ADVERBS)
    if kind in STARTS_ANEW or kind in (Kind.PREDICATE, Kind.COPULA):
        return True
    for word in walk.words[i:]:
        if word.kind in CLAUSE_ENDS or word.kind in (Kind.COMMA, Kind.AND, Kind.OR, Kind.WITH):
            return False
        if word.kind is Kind.VERB or (word.kind is Kind.COPULA and word.text in _SINGULAR):
            return True
    return False


def see_or(walk: Walk, i: int) -> int:
    """Open an alternative; inside a denial "or" goes on denying."""
    walk.or_open = walk.negators % 2 == 0
    walk.or_seen = True
    if walk.number is not None and walk.number_explicit:
        walk.or_open = True
    elif walk.subjects and walk.subjects[-1].number is not None and walk.ahead(i + 1) in (Kind.NUMBER, Kind.VAGUE):
        walk.subjects[-1].number = NO_COUNT
        walk.subjects[-1].explicit = True
    if walk.predicated and walk.negators:
        walk.predicated = False
    return i + 1


def enumeration_goes_on(walk: Walk, i: int) -> bool:
    """Whether a row of cells or colours is being listed ("in the center-left, and upper-left regions")."""
    before = walk.out.mentions[-1] if walk.out.mentions else None
    if before is None or before.topic not in (Topic.CELL, Topic.COLOR) or before.clause != walk.clause:
        return False
    while i < len(walk.words) and walk.words[i].kind in _IN_A_ROW:
        i += 1
    return i < len(walk.words) and walk.words[i].topic == before.topic and not box_behind(walk, i)


def see_comma(walk: Walk, i: int) -> int:
    """Go on with a list, or begin a clause of its own."""
    if number_goes_on(walk, i):
        return i + 1
    if i + 1 < len(walk.words) and walk.words[i + 1].text in ("only", "just"):
        walk.end_clause()
        return i + 1
    if enumeration_goes_on(walk, i + 1):
        walk.settle_number()
        walk.and_open = True
        return i + 1
    walk.settle_number()
    negated = walk.negators % 2 == 1
    if (
        walk.predicated
        or denial_follows(walk, i + 1)
        or walk.ahead(i + 1) in (Kind.WITH, Kind.NOT, Kind.HEDGE)
        or (negated and list_ends_here(walk, i + 1))
    ):
        walk.end_clause()
    else:
        if not walk.segment_things:
            walk.end_segment()
        walk.hedge = False
        walk.and_open = walk.ahead(i + 1) is not Kind.WHICH
        walk.itemised = walk.itemised or breakdown_follows(walk, i + 1)
    return i + 1


def breakdown_follows(walk: Walk, i: int) -> bool:
    """Whether numbers without a noun of their own break down the one before: "two polyps, one sessile"."""
    last = walk.last_counted()
    if last is None or not last.explicit or (last.number or 0) < 2 or walk.ahead(i) is not Kind.NUMBER:
        return False
    for word in walk.words[i:]:
        if word.kind in CLAUSE_ENDS:
            break
        if word.kind is Kind.THING and word.topic in NOUNS:
            return False
    return True


def list_ends_here(walk: Walk, i: int) -> bool:
    """Whether the comma after "no X" ends the denied list.

    It does where a phrase with a start of its own follows ("no X, one Y"), or a clause with its own
    predicate before any further "or"/"and" ("no X, Y is present", "no X, visible Y"); "no X, Y or Z" goes on.
    """
    first = walk.ahead(i, _ADVERBS)
    if first in STARTS_ANEW or (first is Kind.PREDICATE and not connector_follows(walk, i)):
        return True
    seen_thing = False
    for word in walk.words[i:]:
        kind = word.kind
        if kind in CLAUSE_ENDS:
            return False
        if kind in (Kind.OR, Kind.AND, Kind.NOR, Kind.COMMA):
            return False
        if kind is Kind.THING:
            seen_thing = True
        elif seen_thing and kind in _HAS_PREDICATE:
            return True
    return False


def connector_follows(walk: Walk, i: int) -> bool:
    """Whether an "or" or "and" comes before the clause ends."""
    for word in walk.words[i:]:
        if word.kind in CLAUSE_ENDS:
            return False
        if word.kind in (Kind.OR, Kind.AND, Kind.NOR):
            return True
    return False


def see_stop(walk: Walk, i: int) -> int:
    """End the clause at "but", "however" or a semicolon."""
    walk.end_clause()
    walk.unreal = False
    walk.undecided = False
    return i + 1


def see_sentence_end(walk: Walk, i: int) -> int:
    walk.part_number = None
    i = see_stop(walk, i)
    walk.excepted_topic = ""
    walk.exception_ahead = False
    walk.sentence_first = len(walk.out.mentions)
    return i


def see_question(walk: Walk, i: int) -> int:
    """A restated question states nothing."""
    walk.end_clause()
    del walk.out.mentions[walk.sentence_first :]
    return see_sentence_end(walk, i)


def see_colon(walk: Walk, i: int) -> int:
    if walk.number is not None and walk.number_explicit:
        walk.settle_number()
    last = walk.last_counted()
    walk.itemised = last is not None and last.clause == walk.clause and last.explicit and last.number is not None
    return i + 1


def see_with(walk: Walk, i: int) -> int:
    walk.settle_number()
    if walk.predicated or denial_follows(walk, i + 1) or (walk.negators and with_starts_anew(walk, i + 1)):
        walk.end_clause()
    return i + 1


def with_starts_anew(walk: Walk, i: int) -> bool:
    return walk.ahead(i, _ADVERBS) in STARTS_ANEW | {Kind.PREDICATE}


HANDLERS = {
    Kind.AND: see_and,
    Kind.SLASH: see_and,
    Kind.OR: see_or,
    Kind.COMMA: see_comma,
    Kind.STOP: see_stop,
    Kind.END: see_sentence_end,
    Kind.QUESTION: see_question,
    Kind.COLON: see_colon,
    Kind.DASH: see_colon,
    Kind.WITH: see_with,
}
"""What each kind of word does."""
