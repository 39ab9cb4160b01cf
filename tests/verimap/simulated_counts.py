"""Counts of verifier errors drawn from a known logistic mixed model, and what tests ask of designs made by hand."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from backend.verimap.grouping import FACTORS, grouped
from backend.verimap.laplace import LogisticDesign, RandomTerm


class Truth(NamedTuple):
    """A logistic mixed model."""

    intercept: float
    slope: float
    deviations: Sequence[tuple[float, float]]
    """Standard deviations of intercept and slope, a factor each: task, VLM, data set."""
    correlation: float = 0.0


def drawn_counts(truth: Truth, levels: tuple[int, int, int], answers: int, seed: int) -> pd.DataFrame:
    """Draw counts, a row a cell and ``gen_err``; about half of the answers are generator errors."""
    random = np.random.default_rng(seed)
    effects = []
    for n, (intercept, slope) in zip(levels, truth.deviations, strict=True):
        shared = truth.correlation * intercept * slope
        effects.append(random.multivariate_normal([0, 0], [[intercept**2, shared], [shared, slope**2]], size=n))
    rows = []
    for place in np.ndindex(*levels):
        sums = sum(effect[one] for effect, one in zip(effects, place, strict=True))
        for gen_err in (0, 1):
            log_odds = truth.intercept + sums[0] + gen_err * (truth.slope + sums[1])
            errors = random.binomial(answers, 1 / (1 + np.exp(-log_odds)))
            names = [f"{factor} {one}" for factor, one in zip(FACTORS, place, strict=True)]
            rows.append((*names, gen_err, int(errors), answers))
    return pd.DataFrame(rows, columns=[*FACTORS, "gen_err", "ver_err", "n"])


def design_of(rows: pd.DataFrame, *, fixed_slope: bool = True, effects: int = 1) -> LogisticDesign:
    """Return design matrices of a table, written apart from the product's own."""
    x = rows["gen_err"].to_numpy(float)
    columns: list[np.ndarray] = []
    terms = []
    for one in grouped(rows).used:
        terms.append(RandomTerm(one.factor, one.levels, effects))
        for level in range(len(one.levels)):
            here = (one.codes == level).astype(float)
            columns += [here, here * x][:effects]
    return LogisticDesign(
        rows["ver_err"].to_numpy(float),
        rows["n"].to_numpy(float),
        np.column_stack([np.ones_like(x), x][: 1 + fixed_slope]),
        np.column_stack(columns) if columns else np.zeros((len(x), 0)),
        tuple(terms),
    )
