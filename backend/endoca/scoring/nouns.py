"""Things as they are met: their negation, number, colours, and what a place or colour is said of."""

__all__ = ["HANDLERS", "box_behind"]

from backend.endoca.scoring.lexicon import Kind, Topic
from backend.endoca.scoring.mentions import NOUNS, Mention
from backend.endoca.scoring.numbers import bind_number
from backend.endoca.scoring.walk import BOUNDARIES, Walk

_AFTER_CELL = frozenset(
    {
        *(Kind.PLACE_NOUN, Kind.AND, Kind.OR, Kind.COMMA, Kind.STOP, Kind.END, Kind.CLOSE, Kind.OF, Kind.OPEN),
        *(Kind.PREPOSITION, Kind.PREDICATE, Kind.SLASH, Kind.COPULA, Kind.WITH, Kind.DASH, Kind.WHICH, Kind.NOT),
        *(Kind.CONTRAST, Kind.COLON, Kind.NO, Kind.YES, Kind.ADVERB, Kind.HEDGE, Kind.EXCEPT),
    }
)
"""What may follow a bare "upper" or "left" that means a cell; "left colon" does not."""
_BETWEEN_COLORS = frozenset({Kind.AND, Kind.OR, Kind.SLASH, Kind.COMMA, Kind.IGNORED, Kind.DASH})


def see_thing(walk: Walk, i: int) -> int:
    word = walk.words[i]
    topic, label = word.topic, word.label
    if topic == Topic.COLOR:
        box = box_behind(walk, i)
        if box:
            colors = frozenset(w.label for w in walk.words[i:box] if w.topic == Topic.COLOR)
            return take_noun(walk, box, Topic.BOX, "", colors)
    elif topic == Topic.CELL and label == "*left" and _is_left_over(walk, i):
        return take_noun(walk, i, Topic.REMAINS, "", frozenset())
    elif topic == Topic.CELL and label[0] == "*":
        following = walk.words[i + 1] if i + 1 < len(walk.words) else None
        if following and following.kind not in _AFTER_CELL and following.topic != Topic.CELL:
            return i + 1
    return take_noun(walk, i, topic, label, frozenset())


def _is_left_over(walk: Walk, i: int) -> bool:
    """Whether "left" means remaining ("no polyps left", "a polyp is left") and no place."""
    before = walk.words[i - 1] if i else None
    if before is not None and before.kind is Kind.COPULA and i > 1:
        before = walk.words[i - 2]
    return before is not None and before.topic == Topic.POLYP and walk.ahead(i + 1) in BOUNDARIES


def box_behind(walk: Walk, i: int) -> int:
    """Index of the box noun that a row of colours belongs to, 0 where there is none."""
    for j in range(i, min(i + 12, len(walk.words))):
        word = walk.words[j]
        if word.topic == Topic.BOX:
            return j
        if word.topic != Topic.COLOR and word.kind not in _BETWEEN_COLORS:
            return 0
    return 0


def take_noun(walk: Walk, i: int, topic: str, label: str, colors: frozenset[str]) -> int:
    word = walk.words[i]
    mention = Mention(
        topic,
        label,
        word.plural,
        negated=bool(walk.negators % 2) and not is_setting(walk, topic),
        definite=walk.definite,
        after_preposition=walk.after_preposition or walk.relative,
        other=walk.other,
        colors=colors,
    )
    walk.segment_things += 1
    walk.mentions_since_negator += 1
    is_noun = topic in NOUNS
    if is_noun:
        bind_number(walk, mention)
        walk.definite = False
        walk.other = False
        if walk.excepted_topic and not mention.negated:
            mention.also = walk.excepted_topic
            if mention.number is None and not mention.plural:
                mention.number = 1
            walk.excepted_topic = ""
        if walk.exception_ahead and mention.negated:
            _except_before(walk, mention)
    if walk.or_open:
        mark_alternatives(walk, mention)
        walk.or_open = False
    last = walk.last_counted() if walk.and_open and is_noun else None
    same_phrase = last is not None and (walk.another_open or last.clause == walk.clause)
    mention.item = is_noun and walk.itemised
    mention.added = walk.and_open and (same_phrase or not is_noun) and not mention.item
    if is_noun or topic in (Topic.CELL, Topic.COLOR):
        walk.and_open = walk.another_open = False
    walk.add(mention)
    if is_noun:
        if not walk.open_nouns:
            walk.nouns = []
            walk.open_nouns = True
        walk.nouns.append(mention)
        for cell in walk.waiting:
            cell.subjects = (*cell.subjects, mention)
    elif topic in (Topic.CELL, Topic.COLOR):
        if walk.nouns and not (topic == Topic.COLOR and colors_a_noun(walk, i + 1)):
            mention.subjects = tuple(walk.nouns)
            walk.predicated = walk.predicated or topic == Topic.CELL or walk.copula_seen
        else:
            walk.waiting.append(mention)
    walk.subjects.append(mention)
    if topic == Topic.REMOVED and walk.part_number is not None:
        mention.number, walk.part_number = walk.part_number, None
    if topic == Topic.REMAINS or (topic == Topic.REMOVED and not label):
        walk.predicated = walk.predicated or any(m.topic == Topic.POLYP for m in walk.subjects)
    walk.after_preposition = False
    return i + 1


def _except_before(walk: Walk, denied: Mention) -> None:
    """Lift a denial from what the sentence named first ("apart from one, no polyps")."""
    denied.excepted = True
    for mention in walk.out.mentions[walk.sentence_first :]:
        if not mention.negated and (mention.topic in NOUNS or not mention.topic):
            mention.also = denied.topic
            if mention.number is None and not mention.plural:
                mention.number = 1


def colors_a_noun(walk: Walk, i: int) -> bool:
    """Whether a colour stands before its noun ("a red landmark")."""
    words = walk.words
    while i < len(words):
        word = words[i]
        if word.kind is Kind.THING:
            if word.topic != Topic.COLOR:
                return word.topic in NOUNS
        elif word.kind in (Kind.AND, Kind.COMMA, Kind.SLASH):
            if i + 1 >= len(words) or (words[i + 1].topic != Topic.COLOR and words[i + 1].kind is not Kind.AND):
                return False
        elif word.kind not in (Kind.IGNORED, Kind.ADVERB, Kind.UNKNOWN):
            return False
        i += 1
    return False


def is_setting(walk: Walk, topic: str) -> bool:
    """Whether a procedure or organ is only where something was denied ("no polyp in this gastroscopy")."""
    return topic in (Topic.PROCEDURE, Topic.PLACE) and walk.after_preposition and walk.mentions_since_negator > 0


def mark_alternatives(walk: Walk, mention: Mention) -> None:
    if not walk.out.mentions or mention.negated:
        return
    before = walk.out.mentions[-1]
    if (
        before.clause == walk.clause
        and not before.negated
        and (before.topic, before.label)
        != (
            mention.topic,
            mention.label,
        )
    ):
        before.alternative = mention.alternative = True


def see_place_noun(walk: Walk, i: int) -> int:
    """Drop a number that counted regions ("in two regions")."""
    walk.number, walk.number_explicit, walk.number_spoiled = None, False, False
    return i + 1


def see_unknown(walk: Walk, i: int) -> int:
    walk.number_spoiled = walk.number is not None
    return i + 1


def see_definite(walk: Walk, i: int) -> int:
    walk.definite = True
    return i + 1


def see_other(walk: Walk, i: int) -> int:
    last = walk.out.mentions[-1].topic if walk.out.mentions else ""
    rest_of_list = walk.negators and walk.or_seen and last in (Topic.FINDING, Topic.DISEASE, Topic.POLYP)
    walk.other = not (rest_of_list and walk.words[i].text == "other")
    return i + 1


def see_which(walk: Walk, i: int) -> int:
    walk.relative = True
    if walk.part_number is not None:
        walk.part_ready = True
    return i + 1


def see_of(walk: Walk, i: int) -> int:
    if not walk.number_explicit:
        walk.number = None
    walk.after_preposition = True
    return i + 1


def see_preposition(walk: Walk, i: int) -> int:
    if walk.number is not None and walk.number_explicit:
        if walk.ahead(i + 1) is Kind.NUMBER:
            return i + 1
        walk.settle_number(partial=True)
    walk.number = None
    walk.after_preposition = True
    walk.open_nouns = False if walk.predicated else walk.open_nouns
    return i + 1


def see_including(walk: Walk, i: int) -> int:
    walk.settle_number()
    return i + 1


HANDLERS = {
    Kind.THING: see_thing,
    Kind.UNKNOWN: see_unknown,
    Kind.PLACE_NOUN: see_place_noun,
    Kind.DEFINITE: see_definite,
    Kind.OTHER: see_other,
    Kind.WHICH: see_which,
    Kind.OF: see_of,
    Kind.PREPOSITION: see_preposition,
    Kind.INCLUDING: see_including,
}
"""What each kind of word does."""
