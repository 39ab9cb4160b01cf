"""Which tools a frame holds, whose hand leads them and what they do, and where that puts them.

Hand and tool, tool and verb, verb and target go together most of the time and not always: a
question that names one of them gives the others away to whoever never looks.
"""

__all__ = ["HAND_SETS", "TOOL_COUNTS", "Action", "pick", "place"]

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from backend.demo.laparoscopy.anatomy import GRID, Layout
from backend.demo.laparoscopy.geometry import Points, placed
from backend.demo.laparoscopy.instruments import parts_of
from backend.demo.laparoscopy.scene import HEIGHT, WIDTH
from backend.demo.laparoscopy.shapes import Anatomy
from backend.surgcheck.scene_graphs import ANATOMIES, NULL_TARGET, NULL_VERB

TOOL_COUNTS: Mapping[int, float] = {0: 0.08, 1: 0.25, 2: 0.42, 3: 0.25}
HAND_SETS: Mapping[int, Mapping[tuple[str, ...], float]] = {
    0: {(): 1.0},
    1: {("Rt",): 0.5, ("Lt",): 0.34, ("Assi",): 0.16},
    2: {("Lt", "Rt"): 0.66, ("Assi", "Rt"): 0.16, ("Lt", "Assi"): 0.12, ("Rt", "Rt"): 0.03, ("Lt", "Lt"): 0.03},
    3: {("Lt", "Rt", "Assi"): 0.94, ("Lt", "Assi", "Assi"): 0.03, ("Lt", "Rt", "Rt"): 0.03},
}
TOOLS_OF_HAND = {
    "Lt": {"grasper": 0.77, "bipolar": 0.10, "scissors": 0.05, "hook": 0.04, "irrigator": 0.04},
    "Rt": {"hook": 0.62, "clipper": 0.14, "scissors": 0.11, "bipolar": 0.10, "grasper": 0.03},
    "Assi": {"irrigator": 0.76, "grasper": 0.16, "clipper": 0.08},
}
VERBS_OF_TOOL = {
    "grasper": {"retract": 0.60, "grasp": 0.27, NULL_VERB: 0.08, "dissect": 0.05},
    "hook": {"dissect": 0.76, "coagulate": 0.12, NULL_VERB: 0.08, "retract": 0.04},
    "scissors": {"dissect": 0.66, NULL_VERB: 0.18, "coagulate": 0.10, "retract": 0.06},
    "bipolar": {"coagulate": 0.70, "grasp": 0.12, "dissect": 0.10, NULL_VERB: 0.08},
    "clipper": {"clip": 0.74, NULL_VERB: 0.16, "grasp": 0.10},
    "irrigator": {NULL_VERB: 0.44, "retract": 0.44, "dissect": 0.12},
}
TARGETS_OF_VERB = {
    "dissect": {"cystic_duct": 0.30, "cystic_artery": 0.30, "cystic_plate": 0.25, "gallbladder": 0.15},
    "retract": {"gallbladder": 0.66, "cystic_duct": 0.14, "cystic_plate": 0.12, "cystic_artery": 0.08},
    "grasp": {"gallbladder": 0.50, "cystic_duct": 0.22, "cystic_plate": 0.16, "cystic_artery": 0.12},
    "clip": {"cystic_duct": 0.46, "cystic_artery": 0.46, "gallbladder": 0.04, "cystic_plate": 0.04},
    "coagulate": {"cystic_plate": 0.44, "cystic_artery": 0.24, "gallbladder": 0.18, "cystic_duct": 0.14},
}
SIDES = ("left", "right", "top", "bottom")
SIDE_OF_HAND = {"Lt": ("left",), "Rt": ("right",), "Assi": ("top", "bottom")}
USUAL_SIDE = 0.85
"""How often a tool enters from its hand's own side."""

TOUCHED = (0.32, 0.86)
"""Part of an anatomy's middle line tools work on: where a tube enters the gallbladder stays in sight."""
PULL = (56, 84)
"""Pixels a retracting tool pulls tissue beyond its rim, at usual distance."""
SHORTEST = 110
"""Pixels of a tool from the border to its tip, at least."""
NEAR = 26
"""Pixels a null tool's tip keeps off every anatomy, at least."""


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """One tool at work or at rest; coordinates in pixels of the frame."""

    hand: str
    tool: str
    verb: str
    target: str
    tip: Points
    direction: Points
    """Unit vector from the shaft to the tip."""
    scale: float
    anchor: Points
    """Where on the target it works; where it retracts, the foot of the pulled tissue; the tip where it rests."""

    def outlines(self) -> list[NDArray[np.int32]]:
        """Return the outlines of its parts in the frame, in the order drawn."""
        return [
            np.rint(placed(part.outline, self.tip, self.direction, self.scale)).astype(np.int32)
            for part in parts_of(self.tool, self.verb)
        ]


def pick(rng: Generator, weights: Mapping[str, float]) -> str:
    """Draw one of the keys by weight; the weights need not add up to 1."""
    shares = np.fromiter(weights.values(), float)
    return list(weights)[int(np.searchsorted(np.cumsum(shares / shares.sum()), rng.random(), side="right"))]


def place(rng: Generator, layout: Layout, hand: str) -> Action | None:
    """Draw lots for one tool; None where its tip would be out of reach."""
    tool = pick(rng, TOOLS_OF_HAND[hand])
    verb = pick(rng, VERBS_OF_TOOL[tool])
    entry = entered(rng, hand)
    scale = layout.scale**0.7 * rng.uniform(0.9, 1.1)
    if verb == NULL_VERB:
        target = NULL_TARGET
        tip = anchor = np.array([rng.uniform(0.12, 0.88) * WIDTH, rng.uniform(0.15, 0.85) * HEIGHT])
        if is_near_anatomy(layout, tip):
            return None
    else:
        there = {anatomy.name for anatomy in layout.anatomies}
        target = pick(rng, {name: weight for name, weight in TARGETS_OF_VERB[verb].items() if name in there})
        anatomy = layout.of(target)
        tip = anchor = touched(rng, anatomy, 0.15 if verb == "retract" else 0.5)
        if not shows(layout, anchor, anatomy):
            return None
        if verb == "retract":
            rim, out = edge_towards(layout, anatomy, anchor, entry)
            tip = rim + out * rng.uniform(*PULL) * layout.scale
    heading = tip - entry
    length = float(np.hypot(*heading))
    if length < SHORTEST:
        return None
    return Action(hand, tool, verb, target, tip, heading / length, scale, anchor)


def entered(rng: Generator, hand: str) -> Points:
    """Draw where on the frame's border a hand's tool comes in."""
    usual = SIDE_OF_HAND[hand]
    sides = usual if rng.random() < USUAL_SIDE else tuple(side for side in SIDES if side not in usual)
    side = sides[int(rng.integers(len(sides)))]
    if side in ("left", "right"):
        return np.array([0.0 if side == "left" else WIDTH, rng.uniform(0.2, 0.95) * HEIGHT])
    return np.array([rng.uniform(0.15, 0.85) * WIDTH, 0.0 if side == "top" else HEIGHT])


def is_near_anatomy(layout: Layout, point: Points) -> bool:
    """Whether a point lies within `NEAR` pixels of an anatomy, along either axis."""
    x, y = (point / GRID).astype(int)
    reach = NEAR // GRID
    around = layout.labels[max(0, y - reach) : y + reach, max(0, x - reach) : x + reach]
    return bool(np.isin(around, np.arange(1, len(ANATOMIES) + 1)).any())


def shows(layout: Layout, point: Points, anatomy: Anatomy) -> bool:
    """Whether an anatomy is what a point of the frame shows; points outside show nothing."""
    x, y = (int(v) for v in point / GRID)
    return 0 <= x < WIDTH // GRID and 0 <= y < HEIGHT // GRID and bool(layout.labels[y, x] == anatomy.label)


def edge_towards(layout: Layout, anatomy: Anatomy, anchor: Points, entry: Points) -> tuple[Points, Points]:
    """Return where an anatomy ends on the way from a point on it to the border, and the unit vector of that way."""
    way = entry - anchor
    out = way / np.hypot(*way)
    steps = anchor + np.arange(0.0, np.hypot(*way), 2.0 * GRID)[:, None] * out
    cells = np.clip((steps / GRID).astype(int), 0, (WIDTH // GRID - 1, HEIGHT // GRID - 1))
    outside = np.flatnonzero(layout.labels[cells[:, 1], cells[:, 0]] != anatomy.label)
    return steps[int(outside[0])] if len(outside) else steps[-1], out


def touched(rng: Generator, anatomy: Anatomy, aside: float) -> Points:
    """Draw a point on an anatomy, in pixels of the frame, at most that share of its half width off its middle line."""
    at = anatomy.middle[int(rng.uniform(*TOUCHED) * len(anatomy.middle))]
    return np.asarray(GRID * (at + rng.uniform(-aside, aside, 2) * anatomy.half_width))
