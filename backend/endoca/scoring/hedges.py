"""Certainty: hedges, "cannot be determined", counterfactuals and self-corrections.

"Possibly", "likely", "probably", "suspected", "may" and the like are hedges; "appears" and "seems" are
ordinary style. A hedge touches what follows it up to the comma, or the subject where a predicate follows
it ("one polyp, possibly adenomatous" is one polyp). "Wait", "actually" take back what was said.
"""

__all__ = ["HANDLERS"]

from backend.endoca.scoring.lexicon import Kind
from backend.endoca.scoring.walk import Walk

_HEDGES_SUBJECT = frozenset(
    {Kind.PREDICATE, Kind.ABSENT, Kind.NOT, Kind.END, Kind.STOP, Kind.COMMA, Kind.CLOSE, Kind.UNDECIDED}
)


def see_hedge(walk: Walk, i: int) -> int:
    """Hedge the subject where a predicate or nothing follows, and in any case what comes next.

    "Or maybe …" leaves open what was said before it.
    """
    walk.out.hedged = True
    if i and walk.words[i - 1].kind is Kind.OR:
        for mention in walk.subjects:
            mention.hedged = True
    to_be = i + 1 < len(walk.words) and walk.words[i + 1].text == "to"
    following = walk.ahead(i + 2 if to_be else i + 1)
    if following in _HEDGES_SUBJECT:
        if walk.subjects:
            for mention in walk.subjects:
                mention.hedged = True
        elif walk.out.mentions and following is not Kind.PREDICATE:
            walk.out.mentions[-1].hedged = True
        else:
            walk.out.undecided = True
    walk.hedge = True
    return i + 1


def see_undecided(walk: Walk, i: int) -> int:
    """Hedge the subject and everything up to the end of the sentence part."""
    if walk.follows_remain(i):
        return i + 1
    walk.out.undecided = True
    for mention in walk.subjects:
        mention.hedged = True
    walk.undecided = True
    return i + 1


def see_irreal(walk: Walk, i: int) -> int:
    """Take the statements of this segment and the rest of the clause for not being the case."""
    for mention in walk.out.mentions[walk.segment_first :]:
        mention.unreal = True
    walk.settle_number()
    for mention in walk.out.mentions[walk.segment_first :]:
        mention.unreal = True
    walk.unreal = True
    return i + 1


def see_correction(walk: Walk, i: int) -> int:
    """Note that something said before is taken back; at the very start there is nothing to take back."""
    if walk.out.mentions or walk.out.polars or walk.number is not None:
        walk.out.corrected = True
    return i + 1


HANDLERS = {
    Kind.HEDGE: see_hedge,
    Kind.UNDECIDED: see_undecided,
    Kind.IRREALIS: see_irreal,
    Kind.CORRECTION: see_correction,
}
"""What each kind of word does."""
