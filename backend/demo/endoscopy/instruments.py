"""The five instruments: four that enter from the field's border, and the clip left on the mucosa."""

__all__ = ["instrument_layer"]

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.demo.endoscopy.field import Field
from backend.demo.endoscopy.layer import Colour, Layer, Pixels, blank
from backend.demo.endoscopy.vocabulary import CLIP, FORCEPS, NEEDLE, SNARE, TUBE

Points = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """A slightly bent shaft from outside the field to a tip inside it."""

    points: NDArray[np.float64]
    """(16, 2); the last is the tip."""

    @property
    def forward(self) -> NDArray[np.float64]:
        """Unit vector (2,) in which the tip points."""
        step = self.points[-1] - self.points[-3]
        unit: NDArray[np.float64] = step / np.linalg.norm(step)
        return unit

    @property
    def aside(self) -> NDArray[np.float64]:
        """Unit vector (2,) across the shaft at the tip."""
        return np.array([-self.forward[1], self.forward[0]])

    def shifted(self, by: float) -> Points:
        """Return the shaft's points moved sideways by so many pixels."""
        return np.round(self.points + by * self.aside).astype(np.int32)

    def past_tip(self, forward: float, aside: float) -> tuple[int, int]:
        """Return the point so many pixels ahead of the tip and to its side."""
        x, y = self.points[-1] + forward * self.forward + aside * self.aside
        return round(x), round(y)


@dataclass(frozen=True, slots=True)
class _Stroke:
    """A line of one width and colour."""

    points: Points
    width: int
    colour: Colour


def instrument_layer(rng: np.random.Generator, field: Field, kind: str, tip: tuple[float, float], turn: float) -> Layer:
    """Plan an instrument.

    Args:
        rng: Where chance comes from.
        field: Where the endoscope sees.
        kind: Which of the five.
        tip: x and y of its tip; a clip's middle.
        turn: Direction of the border it enters from, seen from the field's centre, in radians; a clip's direction.
    """
    strokes = _clip(tip, turn) if kind == CLIP else _SHAFTS[kind](rng, _way(rng, field, tip, turn))
    mask = blank()
    for stroke in strokes:
        cv2.polylines(mask, [stroke.points], False, 255, stroke.width, cv2.LINE_AA)
    mask = cv2.bitwise_and(mask, field.mask)

    def paint(pixels: Pixels) -> None:
        for stroke in strokes:
            cv2.polylines(pixels, [stroke.points], False, stroke.colour, stroke.width, cv2.LINE_AA)

    return Layer(kind, mask, paint)


def _way(rng: np.random.Generator, field: Field, tip: tuple[float, float], turn: float) -> _Way:
    start, end = np.array(field.at(turn, 1.2)), np.array(tip)
    across = end - start
    bend = (start + end) / 2 + rng.uniform(-0.12, 0.12) * np.array([-across[1], across[0]])
    t = np.linspace(0, 1, 16)[:, None]
    return _Way((1 - t) ** 2 * start + 2 * t * (1 - t) * bend + t**2 * end)


def _tube(rng: np.random.Generator, way: _Way) -> list[_Stroke]:
    width = int(rng.integers(38, 52))
    stripe = ((232, 214, 92), (226, 226, 222))[rng.integers(2)]
    return [
        _Stroke(way.shifted(0), width, (22, 24, 30)),
        _Stroke(way.shifted(-2), width - 10, (52, 56, 66)),
        _Stroke(way.shifted(-width * 0.22), 5, (104, 110, 122)),
        _Stroke(way.shifted(width * 0.18), 5, stripe),
    ]


def _forceps(rng: np.random.Generator, way: _Way) -> list[_Stroke]:
    strokes = [
        _Stroke(way.shifted(0), 17, (58, 60, 66)),
        _Stroke(way.shifted(0), 12, (138, 142, 150)),
        _Stroke(way.shifted(-3), 4, (222, 226, 232)),
    ]
    spread = rng.uniform(15, 21)
    for side in (-1, 1):
        cup = [way.past_tip(-2, 0), way.past_tip(14, side * spread * 0.8), way.past_tip(34, side * spread)]
        points = np.array(cup, np.int32)
        strokes += [_Stroke(points[:2], 10, (58, 60, 66)), _Stroke(points[1:], 17, (58, 60, 66))]
        strokes += [_Stroke(points[:2], 6, (150, 154, 162)), _Stroke(points[1:], 12, (186, 190, 198))]
        strokes.append(_Stroke(points[1:], 4, (240, 242, 246)))
    return strokes


def _snare(rng: np.random.Generator, way: _Way) -> list[_Stroke]:
    length, wide = rng.uniform(74, 104), rng.uniform(24, 36)
    turn = np.linspace(0, 2 * np.pi, 25)
    loop = [way.past_tip(length / 2 * (1 - np.cos(a)), wide * np.sin(a) * (0.75 - 0.25 * np.cos(a))) for a in turn]
    points = np.array(loop, np.int32)
    return [
        _Stroke(way.shifted(0), 15, (150, 126, 60)),
        _Stroke(way.shifted(0), 11, (238, 218, 150)),
        _Stroke(way.shifted(-2), 3, (252, 244, 214)),
        _Stroke(points, 8, (84, 66, 30)),
        _Stroke(points, 5, (246, 226, 140)),
    ]


def _needle(rng: np.random.Generator, way: _Way) -> list[_Stroke]:
    length = rng.uniform(34, 50)
    point = np.array([way.past_tip(0, 0), way.past_tip(length, 0)], np.int32)
    collar = np.array([way.past_tip(-16, 0), way.past_tip(2, 0)], np.int32)
    return [
        _Stroke(point, 7, (70, 74, 84)),
        _Stroke(point, 4, (228, 232, 238)),
        _Stroke(way.shifted(0), 18, (18, 48, 120)),
        _Stroke(way.shifted(0), 13, (44, 104, 214)),
        _Stroke(way.shifted(-3), 3, (150, 192, 250)),
        _Stroke(collar, 16, (240, 244, 248)),
    ]


def _clip(middle: tuple[float, float], turn: float) -> list[_Stroke]:
    forward = np.array([np.cos(turn), np.sin(turn)])
    aside = np.array([-forward[1], forward[0]])

    def at(ahead: float, side: float) -> list[int]:
        x, y = np.array(middle) + ahead * forward + side * aside
        return [round(x), round(y)]

    body = np.array([at(-26, 0), at(2, 0)], np.int32)
    prongs = [np.array([at(2, 0), at(14, side * 12), at(28, side * 7)], np.int32) for side in (-1, 1)]
    return [
        *(_Stroke(part, 15, (40, 36, 40)) for part in (body, *prongs)),
        _Stroke(body, 10, (206, 210, 216)),
        *(_Stroke(prong, 7, (206, 210, 216)) for prong in prongs),
        _Stroke(body, 4, (250, 250, 252)),
    ]


_SHAFTS: dict[str, Callable[[np.random.Generator, _Way], list[_Stroke]]] = {
    TUBE: _tube,
    FORCEPS: _forceps,
    SNARE: _snare,
    NEEDLE: _needle,
}
