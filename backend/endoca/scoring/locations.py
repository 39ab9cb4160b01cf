"""Location questions: the cells of the nine-cell grid an answer puts the thing in.

"top left" is upper-left; a bare "upper", "lower" or "central" is that row's centre cell; "lower central and
right" names two cells of the lower row; "in multiple regions" names none. Where something else lies
("the box sits in the lower-left corner") does not matter.
"""

__all__ = ["read_location"]

from collections.abc import Sequence

from backend.endoca.scoring.lexicon import ALL_CELLS, Topic
from backend.endoca.scoring.mentions import Mention, denied_in_part
from backend.endoca.scoring.reading import Reading, listed, unread, value_of
from backend.endoca.scoring.records import Rule
from backend.endoca.vocabulary import CELLS

_OWN = {
    "instrument_location": frozenset({Topic.INSTRUMENT}),
    "landmark_location": frozenset({Topic.LANDMARK, Topic.PLACE}),
    "abnormality_location": frozenset({Topic.FINDING, Topic.POLYP, Topic.DISEASE}),
}
_DENIED = {
    "instrument_location": frozenset({Topic.INSTRUMENT}),
    "landmark_location": frozenset({Topic.LANDMARK}),
    "abnormality_location": frozenset({Topic.FINDING}),
}
_THING = {
    "instrument_location": "instrument",
    "landmark_location": "landmark",
    "abnormality_location": "abnormality",
}


def _cells(mentions: Sequence[Mention]) -> set[str]:
    """Resolve bare words: a bare column keeps the row of the cell named before it in the same phrase."""
    cells: set[str] = set()
    row = "center"
    before: Mention | None = None
    for mention in mentions:
        label = mention.label
        if label == ALL_CELLS:
            cells.update(CELLS)
        elif label[0] != "*":
            cells.add(label)
            row = label.split("-")[0] if "-" in label else "center"
        elif label in ("*upper", "*lower", "*center"):
            row = label[1:]
            cells.add("center" if row == "center" else f"{row}-center")
        else:
            joined = before is not None and mention.added and before.clause == mention.clause
            cells.add(f"{row if joined else 'center'}-{label[1:]}")
        before = mention
    return cells


def read_location(question_class: str, mentions: Sequence[Mention], *, only_location: bool) -> Reading:
    """Read the cells of an instrument, landmark or abnormality.

    Args:
        question_class: One of the three location classes.
        mentions: The answer's statements.
        only_location: No other location is asked for, so cells without a subject are this thing's; all cells
            are where the thing itself is never named.
    """
    own, thing = _OWN[question_class], _THING[question_class]
    found = []
    cells = [m for m in mentions if m.topic == Topic.CELL]
    unnamed = only_location and not any(m.topic in own for m in mentions) and all(m.subjects for m in cells)
    for mention in cells:
        if not mention.negated:
            topics = {s.topic for s in mention.subjects if not s.negated}
            if topics & own or (only_location and not topics) or unnamed:
                found.append(mention)
    if any(m.hedged for m in found):
        return unread(Rule.HEDGE, f"gives the place of the {thing} only with a hedge")
    if any(m.alternative for m in found):
        return unread(Rule.ALTERNATIVES, 'names places joined by "or"')
    denied = [
        m
        for m in mentions
        if m.topic in _DENIED[question_class]
        and m.negated
        and not m.excepted
        and not m.hedged
        and not m.other
        and not m.label
    ]
    stated = [m for m in mentions if m.topic in own - {Topic.PLACE} and not m.negated and not m.other]
    if found:
        denied = [m for m in denied if not denied_in_part(m, mentions)]
    if found and denied:
        return unread(Rule.CONTRADICTION, f"says that there is no {thing} and gives its place")
    if found:
        named = sorted(_cells(found))
        return value_of(";".join(named), Rule.LABEL_SET, f"places the {thing} in {listed(named)}")
    if denied:
        if stated and question_class != "abnormality_location":
            return unread(Rule.CONTRADICTION, f"says that there is no {thing} and that there is one")
        return value_of("none", Rule.NEGATION, f"states that there is no {thing}")
    if stated:
        return unread(Rule.NOT_NAMED, f"does not name the cells the {thing} lies in")
    return unread(Rule.UNANSWERED, f"says nothing about the place of the {thing}")
