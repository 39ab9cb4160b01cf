"""Boxes of a frame in pixels, and where one lies as seen from another.

Spatial edges are not stored with a scene graph; they are computed from the boxes with the
rule of LG-CVS (Murali et al.): inside or outside where the boxes overlap by most of the
smaller one, else left, right, above or below by the angle between the centres.
"""

__all__ = ["INSIDE_SHARE", "Box", "Relation", "iou", "overlap", "relation"]

import math
from dataclasses import dataclass
from enum import StrEnum

INSIDE_SHARE = 0.8
"""Boxes are inside and outside each other where they share at least this much of the smaller one's area."""


class Relation(StrEnum):
    """Where a thing lies as seen from another; the directions are the words of the questions."""

    LEFT = "left"
    RIGHT = "right"
    ABOVE = "above"
    BELOW = "below"
    INSIDE = "inside"
    OUTSIDE = "outside"
    """It surrounds the other one."""


@dataclass(frozen=True, slots=True)
class Box:
    """An upright box; x grows to the right and y downwards."""

    x: float
    """Left edge in pixels."""
    y: float
    """Upper edge in pixels."""
    width: float
    """In pixels, above 0."""
    height: float
    """In pixels, above 0."""

    @property
    def right(self) -> float:
        """Right edge in pixels."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Lower edge in pixels."""
        return self.y + self.height

    @property
    def centre(self) -> tuple[float, float]:
        """Centre as (x, y) in pixels."""
        return self.x + self.width / 2, self.y + self.height / 2

    @property
    def area(self) -> float:
        """In square pixels."""
        return self.width * self.height

    def clipped(self, width: float, height: float) -> "Box | None":
        """Return the part inside a frame of ``width`` × ``height`` pixels, None where there is none."""
        left, top = max(self.x, 0), max(self.y, 0)
        right, bottom = min(self.right, width), min(self.bottom, height)
        return Box(left, top, right - left, bottom - top) if right > left and bottom > top else None


def overlap(one: Box, other: Box) -> float:
    """Return the area two boxes share, in square pixels; 0 where they only touch."""
    across = min(one.right, other.right) - max(one.x, other.x)
    down = min(one.bottom, other.bottom) - max(one.y, other.y)
    return max(across, 0.0) * max(down, 0.0)


def iou(one: Box, other: Box) -> float:
    """Return intersection over union, from 0 (apart) to 1 (the same box)."""
    shared = overlap(one, other)
    return shared / (one.area + other.area - shared)


def relation(thing: Box, seen_from: Box) -> Relation | None:
    """Return where ``thing`` lies as seen from another box.

    An angle of exactly 45 degrees counts as left or right. Two boxes of one size that coincide
    are inside each other. None where the centres coincide and neither box lies inside the
    other: there is no direction then.
    """
    if overlap(thing, seen_from) >= INSIDE_SHARE * min(thing.area, seen_from.area):
        return Relation.INSIDE if thing.area <= seen_from.area else Relation.OUTSIDE
    (x, y), (from_x, from_y) = thing.centre, seen_from.centre
    across, down = x - from_x, y - from_y
    if math.hypot(across, down) == 0:
        return None
    if abs(across) >= abs(down):
        return Relation.RIGHT if across > 0 else Relation.LEFT
    return Relation.BELOW if down > 0 else Relation.ABOVE
