"""Have all polyps been removed: yes, no, or not applicable.

"Residual polyps" is no; "no residual polyps" fits not applicable and yes, never no; "no polyps were
removed" fits not applicable and no; "no polyps" is not applicable; a visible polyp of which nothing is
said about removal is no. "No evidence of polyp removal" (the event, not the polyps) is how Kvasir-VQA-x1
writes not applicable. Several statements must agree on a value; what is said of residual polyps or of
removal goes before what is said of polyps in general.
"""

__all__ = ["read_removal_status"]

from collections.abc import Sequence

from backend.endoca.scoring.lexicon import Topic
from backend.endoca.scoring.mentions import NO_COUNT, Mention
from backend.endoca.scoring.reading import Reading, unread
from backend.endoca.scoring.records import Rule

_YES, _NO, _NA = "yes", "no", "not_applicable"
_SPOKEN = frozenset({Topic.REMOVED, Topic.REMAINS, Topic.INCOMPLETE, Topic.NOT_APPLICABLE})

_SAID = {
    frozenset({_YES}): "says that all polyps were removed",
    frozenset({_NO}): "says that not all polyps were removed",
    frozenset({_NA}): "says that there is nothing to remove",
    frozenset({_YES, _NA}): "says that no polyps are left",
    frozenset({_NO, _NA}): "says that no polyps were removed",
    frozenset({_YES, _NO}): "says that removal is relevant, but not whether it was complete",
}
"""The reason for each set of values."""


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
        after_removal = bool(mention.label) and Topic.REMAINS in topics
        if Topic.INCOMPLETE in topics or after_removal:
            return None
        if mention.negated and mention.label and Topic.ALL not in topics:
            return frozenset({_NA})
        if mention.negated:
            no_polyps = any(m.topic == Topic.POLYP and m.negated and not m.definite for m in clause)
            return frozenset({_NO, _NA}) if no_polyps else frozenset({_NO})
        total = max((m.number or 0 for m in clause if m.topic == Topic.POLYP), default=0)
        if mention.number is not None and mention.number < total:
            return frozenset({_NO})
        partly = any(
            (m.topic == Topic.POLYP and m.number == NO_COUNT and not m.negated) or m.topic == Topic.SOME for m in clause
        )
        return frozenset({_NO}) if partly and not any(m.topic == Topic.ALL for m in clause) else frozenset({_YES})
    return None


def _plainly_seen(polyp: Mention) -> bool:
    """A polyp that is there, beside "no residual polyps": then not all were removed."""
    return not polyp.negated and not polyp.hedged and polyp.number is not None and polyp.number > 0


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
    if admitted:
        values = frozenset.intersection(*admitted)
        if denied and _NA in values:
            values = frozenset({_NA})
        only_residual = all(m.topic in (Topic.REMAINS, Topic.ALL) for m in spoken)
        if (
            only_residual
            and values == {_YES, _NA}
            and any(_plainly_seen(m) for m in polyps if m.clause not in speaking)
        ):
            values = frozenset({_NO})
        if not values:
            return unread(Rule.CONTRADICTION, "says two things about the removal that exclude each other")
        return Reading(values, Rule.REMOVAL, _SAID[values])
    firm = [m for m in polyps if not m.negated and not m.hedged]
    if denied and not firm:
        return Reading(frozenset({_NA}), Rule.REMOVAL, "states that there are no polyps")
    if denied:
        return unread(Rule.CONTRADICTION, "says that there are polyps and that there are none")
    if firm:
        return Reading(frozenset({_NO}), Rule.REMOVAL, "shows a polyp and says nothing of its removal")
    if mentions and all(m.topic == Topic.ALL and not m.negated for m in mentions):
        return Reading(frozenset({_YES}), Rule.REMOVAL, "calls the removal complete")
    if polyps:
        return unread(Rule.HEDGE, "speaks of polyps only with a hedge")
    return unread(Rule.UNANSWERED, "says nothing about polyps or their removal")
