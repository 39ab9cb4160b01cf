"""Grouping factors: the crossed groups (task, VLM, data set) that random effects belong to.

A factor with one level says nothing about how levels differ, so it is left out of a model and named.
"""

__all__ = ["FACTORS", "Grouping", "Groupings", "grouped"]

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

FACTORS = ("task", "model", "dataset")
"""The paper's three grouping factors, by their columns; ``model`` is the VLM."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """One factor and the level that each row belongs to."""

    factor: str
    levels: tuple[str, ...]
    """In alphabetical order; at least two."""
    codes: npt.NDArray[np.intp]
    """Shape (rows,): the place of each row's level in ``levels``."""

    def indicators(self) -> npt.NDArray[np.float64]:
        """Return a matrix of shape (rows, levels): 1 in the column of each row's level."""
        matrix = np.zeros((len(self.codes), len(self.levels)))
        matrix[np.arange(len(self.codes)), self.codes] = 1.0
        return matrix


@dataclass(frozen=True, slots=True)
class Groupings:
    """The factors of one table."""

    used: tuple[Grouping, ...]
    left_out: tuple[str, ...]
    """Factors with a single level."""


def grouped(table: pd.DataFrame, factors: Sequence[str] = FACTORS) -> Groupings:
    """Return the grouping factors of a table.

    Args:
        table: One column of names a factor.
        factors: Which columns.
    """
    used, left_out = [], []
    for factor in factors:
        levels, codes = np.unique(table[factor].to_numpy(dtype=str), return_inverse=True)
        if len(levels) > 1:
            used.append(Grouping(factor, tuple(levels.tolist()), codes))
        else:
            left_out.append(factor)
    return Groupings(tuple(used), tuple(left_out))
