"""The kinds of words the reader knows, and the table that finds them.

A word or short phrase is a *thing* (a topic, perhaps with a canonical label), a *number*, or a word of
grammar (negator, predicate, hedge, connector …). The words themselves stand in `grammar_words` and
`thing_words`; whatever is in neither is an unknown word, which the grammar steps over.
"""

__all__ = ["ALL_CELLS", "Entry", "Kind", "PhraseTable", "Tag", "Topic", "phrase_table", "spelled"]

from collections.abc import Iterable, Iterator
from enum import IntEnum, StrEnum, auto
from typing import NamedTuple

ALL_CELLS = "all"
"""Label of a phrase that means all nine cells ("the entire image")."""


class Kind(IntEnum):
    """What a word does in a sentence."""

    UNKNOWN = auto()
    IGNORED = auto()
    """Known to change nothing: "in total", "colored"."""
    THING = auto()
    NUMBER = auto()
    ARTICLE = auto()
    """a, an: weakly the number one."""
    DEFINITE = auto()
    VAGUE = auto()
    """A quantity that is no count: several, multiple, at least."""
    BOTH = auto()
    ALL = auto()
    """All that was asked for: "all of them", "no to all"."""
    ANOTHER = auto()
    """One more: another, a second."""
    OTHER = auto()
    """additional, other, further: the noun is not the one asked for."""
    PLACE_NOUN = auto()
    """region, area, quadrant."""
    NO = auto()
    """Determiner or answer: "no"."""
    NEITHER = auto()
    NOR = auto()
    LACK = auto()
    """Denies what follows: absence of, free of, without."""
    NOT = auto()
    NONE = auto()
    ABSENT = auto()
    """A predicate that denies its subject: absent, missing."""
    YES = auto()
    EXCEPT = auto()
    """Lifts a negation: other than, except."""
    CONTRAST = auto()
    """Denies what follows: rather than."""
    PREDICATE = auto()
    """visible, present, seen."""
    COPULA = auto()
    VERB = auto()
    """A verb whose object follows: shows, contains, there is."""
    AFFIRM = auto()
    """A noun that states what follows: evidence of, presence of."""
    AND = auto()
    OR = auto()
    COMMA = auto()
    STOP = auto()
    """A clause ends: ; but however while."""
    END = auto()
    """A sentence ends."""
    QUESTION = auto()
    COLON = auto()
    DASH = auto()
    SLASH = auto()
    OPEN = auto()
    CLOSE = auto()
    WITH = auto()
    INCLUDING = auto()
    PREPOSITION = auto()
    OF = auto()
    WHICH = auto()
    ADVERB = auto()
    HEDGE = auto()
    """Takes certainty from what it touches: possibly, may, suspected."""
    UNDECIDED = auto()
    """Says that nothing can be said: cannot be determined, unclear."""
    IRREALIS = auto()
    """Opens a clause about what is not the case: would, if."""
    CORRECTION = auto()
    """Takes back what was said: wait, actually."""


class Topic(StrEnum):
    """What a thing is about."""

    TEXT = "text"
    BOX = "box"
    FINDING = "finding"
    NORMAL = "normal"
    POLYP = "polyp"
    DISEASE = "disease"
    INSTRUMENT = "instrument"
    LANDMARK = "landmark"
    PLACE = "place"
    """Organs and regions of the body: a landmark outside the vocabulary where named as one."""
    CELL = "cell"
    COLOR = "color"
    SIZE = "size"
    PARIS = "paris"
    PROCEDURE = "procedure"
    REMOVED = "removed"
    """Label "" for what was done to polyps (removed, excised), "event" for the noun (removal)."""
    REMAINS = "remains"
    """residual, remaining: polyps are still there."""
    INCOMPLETE = "incomplete"
    """incomplete removal, unremoved."""
    NOT_APPLICABLE = "not applicable"
    ALL = "all"
    SOME = "some"


class Tag(NamedTuple):
    """What is known about a word or phrase."""

    kind: Kind
    topic: str = ""
    label: str = ""
    """Canonical label; "" for a generic word of the topic, "?word" for a label outside the vocabulary, "*row"
    or "*column" for a cell named by half."""
    plural: bool = False
    number: int = 0


Entry = tuple[str, Tag]
"""A phrase in lower case, hyphens written as spaces, and its tag."""


def spelled(phrases: str) -> Iterator[tuple[str, bool]]:
    """Yield the phrases of a "|"-separated list with whether each is a plural; "word+" stands for both forms."""
    for phrase in phrases.split("|"):
        word = phrase.strip()
        if not word.endswith("+"):
            yield word, False
            continue
        word = word[:-1]
        yield word, False
        yield word[:-1] + "ies" if word.endswith("y") else word + ("es" if word[-1] in "xs" else "s"), True


PhraseTable = dict[str, list[tuple[int, dict[tuple[str, ...], Tag]]]]
"""By first word: the phrases of each length in words, longest first."""


def phrase_table(entries: Iterable[Entry]) -> tuple[dict[str, Tag], PhraseTable]:
    """Return the single words, and the phrases by their first word and length."""
    words: dict[str, Tag] = {}
    phrases: dict[str, dict[int, dict[tuple[str, ...], Tag]]] = {}
    for phrase, tag in entries:
        parts = tuple(phrase.split())
        if len(parts) == 1:
            words[phrase] = tag
        else:
            phrases.setdefault(parts[0], {}).setdefault(len(parts), {})[parts] = tag
    return words, {first: sorted(sizes.items(), reverse=True) for first, sizes in phrases.items()}
