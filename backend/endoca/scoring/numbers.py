"""Numbers in a sentence: which noun they count, and which quantities are no counts.

A number belongs to the next countable noun of its phrase; "one large and two small polyps" is a sum; "one
of the two findings is a polyp" counts a part; "2 or 3", "at least two" and "several" are no counts; a
number that names something ("type 2", "polyps (2 and 5 are marked)") counts nothing.
"""

__all__ = ["HANDLERS", "bind_number", "noun_is_predicated", "number_goes_on"]

from backend.endoca.scoring.lexicon import Kind
from backend.endoca.scoring.mentions import NO_COUNT, NOUNS, Mention
from backend.endoca.scoring.walk import BOUNDARIES, Walk
from backend.endoca.scoring.words import RANGE_MARK

_NUMBERED_NOUNS = frozenset(
    [
        "type",
        "grade",
        "stage",
        "class",
        "image",
        "figure",
        "frame",
        "arrow",
        "level",
        "score",
        "category",
        "case",
        "slide",
        "age",
        "aged",
    ]
)
"""A number after these is a name: "type 2"."""
_AFTER_NOUN = frozenset({Kind.COLON, Kind.DASH, Kind.OPEN, Kind.COPULA, Kind.THING})
_BOUNDS = frozenset({"at least", "at most", "approximately", "roughly", "about", "or so"})
"""Behind a count ("two polyps at most") they make it none."""
_ORDINALS = frozenset({"the first", "second", "the second"})
_JOINING = frozenset({Kind.AND, Kind.COMMA, Kind.SLASH, Kind.WITH})
_WHOLES = frozenset({Kind.WHICH, Kind.DEFINITE, Kind.BOTH, Kind.NUMBER})
_PRONOUNS = frozenset({"them", "these", "those", "which", "whom"})


def see_number(walk: Walk, i: int) -> int:
    """Keep a number until its noun comes, unless it is a part, a range, a name or answers for a noun before it."""
    before = walk.words[i - 1] if i else None
    if before is not None and (before.kind is Kind.PLACE_NOUN or before.text in _NUMBERED_NOUNS):
        return i + 1
    after_part = _part(walk, i)
    if after_part:
        return after_part
    after_range = _range(walk, i)
    if after_range:
        return after_range
    value = walk.words[i].number
    pending = walk.number is not None and walk.number_explicit
    previous = before.kind if before else Kind.END
    if pending and (walk.number == NO_COUNT or previous in (Kind.OPEN, Kind.PREPOSITION) or walk.or_open):
        same = walk.number == value and previous is not Kind.PREPOSITION  # "two (2)"
        walk.number = value if same else NO_COUNT
        walk.or_open = False
        return i + 1
    if pending and previous in (Kind.AND, Kind.COMMA):
        walk.sum += max(walk.number or 0, 0)
    last = walk.last_counted()
    if previous in _AFTER_NOUN and last and last.topic and last.clause == walk.clause and not walk.thing_follows(i + 1):
        if last.number is None or not last.explicit:
            last.number, last.explicit, last.negated = value, True, value == 0
            walk.predicated = True
            return i + 1
        if previous is Kind.OPEN:
            return _skip_brackets(walk, i)
    walk.number, walk.number_explicit, walk.number_spoiled = value, True, False
    return i + 1


def _part(walk: Walk, i: int) -> int:
    """Read "one of which", "one of the two", "of which one"; return where to go on, 0 where it is no part."""
    words = walk.words
    if i > 1 and words[i - 1].kind is Kind.WHICH and words[i - 2].kind is Kind.OF:
        walk.part_number, walk.part_ready = words[i].number, True
        return i + 1
    if i + 2 < len(words) and words[i + 1].kind is Kind.OF:
        whole = words[i + 2]
        if whole.text == "them" and walk.last_counted() is None:  # "there are two of them"
            walk.number, walk.number_explicit = words[i].number, True
            return i + 3
        if whole.kind in _WHOLES or whole.text in _PRONOUNS:
            walk.part_number = words[i].number
            walk.part_ready = whole.kind not in (Kind.DEFINITE, Kind.NUMBER)
            return i + 2
    return 0


def _range(walk: Walk, i: int) -> int:
    """Read "1-2" and "between one and three"; return where to go on, 0 where it is no range."""
    words = walk.words
    if i and words[i - 1].text == "between":
        walk.number, walk.number_explicit = NO_COUNT, True
        return i + 3
    if i + 1 < len(words) and words[i + 1].text == RANGE_MARK:
        walk.number, walk.number_explicit = NO_COUNT, True
        return i + 2
    return 0


def _skip_brackets(walk: Walk, i: int) -> int:
    while i < len(walk.words) and walk.words[i].kind is not Kind.CLOSE:
        i += 1
    return i


def bind_number(walk: Walk, mention: Mention) -> None:
    number = walk.number
    if walk.sum and number is not None:
        number = NO_COUNT if number == NO_COUNT else number + walk.sum
    walk.sum = 0
    if number is not None:
        mention.number = number
        mention.explicit = walk.number_explicit
        if number == 0:
            mention.negated = True
        elif walk.number_explicit:
            walk.last_number = number
    if walk.part_number is not None and walk.part_ready:
        mention.number = walk.part_number
        mention.explicit = True
        walk.part_number = None
        walk.part_ready = False
    walk.number = None
    walk.number_explicit = False
    walk.number_spoiled = False


def see_article(walk: Walk, i: int) -> int:
    if walk.number is None:
        walk.number, walk.number_explicit = 1, False
    return i + 1


def see_vague(walk: Walk, i: int) -> int:
    """Spoil the count that follows, or the one before a closing "at most"."""
    last = walk.last_counted()
    if walk.words[i].text in _BOUNDS and last and last.explicit and walk.ahead(i + 1) in BOUNDARIES:
        last.number = NO_COUNT
        return i + 1
    walk.number, walk.number_explicit = NO_COUNT, True
    return i + 1


def see_both(walk: Walk, i: int) -> int:
    """Read "both polyps", and "two findings, both polyps", as two polyps; "both polyps and text" counts nothing."""
    walk.segment_both = not walk.segment_denied  # "not both" answers neither part
    if walk.last_number == 2:
        walk.part_number, walk.part_ready = 2, True
    elif _plural_alone(walk, i + 1):
        walk.number, walk.number_explicit = 2, True
    return i + 1


def _plural_alone(walk: Walk, i: int) -> bool:
    """Whether one plural noun follows and no second one joined to it."""
    words = walk.words
    while i < len(words) and words[i].kind in (Kind.UNKNOWN, Kind.DEFINITE, Kind.OF):
        i += 1
    return i < len(words) and words[i].topic in NOUNS and words[i].plural and walk.ahead(i + 1) not in _JOINING


def see_all(walk: Walk, i: int) -> int:
    walk.segment_all = not walk.segment_denied
    return i + 1


def see_another(walk: Walk, i: int) -> int:
    """Count one more, unless "the second" is one of those that were counted just before."""
    last = walk.last_counted()
    if walk.words[i].text in _ORDINALS and last is not None and (last.number or 0) > 1:
        return i + 1
    walk.number, walk.number_explicit = 1, True
    walk.and_open = walk.another_open = True
    return i + 1


def number_goes_on(walk: Walk, i: int) -> bool:
    """Whether "one large and two small polyps" is being counted; "54, one polyp" is not."""
    if walk.number is None or not walk.number_explicit or walk.words[i - 1].kind is Kind.NUMBER:
        return False
    return walk.ahead(i + 1) is Kind.NUMBER and walk.thing_follows(i + 2)


def noun_is_predicated(walk: Walk, i: int) -> bool:
    """Whether a part of what was counted before is named ("one is a polyp")."""
    for word in walk.words[i : i + 4]:
        if word.kind is Kind.THING:
            if word.topic in NOUNS:
                return True
        elif word.kind not in (Kind.ARTICLE, Kind.ADVERB, Kind.UNKNOWN):
            return False
    return False


def see_open_bracket(walk: Walk, i: int) -> int:
    walk.in_brackets = True
    return i + 1


def see_close_bracket(walk: Walk, i: int) -> int:
    if walk.in_brackets and not (walk.number is not None and walk.thing_follows(i + 1)):
        walk.settle_number()
    walk.in_brackets = False
    walk.hedge = False
    return i + 1


HANDLERS = {
    Kind.NUMBER: see_number,
    Kind.ARTICLE: see_article,
    Kind.VAGUE: see_vague,
    Kind.BOTH: see_both,
    Kind.ALL: see_all,
    Kind.ANOTHER: see_another,
    Kind.OPEN: see_open_bracket,
    Kind.CLOSE: see_close_bracket,
}
"""What each kind of word does."""
