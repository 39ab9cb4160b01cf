"""Linear mixed model of a cell's metric: one slope, crossed random intercepts (equation 8), fitted by REML.

    y = beta0 + beta1 x + intercepts of the groups + residual

Degrees of freedom are Satterthwaite's, R² the paper's (equations 9 and 10). Criterion, estimates and
degrees of freedom are those of lme4 and lmerTest. A fit whose search did not end at a maximum has no estimates.
"""

__all__ = ["Coefficient", "LinearEstimates", "LinearFit", "fit_linear"]

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, pi, sqrt

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from backend.domain.statistics.intervals import CONFIDENCE
from backend.verimap.climbing import newton_steps, promised_gain
from backend.verimap.goodness_of_fit import VarianceExplained, variance_explained
from backend.verimap.grouping import Grouping

Floats = npt.NDArray[np.float64]

SINGULAR_BELOW = 1e-4
"""A random intercept whose standard deviation is a smaller share of the residual's is taken as none, as in lme4."""

_STARTS = (1.0, 0.1)
"""Standard deviations of all random intercepts where a search begins, over the residual's."""
_LEAST_GAIN = 1e-14
"""Newton steps go on until the next promises a log-likelihood higher by less than this."""
_MOST_TO_GAIN = 1e-7
"""An end is a maximum where another Newton step promises a log-likelihood higher by less than this."""
_NO_RESIDUAL = 1e-3
"""A residual standard deviation that is a smaller share of the response's has run to zero."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A fixed effect, or a prediction by the fixed effects, with its t-test against zero."""

    value: float
    se: float
    df: float
    """Satterthwaite's."""
    p: float
    """Two-sided."""
    low: float
    high: float
    """95 % interval from Student's t."""


@dataclass(frozen=True, slots=True)
class LinearEstimates:
    """What a fit that converged says."""

    intercept: Coefficient
    slope: Coefficient
    variances: dict[str, float]
    """Variance of the random intercepts by factor; 0.0 where they collapsed."""
    residual_variance: float
    reml_loglik: float
    """Restricted log-likelihood; comparable between fits with the same fixed effects alone."""
    r2: VarianceExplained
    covariance: Floats
    """Of intercept and slope, shape (2, 2)."""
    covariance_by_deviation: Floats
    """Its derivatives by each relative standard deviation that did not collapse and by the residual's, shape
    (deviations, 2, 2)."""
    deviation_covariance: Floats
    """Covariance of those deviations, from the curvature of the restricted likelihood."""

    def predicted(self, x: float) -> Coefficient:
        """Return the population's line at x."""
        return self.combination(np.array([1.0, x]))

    def combination(self, contrast: Floats) -> Coefficient:
        """Return the linear combination of intercept and slope with these weights (shape (2,))."""
        value = float(contrast @ [self.intercept.value, self.slope.value])
        return _tested(value, contrast, self.covariance, self.covariance_by_deviation, self.deviation_covariance)


@dataclass(frozen=True, slots=True)
class LinearFit:
    """One fit, converged or not."""

    n: int
    """Cells."""
    converged: bool
    singular: bool | None
    """Whether a random intercept's variance collapsed to zero; None where the fit did not converge."""
    problem: str
    """Why there are no estimates, as a sentence; empty where there are."""
    estimates: LinearEstimates | None


@dataclass(frozen=True, slots=True)
class _Peak:
    """The restricted log-likelihood at one theta, with derivatives by theta."""

    value: float
    gradient: Floats
    curvature: Floats
    """Negative second derivatives."""
    beta: Floats
    residual_variance: float
    misfit: Floats
    """Derivatives of y' P y."""
    covariance: Floats
    """Of beta, over the residual variance."""
    covariance_by_theta: Floats
    """Its derivatives, shape (theta, 2, 2)."""


def fit_linear(response: npt.ArrayLike, predictor: npt.ArrayLike, groupings: Sequence[Grouping]) -> LinearFit:
    """Fit the model.

    The likelihood and its first two derivatives are exact; the search is Newton's, from two starts. A factor
    whose levels are as many as the cells cannot be told from the residual, and a response that the model
    predicts without a residual has no likelihood: neither is fitted.

    Args:
        response: The metric, shape (cells,); no NaN.
        predictor: Generator error rate, shape (cells,).
        groupings: The factors with a random intercept; without any, this is ordinary least squares.
    """
    y, x = np.asarray(response, dtype=np.float64), np.asarray(predictor, dtype=np.float64)
    n = len(y)
    if problem := _why_not(y, x, groupings):
        return LinearFit(n, False, None, problem, None)
    scale = float(np.std(y))
    likelihood = _Restricted((y - y.mean()) / scale, x - x.mean(), groupings)
    theta = likelihood.best()
    if theta is None or likelihood.at(theta).residual_variance < _NO_RESIDUAL**2:
        return LinearFit(n, False, None, "The model predicts the metric without a residual.", None)
    collapsed = np.abs(theta) < SINGULAR_BELOW
    theta = np.where(collapsed, 0.0, np.abs(theta))
    at = likelihood.at(theta)
    free = np.flatnonzero(theta)
    curvature = at.curvature[np.ix_(free, free)]
    if not _is_maximum(at.gradient[free], curvature):
        return LinearFit(n, False, None, "The search for the variances did not end at a maximum.", None)
    return LinearFit(n, True, bool(collapsed.any()), "", _estimates(at, theta, x, y, groupings))


def _estimates(at: _Peak, theta: Floats, x: Floats, y: Floats, groupings: Sequence[Grouping]) -> LinearEstimates:
    """Return the estimates in the response's own unit, neither side centred."""
    n, scale = len(x), float(np.std(y))
    uncentred = np.array([[1.0, -x.mean()], [0.0, 1.0]])
    residual = at.residual_variance
    free = np.flatnonzero(theta)
    covariance = uncentred @ at.covariance @ uncentred.T
    by_theta = residual * (uncentred @ at.covariance_by_theta[free] @ uncentred.T)
    by_deviation = np.concatenate([by_theta, 2 * sqrt(residual) * covariance[None]]) * scale**2
    information = _information(at, free, n)
    uncertainty = np.asarray(np.linalg.inv(information), dtype=np.float64)
    covariance = covariance * residual * scale**2
    beta = uncentred @ at.beta * scale + [y.mean(), 0.0]
    intercept, slope = (
        _tested(float(beta[place]), np.eye(2)[place], covariance, by_deviation, uncertainty) for place in (0, 1)
    )
    variances = np.square(theta) * residual * scale**2
    return LinearEstimates(
        intercept=intercept,
        slope=slope,
        variances={one.factor: float(v) for one, v in zip(groupings, variances, strict=True)},
        residual_variance=residual * scale**2,
        reml_loglik=at.value - (n - 2) * log(scale),
        r2=variance_explained(float(beta[1] ** 2 * np.var(x, ddof=1)), float(variances.sum()), residual * scale**2),
        covariance=covariance,
        covariance_by_deviation=by_deviation,
        deviation_covariance=uncertainty,
    )


def _information(at: _Peak, free: npt.NDArray[np.intp], n: int) -> Floats:
    """Return the curvature of the likelihood over theta and the residual's standard deviation together.

    The curvature over theta alone has the residual at its best; what that took away is put back.
    """
    residual, rest = at.residual_variance, n - 2
    across = -at.misfit[free] / residual**1.5
    own = 2 * rest / residual
    whole = np.empty((len(free) + 1, len(free) + 1))
    whole[:-1, :-1] = at.curvature[np.ix_(free, free)] + np.outer(across, across) / own
    whole[-1, :-1] = whole[:-1, -1] = across
    whole[-1, -1] = own
    return whole


def _why_not(y: Floats, x: Floats, groupings: Sequence[Grouping]) -> str:
    """Return why a model cannot be fitted, or nothing."""
    if len(y) < 4:
        return f"{len(y)} cells are too few for a slope, its error and a residual."
    if np.ptp(x) == 0:
        return "The generator error rate is the same in all cells, so there is no slope."
    if np.ptp(y) == 0:
        return "The metric is the same in all cells."
    for one in groupings:
        if len(one.levels) >= len(y):
            return f"Each cell has its own {one.factor}, which cannot be told from the residual."
    return ""


def _is_maximum(gradient: Floats, curvature: Floats) -> bool:
    """Tell whether the likelihood curves down in all directions and has nothing left to gain."""
    if len(curvature) and np.linalg.eigvalsh(curvature)[0] <= 0:
        return False
    return promised_gain(gradient, curvature) < _MOST_TO_GAIN


def _tested(
    value: float, contrast: Floats, covariance: Floats, by_deviation: Floats, uncertainty: Floats
) -> Coefficient:
    """Return an estimate with Satterthwaite's degrees of freedom, 2 V² / Var(V), and its t-test."""
    variance = float(contrast @ covariance @ contrast)
    moved = contrast @ by_deviation @ contrast
    df = 2 * variance**2 / float(moved @ uncertainty @ moved)
    se = sqrt(variance)
    reach = float(student.ppf((1 + CONFIDENCE) / 2, df)) * se
    return Coefficient(value, se, df, 2 * float(student.sf(abs(value) / se, df)), value - reach, value + reach)


class _Restricted:
    """The restricted likelihood of one data set, as a function of the relative standard deviations theta.

    Theta is each random intercept's standard deviation over the residual's; the residual's own has a
    closed form, as in lme4. The likelihood is even in each theta, so its search needs no bounds. Cells enter through
    sums of products alone, so that its cost does not grow with their number.
    """

    def __init__(self, y: Floats, x: Floats, groupings: Sequence[Grouping]) -> None:
        self.n = len(y)
        self.levels = [len(one.levels) for one in groupings]
        columns = np.concatenate(
            [*(one.indicators() for one in groupings), np.ones((self.n, 1)), x[:, None], y[:, None]], axis=1
        )
        self.products = columns.T @ columns

    def best(self) -> Floats | None:
        """Return the best theta found from all starts; None where numbers overflowed on each way."""
        climbs = [
            newton_steps(
                self.at,
                lambda theta: self.at(theta).curvature,
                np.full(len(self.levels), start),
                least_gain=_LEAST_GAIN,
            )
            for start in _STARTS
        ]
        return max((end for end in climbs if end is not None), key=lambda theta: self.at(theta).value, default=None)

    def at(self, theta: Floats) -> _Peak:
        """Return the likelihood at some theta, the residual's variance at its best.

        With Omega = I + sum theta_k² Z_k Z_k' and P = Omega⁻¹ − Omega⁻¹ X (X' Omega⁻¹ X)⁻¹ X' Omega⁻¹,
        −2 log L = log det Omega + log det X' Omega⁻¹ X + (n − 2) (1 + log 2 pi s²), where s² = y' P y / (n − 2).
        Derivatives as in Searle, Casella and McCulloch 1992, section 6.6.
        """
        q, rest = sum(self.levels), self.n - 2
        scale = np.repeat(theta, self.levels)
        inner = np.eye(q) + scale[:, None] * self.products[:q, :q] * scale
        to_random = self.products[:, :q] * scale
        weighted = self.products - to_random @ np.linalg.solve(inner, to_random.T)
        fixed = slice(q, q + 2)
        covariance = np.linalg.inv(weighted[fixed, fixed])
        projected = weighted - weighted[:, fixed] @ covariance @ weighted[fixed, :]
        variance = float(projected[-1, -1]) / rest
        logdet = float(np.linalg.slogdet(inner)[1] + np.linalg.slogdet(weighted[fixed, fixed])[1])
        value = -(logdet + rest * (1 + log(2 * pi * variance))) / 2

        edges = np.cumsum([0, *self.levels])
        places = [slice(int(first), int(last)) for first, last in pairwise(edges)]
        pulled = [projected[place, -1] for place in places]
        misfit = np.array([float(pull @ pull) for pull in pulled])
        by_square = np.array([float(np.trace(projected[place, place])) for place in places]) - misfit / variance
        by_squares = np.empty((len(places), len(places)))
        for k, one in enumerate(places):
            for m, other in enumerate(places):
                block = projected[one, other]
                by_squares[k, m] = 2 * float(pulled[k] @ block @ pulled[m]) / variance - float(np.square(block).sum())
        by_squares -= np.outer(misfit, misfit) / (rest * variance**2)
        moved = np.array([weighted[fixed, place] @ weighted[place, fixed] for place in places]).reshape(-1, 2, 2)
        return _Peak(
            value=value,
            gradient=-theta * by_square,
            curvature=2 * np.outer(theta, theta) * by_squares + np.diag(by_square),
            beta=covariance @ weighted[fixed, -1],
            residual_variance=variance,
            misfit=-2 * theta * misfit,
            covariance=covariance,
            covariance_by_theta=2 * theta[:, None, None] * (covariance @ moved @ covariance),
        )
