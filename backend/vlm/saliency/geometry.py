"""Where image tokens lie in the original image, and values of tokens painted onto it.

A VLM may see an image whole, cropped, padded, or in tiles beside the whole. Each picture it sees
is a `View` of the original, and each of its tokens a region of that view. Painting moves every
token's value onto the original by area: nothing is lost, and views that overlap add up.
"""

__all__ = ["View", "grid_of", "paint", "regions_of"]

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class View:
    """A picture that a VLM sees, and the part of the original that it shows.

    Bounds are fractions of the upright original's width and height; outside 0 to 1 lies padding.
    Its tokens come row by row, from left to right.
    """

    left: float
    top: float
    right: float
    bottom: float
    rows: int
    """Of tokens."""
    columns: int
    """Of tokens."""

    @property
    def n_tokens(self) -> int:
        """Tokens of the view."""
        return self.rows * self.columns


def regions_of(views: Sequence[View]) -> NDArray[np.float64]:
    """Return the region of each token, in the order of views and of tokens in them.

    Returns:
        Shape (tokens, 4): left, top, right and bottom as fractions of the original, cut at its
        edges. A token of nothing but padding has a region without area.
    """
    parts = []
    for view in views:
        across = np.linspace(view.left, view.right, view.columns + 1).clip(0, 1)
        down = np.linspace(view.top, view.bottom, view.rows + 1).clip(0, 1)
        row, column = (part.ravel() for part in np.indices((view.rows, view.columns)))
        parts.append(np.stack([across[column], down[row], across[column + 1], down[row + 1]], axis=1))
    return np.concatenate(parts)


def grid_of(views: Sequence[View]) -> tuple[int, int]:
    """Return rows and columns of the regular grid over the original whose cells are as fine as the finest view's."""
    rows = max(view.rows / (view.bottom - view.top) for view in views)
    columns = max(view.columns / (view.right - view.left) for view in views)
    return max(round(rows), 1), max(round(columns), 1)


def paint(values: ArrayLike, regions: NDArray[np.float64], shape: tuple[int, int]) -> NDArray[np.float64]:
    """Spread each token's value evenly over its region, and add up what falls into each cell.

    The cells add up to the values, but for tokens that lie in padding alone: these show nothing of the image
    and are left out.

    Args:
        values: One a token, of any sign.
        regions: As `regions_of` returns them, shape (tokens, 4).
        shape: Rows and columns of cells over the original: a grid, or its height and width in pixels.

    Returns:
        Shape (rows, columns).
    """
    rows, columns = shape
    left, top, right, bottom = regions.T
    areas = (right - left) * (bottom - top)
    density = np.divide(np.asarray(values, dtype=np.float64), areas, out=np.zeros_like(areas), where=areas > 0)
    return np.asarray((_overlaps(top, bottom, rows) * density[:, None]).T @ _overlaps(left, right, columns))


def _overlaps(starts: NDArray[np.float64], ends: NDArray[np.float64], n_cells: int) -> NDArray[np.float64]:
    """Return how much of each stretch lies in each of equal cells from 0 to 1, shape (stretches, cells)."""
    edges = np.linspace(0, 1, n_cells + 1)
    lengths = np.minimum(ends[:, None], edges[1:]) - np.maximum(starts[:, None], edges[:-1])
    return lengths.clip(0)
