"""What a drawn frame holds: its pixels, and every thing in it with its exact mask.

Everything said about a frame (questions, references, boxes, cells) is read off the masks,
so a reference is true by construction of what can be seen.
"""

__all__ = ["Frame", "Split", "Thing", "cells_of", "seed_of"]

import hashlib
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from backend.endoca.vocabulary import CELLS

CELL_SHARE = 0.25
"""A thing lies in every cell of the 3 × 3 grid that holds at least this share of its visible pixels."""


class Split(StrEnum):
    """Frames of different splits never share a seed."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """One thing in a frame."""

    kind: str
    """What it is, in the vocabulary of its drawing module."""
    mask: NDArray[np.bool_]
    """(height, width); its visible pixels, at least one."""

    @property
    def box(self) -> tuple[int, int, int, int]:
        """x, y, width and height in pixels of the smallest box round the visible pixels."""
        rows, columns = np.flatnonzero(self.mask.any(1)), np.flatnonzero(self.mask.any(0))
        x, y = int(columns[0]), int(rows[0])
        return x, y, int(columns[-1]) - x + 1, int(rows[-1]) - y + 1


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One synthetic frame."""

    pixels: NDArray[np.uint8]
    """(height, width, 3), RGB."""
    things: tuple[Thing, ...]
    hard: tuple[str, ...] = ()
    """What makes it hard, in words: small, dark, blurred, half hidden, several instruments."""

    def of(self, *kinds: str) -> tuple[Thing, ...]:
        """Return the things of these kinds, in the order drawn."""
        return tuple(thing for thing in self.things if thing.kind in kinds)


def cells_of(mask: NDArray[np.bool_]) -> tuple[str, ...]:
    """Return the cells of the frame's 3 × 3 grid a thing lies in, row by row; never none.

    These are the cells with at least `CELL_SHARE` of the visible pixels; where no cell holds as
    much, the fullest one.
    """
    height, width = mask.shape
    rows, columns = np.nonzero(mask)
    counts = np.bincount((rows * 3 // height) * 3 + columns * 3 // width, minlength=9)
    least = min(CELL_SHARE * counts.sum(), counts.max())
    return tuple(cell for cell, count in zip(CELLS, counts, strict=True) if count >= least)


def seed_of(kind: str, split: Split, number: int) -> int:
    """Return the seed of a frame: another one for every kind, split and number."""
    return int.from_bytes(hashlib.sha256(f"{kind}/{split}/{number}".encode()).digest()[:8], "big")
