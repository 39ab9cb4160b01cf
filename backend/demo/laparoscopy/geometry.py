"""Outlines as arrays of points: ribbons, discs and arcs, which everything in a frame is made of."""

__all__ = ["Points", "arc", "disc", "placed", "ribbon", "smooth_line"]

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Points = NDArray[np.float64]
"""(n, 2); x to the right and y downwards, in pixels unless said otherwise."""


def ribbon(line: ArrayLike, half_widths: ArrayLike) -> Points:
    """Return the outline of a band round a line.

    Args:
        line: (n, 2) points, n at least 2.
        half_widths: Half the band's width at each point, or one for all.

    Returns:
        (2n, 2) points: one side there, the other back.
    """
    middle = np.asarray(line, float)
    along = np.empty_like(middle)
    along[0], along[1:-1], along[-1] = middle[1] - middle[0], middle[2:] - middle[:-2], middle[-1] - middle[-2]
    by = np.asarray(half_widths, float) / np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)
    aside = np.stack([-along[:, 1] * by, along[:, 0] * by], 1)
    return np.concatenate([middle - aside, (middle + aside)[::-1]])


def smooth_line(start: Points, bend: Points, end: Points, n: int = 16) -> Points:
    """Return n points of the quadratic Bézier curve from start to end that leans towards bend."""
    t = np.linspace(0, 1, n)[:, None]
    return (1 - t) ** 2 * start + 2 * t * (1 - t) * bend + t**2 * end


def arc(centre: tuple[float, float], radius: float, first: float, last: float, half_width: float) -> Points:
    """Return the outline of a bent band; angles in degrees, clockwise from the right."""
    angles = np.radians(np.linspace(first, last, 24))
    return ribbon(np.asarray(centre) + radius * np.stack([np.cos(angles), np.sin(angles)], 1), half_width)


def disc(centre: Sequence[float] | Points, radius: float | Points, n: int = 20) -> Points:
    """Return the outline of a disc; an array of n radii makes it uneven."""
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False)
    spokes = np.stack([np.cos(angles), np.sin(angles)], 1)
    return np.asarray(np.asarray(centre, float) + spokes * np.reshape(radius, (-1, 1)))


def placed(points: ArrayLike, origin: Points, direction: Points, scale: float) -> Points:
    """Return local points, x along the unit vector direction, as points of the frame."""
    local = np.asarray(points, float) * scale
    aside = np.array([-direction[1], direction[0]])
    return np.asarray(origin + local[:, :1] * direction + local[:, 1:] * aside)
