"""Polyps, the site of a removed one, and inflamed patches."""

__all__ = ["colitis_layer", "oesophagitis_layer", "polyp_layer", "resection_layer"]

import cv2
import numpy as np

from backend.demo.endoscopy.field import Field
from backend.demo.endoscopy.layer import SIZE, Layer, Pixels, blank, blend, closed_outline, tinted
from backend.demo.endoscopy.vocabulary import COLITIS, OESOPHAGITIS, POLYP, RESECTION

_GRID = 48
"""The light on a polyp is worked out on a grid of this size and enlarged."""

_POLYP_COLOURS = ((214, 84, 84), (226, 116, 104), (196, 70, 62), (232, 138, 128))


def polyp_layer(rng: np.random.Generator, field: Field, x: float, y: float, radius: float) -> Layer:
    """Plan a polyp: a smooth bump with a highlight towards the lamp and a shadow behind it."""
    outline = closed_outline(rng, (x, y), radius, 0.05, rng.uniform(1, 1.3))
    mask = blank()
    cv2.fillPoly(mask, [outline], 255, cv2.LINE_AA)
    light = field.towards_light(x, y)
    tint = np.array(_POLYP_COLOURS[rng.integers(len(_POLYP_COLOURS))], np.float32) + rng.normal(0, 6, 3)
    left, top, width, height = cv2.boundingRect(outline)

    u = np.linspace(-1, 1, _GRID, dtype=np.float32)
    up = np.sqrt(np.clip(1.02 - u[None] ** 2 - u[:, None] ** 2, 0.02, None))
    facing = np.clip(u[None] * light[0] + u[:, None] * light[1] + up * light[2], 0, 1)
    grain = cv2.resize(rng.standard_normal((9, 9), np.float32), (_GRID, _GRID), interpolation=cv2.INTER_CUBIC)
    lit = tint * (0.46 + 0.66 * facing + 0.035 * grain)[..., None]
    lit += (255 - lit) * np.clip((facing[..., None] + 0.006 * grain[..., None] - 0.958) / 0.04, 0, 0.9)
    bump = np.clip(lit, 0, 255).astype(np.uint8)

    def paint(pixels: Pixels) -> None:
        shade = blank()
        away = -light[:2] * radius * 0.16
        cv2.fillPoly(shade, [outline + np.round(away).astype(np.int32)], 255)
        cv2.polylines(shade, [outline], True, 255, max(2, round(radius * 0.14)))
        tinted(pixels, shade, (84, 26, 24), 0.62, max(3, round(radius * 0.14)))
        alpha = np.zeros((height, width), np.uint8)
        cv2.fillPoly(alpha, [outline - np.array([left, top], np.int32)], 255, cv2.LINE_AA)
        blend(pixels, alpha, cv2.resize(bump, (width, height), interpolation=cv2.INTER_LINEAR), left, top)

    return Layer(POLYP, mask, paint, 0.4)


def resection_layer(rng: np.random.Generator, x: float, y: float, radius: float) -> Layer:
    """Plan the site of a removed polyp: a flat whitish ulcer with a brown rim."""
    outline = closed_outline(rng, (x, y), radius, 0.12, rng.uniform(1, 1.5))
    mask = blank()
    cv2.fillPoly(mask, [outline], 255, cv2.LINE_AA)
    inner = cv2.erode(mask, np.ones((9, 9), np.uint8))
    halo = cv2.dilate(mask, np.ones((9, 9), np.uint8))
    spots = [(x + dx, y + dy) for dx, dy in rng.normal(0, radius * 0.3, (4, 2))]

    def paint(pixels: Pixels) -> None:
        tinted(pixels, halo, (178, 44, 40), 0.45, 15)
        tinted(pixels, mask, (112, 42, 34), 0.9, 3)
        tinted(pixels, inner, (242, 232, 208), 0.93, 5)
        for spot in spots:
            cv2.circle(pixels, (round(spot[0]), round(spot[1])), 2, (206, 160, 128), -1, cv2.LINE_AA)

    return Layer(RESECTION, mask, paint, 0.5)


def oesophagitis_layer(rng: np.random.Generator, x: float, y: float, angle: float, length: float) -> Layer:
    """Plan red streaks side by side that run from the z-line into the pale mucosa.

    Args:
        rng: Where chance comes from.
        x: Where they start on the z-line.
        y: Where they start on the z-line.
        angle: Direction away from the lumen, in radians.
        length: Of the longest, in pixels.
    """
    mask = blank()
    for side in range(-1, 2):
        aside = angle + np.pi / 2
        reach = length * (1 if side == 0 else rng.uniform(0.65, 0.95))
        start = np.array([x + side * 13 * np.cos(aside), y + side * 13 * np.sin(aside)])
        lean = angle + side * 0.26 + rng.normal(0, 0.06)
        way = np.linspace(-0.12, 1, 7)
        path = start + way[:, None] * reach * np.array([np.cos(lean), np.sin(lean)])
        path += rng.normal(0, 1.5, path.shape)
        corners = np.round(path).astype(np.int32)
        for k in range(6):
            cv2.line(mask, corners[k].tolist(), corners[k + 1].tolist(), 255, 17 - 2 * k, cv2.LINE_AA)

    def paint(pixels: Pixels) -> None:
        tinted(pixels, mask, (196, 24, 30), 0.88, 3)

    return Layer(OESOPHAGITIS, mask, paint, 0.5)


def colitis_layer(rng: np.random.Generator, x: float, y: float, radius: float) -> Layer:
    """Plan a patch of angry red mucosa with whitish spots and no relief."""
    outline = closed_outline(rng, (x, y), radius, 0.2, rng.uniform(1, 1.5))
    mask = blank()
    cv2.fillPoly(mask, [outline], 255, cv2.LINE_AA)
    few = rng.integers(130, 256, (SIZE // 16, SIZE // 16), np.uint8)
    mottled = cv2.multiply(mask, cv2.resize(few, (SIZE, SIZE), interpolation=cv2.INTER_LINEAR), scale=1 / 255)
    spots = []
    for _ in range(rng.integers(9, 15)):
        turn, away = rng.uniform(0, 2 * np.pi), radius * 0.72 * rng.uniform(0, 1) ** 0.5
        spots.append((*_step(x, y, turn, away), int(rng.integers(3, 6))))

    def paint(pixels: Pixels) -> None:
        tinted(pixels, mottled, (172, 8, 26), 0.95, 11)
        for column, row, size in spots:
            cv2.circle(pixels, (column, row), size, (248, 232, 196), -1, cv2.LINE_AA)

    return Layer(COLITIS, mask, paint, 0.5)


def _step(x: float, y: float, angle: float, length: float) -> tuple[int, int]:
    return round(x + length * np.cos(angle)), round(y + length * np.sin(angle))
