"""The lining of the gut: colour, folds round a lumen, fine vessels and wet highlights."""

__all__ = ["draw_mucosa"]

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.demo.endoscopy.field import Field
from backend.demo.endoscopy.layer import SIZE, Pixels

_COARSE = 128
"""Colour and folds are drawn on a grid of this size and enlarged."""

_COLOURS = np.array([(214, 132, 112), (206, 116, 92), (216, 146, 116), (198, 108, 96)], np.float32)


def draw_mucosa(rng: np.random.Generator, field: Field, has_lumen: bool) -> Pixels:
    """Draw a frame (512, 512, 3) full of mucosa, evenly lit.

    Args:
        rng: Where chance comes from.
        field: Where the endoscope sees.
        has_lumen: Whether folds run round a dark lumen; else they run across.
    """
    colour = _COLOURS[rng.integers(len(_COLOURS))] + rng.normal(0, 5, 3).astype(np.float32)
    image = np.broadcast_to(colour, (_COARSE, _COARSE, 3)).copy()
    image += _clouds(rng, 5, 3, 7) + _clouds(rng, 20, 1, 5)[..., None] + _clouds(rng, 64, 1, 3.5)[..., None]
    image *= _folds(rng, field, has_lumen)[..., None]
    fine = cv2.resize(np.clip(image, 0, 255).astype(np.uint8), (SIZE // 2, SIZE // 2), interpolation=cv2.INTER_CUBIC)
    _vessels(rng, fine)
    pixels: Pixels = cv2.resize(fine, (SIZE, SIZE), interpolation=cv2.INTER_LINEAR)
    _highlights(rng, field, pixels)
    return pixels


def _clouds(rng: np.random.Generator, cells: int, channels: int, strength: float) -> NDArray[np.float32]:
    few = rng.standard_normal((cells, cells, channels), np.float32) * np.float32(strength)
    return cv2.resize(few, (_COARSE, _COARSE), interpolation=cv2.INTER_CUBIC).astype(np.float32, copy=False)


def _folds(rng: np.random.Generator, field: Field, has_lumen: bool) -> NDArray[np.float32]:
    """Return the share of light (128, 128) that folds and lumen leave."""
    x, y = field.at(rng.uniform(0, 2 * np.pi), rng.uniform(0.05, 0.45) if has_lumen else rng.uniform(1.3, 1.9))
    step = np.arange(_COARSE, dtype=np.float32) * (SIZE / _COARSE)
    ratio = rng.uniform(0.8, 1.25)
    away = np.hypot((step[None] - x) * ratio, (step[:, None] - y) / ratio) / field.radius
    uneven = away + _clouds(rng, 5, 1, 0.05)
    turn = uneven * rng.uniform(2.2, 3.4) + rng.uniform(0, 1)
    crest = turn - np.floor(turn)
    depth = rng.uniform(0.12, 0.24)
    lit = crest**3 * np.clip((1 - crest) / 0.12, 0, 1)
    shaded = np.exp(-((np.minimum(np.abs(crest - 0.03), 1.03 - crest) / 0.09) ** 2))
    light = 1 + depth * (lit - 0.9 * shaded)
    if has_lumen:
        light *= 1 - 0.8 * np.exp(-((uneven / rng.uniform(0.2, 0.32)) ** 2))
    folds: NDArray[np.float32] = light.astype(np.float32)
    return folds


def _vessels(rng: np.random.Generator, fine: Pixels) -> None:
    red = fine.copy()
    for _ in range(rng.integers(5, 12)):
        turns = np.cumsum(rng.normal(0, 0.35, 14)) + rng.uniform(0, 2 * np.pi)
        start = rng.uniform(30, 226, 2)
        path = start + np.cumsum(np.stack([np.cos(turns), np.sin(turns)], -1) * rng.uniform(4, 9), 0)
        cv2.polylines(red, [np.round(path).astype(np.int32)], False, (150, 50, 48), 1, cv2.LINE_AA)
        branch = path[6] + np.cumsum(np.stack([np.cos(turns[6:] + 0.7), np.sin(turns[6:] + 0.7)], -1) * 4, 0)
        cv2.polylines(red, [np.round(branch).astype(np.int32)], False, (150, 50, 48), 1, cv2.LINE_AA)
    cv2.addWeighted(fine, 0.6, red, 0.4, 0, fine)


def _highlights(rng: np.random.Generator, field: Field, pixels: Pixels) -> None:
    for _ in range(rng.integers(2, 5)):
        x, y = field.at(rng.uniform(0, 2 * np.pi), rng.uniform(0.2, 0.8))
        for dx, dy in rng.normal(0, 12, (rng.integers(1, 5), 2)):
            size = int(rng.integers(1, 4)), int(rng.integers(1, 3))
            cv2.ellipse(pixels, (round(x + dx), round(y + dy)), size, 0, 0, 360, (250, 236, 228), -1, cv2.LINE_AA)
