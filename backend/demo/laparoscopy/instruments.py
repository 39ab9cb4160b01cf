"""What the six tools look like: outlines and colours in a tool's own coordinates.

The tip lies at the origin and the tool points to the right, so its shaft has negative x.
"""

__all__ = ["Part", "parts_of"]

from typing import NamedTuple

import numpy as np

from backend.demo.laparoscopy.geometry import Points, arc, disc, ribbon

Colour = tuple[int, int, int]

FAR = -1500.0
"""Beyond the frame's border from wherever the tip may be."""


class Part(NamedTuple):
    """One filled outline."""

    outline: Points
    colour: Colour
    """RGB."""


def parts_of(tool: str, verb: str) -> tuple[Part, ...]:
    """Return a tool's parts in the order drawn: jaws wide for a grasp, shut for a retraction, half open else."""
    spread = {"grasp": 1.0, "retract": 0.0}.get(verb, 0.4)
    return DRAWN[tool](spread)


def shaft(end: float, width: float, colour: Colour) -> tuple[Part, ...]:
    """A rod with a lit and a shaded side, from beyond the border to x = end."""
    red, green, blue = colour
    lit = (min(255, red // 2 + 140), min(255, green // 2 + 140), min(255, blue // 2 + 140))
    half = width / 2

    def stripe(top: float, bottom: float, fill: Colour) -> Part:
        corners = np.array([[FAR, top], [end, top], [end, bottom], [FAR, bottom]])
        return Part(corners * (1, half), fill)

    return stripe(-1, 1, colour), stripe(-0.65, -0.2, lit), stripe(0.55, 1, (red // 2, green // 2, blue // 2))


def grasper(spread: float) -> tuple[Part, ...]:
    """A silver shaft and two toothed jaws."""
    silver, dark = (196, 200, 206), (40, 42, 48)
    parts = [*shaft(-80, 30, (168, 172, 180))]
    gape = 34 * spread
    for side in (-1, 1):
        bow = np.array([5, gape * 0.75 + 9, gape + 9, gape * 0.8 + 4])
        parts.append(Part(ribbon(np.stack([[-92, -62, -30, 4], side * bow], 1), [11, 9, 8, 4]), silver))
        for x in (-58, -44, -30, -16):
            at = side * (gape + 3)
            parts.append(Part(np.array([[x - 5, at + side * 5], [x + 5, at + side * 5], [x, at - side * 4]]), dark))
    parts.append(Part(disc((-86, 0), 8), dark))
    return tuple(parts)


def hook(spread: float) -> tuple[Part, ...]:
    """A thin black shaft and a golden tip bent like an L; it has no jaws to spread."""
    gold = (246, 196, 60)
    return (
        *shaft(-66, 22, (26, 26, 30)),
        Part(ribbon(np.array([[-84.0, -6], [-66, -18], [-5, -20]]), 6.5), gold),
        Part(ribbon(np.array([[-5.0, -26], [-3, 14]]), 7.5), gold),
        Part(ribbon(np.array([[-84.0, -20], [-5, -20]]), 1.5), (255, 240, 190)),
    )


def scissors(spread: float) -> tuple[Part, ...]:
    """Two long bare blades that cross at a red pivot."""
    gape = 16 + 18 * spread
    parts = [*shaft(-112, 26, (84, 88, 98))]
    for side in (-1, 1):
        line = np.array([[-128.0, side * 14], [-78, 0], [-40, -side * gape * 0.7], [8, -side * gape]])
        parts.append(Part(ribbon(line, [9, 8, 9, 2]), (222, 228, 236) if side > 0 else (176, 184, 196)))
    return (*parts, Part(disc((-80, 0), 10), (196, 40, 44)))


def bipolar(spread: float) -> tuple[Part, ...]:
    """A blue shaft and two thin parallel tips."""
    gape = 10 + 14 * spread
    parts = [*shaft(-84, 28, (44, 92, 214))]
    for side in (-1, 1):
        line = np.array([[-88.0, side * 6], [-66, side * gape], [2, side * gape]])
        parts.append(Part(ribbon(line, [6, 5.5, 4.5]), (226, 230, 236)))
        parts.append(Part(ribbon(np.array([[-66.0, side * gape], [-36, side * gape]]), 6.5), (36, 70, 176)))
    return tuple(parts)


def clipper(spread: float) -> tuple[Part, ...]:
    """A thick white shaft and a jaw like a C."""
    radius = 28 + 8 * spread
    return (
        *shaft(-58, 44, (226, 228, 230)),
        Part(ribbon(np.array([[-66.0, 0], [-52, 0]]), 25), (92, 98, 108)),
        Part(arc((-22, 0), radius, 42, 318, 8), (120, 128, 138)),
        Part(arc((-22, 0), radius + 3, 60, 300, 3), (214, 218, 224)),
    )


def irrigator(spread: float) -> tuple[Part, ...]:
    """A smooth pale tube with holes; it has no jaws to spread."""
    pale = (178, 238, 196)
    rod = shaft(-14, 32, pale)
    holes = tuple(Part(disc((x, y), 5.5, 12), (28, 52, 54)) for x, y in ((-26, 4), (-50, -5), (-74, 4), (-98, -5)))
    return (Part(disc((-15, 0), 16), pale), *rod, *holes)


DRAWN = {
    "grasper": grasper,
    "hook": hook,
    "scissors": scissors,
    "bipolar": bipolar,
    "clipper": clipper,
    "irrigator": irrigator,
}
