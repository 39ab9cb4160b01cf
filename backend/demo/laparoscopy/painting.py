"""The pixels of a composed frame: wet tissue under a lamp, the tools, and the traces of what they do."""

__all__ = ["paint"]

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from backend.demo.laparoscopy.action import Action
from backend.demo.laparoscopy.anatomy import GRID
from backend.demo.laparoscopy.composition import FIRST_TOOL, Scene
from backend.demo.laparoscopy.geometry import Points, disc, placed, ribbon
from backend.demo.laparoscopy.instruments import parts_of
from backend.demo.laparoscopy.scene import HEIGHT, WIDTH

Pixels = NDArray[np.uint8]

COLOURS = np.array(
    [
        (214, 168, 70),  # fat
        (216, 208, 214),  # cystic plate
        (176, 106, 58),  # calot triangle, not cleared
        (204, 30, 38),  # cystic artery
        (212, 224, 166),  # cystic duct
        (84, 138, 128),  # gallbladder
        (30, 10, 12),  # gap
        (122, 40, 34),  # liver
    ],
    np.float32,
)
"""RGB by label; the two tables below likewise."""
CLEARED = (238, 158, 176)
"""Of a Calot's triangle that was cleared."""
HEIGHTS = np.array([0.15, 0.1, 0.0, 0.6, 0.8, 1.0, -0.7, 0.4], np.float32)
"""How far it stands out."""
ROUGHNESS = np.array([0.9, 0.5, 1.0, 0.3, 0.35, 0.4, 0.2, 0.7], np.float32)
"""How uneven its surface is."""

LAMP_FROM_ABOVE = np.array([[-0.38, -0.44, -0.06], [-0.32, 0, 0.32], [0.06, 0.44, 0.38]], np.float32)
"""Slope of the relief towards the lamp, which is above and to the left."""


def table(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values by label as OpenCV looks them up: 256 rows, channels last."""
    rows = np.zeros((256, 1, *values.shape[1:]), values.dtype)
    rows[: len(values), 0] = values
    return rows


@lru_cache
def noise_bank(cells: int) -> NDArray[np.float32]:
    """Return noise, about -1 to 1, three times the grid each way; the same in every process."""
    coarse = np.random.default_rng(cells).uniform(-1, 1, (3 * cells, 3 * cells * WIDTH // HEIGHT)).astype(np.float32)
    size = (3 * WIDTH // GRID, 3 * HEIGHT // GRID)
    bank = np.asarray(cv2.resize(coarse, size, interpolation=cv2.INTER_CUBIC), np.float32)
    bank.flags.writeable = False
    return bank


def noise(rng: Generator, cells: int) -> NDArray[np.float32]:
    """Return a random window of smooth noise over the grid, with so many cells along the height."""
    height, width = HEIGHT // GRID, WIDTH // GRID
    top, left = int(rng.integers(2 * height)), int(rng.integers(2 * width))
    return noise_bank(cells)[top : top + height, left : left + width]


def tissue(rng: Generator, scene: Scene) -> Pixels:
    """Paint the anatomy, and the tools' shadows on it, on the grid."""
    labels = scene.tissue
    palette = COLOURS * rng.uniform(0.92, 1.08, COLOURS.shape)
    if scene.layout.criteria[1]:
        palette[2] = CLEARED
    colour = cv2.blur(cv2.LUT(cv2.merge([labels] * 3), table(np.clip(palette, 0, 255).astype(np.uint8))), (3, 3))
    relief = cv2.LUT(labels, table(HEIGHTS))
    small = cv2.resize(relief, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    wide = cv2.resize(cv2.GaussianBlur(small, (0, 0), 2.2), relief.shape[::-1])
    bumps = cv2.LUT(labels, table(ROUGHNESS)) * noise(rng, 34)
    relief = cv2.blur(relief, (5, 5)) + 1.6 * wide + 0.2 * bumps
    light = cv2.filter2D(relief, -1, LAMP_FROM_ABOVE)
    shadow = cv2.blur((scene.labels[::GRID, ::GRID] >= FIRST_TOOL).astype(np.float32), (9, 9), anchor=(8, 8))
    shade = (1.0 + light + 0.10 * noise(rng, 5) + 0.08 * bumps) * (1 - 0.45 * shadow)
    shiny = 260 * (2.2 * light + 0.35 * noise(rng, 64) - 0.72)
    gain = cv2.merge([cv2.convertScaleAbs(np.maximum(shade, 0.3), alpha=128)] * 3)
    gloss = cv2.merge([np.clip(shiny, 0, 150).astype(np.uint8)] * 3)
    return np.asarray(cv2.add(cv2.multiply(colour, gain, scale=1 / 128), gloss))


def fill(pixels: Pixels, outline: Points, colour: tuple[int, ...]) -> None:
    """Fill an outline given in pixels, with smooth borders, in place."""
    cv2.fillPoly(pixels, [np.rint(outline * 8).astype(np.int32)], colour, cv2.LINE_AA, 3)


def traces_below(rng: Generator, pixels: Pixels, action: Action) -> None:
    """Draw what an action leaves on the tissue, under the tool."""

    def local(points: Points, colour: tuple[int, ...]) -> None:
        fill(pixels, placed(points, action.tip, action.direction, action.scale), colour)

    if action.verb == "clip":
        for x in (10.0, 28.0):
            local(ribbon(np.array([[x, -32], [x, 32]]), 7), (70, 20, 120))
            local(ribbon(np.array([[x - 1, -30], [x - 1, 30]]), 4.5), (168, 84, 226))
    elif action.verb == "coagulate":
        local(disc((14, 0), rng.uniform(34, 42, 20)), (92, 56, 30))
        local(disc((14, 0), rng.uniform(26, 33, 20)), (246, 240, 226))
        local(disc((18, 0), rng.uniform(6, 11, 20)), (120, 84, 52))
    elif action.verb == "grasp":
        x, y = (int(v) for v in action.anchor)
        flesh = pixels[max(0, y - 3) : y + 4, max(0, x - 3) : x + 4].reshape(-1, 3).mean(0)
        local(disc((-16, 0), 24), tuple(flesh * 0.4))
        local(disc((-16, 0), 20), tuple(np.minimum(flesh * 1.15 + 10, 255)))
        local(disc((-20, -6), 5), (255, 250, 245))


def traces_above(rng: Generator, pixels: Pixels, action: Action) -> None:
    """Draw the spark and the smoke of a dissection, over the tool."""
    if action.verb != "dissect":
        return
    x, y = (int(v) for v in action.tip)
    size = int(46 * action.scale)
    left, top = x - size + int(rng.integers(-12, 13)), y - int(1.7 * size)
    x0, y0, x1, y1 = max(0, left), max(0, top), min(WIDTH, left + 2 * size), min(HEIGHT, top + 2 * size)
    if x1 > x0 and y1 > y0:
        across, down = np.arange(x0, x1) - left - size, np.arange(y0, y1) - top - size
        puff = 0.62 * np.exp(-(across[None] ** 2 + 0.7 * down[:, None] ** 2) / (2 * (0.42 * size) ** 2))
        patch = pixels[y0:y1, x0:x1]
        patch[:] = patch + (222 - patch.astype(np.float32)) * puff[..., None].astype(np.float32)
    radii = np.tile([30.0, 9.0], 8) * rng.uniform(0.8, 1.15, 16) * action.scale
    fill(pixels, disc(action.tip, radii, 16), (255, 226, 90))
    fill(pixels, disc(action.tip, radii * 0.5, 16), (255, 255, 240))


def paint(rng: Generator, scene: Scene, hard: tuple[str, ...], lamp: Pixels) -> Pixels:
    """Return the frame's pixels.

    Args:
        rng: Source of textures, tints and the traces' outlines.
        scene: What is drawn.
        hard: What makes it hard to see.
        lamp: (HEIGHT, WIDTH); how much light reaches each pixel, 0 outside the field of view.
    """
    pixels = np.asarray(cv2.resize(tissue(rng, scene), (WIDTH, HEIGHT), interpolation=cv2.INTER_LINEAR), np.uint8)
    for action in scene.actions:
        traces_below(rng, pixels, action)
    for action in scene.actions:
        for part in parts_of(action.tool, action.verb):
            fill(pixels, placed(part.outline, action.tip, action.direction, action.scale), part.colour)
    for action in scene.actions:
        traces_above(rng, pixels, action)
    return spoilt(rng, pixels, hard, lamp)


def spoilt(rng: Generator, pixels: Pixels, hard: tuple[str, ...], lamp: Pixels) -> Pixels:
    """Return the pixels as the lamp lights them and as the scope sees them, through smoke or out of focus."""
    light = cv2.convertScaleAbs(lamp, alpha=rng.uniform(0.34, 0.46)) if "dark" in hard else lamp
    seen = cv2.multiply(pixels, cv2.merge([light] * 3), scale=1 / 255)
    if "smoke" in hard:
        density = np.clip(rng.uniform(0.42, 0.5) + 0.22 * noise(rng, 4), 0.1, 0.72) * 255
        haze = cv2.resize(density.astype(np.uint8), (WIDTH, HEIGHT))
        veil = cv2.merge([cv2.multiply(haze, light, scale=0.82 / 255)] * 3)
        seen = cv2.add(cv2.multiply(seen, cv2.merge([255 - haze] * 3), scale=1 / 255), veil)
    if "blurred" in hard:
        seen = cv2.GaussianBlur(seen, (0, 0), rng.uniform(3.2, 4.6))
    return np.asarray(seen, np.uint8)
