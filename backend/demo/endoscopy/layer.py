"""A layer: one thing that is planned first and painted later, if enough of it can be seen."""

__all__ = ["SIZE", "Colour", "Layer", "Pixels", "Seen", "blank", "blend", "closed_outline", "tinted", "visible"]

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np
from cv2.typing import MatLike
from numpy.typing import NDArray

SIZE = 512
"""Width and height of a frame in pixels."""

LEAST_PIXELS = 40
"""A thing with fewer visible pixels is not drawn."""

Pixels = MatLike
"""8 bits a channel: a mask (512, 512) or a frame (512, 512, 3), RGB."""
Colour = tuple[float, float, float]
"""RGB, 0 to 255."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One thing to be painted."""

    kind: str
    mask: Pixels
    """(512, 512); above 127 where it would hide what lies below."""
    paint: Callable[[Pixels], None]
    """Draws it into a frame, in place."""
    least_share: float = 0.3
    """Below this share of its pixels left to see, it is not drawn at all."""
    is_overlay: bool = False
    """Whether the recorder writes it over the picture, black border included."""


class Seen(NamedTuple):
    """A layer with what of it can be seen."""

    layer: Layer
    mask: NDArray[np.bool_]


def blank() -> Pixels:
    """Return an empty mask."""
    return np.zeros((SIZE, SIZE), np.uint8)


def visible(layers: list[Layer], field: NDArray[np.bool_]) -> list[Seen]:
    """Return the layers enough of which can be seen, each with the pixels it is seen at.

    A layer that is left out hides nothing.

    Args:
        layers: From the lowest to the highest.
        field: (height, width); where the endoscope sees. Overlays are seen outside of it too.
    """
    seen: list[Seen] = []
    free = np.ones_like(field)
    for layer in reversed(layers):
        whole = layer.mask > 127
        mask = whole & free if layer.is_overlay else whole & free & field
        if np.count_nonzero(mask) >= max(LEAST_PIXELS, layer.least_share * np.count_nonzero(whole)):
            seen.append(Seen(layer, mask))
            free &= ~whole
    return seen[::-1]


def closed_outline(
    rng: np.random.Generator, centre: tuple[float, float], radius: float, wobble: float, stretch: float = 1.0
) -> NDArray[np.int32]:
    """Return the 48 corners (48, 1, 2) of a round shape with an uneven edge.

    Args:
        rng: Where chance comes from.
        centre: x and y in pixels.
        radius: Mean radius in pixels.
        wobble: Share of the radius by which the edge moves, 0 for an ellipse.
        stretch: Ratio of its longer to its shorter axis.
    """
    angle = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    phase = rng.uniform(0, 2 * np.pi, 4)
    uneven = 1 + wobble * sum(np.sin(k * angle + phase[k - 2]) / (k - 1) for k in (2, 3, 4))
    x, y = radius * uneven * np.cos(angle) * stretch**0.5, radius * uneven * np.sin(angle) / stretch**0.5
    c, s = np.cos(phase[3]), np.sin(phase[3])
    points = np.stack([centre[0] + c * x - s * y, centre[1] + s * x + c * y], -1)
    return np.round(points).astype(np.int32)[:, None]


def blend(pixels: Pixels, alpha: Pixels, colour: Pixels | Colour, x: int = 0, y: int = 0) -> None:
    """Lay a colour, or an image of alpha's size, over a frame, in place.

    Args:
        pixels: The frame.
        alpha: (height, width), 0 to 255: how much of the frame it covers.
        colour: One colour, or one a pixel (height, width, 3).
        x: Column of alpha's left edge in the frame; may lie outside.
        y: Row of its upper edge.
    """
    left, top = max(-x, 0), max(-y, 0)
    right, bottom = min(alpha.shape[1], SIZE - x), min(alpha.shape[0], SIZE - y)
    if right <= left or bottom <= top:
        return
    part = pixels[y + top : y + bottom, x + left : x + right]
    weight = alpha[top:bottom, left:right] * np.float32(1 / 255)
    over = np.full_like(part, colour) if isinstance(colour, tuple) else colour[top:bottom, left:right]
    part[:] = cv2.blendLinear(np.ascontiguousarray(part), np.ascontiguousarray(over), 1 - weight, weight)


def tinted(pixels: Pixels, mask: Pixels, colour: Colour, strength: float, soft: int = 0) -> None:
    """Mix a colour into the masked part of a frame, in place, with an edge `soft` pixels wide."""
    x, y, width, height = cv2.boundingRect(mask)
    if not width:
        return
    x, y = max(x - soft, 0), max(y - soft, 0)
    part = mask[y : y + height + 2 * soft, x : x + width + 2 * soft]
    if soft:
        part = cv2.blur(part, (soft, soft))
    blend(pixels, cv2.convertScaleAbs(part, alpha=strength), colour, x, y)
