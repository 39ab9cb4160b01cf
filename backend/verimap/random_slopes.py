"""Linear mixed model of a cell's metric in which each group has a slope of its own, fitted by REML (Appendix D.2).

    y = beta0 + beta1 x + (intercept + slope x) of each group + residual

Intercept and slope of a factor's groups are correlated. The paper tried this model, calls all of its fits singular
and falls back to random intercepts (`backend.verimap.mixed_linear`); here the claim can be tested. Criterion and
estimates are those of lme4. A fit whose search did not end at a maximum has no estimates.
"""

__all__ = ["RandomSlopesFit", "SlopeTerm", "fit_random_slopes"]

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi, sqrt

import numpy as np
import numpy.typing as npt

from backend.verimap.climbing import newton_steps, promised_gain, rough_climb
from backend.verimap.grouping import Grouping
from backend.verimap.laplace import RandomTerm, cholesky_factors, lambda_matrix
from backend.verimap.mixed_linear import SINGULAR_BELOW

Floats = npt.NDArray[np.float64]

_STARTS = ((1.0, 0.0, 1.0), (0.5, -0.5, 0.2))
"""Cholesky factors of all terms where a search begins, over the residual's deviation."""
_DIFFERENCE = 1e-4
"""Step of the central differences of the exact gradient."""
_LEAST_GAIN = 1e-12
_MOST_TO_GAIN = 1e-6
"""An end is a maximum where another Newton step promises a log-likelihood higher by less than this."""


@dataclass(frozen=True, slots=True)
class SlopeTerm:
    """The random effects of one factor."""

    factor: str
    intercept_variance: float
    slope_variance: float
    correlation: float | None
    """Of intercepts and slopes; None where either does not vary."""


@dataclass(frozen=True, slots=True)
class RandomSlopesFit:
    """One fit, converged or not."""

    n: int
    """Cells."""
    converged: bool
    singular: bool | None
    """Whether a factor's intercepts and slopes vary in fewer directions than two; None where the fit did not
    converge."""
    reml_loglik: float | None
    terms: tuple[SlopeTerm, ...]
    """Empty where the fit did not converge."""


@dataclass(frozen=True, slots=True)
class _At:
    """The restricted log-likelihood at one point."""

    value: float
    gradient: Floats
    residual_variance: float


def fit_random_slopes(
    response: npt.ArrayLike, predictor: npt.ArrayLike, groupings: Sequence[Grouping]
) -> RandomSlopesFit:
    """Fit the model.

    Args:
        response: The metric, shape (cells,); no NaN, and not the same in all cells.
        predictor: Generator error rate, shape (cells,).
        groupings: The factors, each with fewer levels than half the cells.
    """
    y, x = np.asarray(response, dtype=np.float64), np.asarray(predictor, dtype=np.float64)
    n, scale = len(y), float(np.std(y))
    likelihood = _Restricted(y / scale, x, groupings)
    starts = [np.tile(start, len(groupings)) for start in _STARTS]
    climbs = [rough_climb(likelihood.at, start) for start in starts]
    ends = [end for end in climbs if end is not None]
    best = max(ends, key=lambda end: likelihood.at(end).value, default=None)
    found = None if best is None else newton_steps(likelihood.at, likelihood.curvature, best, least_gain=_LEAST_GAIN)
    if found is None:
        return RandomSlopesFit(n, False, None, None, ())
    theta, singular = _canonical(found, likelihood.terms)
    at = likelihood.at(theta)
    free = likelihood.moves(theta)
    curvature = likelihood.curvature(theta)[np.ix_(free, free)]
    if np.linalg.eigvalsh(curvature)[0] <= 0 or promised_gain(at.gradient[free], curvature) > _MOST_TO_GAIN:
        return RandomSlopesFit(n, False, None, None, ())
    terms = tuple(
        _term(term.factor, factor @ factor.T * at.residual_variance * scale**2)
        for term, factor in zip(likelihood.terms, cholesky_factors(theta, likelihood.terms), strict=True)
    )
    return RandomSlopesFit(n, True, singular, at.value - (n - 2) * log(scale), terms)


def _term(factor: str, covariance: Floats) -> SlopeTerm:
    intercept, slope = (float(variance) for variance in covariance.diagonal())
    correlation = float(covariance[0, 1]) / sqrt(intercept * slope) if intercept and slope else None
    return SlopeTerm(factor, intercept, slope, correlation)


def _canonical(theta: Floats, terms: Sequence[RandomTerm]) -> tuple[Floats, bool]:
    """Return factors of the same covariances with what is as good as zero set to it, and whether any is singular."""
    entries, singular = [], False
    for factor in cholesky_factors(theta, terms):
        lower = np.array([abs(factor[0, 0]), factor[1, 0] * np.sign(factor[0, 0]), abs(factor[1, 1])])
        if lower[0] < SINGULAR_BELOW:
            lower = np.array([0.0, 0.0, np.hypot(factor[1, 0], factor[1, 1])])
        if lower[2] < SINGULAR_BELOW:
            lower[2] = 0.0
        singular = singular or not (lower[0] and lower[2])
        entries.append(lower)
    return np.concatenate(entries), singular


class _Restricted:
    """The restricted likelihood of one data set, as a function of the Cholesky factors over the residual's deviation.

    Cells enter through sums of products alone, as in `backend.verimap.mixed_linear`.
    """

    def __init__(self, y: Floats, x: Floats, groupings: Sequence[Grouping]) -> None:
        self.n = len(y)
        self.terms = tuple(RandomTerm(one.factor, one.levels, 2) for one in groupings)
        effects = np.column_stack([np.ones(self.n), x])
        blocks = [(one.indicators()[:, :, None] * effects[:, None, :]).reshape(self.n, -1) for one in groupings]
        columns = np.concatenate([*blocks, effects, y[:, None]], axis=1)
        self.products = columns.T @ columns

    def at(self, theta: Floats) -> _At:
        """Return value and gradient, the residual's variance at its best.

        With Omega = I + Z Lambda Lambda' Z' and P as in `backend.verimap.mixed_linear`, the derivative of
        −2 log L by an entry of Lambda is that entry of 2 (Z'PZ Lambda − Z'Py (Lambda' Z'Py)' / s²), summed
        over the levels that share it.
        """
        spread = lambda_matrix(theta, self.terms)
        q, rest = len(spread), self.n - 2
        to_random = self.products[:, :q] @ spread
        inner = np.eye(q) + spread.T @ to_random[:q]
        weighted = self.products - to_random @ np.linalg.solve(inner, to_random.T)
        fixed = slice(q, q + 2)
        projected = weighted - weighted[:, fixed] @ np.linalg.solve(weighted[fixed, fixed], weighted[fixed, :])
        variance = float(projected[-1, -1]) / rest
        logdet = float(np.linalg.slogdet(inner)[1] + np.linalg.slogdet(weighted[fixed, fixed])[1])
        pull = projected[:q, -1]
        by_entry = projected[:q, :q] @ spread - np.outer(pull, spread.T @ pull) / variance
        gradient, start = [], 0
        for term in self.terms:
            places = start + 2 * np.arange(len(term.levels))
            gradient += [-by_entry[places + row, places + column].sum() for row, column in ((0, 0), (1, 0), (1, 1))]
            start += 2 * len(term.levels)
        return _At(-(logdet + rest * (1 + log(2 * pi * variance))) / 2, np.array(gradient), variance)

    def curvature(self, theta: Floats) -> Floats:
        """Return the negative second derivatives, by central differences of the exact gradient."""
        steps = _DIFFERENCE * np.eye(len(theta))
        rows = [(self.at(theta - step).gradient - self.at(theta + step).gradient) / (2 * _DIFFERENCE) for step in steps]
        matrix = np.array(rows)
        symmetric: Floats = (matrix + matrix.T) / 2
        return symmetric

    def moves(self, theta: Floats) -> npt.NDArray[np.bool_]:
        """Tell which entries stand in a column that is not zero; by the others the likelihood is even."""
        flags: list[bool] = []
        for factor in cholesky_factors(theta, self.terms):
            first, second = bool(factor[:, 0].any()), bool(factor[1, 1])
            flags += [first, first, second]
        return np.array(flags)
