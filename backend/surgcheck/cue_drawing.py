"""Cues burned in: a box or an arrow becomes part of the picture that the VLM sees.

Drawn as in the release: pure red, into a copy.
"""

__all__ = ["RED", "draw_arrow_cue", "draw_box_cue", "draw_cue"]

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.surgcheck.boxes import Relation
from backend.surgcheck.grounding_cues import Arrow, Outline

RED = (255, 0, 0)
"""In RGB."""

_SUBPIXEL_BITS = 4
"""OpenCV takes polygon corners as whole sixteenths of a pixel."""

_POINTING_FROM = {
    Relation.RIGHT: (1.0, 0.0),
    Relation.LEFT: (-1.0, 0.0),
    Relation.BELOW: (0.0, 1.0),
    Relation.ABOVE: (0.0, -1.0),
}
"""Step of one pixel from the tip towards the tail."""


def draw_cue(pixels: NDArray[np.uint8], drawing: Outline | Arrow) -> NDArray[np.uint8]:
    """Return a copy of a frame with a cue drawn into it; see `draw_box_cue` and `draw_arrow_cue`."""
    return draw_box_cue(pixels, drawing) if isinstance(drawing, Outline) else draw_arrow_cue(pixels, drawing)


def draw_box_cue(pixels: NDArray[np.uint8], outline: Outline) -> NDArray[np.uint8]:
    """Return a copy of a frame with the outline of a box drawn into it.

    Args:
        pixels: (height, width, 3), RGB, of the frame the outline was made for.
        outline: From `grounding_cues.box_cue`.
    """
    drawn = pixels.copy()
    box = outline.box
    start, end = (round(box.x), round(box.y)), (round(box.right), round(box.bottom))
    cv2.rectangle(drawn, start, end, RED, outline.thickness)
    return drawn


def draw_arrow_cue(pixels: NDArray[np.uint8], arrow: Arrow) -> NDArray[np.uint8]:
    """Return a copy of a frame with an arrow drawn into it.

    Args:
        pixels: (height, width, 3), RGB, of the frame the arrow was made for.
        arrow: From `grounding_cues.arrow_cue`.
    """
    drawn = pixels.copy()
    back = np.array(_POINTING_FROM[arrow.side])
    aside = back[::-1]
    neck = np.array(arrow.tip) + back * arrow.head_length
    tail = np.array(arrow.tip) + back * arrow.length
    shaft, head = aside * arrow.shaft_width / 2, aside * arrow.head_width / 2
    corners = [arrow.tip, neck + head, neck + shaft, tail + shaft, tail - shaft, neck - shaft, neck - head]
    points = np.rint(np.array(corners) * 2**_SUBPIXEL_BITS).astype(np.int32)
    cv2.fillPoly(drawn, [points], RED, shift=_SUBPIXEL_BITS)
    return drawn
