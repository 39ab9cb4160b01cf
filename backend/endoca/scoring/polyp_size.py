"""The size of the polyp, as Kvasir-VQA's bins: <5mm, 5-10mm, 11-20mm, >20mm."""

__all__ = ["read_polyp_size"]

from collections.abc import Sequence

from backend.endoca.scoring.lexicon import Topic
from backend.endoca.scoring.mentions import Mention
from backend.endoca.scoring.reading import Reading, listed, unread, value_of
from backend.endoca.scoring.records import Rule
from backend.endoca.scoring.sizes import UNREADABLE, bare_size_bins


def read_polyp_size(mentions: Sequence[Mention], text: str) -> Reading:
    """Read the bins of all measures; several polyps can have several.

    "About 8 mm" lies inside a bin and is read as it; without a polyp there is no size.
    """
    measures = [m for m in mentions if m.topic == Topic.SIZE and not m.negated]
    if any(m.hedged for m in measures):
        return unread(Rule.HEDGE, "gives the size only with a hedge")
    if any(m.alternative for m in measures):
        return unread(Rule.ALTERNATIVES, 'names sizes joined by "or"')
    bins = {part for m in measures for part in m.label.split(";")}
    if not measures:
        bare = bare_size_bins(text)
        bins = set(bare.split(";")) if bare else set()
    if UNREADABLE in bins:
        return unread(Rule.NOT_NAMED, "gives a size that fits no single bin")
    if bins:
        joined = ";".join(sorted(bins))
        return value_of(joined, Rule.LABEL_SET, f"gives the size {listed(sorted(bins))}")
    polyps = [m for m in mentions if m.topic == Topic.POLYP and not m.other]
    if any(m.negated and not m.excepted and not m.hedged for m in polyps):
        if any(not m.negated and not m.hedged for m in polyps):
            return unread(Rule.CONTRADICTION, "says that there is a polyp and that there is none")
        return value_of("none", Rule.NEGATION, "states that there is no polyp")
    return unread(Rule.NOT_NAMED if polyps else Rule.UNANSWERED, "gives no size of a polyp")
