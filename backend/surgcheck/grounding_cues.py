"""Grounding cues: how a question points at a tool or structure that it does not name.

A box or an arrow is drawn into the frame, a position is one of nine words, a periphrasis is
the hand that holds the tool (SurgCheck, "Grounding cues"). Everything here is geometry of
the frame's size and of boxes, in pixels. A cue that does not apply is a `Reason`, never an
exception. Lengths are those of the release at a width of 854 pixels and grow with the width.
"""

__all__ = [
    "SAME_BOX_IOU",
    "Arrow",
    "Outline",
    "Position",
    "arrow_cue",
    "box_cue",
    "is_covered",
    "periphrasis_cue",
    "position_word",
]

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from backend.surgcheck.boxes import Box, Relation, iou, overlap
from backend.surgcheck.exclusions import Reason
from backend.surgcheck.scene_graphs import Hand

RELEASE_WIDTH = 854
LINE, LEAST_SIDE = 4, 12
"""Thickness of an outline, and the least side it is drawn with."""
ARROW, LEAST_ARROW = 80, 24
"""Length of an arrow, and the least it is shortened to."""
SHAFT_WIDTH, HEAD_LENGTH, HEAD_WIDTH = 9, 20, 24

SAME_BOX_IOU = 0.9
"""Above this overlap two boxes look like one: neither a box nor an arrow tells them apart."""

ON_A_LINE = 1e-9
"""A centre this close below a line of the grid lies on it: thirds of pixels have no exact number."""


class Position(StrEnum):
    """The nine cells of the frame, row by row."""

    TOP_LEFT = "top-left"
    TOP = "top"
    TOP_RIGHT = "top-right"
    LEFT = "left"
    CENTER = "center"
    RIGHT = "right"
    BOTTOM_LEFT = "bottom-left"
    BOTTOM = "bottom"
    BOTTOM_RIGHT = "bottom-right"


_CELLS = tuple(Position)


@dataclass(frozen=True, slots=True)
class Outline:
    """A box cue as it is drawn."""

    box: Box
    """The line's middle; inside the frame."""
    thickness: int
    """In pixels, at least 1."""
    padded: bool
    """Whether the box was so small that the outline was drawn larger."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow cue as it is drawn."""

    tip: tuple[float, float]
    """(x, y) in pixels: on the edge of the box it points at."""
    side: Relation
    """Where the arrow lies as seen from its box: right means that it points left."""
    length: float
    """From tail to tip, in pixels."""
    shaft_width: float
    head_length: float
    head_width: float

    @property
    def box(self) -> Box:
        """The arrow's bounding box."""
        x, y = self.tip
        half = self.head_width / 2
        match self.side:
            case Relation.RIGHT:
                return Box(x, y - half, self.length, self.head_width)
            case Relation.LEFT:
                return Box(x - self.length, y - half, self.length, self.head_width)
            case Relation.BELOW:
                return Box(x - half, y, self.head_width, self.length)
            case _:
                return Box(x - half, y - self.length, self.head_width, self.length)

    @property
    def corners(self) -> tuple[tuple[float, float], ...]:
        """The seven corners of its polygon as (x, y) in pixels, from the tip round."""
        (x, y), (back_x, back_y) = self.tip, _AWAY_FROM_BOX[self.side]
        shaft, head = self.shaft_width / 2, self.head_width / 2
        outline = (
            (0.0, 0.0),
            (self.head_length, head),
            (self.head_length, shaft),
            (self.length, shaft),
            (self.length, -shaft),
            (self.head_length, -shaft),
            (self.head_length, -head),
        )
        return tuple(
            (x + back * back_x + aside * back_y, y + back * back_y + aside * back_x) for back, aside in outline
        )


_AWAY_FROM_BOX = {
    Relation.RIGHT: (1.0, 0.0),
    Relation.LEFT: (-1.0, 0.0),
    Relation.BELOW: (0.0, 1.0),
    Relation.ABOVE: (0.0, -1.0),
}
"""Step of one pixel from an arrow's tip towards its tail."""


def position_word(box: Box, width: int, height: int) -> Position | Reason:
    """Return the cell of a 3 × 3 grid over the frame in which the box's centre lies.

    The box is first clipped to the frame. A centre on a line between two cells goes to the
    cell further right or further down.
    """
    inside = box.clipped(width, height)
    if inside is None:
        return Reason.OUTSIDE_FRAME
    x, y = inside.centre
    return _CELLS[3 * _third(y, height) + _third(x, width)]


def _third(place: float, size: int) -> int:
    return min(int(3 * place / size + ON_A_LINE), 2)


def is_covered(box: Box, others: Iterable[Box]) -> bool:
    """Say whether another box covers nearly the same area (IoU above 0.9)."""
    return any(iou(box, other) > SAME_BOX_IOU for other in others)


def box_cue(box: Box, width: int, height: int) -> Outline | Reason:
    """Return the outline of a box: on its edge, clipped at the frame's border.

    A side shorter than 12 pixels (at a width of 854) is drawn 12 long about its middle, moved
    into the frame where it would reach beyond.
    """
    inside = box.clipped(width, height)
    if inside is None:
        return Reason.OUTSIDE_FRAME
    scale = width / RELEASE_WIDTH
    least = LEAST_SIDE * scale
    x, across = _padded(inside.x, inside.width, least, width)
    y, down = _padded(inside.y, inside.height, least, height)
    padded = inside.width < least or inside.height < least
    return Outline(Box(x, y, across, down), max(1, round(LINE * scale)), padded)


def _padded(start: float, length: float, least: float, size: int) -> tuple[float, float]:
    """Return start and length of a side of at least ``least`` within 0 and ``size``."""
    if length >= least:
        return start, length
    drawn = min(least, size)
    return _within(start + (length - drawn) / 2, 0, size - drawn), drawn


def arrow_cue(box: Box, width: int, height: int, others: Sequence[Box] = ()) -> Arrow | Reason:
    """Return the arrow whose tip touches a box from outside, at the middle of one side.

    The sides are tried in the order right, left, below, above. Of those where the whole arrow
    lies in the frame the one that overlaps ``others`` least is taken, the first one of equals:
    without others that is right if there is room, else left, as in the release. The arrow
    moves along its side where its head would reach beyond the frame. Where it fits on no side
    it is shortened, down to 24 pixels (at a width of 854), and the longest of those with least
    overlap is taken.
    """
    inside = box.clipped(width, height)
    if inside is None:
        return Reason.OUTSIDE_FRAME
    scale = width / RELEASE_WIDTH
    fitting = _arrows(inside, width, height, least=ARROW * scale) or _arrows(
        inside, width, height, least=LEAST_ARROW * scale
    )
    if not fitting:
        return Reason.NO_ROOM_FOR_ARROW
    return min(fitting, key=lambda arrow: (sum(overlap(arrow.box, other) for other in others), -arrow.length))


def _arrows(box: Box, width: int, height: int, least: float) -> list[Arrow]:
    """Return an arrow for each side with room for its least length, in the order of the sides."""
    scale = width / RELEASE_WIDTH
    half = HEAD_WIDTH * scale / 2
    x, y = box.centre
    sides: list[tuple[Relation, float, tuple[float, float]]] = []
    if height >= 2 * half:
        y = _within(y, half, height - half)
        sides.append((Relation.RIGHT, width - box.right, (box.right, y)))
        sides.append((Relation.LEFT, box.x, (box.x, y)))
    if width >= 2 * half:
        x = _within(x, half, width - half)
        sides.append((Relation.BELOW, height - box.bottom, (x, box.bottom)))
        sides.append((Relation.ABOVE, box.y, (x, box.y)))
    return [
        Arrow(tip, side, min(ARROW * scale, room), SHAFT_WIDTH * scale, HEAD_LENGTH * scale, HEAD_WIDTH * scale)
        for side, room, tip in sides
        if room >= least
    ]


def _within(value: float, least: float, most: float) -> float:
    return min(max(value, least), most)


def periphrasis_cue(hand: Hand | None, other_hands: Iterable[Hand | None]) -> Hand | Reason:
    """Return the hand by which a tool is described, where no other tool in the frame has the same one."""
    if hand is None:
        return Reason.NO_HAND
    return Reason.SHARED_HAND if hand in other_hands else hand
