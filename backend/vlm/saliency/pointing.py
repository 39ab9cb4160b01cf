"""Does a map point at an object whose place is known? Mass inside its mask, against chance.

After the pointing game of Zhang et al. 2016 (*Top-down Neural Attention by Excitation Backprop*)
and its energy-based form (Wang et al. 2020, *Score-CAM*, section 4.3).
"""

__all__ = ["INSIDE", "PointingScore", "pointing_score"]

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

INSIDE = 0.5
"""A place lies inside a mask where at least so much of it does."""


@dataclass(frozen=True, slots=True)
class PointingScore:
    """How a map lies on an object's mask."""

    mass: float | None
    """Share of the map inside the mask, 0 to 1; None where the map is 0 everywhere."""
    area: float
    """Share of the image inside the mask, 0 to 1: what `mass` is for an even map."""
    is_hit: bool | None
    """Whether at least half of the brightest place lies inside; None where the map is 0 everywhere."""

    @property
    def times_chance(self) -> float | None:
        """`mass` over `area`; None where either is undefined or the mask is empty."""
        return None if self.mass is None or not self.area else self.mass / self.area


def pointing_score(heat: NDArray[np.float64], cover: NDArray[np.float64] | NDArray[np.bool_]) -> PointingScore:
    """Score a map against a mask, both on the same places: pixels, or equal cells of a grid.

    The brightest place is all places with the map's highest value: the patch it belongs to, or several that tie.

    Args:
        heat: Shape (rows, columns), 0 or more; as `Saliency.painted` gives it for the mask's shape.
        cover: The same shape: the share of each place inside the mask, 0 to 1; of pixels, the mask itself.

    Raises:
        ValueError: The shapes differ, or the map has values below 0 or that are no numbers.
    """
    if heat.shape != cover.shape:
        raise ValueError(f"The map has shape {heat.shape}, the mask {cover.shape}.")
    if not (np.isfinite(heat).all() and (heat >= 0).all()):
        raise ValueError("A map to be scored holds numbers from 0 on; take absolute values first.")
    area, total = float(cover.mean()), float(heat.sum())
    if total == 0:
        return PointingScore(None, area, None)
    brightest = np.isclose(heat, heat.max(), rtol=1e-6, atol=0)
    return PointingScore(float((heat * cover).sum()) / total, area, bool(cover[brightest].mean() >= INSIDE))
