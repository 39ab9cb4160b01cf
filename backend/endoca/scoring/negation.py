"""Negation and its scope.

A negator ("no", "without", "does not contain") denies what follows until its clause has its predicate. A
denied predicate ("X and Y are not visible", "X: absent", "X: no") denies its subjects. Two negators that
follow each other cancel ("not free of text"). "Other than" lifts the negation from what it excepts;
"rather than" denies what follows it.
"""

__all__ = ["HANDLERS"]

from backend.endoca.scoring.lexicon import Kind, Topic
from backend.endoca.scoring.mentions import NOUNS
from backend.endoca.scoring.nouns import take_noun
from backend.endoca.scoring.numbers import noun_is_predicated
from backend.endoca.scoring.walk import BOUNDARIES, SKIPPED, Walk

_ELLIPTICAL = SKIPPED | {Kind.VERB, Kind.PREDICATE, Kind.WHICH, Kind.DEFINITE, Kind.PREPOSITION}
_SPEAKERS = frozenset({"i", "we", "can", "it", "image", "picture"})
_AFTER_ANSWER = BOUNDARIES | {Kind.COLON, Kind.DASH, Kind.AND, Kind.OR, Kind.SLASH, Kind.OPEN, Kind.BOTH, Kind.ALL}
_IN_A_ROW = frozenset({Kind.AND, Kind.OR, Kind.SLASH, Kind.COMMA})
_NO_BY_ITSELF = frozenset({"no", "n", "nope", "false", "incorrect", "not any", "not a single", "not a single one"})
_NONE_OF_ALL = frozenset({"none of these", "none of them", "none of the above"})
_BEFORE_NONE = frozenset({Kind.COLON, Kind.DASH, Kind.COPULA, Kind.THING, Kind.PLACE_NOUN, Kind.IGNORED})


def is_answer_word(walk: Walk, i: int) -> bool:
    """Whether "no" stands alone and denies no noun after it."""
    following = walk.words[i + 1].kind if i + 1 < len(walk.words) else Kind.END
    return following in _AFTER_ANSWER


def is_value(walk: Walk, i: int) -> bool:
    """Whether a word is the value of what a colon follows, predicate and all ("text present: no")."""
    return walk.words[i - 1].kind is Kind.COLON and not any(mention.negated for mention in walk.subjects)


def say(walk: Walk, value: bool, i: int) -> int:
    """Take yes or no for the predicate of the subject before it ("text: no"), else for an answer by itself."""
    if walk.subjects and (not walk.predicated or is_value(walk, i)):
        if not value:
            walk.flip_subjects()
        walk.predicated = True
    elif not (walk.out.polars and walk.out.polars[-1] == (value, len(walk.out.mentions))):
        walk.out.polars.append((value, len(walk.out.mentions)))
        walk.segment_polar = True
    else:
        walk.segment_polar = True
    return i + 1


def see_yes(walk: Walk, i: int) -> int:
    """Take "yes" and its like."""
    return say(walk, True, i)


def see_no(walk: Walk, i: int) -> int:
    """Tell the answer "no" from the determiner."""
    if walk.words[i].text in _NO_BY_ITSELF and is_answer_word(walk, i):
        return say(walk, False, i)
    deny(walk, verbal=False, noun=True)
    return i + 1


def deny(walk: Walk, *, verbal: bool, noun: bool) -> None:
    """Open a negator; two that follow each other without a noun between cancel out."""
    nested = walk.negators > 0 and not walk.mentions_since_negator and (walk.last_negator_verbal or not noun)
    if walk.predicated and not nested:
        walk.subjects, walk.predicated, walk.open_nouns = [], False, False
    walk.negators = walk.negators + 1 if nested else 1
    walk.last_negator_verbal = verbal
    walk.mentions_since_negator = 0
    walk.segment_denied = bool(walk.negators % 2)


def see_lack(walk: Walk, i: int) -> int:
    """Open a negator that may itself be denied ("not free of", "without")."""
    walk.settle_number()
    deny(walk, verbal=False, noun=False)
    walk.last_negator_verbal = True
    return i + 1


def see_neither(walk: Walk, i: int) -> int:
    walk.segment_neither = True
    deny(walk, verbal=False, noun=True)
    return i + 1


def see_nor(walk: Walk, i: int) -> int:
    walk.end_segment()
    walk.negators = 1
    walk.mentions_since_negator = 0
    return i + 1


def see_not(walk: Walk, i: int) -> int:
    """Attach "not": to the subject where a predicate follows, else to what comes after."""
    j = i + 1
    while j < len(walk.words) and walk.words[j].kind in SKIPPED:
        j += 1
    following = walk.words[j] if j < len(walk.words) else None
    kind = following.kind if following else Kind.END
    governs = j + 1 < len(walk.words) and walk.words[j + 1].text in ("as", "to")
    if kind is Kind.PREDICATE and not governs and not object_follows(walk, j + 1):
        if walk.subjects and not walk.predicated:
            walk.flip_subjects()
            walk.predicated = True
        else:
            walk.segment_denied = True
        walk.segment_predicate = True
        return j + 1
    if kind is Kind.ABSENT:
        walk.segment_predicate = True
        walk.predicated = bool(walk.subjects)
        return j + 1
    if kind is Kind.END and walk.subjects and not walk.predicated:
        walk.flip_subjects()
        return j
    walk.segment_not = stands_alone(walk, i + 1)
    deny(walk, verbal=True, noun=False)
    return i + 1


def stands_alone(walk: Walk, i: int) -> bool:
    """Whether "not" denies the thing asked about without naming it ("I do not see any")."""
    while i < len(walk.words) and walk.words[i].kind not in BOUNDARIES:
        word = walk.words[i]
        if word.kind not in _ELLIPTICAL and word.text not in _SPEAKERS:
            return False
        i += 1
    return True


def object_follows(walk: Walk, i: int) -> bool:
    """Whether "not identify/found …" has an object of its own ("did not find any polyps")."""
    if walk.subjects:
        return False
    for word in walk.words[i:]:
        if word.kind is Kind.THING and word.topic in NOUNS:
            return True
        if word.kind in BOUNDARIES or word.kind is Kind.PREPOSITION:
            return False
    return False


def see_none(walk: Walk, i: int) -> int:
    previous = walk.words[i - 1].kind if i else Kind.END
    if walk.subjects and previous in _BEFORE_NONE and (not walk.predicated or is_value(walk, i)):
        for mention in walk.subjects:
            mention.negated = True
        walk.predicated = True
    else:
        walk.segment_none = True
        walk.segment_all = walk.words[i].text in _NONE_OF_ALL
        walk.definite = walk.words[i].text.startswith("none of the")
        deny(walk, verbal=False, noun=True)
        walk.segment_denied = False
    return i + 1


def see_absent(walk: Walk, i: int) -> int:
    if walk.follows_remain(i):
        return i + 1
    if walk.subjects:
        walk.flip_subjects()
        walk.predicated = True
    elif walk.thing_follows(i + 1):
        deny(walk, verbal=False, noun=False)
    else:
        walk.segment_predicate = True
        walk.segment_denied = not walk.segment_denied
    return i + 1


def see_exception(walk: Walk, i: int) -> int:
    walk.settle_number()
    walk.exception_ahead = len(walk.out.mentions) == walk.sentence_first
    topic = ""
    for mention in walk.out.mentions:
        if mention.negated and mention.clause == walk.clause:
            mention.excepted = True
            if mention.topic in NOUNS:
                topic = mention.topic
    walk.excepted_topic = topic
    normal = bool(walk.subjects) and walk.subjects[-1].topic == Topic.NORMAL  # "normal except for a polyp"
    if walk.negators % 2 == 0 and walk.subjects and not normal:
        walk.negators = 1
    else:
        walk.negators = 0
        walk.segment_none = False
    walk.subjects, walk.predicated, walk.open_nouns = [], False, False
    walk.segment_things += 1
    return i + 1


def see_contrast(walk: Walk, i: int) -> int:
    walk.settle_number()
    walk.subjects, walk.predicated = [], False
    walk.negators = 1
    walk.mentions_since_negator = 0
    return i + 1


def see_predicate(walk: Walk, i: int) -> int:
    if walk.number is not None and walk.number_explicit and not walk.thing_follows(i + 1):
        walk.settle_number(partial=True)
    if walk.subjects or walk.segment_none or walk.segment_neither:
        walk.predicated = bool(walk.subjects)
        walk.segment_predicate = True
    elif not walk.thing_follows(i + 1):
        walk.segment_predicate = True
    return i + 1


def see_copula(walk: Walk, i: int) -> int:
    if _is_paris_class(walk, i):
        return take_noun(walk, i, Topic.PARIS, "paris is", frozenset())
    walk.copula_seen = bool(walk.subjects)
    if walk.part_number is not None:
        walk.part_ready = True
    elif walk.number is not None and walk.number_explicit:
        if walk.number > 0 and noun_is_predicated(walk, i + 1):
            walk.part_number, walk.part_ready = walk.number, True
            walk.number, walk.number_explicit = None, False
        else:
            walk.settle_number(partial=True)
    walk.number = None if not walk.number_explicit else walk.number
    return i + 1


def _is_paris_class(walk: Walk, i: int) -> bool:
    """Whether "is" is the class in "IIa or Is"."""
    if walk.words[i].text != "is" or not i or walk.words[i - 1].kind not in _IN_A_ROW:
        return False
    return bool(walk.out.mentions) and walk.out.mentions[-1].topic == Topic.PARIS and walk.ahead(i + 1) in BOUNDARIES


def see_verb(walk: Walk, i: int) -> int:
    if walk.number is not None and walk.number_explicit:
        walk.settle_number(partial=True)
    if walk.words[i].text.startswith("there"):
        walk.segment_predicate = True
    return i + 1


HANDLERS = {
    Kind.NO: see_no,
    Kind.YES: see_yes,
    Kind.NEITHER: see_neither,
    Kind.NOR: see_nor,
    Kind.LACK: see_lack,
    Kind.NOT: see_not,
    Kind.NONE: see_none,
    Kind.ABSENT: see_absent,
    Kind.EXCEPT: see_exception,
    Kind.CONTRAST: see_contrast,
    Kind.PREDICATE: see_predicate,
    Kind.COPULA: see_copula,
    Kind.VERB: see_verb,
}
"""What each kind of word does."""
