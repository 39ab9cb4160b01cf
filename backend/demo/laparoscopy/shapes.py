"""The shapes of the anatomy in the gallbladder's own plane, before it is turned, scaled and moved.

The gallbladder's axis runs from the fundus to the neck, downwards to the right, and its middle
is the origin; the liver lies above it, the duct and the artery leave at the neck. A place along
the axis is a share t of its length: 0 at the fundus, 1 at the neck. Lengths are in grid cells.
"""

__all__ = ["TUBES", "Anatomy", "Axis", "artery", "duct", "gallbladder", "gap", "liver", "plate", "triangle"]

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from backend.demo.laparoscopy.geometry import Points, ribbon, smooth_line
from backend.surgcheck.scene_graphs import ANATOMIES

TUBES = ("cystic_artery", "cystic_duct")
PARTING = 30
"""Cells of fat between the neck and a tube that is not seen to enter it."""


@dataclass(frozen=True, slots=True, eq=False)
class Anatomy:
    """One structure before any tool hides it."""

    name: str
    """One of `ANATOMIES`."""
    outline: Points
    middle: Points
    """Its middle line, a tube's from the gallbladder outwards; empty for the triangle."""
    half_width: float = 0.0
    """Half its width where it is widest."""

    @property
    def label(self) -> int:
        """Its category id."""
        return ANATOMIES.index(self.name) + 1


@dataclass(frozen=True, slots=True)
class Axis:
    """The gallbladder's axis and how stout it is."""

    slope: float
    """Radians below the horizontal."""
    length: float
    girth: float

    @property
    def along(self) -> Points:
        """Unit vector towards the neck."""
        return np.array([np.cos(self.slope), np.sin(self.slope)])

    @property
    def above(self) -> Points:
        """Unit vector towards the liver."""
        return np.array([np.sin(self.slope), -np.cos(self.slope)])

    def at(self, t: float | NDArray[np.float64], off: float | NDArray[np.float64] = 0.0) -> Points:
        """Return the point at t, or (n, 2) points, so far towards the liver."""
        return np.multiply.outer((np.asarray(t) - 0.5) * self.length, self.along) + np.multiply.outer(off, self.above)

    def half_width(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return half the gallbladder's width: a pear, round at the fundus and narrow at the neck."""
        pear = np.sqrt(np.clip(1 - np.abs(2 * t**0.85 - 1) ** 2.4, 0.0, 1.0))
        return np.asarray((self.girth * pear + 1) * (1 - 0.45 * t**2))


def gallbladder(rng: Generator, axis: Axis) -> Anatomy:
    """A slightly bent pear."""
    t = np.linspace(0.0, 1.0, 28)
    body = axis.at(t, rng.uniform(-9, 9) * np.sin(np.pi * t))
    return Anatomy("gallbladder", ribbon(body, axis.half_width(t) + np.where(t > 0.6, 3, 0)), body, axis.girth)


def plate(rng: Generator, axis: Axis) -> Anatomy:
    """The cystic plate: a pale patch between the gallbladder and the liver."""
    t = np.linspace(0.30, 0.86, 14)
    line = axis.at(t, axis.half_width(t) + rng.uniform(9, 14))
    half_width = rng.uniform(13, 18)
    return Anatomy("cystic_plate", ribbon(line, half_width * np.sin(np.linspace(0.5, 2.7, 14))), line, half_width)


def duct(rng: Generator, axis: Axis, enters: bool) -> Anatomy:
    """The cystic duct: a pale tube that goes on from the neck."""
    angle, reach, half_width = rng.uniform(28, 52), rng.uniform(82, 105), rng.uniform(6.5, 8.5)
    return tube(rng, axis, "cystic_duct", axis.at(0.97), angle, reach, half_width, enters)


def artery(rng: Generator, axis: Axis, enters: bool) -> Anatomy:
    """The cystic artery: a thin red tube on the liver's side of the duct."""
    angle, reach, half_width = rng.uniform(-44, -26), rng.uniform(90, 115), rng.uniform(3.6, 4.6)
    return tube(rng, axis, "cystic_artery", axis.at(0.86, 8.0), angle, reach, half_width, enters)


def tube(
    rng: Generator,
    axis: Axis,
    name: str,
    start: Points,
    angle: float,
    reach: float,
    half_width: float,
    enters: bool,
) -> Anatomy:
    """A bent tube that leaves the start at an angle, in degrees, to the axis; or a little off it."""
    heading = axis.slope + np.radians(angle)
    towards = np.array([np.cos(heading), np.sin(heading)])
    if not enters:
        start = start + towards * PARTING
        reach -= 0.75 * PARTING
    end = start + towards * reach
    aside = rng.uniform(-0.16, 0.16) * reach * np.array([-towards[1], towards[0]])
    line = smooth_line(start, (start + end) / 2 + aside, end)
    return Anatomy(name, ribbon(line, half_width), line, half_width)


def triangle(axis: Axis, artery: Anatomy, duct: Anatomy) -> Anatomy:
    """Calot's (the hepatocystic) triangle: what artery, duct and neck enclose."""
    wedge = np.concatenate([[axis.at(0.99)], artery.middle[4:12], duct.middle[4:12][::-1]])
    return Anatomy("calot_triangle", wedge, np.empty((0, 2)))


def gap(axis: Axis) -> Points:
    """The slit along the gallbladder's lower third where it is parted from the liver."""
    t = np.linspace(0.58, 0.95, 12)
    return ribbon(axis.at(t, axis.half_width(t) + 2), 6.5 * np.sin(np.linspace(0.5, 2.9, 12)))


def liver(rng: Generator, axis: Axis) -> Points:
    """All above a wavy rim behind the gallbladder."""
    rim = np.linspace(-1100, 1100, 64)
    waves = 7 * np.sin(rim / rng.uniform(25, 60) + rng.uniform(0, 6))
    lobe = axis.at(0.5, 14.0) + np.stack([rim, waves - 0.02 * np.abs(rim)], 1) @ np.array([axis.along, -axis.above])
    return np.concatenate([lobe, [[1200, -1500], [-1500, -1500]]])
