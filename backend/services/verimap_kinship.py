"""Which VLMs are relatives: one was adapted from the other, or they are one VLM in two sizes.

The list of known VLMs says who started from whose weights; sizes are read off the names, for an imported file has
nothing else to go by.
"""

__all__ = ["Kinship", "Relation", "relations"]

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

from backend.vlm.registry import Registry


class Kinship(StrEnum):
    """How the other VLM stands to the base."""

    ADAPTED = "adapted"
    """It started from the base's weights (Fig. B3)."""
    SCALED = "scaled"
    """It is the same VLM, larger (Fig. B4)."""


class Relation(NamedTuple):
    """Two VLMs of which the first is the base."""

    base: str
    other: str
    kind: Kinship


_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s*b(?![a-z0-9])", re.IGNORECASE)
"""A number of billions as names have it: the 7B of Qwen2.5-VL-7B."""


def relations(vlms: Sequence[str], registry: Registry | None = None) -> list[Relation]:
    """Return the relatives among some VLMs: adapted ones, then larger ones.

    Args:
        vlms: Names as the store has them.
        registry: The known VLMs; read where None.
    """
    entries = (registry or Registry.load()).entries
    names = {entry.name: {name.casefold() for name in (entry.name, *entry.also)} for entry in entries}
    adapted = [
        Relation(base, other, Kinship.ADAPTED)
        for entry in entries
        if entry.adapted_from
        for base in vlms
        for other in vlms
        if other.casefold() in names[entry.name]
        and base.casefold() in names.get(entry.adapted_from, {entry.adapted_from.casefold()})
    ]
    scaled = []
    for one, two in combinations(vlms, 2):
        (stem, size), (other_stem, other_size) = _split(one), _split(two)
        if stem == other_stem and size is not None and other_size is not None and size != other_size:
            base, other = (one, two) if size < other_size else (two, one)
            scaled.append(Relation(base, other, Kinship.SCALED))
    return [*adapted, *scaled]


def _split(name: str) -> tuple[str, float | None]:
    """Return a name without its size, and the size in billions; None where it has none, or several."""
    sizes = _SIZE.findall(name)
    if len(sizes) != 1:
        return name.casefold(), None
    return _SIZE.sub("", name).casefold(), float(sizes[0])
