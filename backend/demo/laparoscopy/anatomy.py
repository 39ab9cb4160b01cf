"""Where the anatomy lies in a frame: turned, mirrored, scaled and moved as one.

The layout lives on a grid of half the frame's resolution.
"""

__all__ = ["GAP", "GRID", "LIVER", "Layout", "fill_label", "lay_out", "tent"]

from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from backend.demo.laparoscopy import shapes
from backend.demo.laparoscopy.geometry import Points, ribbon
from backend.demo.laparoscopy.scene import HEIGHT, WIDTH
from backend.demo.laparoscopy.shapes import TUBES, Anatomy, Axis

GRID = 2
"""Pixels of the frame along one side of a grid cell."""

GAP, LIVER = 6, 7
"""Labels of what is drawn and not annotated, as 0 is for fat; an anatomy's label is its category id."""

SHARES = {"gallbladder": 0.92, "cystic_duct": 0.82, "cystic_artery": 0.74, "calot_triangle": 0.62, "cystic_plate": 0.55}
"""How often each anatomy is drawn, before draws that make no scene are drawn again."""
ENTERING = 0.85
"""How often each tube is seen to enter the gallbladder."""
CLEARED, PARTED = 0.55, 0.45
"""How often a Calot's triangle is cleared, and a gallbladder parted from the liver."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The anatomy of one frame, in cells of the grid, and which criteria of the CVS it shows."""

    anatomies: tuple[Anatomy, ...]
    """In the order drawn."""
    criteria: tuple[bool, bool, bool]
    """Two structures, cleared triangle, parted lower third."""
    scale: float
    """Against a scene of usual distance."""
    gap_cells: int
    """How large the dark gap between the gallbladder's lower third and the liver is; 0 where they hang together."""
    labels: NDArray[np.uint8] = field(repr=False)
    """(HEIGHT / GRID, WIDTH / GRID): what each cell shows, tools left out."""

    def of(self, name: str) -> Anatomy:
        """Return the anatomy of that name."""
        return next(anatomy for anatomy in self.anatomies if anatomy.name == name)


def fill_label(labels: NDArray[np.uint8], outline: Points, label: int) -> None:
    """Give all cells within an outline a label, in place."""
    cv2.fillPoly(labels, [np.rint(outline).astype(np.int32)], label)


def names_drawn(rng: Generator) -> set[str]:
    """Draw which anatomies are there: two at least, and no triangle without one of its sides."""
    while True:
        names = {name for name, share in SHARES.items() if rng.random() < share}
        if len(names) >= 2 and ("calot_triangle" not in names or names & set(TUBES)):
            return names


def lay_out(rng: Generator, small: bool) -> Layout:
    """Draw lots for one anatomy.

    Args:
        rng: Source of all choices.
        small: Whether it is seen from afar.
    """
    names = names_drawn(rng)
    scale = rng.uniform(0.6, 0.72) if small else rng.uniform(0.9, 1.2)
    is_mirrored = rng.random() < 0.5
    axis = Axis(np.radians(rng.uniform(12, 38)), rng.uniform(135, 170), rng.uniform(30, 40))
    enters = {name: rng.random() < ENTERING for name in TUBES}
    is_cleared = "calot_triangle" in names and rng.random() < CLEARED
    is_parted = "gallbladder" in names and rng.random() < PARTED
    gallbladder, plate = shapes.gallbladder(rng, axis), shapes.plate(rng, axis)
    duct, artery = shapes.duct(rng, axis, enters["cystic_duct"]), shapes.artery(rng, axis, enters["cystic_artery"])
    liver = shapes.liver(rng, axis)
    turn = np.radians(rng.uniform(-12, 12))
    matrix = scale * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    width, height = WIDTH // GRID, HEIGHT // GRID
    centre = np.array([rng.uniform(0.30, 0.50) * width, rng.uniform(0.30, 0.48) * height])

    def moved(points: Points) -> Points:
        at = points @ matrix.T + centre
        return np.stack([width - at[:, 0], at[:, 1]], 1) if is_mirrored else at

    anatomies = tuple(
        Anatomy(a.name, moved(a.outline), moved(a.middle), a.half_width * scale)
        for a in (shapes.triangle(axis, artery, duct), plate, gallbladder, artery, duct)
        if a.name in names
    )
    labels = np.zeros((height, width), np.uint8)
    fill_label(labels, moved(liver), LIVER)
    gap_cells = 0
    for anatomy in anatomies:
        fill_label(labels, anatomy.outline, anatomy.label)
        if anatomy.name == "gallbladder" and is_parted:
            fill_label(labels, moved(shapes.gap(axis)), GAP)
            gap_cells = int(np.count_nonzero(labels == GAP))
    has_two = {"gallbladder", *TUBES} <= names and all(enters.values())
    return Layout(anatomies, (has_two, is_cleared, is_parted), scale, gap_cells, labels)


def tent(anchor: Points, tip: Points, base: float) -> Points:
    """Return the outline of tissue pulled from anchor to tip: wide at its base, drawn out to a point."""
    t = np.linspace(0, 1, 12)
    rounded = np.minimum(1.0, 0.35 + 2.6 * t)
    return ribbon(anchor + t[:, None] * (tip - anchor), base * rounded * (1 - t) ** 1.3 + 5.0)
