"""What the recorder writes over the picture: the box of a scope guide, and lines of text."""

__all__ = ["BOX_CIRCLE", "box_layer", "text_layer"]

import cv2
import numpy as np

from backend.demo.endoscopy.layer import SIZE, Layer, Pixels, blank, tinted
from backend.demo.endoscopy.vocabulary import BOX, TEXT

BOX_CIRCLE = (66.0, 446.0, 76.0)
"""x, y and radius in pixels of a circle that holds most of any box: lesions keep clear of it."""

_FACES = (((18, 112, 52), (8, 60, 26)), ((26, 30, 34), (70, 150, 96)))
"""Fill and border: green, and dark."""

_COLOURS = ((226, 230, 226), (232, 222, 150), (176, 222, 232))


def box_layer(rng: np.random.Generator) -> Layer:
    """Plan the rectangle at the lower left with the drawing of a winding scope in it."""
    width, height = int(rng.integers(104, 136)), int(rng.integers(88, 116))
    left, top = int(rng.integers(6, 16)), SIZE - height - int(rng.integers(8, 22))
    fill, border = _FACES[0 if rng.random() < 0.7 else 1]
    mask = blank()
    mask[top : top + height, left : left + width] = 255
    along = np.linspace(0, 1, 20)
    swing = rng.uniform(0.18, 0.3) * np.sin(along * rng.uniform(4, 7) + rng.uniform(0, 6))
    scope = np.stack([left + width * (0.5 + swing), top + height * (0.12 + 0.76 * along)], -1)

    def paint(pixels: Pixels) -> None:
        pixels[top : top + height, left : left + width] = fill
        corner = (left + width - 1, top + height - 1)
        cv2.rectangle(pixels, (left + 1, top + 1), corner, border, 3)
        cv2.rectangle(pixels, (left, top), corner, fill, 1)
        cv2.polylines(pixels, [np.round(scope).astype(np.int32)], False, (222, 226, 180), 4, cv2.LINE_AA)
        cv2.circle(pixels, (round(scope[-1, 0]), round(scope[-1, 1])), 5, (240, 210, 70), -1, cv2.LINE_AA)

    return Layer(BOX, mask, paint, is_overlay=True)


def text_layer(rng: np.random.Generator) -> Layer:
    """Plan two to four short lines on the black border: all letters and digits are one thing."""
    day, month, year = rng.integers(1, 29), rng.integers(1, 13), rng.integers(2009, 2022)
    hour, minute = rng.integers(7, 19), rng.integers(0, 60)
    lines = [
        f"{day:02d}/{month:02d}/{year}",
        f"{hour:02d}:{minute:02d}:{rng.integers(0, 60):02d}",
        f"No {rng.integers(100, 1000)}",
        f"E{rng.integers(0, 9)} C{rng.integers(0, 9)}",
    ]
    mask = blank()
    on_right = rng.random() < 0.4
    top = 22 if rng.random() < 0.7 or not on_right else 452
    for row, line in enumerate(lines[: rng.integers(2, 5)]):
        (width, _), _ = cv2.getTextSize(line, cv2.FONT_HERSHEY_SIMPLEX, 0.52, 1)
        at = (SIZE - 8 - width if on_right else 8, top + 19 * row)
        cv2.putText(mask, line, at, cv2.FONT_HERSHEY_SIMPLEX, 0.52, 255, 1, cv2.LINE_AA)
    mask = cv2.threshold(mask, 90, 255, cv2.THRESH_BINARY)[1]
    colour = _COLOURS[rng.integers(len(_COLOURS))]

    def paint(pixels: Pixels) -> None:
        tinted(pixels, mask, colour, 1)

    return Layer(TEXT, mask, paint, is_overlay=True)
