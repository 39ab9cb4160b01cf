"""Anatomy-hop: from the structure a tool acts on to the one that lies beside it.

A hop starts at the target's box and leads to another boxed structure, in the direction in
which that lies as seen from the target; a structure inside the target lies in no direction.
"""

__all__ = ["MOST_HOPS", "Hop", "Hops", "hops_from"]

import math
from collections.abc import Iterable
from typing import NamedTuple

from backend.surgcheck.boxes import Box, Relation, relation
from backend.surgcheck.exclusions import Reason
from backend.surgcheck.scene_graphs import Anatomy

MOST_HOPS = 2
"""So many hops a tool, as in the release."""


class Hop(NamedTuple):
    """One question's direction and answer."""

    direction: Relation
    structure: str


class Hops(NamedTuple):
    """The hops of a target, nearest structure first, and why others are left out."""

    hops: tuple[Hop, ...]
    excluded: tuple[Reason, ...]


def hops_from(target: str, anatomies: Iterable[Anatomy], *, strict: bool) -> Hops:
    """Return at most two hops from a target, to the structures whose centres are nearest.

    Strict hops have one answer each: a target with several boxes has none, and a direction in
    which structures of several classes lie is left out. Otherwise the target is its largest box
    and every direction counts. Further boxes of the target's own class are no answers, and a
    class that lies in one direction twice is one hop.
    """
    boxed = tuple(anatomies)
    targets = [anatomy.box for anatomy in boxed if anatomy.category == target]
    if not targets:
        return Hops((), (Reason.TARGET_NOT_BOXED,))
    if strict and len(targets) > 1:
        return Hops((), (Reason.TARGET_BOXED_TWICE,))
    start = max(targets, key=lambda box: box.area)
    others = sorted((a for a in boxed if a.category != target), key=lambda a: _distance(a.box, start))
    if not others:
        return Hops((), (Reason.NO_NEIGHBOUR,))
    hops: list[Hop] = []
    excluded: list[Reason] = []
    for other in others:
        match relation(other.box, start):
            case None:
                excluded.append(Reason.NO_DIRECTION)
            case Relation.INSIDE | Relation.OUTSIDE:
                excluded.append(Reason.INSIDE_TARGET)
            case direction:
                hops.append(Hop(direction, other.category))
    distinct = list(dict.fromkeys(hops))
    if strict:
        directions = [hop.direction for hop in distinct]
        shared = {direction for direction in directions if directions.count(direction) > 1}
        excluded += [Reason.SHARED_DIRECTION] * sum(hop.direction in shared for hop in distinct)
        distinct = [hop for hop in distinct if hop.direction not in shared]
    excluded += [Reason.BEYOND_TWO_HOPS] * len(distinct[MOST_HOPS:])
    return Hops(tuple(distinct[:MOST_HOPS]), tuple(excluded))


def _distance(box: Box, other: Box) -> float:
    return math.dist(box.centre, other.centre)
