"""Cues burned in: a box or an arrow becomes part of the picture that the VLM sees.

Drawn as in the release: pure red, into a copy.
"""

__all__ = ["RED", "draw_arrow_cue", "draw_box_cue", "draw_cue"]

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.surgcheck.grounding_cues import Arrow, Outline

RED = (255, 0, 0)
"""In RGB."""

_SUBPIXEL_BITS = 4
"""OpenCV takes polygon corners as whole sixteenths of a pixel."""


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
    points = np.rint(np.array(arrow.corners) * 2**_SUBPIXEL_BITS).astype(np.int32)
    cv2.fillPoly(drawn, [points], RED, shift=_SUBPIXEL_BITS)
    return drawn
