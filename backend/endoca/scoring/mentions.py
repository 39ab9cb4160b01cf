"""What an answer speaks of, thing by thing: the intermediate form that every reader reads."""

__all__ = ["NOUNS", "NO_COUNT", "Mention", "Statements", "denied_in_part"]

from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.endoca.scoring.lexicon import Topic

NO_COUNT = -1
"""A quantity that is no count ("several", "1-2")."""

NOUNS = frozenset({Topic.TEXT, Topic.BOX, Topic.FINDING, Topic.POLYP, Topic.DISEASE, Topic.INSTRUMENT, Topic.LANDMARK})
"""Topics that can be counted and can have a place or a colour."""


@dataclass(slots=True, eq=False)
class Mention:
    """One thing an answer speaks of."""

    topic: str
    """"" for an elliptical statement ("not visible", "there are two")."""
    label: str = ""
    plural: bool = False
    number: int | None = None
    """Bound number; `NO_COUNT` for a quantity that is no count; None where nothing is said."""
    explicit: bool = False
    """The number was given as a number and not by an article."""
    negated: bool = False
    hedged: bool = False
    unreal: bool = False
    """Inside a counterfactual or conditional clause."""
    excepted: bool = False
    """The negation over it was lifted by "other than"."""
    other: bool = False
    """ "no other polyps": not the thing asked for."""
    alternative: bool = False
    definite: bool = False
    after_preposition: bool = False
    added: bool = False
    """Joined by "and" or "another" to the mention before it, inside one phrase."""
    partial: bool = False
    """A number that is the subject of a clause ("one is sessile"), not an answer by itself."""
    item: bool = False
    """One of those counted before the colon ("two polyps: one sessile"), no further one."""
    also: str = ""
    """Topic of the denied noun this one was excepted from."""
    subjects: tuple["Mention", ...] = ()
    """For a cell or colour: the nouns it is said of."""
    colors: frozenset[str] = frozenset()
    clause: int = 0
    position: int = 0


def denied_in_part(denial: Mention, mentions: Sequence[Mention]) -> bool:
    """Whether a denial holds for a part of the image alone ("no polyp in the upper half")."""
    return any(m.topic == Topic.CELL and m.negated and m.clause == denial.clause for m in mentions)


@dataclass(slots=True, eq=False)
class Statements:
    """All mentions of an answer and its words of plain yes or no."""

    mentions: list[Mention] = field(default_factory=list)
    polars: list[tuple[bool, int]] = field(default_factory=list)
    """Each free-standing yes (True) or no (False), with the number of mentions before it."""
    corrected: bool = False
    """The answer takes something back ("wait, …")."""
    undecided: bool = False
    """Somewhere it says that nothing can be said."""
    hedged: bool = False
    """Somewhere a hedge occurs."""
    all_or_none: bool | None = None
    """True for a bare "both" or "all of them", False for a bare "neither", "no to both" or "none of these"."""
    of_two: bool = False
    """It was said of two: "both", "neither"."""
