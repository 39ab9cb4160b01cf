"""The four landmarks: z-line, pylorus, cecum and ileum."""

__all__ = ["Landmark", "ZLine", "cecum", "ileum", "pylorus", "z_line"]

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.demo.endoscopy.field import Field
from backend.demo.endoscopy.layer import SIZE, Layer, Pixels, blank, closed_outline, tinted
from backend.demo.endoscopy.vocabulary import CECUM, ILEUM, PYLORUS, Z_LINE


@dataclass(frozen=True, slots=True, eq=False)
class Landmark:
    """A landmark, and the circle of it that lesions leave free so that it stays recognisable."""

    layer: Layer
    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True, eq=False)
class ZLine:
    """The z-line, and where on it inflammation may start."""

    landmark: Landmark
    border: NDArray[np.int32]
    """(corners, 1, 2); closed, round the lumen."""


def z_line(rng: np.random.Generator, field: Field) -> ZLine:
    """Plan the jagged border between salmon mucosa round the lumen and pale mucosa outside.

    Its mask is a band along the border.
    """
    x, y = field.at(rng.uniform(0, 2 * np.pi), rng.uniform(0.1, 0.5))
    radius = rng.uniform(105, 150)
    n_corners = 2 * int(rng.integers(15, 22))
    angle = 2 * np.pi * (np.arange(n_corners) + rng.uniform(-0.35, 0.35, n_corners)) / n_corners
    jag = rng.uniform(0.02, 0.15, n_corners) * np.where(np.arange(n_corners) % 2, 1, -1)
    away = radius * (1 + jag + 0.07 * np.sin(2 * angle + rng.uniform(0, 6)))
    corners = np.stack([x + away * np.cos(angle), y + away * np.sin(angle)], -1)
    border = np.round(corners).astype(np.int32)[:, None]
    mask = blank()
    cv2.polylines(mask, [border], True, 255, 34)
    mask = cv2.bitwise_and(mask, field.mask)
    inside = blank()
    cv2.fillPoly(inside, [border], 255)
    inside = cv2.threshold(cv2.blur(inside, (13, 13)), 127, 255, cv2.THRESH_BINARY)[1]
    edge = cv2.morphologyEx(inside, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
    lumen = blank()
    cv2.circle(lumen, (round(x), round(y)), round(radius * 0.32), 255, -1)

    def paint(pixels: Pixels) -> None:
        salmon = pixels.copy()
        cv2.addWeighted(pixels, 0.42, np.full_like(pixels, (240, 206, 198)), 0.58, 0, pixels)
        tinted(salmon, inside, (204, 70, 46), 0.62)
        cv2.copyTo(salmon, inside, pixels)
        tinted(pixels, edge, (250, 226, 212), 0.9, 3)
        tinted(pixels, lumen, (44, 12, 10), 0.95, 21)

    return ZLine(Landmark(Layer(Z_LINE, mask, paint), x, y, radius * 0.55), border)


def pylorus(rng: np.random.Generator, field: Field) -> Landmark:
    """Plan a sharp round dark opening inside two raised rings; its mask is the disc they fill."""
    x, y = field.at(rng.uniform(0, 2 * np.pi), rng.uniform(0, 0.4))
    radius = rng.uniform(30, 44)
    hole = closed_outline(rng, (x, y), radius, 0.05, rng.uniform(1, 1.2))
    mask, raised, sunk = blank(), blank(), blank()
    cv2.circle(mask, (round(x), round(y)), round(radius * 2.2), 255, -1)
    for share in (1.35, 1.95):
        ring = closed_outline(rng, (x, y), radius * share, 0.04)
        cv2.polylines(sunk, [ring], True, 255, 19)
        cv2.polylines(raised, [ring], True, 255, 9)

    def paint(pixels: Pixels) -> None:
        tinted(pixels, mask, (222, 134, 88), 0.85, 13)
        tinted(pixels, sunk, (120, 44, 28), 0.85, 5)
        tinted(pixels, raised, (252, 196, 152), 0.95, 5)
        cv2.fillPoly(pixels, [hole], (22, 8, 8), cv2.LINE_AA)

    return Landmark(Layer(PYLORUS, mask, paint, 0.5), x, y, radius * 1.7)


def cecum(rng: np.random.Generator, field: Field) -> Landmark:
    """Plan three folds that meet beside a slit, the appendix orifice; its mask is the disc round them."""
    x, y = field.at(rng.uniform(0, 2 * np.pi), rng.uniform(0, 0.35))
    radius = rng.uniform(96, 126)
    first = rng.uniform(0, 2 * np.pi)
    arms = []
    for k in range(3):
        turn = first + k * 2 * np.pi / 3
        along = np.linspace(0.06, 1, 8)
        curve = turn + 0.45 * (along - 0.3)
        way = np.stack([x + radius * along * np.cos(curve), y + radius * along * np.sin(curve)], -1)
        arms.append(np.round(way).astype(np.int32))
    slit_turn = first + np.pi / 3
    slit = round(x + radius * 0.36 * np.cos(slit_turn)), round(y + radius * 0.36 * np.sin(slit_turn))
    tilt = float(np.degrees(slit_turn)) + 90
    mask = blank()
    cv2.circle(mask, (round(x), round(y)), round(radius), 255, -1)
    mask = cv2.bitwise_and(mask, field.mask)
    fold, shade = blank(), blank()
    for arm in arms:
        cv2.polylines(fold, [arm], False, 255, 18)
        cv2.polylines(shade, [arm + 5], False, 255, 24)

    def paint(pixels: Pixels) -> None:
        tinted(pixels, mask, (226, 150, 112), 0.5, 25)
        tinted(pixels, shade, (92, 30, 24), 0.85, 9)
        tinted(pixels, fold, (248, 188, 158), 0.95, 7)
        cv2.ellipse(pixels, slit, (24, 16), tilt, 0, 360, (246, 190, 164), -1, cv2.LINE_AA)
        cv2.ellipse(pixels, slit, (16, 8), tilt, 0, 360, (42, 12, 12), -1, cv2.LINE_AA)

    return Landmark(Layer(CECUM, mask, paint, 0.5), x, y, radius * 0.55)


def ileum(rng: np.random.Generator, field: Field) -> Landmark:
    """Plan a patch as rough as velvet, with small pale lymphoid bumps; its mask is the patch."""
    x, y = field.at(rng.uniform(0, 2 * np.pi), rng.uniform(0.1, 0.4))
    radius = rng.uniform(112, 142)
    outline = closed_outline(rng, (x, y), radius, 0.09, rng.uniform(1, 1.25))
    mask = blank()
    cv2.fillPoly(mask, [outline], 255, cv2.LINE_AA)
    mask = cv2.bitwise_and(mask, field.mask)
    grain = rng.integers(0, 2, (SIZE // 8, SIZE // 8), np.uint8) * 255
    rough = cv2.multiply(cv2.resize(grain, (SIZE, SIZE), interpolation=cv2.INTER_CUBIC), mask, scale=1 / 255)
    turns = rng.uniform(0, 2 * np.pi, 9)
    aways = radius * 0.8 * rng.uniform(0.05, 1, 9) ** 0.5
    bumps = [(round(x + a * np.cos(t)), round(y + a * np.sin(t))) for t, a in zip(turns, aways, strict=True)]

    def paint(pixels: Pixels) -> None:
        tinted(pixels, mask, (222, 150, 88), 0.62, 9)
        tinted(pixels, rough, (250, 206, 140), 0.6)
        for bump in bumps:
            cv2.circle(pixels, bump, 8, (150, 88, 60), -1, cv2.LINE_AA)
            cv2.circle(pixels, (bump[0], bump[1] - 1), 6, (252, 228, 176), -1, cv2.LINE_AA)

    return Landmark(Layer(ILEUM, mask, paint, 0.4), x, y, radius * 0.4)
