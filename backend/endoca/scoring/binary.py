"""Binary questions: is there text, is there a box artefact, is there any finding.

"Binary questions are mapped to yes/no values." Either colour makes the box artefact present; a normal
mucosa has no finding, and a named disease is one.
"""

__all__ = ["read_box", "read_finding", "read_text"]

from collections.abc import Iterable, Sequence

from backend.endoca.scoring.lexicon import Topic
from backend.endoca.scoring.mentions import Mention
from backend.endoca.scoring.reading import Reading, unread, value_of
from backend.endoca.scoring.records import Rule


def _decide(thing: str, mentions: Sequence[Mention], partial: Iterable[Mention] = ()) -> Reading:
    """Read yes or no from the statements about one thing.

    Args:
        thing: Its name for the reason.
        mentions: All statements about it.
        partial: Denials of a part of it, which do not contradict a positive statement.
    """
    firm = [m for m in mentions if not m.hedged and not m.excepted]
    if any(m.hedged for m in mentions) and not firm:
        return unread(Rule.HEDGE, f"speaks of {thing} only with a hedge")
    positive = [m for m in firm if not m.negated]
    weak = {id(m) for m in partial}
    negative = [m for m in firm if m.negated and id(m) not in weak]
    if positive and negative:
        return unread(Rule.CONTRADICTION, f"says that {thing} is present and that it is absent")
    if positive:
        if all(m.alternative for m in positive):
            return unread(Rule.ALTERNATIVES, f'offers {thing} as one of two alternatives joined by "or"')
        return value_of("yes", Rule.STATEMENT, f"states that {thing} is present")
    if negative or any(m.negated for m in firm):
        return value_of("no", Rule.NEGATION, f"states that {thing} is absent")
    return unread(Rule.UNANSWERED, f"says nothing about {thing}")


def read_text(mentions: Sequence[Mention]) -> Reading:
    """Read text presence; a date stamp is text, its absence alone is not the absence of text."""
    about = [m for m in mentions if m.topic == Topic.TEXT and not m.other]
    general = [m for m in about if not m.label]
    details = [m for m in about if m.label and m.negated]
    if general and not any(m.negated and not m.excepted for m in general):
        return _decide("text", about, details)
    return _decide("text", general or about)


def read_box(mentions: Sequence[Mention]) -> Reading:
    """Read box presence; "a black box but no green box" is yes, for either colour makes it one."""
    about = [m for m in mentions if m.topic == Topic.BOX and not m.other]
    shown = frozenset().union(*(m.colors for m in about if not m.negated))
    partial = [m for m in about if m.negated and m.colors and shown and not (m.colors & shown)]
    return _decide("a green or black box artefact", about, partial)


def read_finding(mentions: Sequence[Mention]) -> Reading:
    """Read finding presence. "No polyps" alone does not say that there is no other finding."""
    about = [m for m in mentions if m.topic == Topic.FINDING and not m.other]
    normal = [m for m in mentions if m.topic == Topic.NORMAL]
    named = [m for m in mentions if m.topic in (Topic.DISEASE, Topic.POLYP) and not m.negated and not m.other]
    firm_about = [m for m in about if not m.hedged]
    if normal and not any(not m.negated for m in firm_about) and not [m for m in named if not m.hedged]:
        if all(m.hedged for m in normal):
            return unread(Rule.HEDGE, "calls the image normal only with a hedge")
        if any(not m.negated for m in normal) and any(m.negated for m in normal):
            return unread(Rule.CONTRADICTION, "calls the image normal and not normal")
        if normal[0].negated:
            return value_of("yes", Rule.NEGATION, "states that the image is not normal")
        return value_of("no", Rule.STATEMENT, "states that the image is normal")
    if normal and any(not m.negated for m in normal) and any(not m.negated for m in firm_about):
        return unread(Rule.CONTRADICTION, "calls the image normal and names a finding")
    return _decide("a finding", [*about, *named])
