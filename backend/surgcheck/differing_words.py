"""Where the two texts of a pair part: the words that one has and the other has not."""

__all__ = ["Words", "differing_words"]

from difflib import SequenceMatcher
from typing import NamedTuple


class Words(NamedTuple):
    """Words that stand together in a text."""

    text: str
    differ: bool
    """Whether the other text lacks them in this place."""


def differing_words(one: str, other: str) -> tuple[tuple[Words, ...], tuple[Words, ...]]:
    """Return both texts in stretches of words, each the same in both or in this one alone.

    Letter case and a word's last mark are no difference: of "by the hand?" and "by the hand, performing …"
    only what follows is. Stretches joined with a space give the text, but for its spaces.
    """
    words, others = one.split(), other.split()
    matched = SequenceMatcher(None, [_bare(word) for word in words], [_bare(word) for word in others], autojunk=False)
    found: tuple[list[Words], list[Words]] = ([], [])
    for kind, start, end, other_start, other_end in matched.get_opcodes():
        for stretches, part in zip(found, (words[start:end], others[other_start:other_end]), strict=True):
            if part:
                stretches.append(Words(" ".join(part), kind != "equal"))
    return tuple(found[0]), tuple(found[1])


def _bare(word: str) -> str:
    return word.rstrip(",?.").casefold()
