"""Least-squares slopes of a verifier metric on the generator's error rate, task by task (Fig. 4)."""

__all__ = ["Slope", "least_squares_slope", "slopes_by"]

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import linregress
from scipy.stats import t as student

from backend.domain.statistics.intervals import CONFIDENCE


@dataclass(frozen=True, slots=True)
class Slope:
    """An ordinary least-squares slope."""

    n: int
    slope: float
    intercept: float
    se: float
    low: float
    high: float
    """95 % interval from Student's t with n − 2 degrees of freedom."""
    p: float
    """Two-sided, against a slope of zero."""


def least_squares_slope(x: npt.ArrayLike, y: npt.ArrayLike) -> Slope | None:
    """Return the slope of y on x.

    Args:
        x: Shape (cells,).
        y: Shape (cells,); cells with NaN in either are left out.

    Returns:
        The slope; None with fewer than three cells, or where x or y does not vary.
    """
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    defined = ~(np.isnan(xs) | np.isnan(ys))
    xs, ys = xs[defined], ys[defined]
    n = len(xs)
    if n < 3 or np.ptp(xs) == 0 or np.ptp(ys) == 0:
        return None
    line = linregress(xs, ys)
    reach = float(student.ppf((1 + CONFIDENCE) / 2, n - 2)) * float(line.stderr)
    slope = float(line.slope)
    return Slope(n, slope, float(line.intercept), float(line.stderr), slope - reach, slope + reach, float(line.pvalue))


def slopes_by(cells: pd.DataFrame, metric: str, group: str = "task") -> dict[str, Slope | None]:
    """Return the slope of a metric on ``p_g`` in each group of cells, groups in alphabetical order.

    Args:
        cells: ``p_g``, the metric, and the group's column (see `backend.verimap.cell_rates`).
        metric: Its column.
        group: The column to go by.
    """
    return {str(name): least_squares_slope(part["p_g"], part[metric]) for name, part in cells.groupby(group)}
