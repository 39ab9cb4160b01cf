"""Have all polyps been removed: yes, no, or not applicable.

"Residual polyps" is no; "no residual polyps" fits not applicable and yes, never no; "no polyps were
removed" fits not applicable and no; "no polyps" is not applicable; a visible polyp of which nothing is
said about removal is no. Several statements must agree on a value.
"""

__all__ = ["read_removal_status"]

from collections.abc import Sequence

from backend.endoca.scoring.lexicon import Topic
from backend.endoca.scoring.reading import Reading, unread
from backend.endoca.scoring.records import Rule
from backend.endoca.scoring.statements import NO_COUNT, Mention

_YES, _NO, _NA = "yes", "no", "not_applicable"
_SPOKEN = frozenset({Topic.REMOVED, Topic.REMAINS, Topic.INCOMPLETE, Topic.NOT_APPLICABLE})


def _admitted(mention: Mention, clause: Sequence[Mention]) -> frozenset[str] | None:
    """Return the values one statement about removal admits; None where it says nothing by itself."""
    topics = {m.topic for m in clause}
    if mention.topic == Topic.NOT_APPLICABLE:
        return frozenset({_NA}) if not mention.negated else frozenset({_YES, _NO})
    if Topic.NOT_APPLICABLE in topics:
        return None
    if mention.topic == Topic.INCOMPLETE:
        return frozenset({_NO}) if not mention.negated else None
    if mention.topic == Topic.REMAINS:
        denied_polyp = any(m.topic == Topic.POLYP and m.negated and not m.excepted for m in clause)
        if mention.negated or denied_polyp:
            return frozenset({_YES, _NA})
        return frozenset({_NO})
    if mention.topic == Topic.REMOVED:
        if Topic.INCOMPLETE in topics:
            return None
        if mention.negated:
            every = any(m.topic == Topic.ALL for m in clause)
            return frozenset({_NO}) if every and not any(m.topic == Topic.POLYP and m.negated for m in clause) else frozenset({_NO, _NA})
        partly = any(
            (m.topic == Topic.POLYP and m.number == NO_COUNT and not m.negated) or m.topic == Topic.SOME for m in clause
        )
        return frozenset({_NO}) if partly and not any(m.topic == Topic.ALL for m in clause) else frozenset({_YES})
    return None


def read_removal_status(mentions: Sequence[Mention]) -> Reading:
    """Read the removal status from all statements about polyps and their removal."""
    spoken = [m for m in mentions if m.topic in _SPOKEN]
    polyps = [m for m in mentions if m.topic == Topic.POLYP and not m.other]
    if any(m.hedged for m in spoken):
        return unread(Rule.HEDGE, "speaks of the removal only with a hedge")
    if any(m.alternative for m in spoken):
        return unread(Rule.ALTERNATIVES, "leaves open which removal status holds")
    admitted: list[frozenset[str]] = []
    clauses = {m.clause: [o for o in mentions if o.clause == m.clause] for m in spoken}
    for mention in spoken:
        values = _admitted(mention, clauses[mention.clause])
        if values is not None:
            admitted.append(values)
    speaking = set(clauses)
    denied = [m for m in polyps if m.negated and not m.excepted and not m.hedged and m.clause not in speaking]
    if denied:
        admitted.append(frozenset({_NA}))
    if admitted:
        values = frozenset.intersection(*admitted)
        if not values:
            return unread(Rule.CONTRADICTION, "says two things about the removal that exclude each other")
        shown = " or ".join(sorted(values)).replace("_", " ")
        return Reading(values, Rule.REMOVAL, f"what it says of polyps and their removal fits {shown}")
    firm = [m for m in polyps if not m.negated and not m.hedged]
    if firm:
        return Reading(frozenset({_NO}), Rule.REMOVAL, "shows a polyp and says nothing of its removal")
    if polyps:
        return unread(Rule.HEDGE, "speaks of polyps only with a hedge")
    return unread(Rule.UNANSWERED, "says nothing about polyps or their removal")
