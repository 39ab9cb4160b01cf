"""The bright field on black: where the endoscope sees, and how its light falls off."""

__all__ = ["Field", "draw_field"]

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.demo.endoscopy.layer import SIZE, Pixels, blank

_COARSE = 64
"""Light changes slowly: it is worked out on a grid of this size."""


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """What the endoscope sees of a frame."""

    x: float
    """Centre, in pixels."""
    y: float
    radius: float
    mask: Pixels
    """(512, 512); 255 inside, 0 outside."""
    light: Pixels
    """(512, 512, 3); share of 255 of the light that comes back, 0 outside."""

    def at(self, angle: float, share: float) -> tuple[float, float]:
        """Return the point in this direction (radians) at this share of the radius."""
        return self.x + self.radius * share * float(np.cos(angle)), self.y + self.radius * share * float(np.sin(angle))

    def towards_light(self, x: float, y: float) -> NDArray[np.float32]:
        """Return the unit vector (3,) from a point to the lamp, which shines from above the centre."""
        vector = np.array([(self.x - x) / self.radius, (self.y - y) / self.radius - 0.25, 0.75], np.float32)
        unit: NDArray[np.float32] = vector / np.linalg.norm(vector)
        return unit


def draw_field(rng: np.random.Generator, exposure: float) -> Field:
    """Draw a round field, in one frame of four with flattened sides.

    Args:
        rng: Where chance comes from.
        exposure: Share of the usual light.
    """
    x, y = rng.uniform(250, 268), rng.uniform(252, 260)
    radius = rng.uniform(226, 246)
    mask = blank()
    cv2.circle(mask, (round(x), round(y)), round(radius), 255, -1, cv2.LINE_AA)
    if rng.random() < 0.25:
        flat = round(radius * rng.uniform(0.84, 0.92))
        mask[:, : round(x) - flat] = 0
        mask[:, round(x) + flat :] = 0
        mask[: round(y) - flat] = 0
        mask[round(y) + flat :] = 0
    step = np.arange(_COARSE, dtype=np.float32) * (SIZE / _COARSE)
    away_x = (step - x - rng.uniform(-40, 40)) / radius
    away_y = (step - y - rng.uniform(-40, 40)) / radius
    away = away_x[None] ** 2 + away_y[:, None] ** 2
    fall = rng.uniform(0.35, 0.55)
    coarse = np.clip((1.06 - fall * away) * exposure * 255, 12, 255).astype(np.uint8)
    light = cv2.multiply(cv2.resize(coarse, (SIZE, SIZE), interpolation=cv2.INTER_LINEAR), mask, scale=1 / 255)
    return Field(x, y, radius, mask, cv2.cvtColor(light, cv2.COLOR_GRAY2RGB))
