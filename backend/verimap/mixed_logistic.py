"""Logistic mixed model with crossed grouping factors, fitted by maximum likelihood (Appendix D.1).

The likelihood is Laplace's approximation (`backend.verimap.laplace`), the search runs from several
starts and ends with Newton steps, and standard errors come from the curvature over all parameters. The
maximum is that of lme4; lme4's printed log-likelihood can lie up to about 0.001 above it in nearly separated data,
where it ends its inner search (``tolPwrss``) a step early, and below it where its outer search stops in a worse
place. A fit whose search did not end at a maximum has no estimates.
"""

__all__ = ["FixedEffect", "LevelEffect", "LogisticEstimates", "LogisticFit", "TermEstimate", "fit_logistic"]

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from backend.domain.statistics.intervals import CONFIDENCE
from backend.verimap.climbing import newton_steps, promised_gain, rough_climb
from backend.verimap.laplace import At, LaplaceLikelihood, LogisticDesign, cholesky_factors, lambda_matrix

Floats = npt.NDArray[np.float64]

SINGULAR_BELOW = 1e-4
"""A standard deviation of random effects, in log-odds, that is taken as none, as in lme4."""

_STARTS = ((1.0, 0.0, 1.0), (0.1, 0.0, 0.1), (0.5, -0.45, 0.2), (0.5, 0.45, 0.2))
"""Cholesky factors of all terms where a search begins: intercept, slope on intercept, slope. The likelihood of small,
nearly separated data has several peaks. In 63 simulated data sets no random start (six a set) led higher than
the best of these."""
_DIFFERENCE = 1e-4
"""Step of the central differences of the exact gradient."""
_LEAST_GAIN = 1e-10
"""Newton steps go on until the next promises a log-likelihood higher by less than this."""
_MOST_TO_GAIN = 1e-6
"""An end is a maximum where another Newton step promises a log-likelihood higher by less than this."""
_LEAST_CURVATURE = 1e-9
"""Curvature is called flat below this share of the largest."""
_OUT_OF_REACH = 50.0
"""Log-odds, and standard deviations of log-odds, that no finite data set asks for: the search is on its way to
infinity."""


@dataclass(frozen=True, slots=True)
class FixedEffect:
    """A fixed effect in log-odds, with Wald's z-test against zero."""

    value: float
    se: float
    z: float
    p: float
    """Two-sided."""
    odds_ratio: float
    odds_ratio_low: float
    odds_ratio_high: float
    """95 % interval."""


@dataclass(frozen=True, slots=True)
class LevelEffect:
    """What the model predicts of one level of a factor: the conditional mode."""

    level: str
    intercept: float
    """Deviation from the fixed intercept, log-odds."""
    slope: float | None
    """Deviation from the fixed slope; None where slopes do not vary."""
    odds_ratio: float | None
    """Of the slope in this level, all other factors at their centre; None where slopes do not vary."""
    odds_ratio_low: float | None
    odds_ratio_high: float | None
    """95 % interval given the estimated covariances, whose own uncertainty it leaves out."""


@dataclass(frozen=True, slots=True)
class TermEstimate:
    """The random effects of one factor."""

    factor: str
    covariance: Floats
    """Of intercept and slope, shape (2, 2), or of the intercept alone, (1, 1)."""
    levels: tuple[LevelEffect, ...]

    @property
    def intercept_variance(self) -> float:
        """Variance of the intercepts."""
        return float(self.covariance[0, 0])

    @property
    def slope_variance(self) -> float | None:
        """Variance of the slopes; None where they do not vary by design."""
        return float(self.covariance[1, 1]) if len(self.covariance) > 1 else None

    @property
    def correlation(self) -> float | None:
        """Correlation of intercepts and slopes; None where either does not vary."""
        if len(self.covariance) == 1 or not self.covariance.diagonal().all():
            return None
        return float(self.covariance[0, 1] / sqrt(self.covariance[0, 0] * self.covariance[1, 1]))


@dataclass(frozen=True, slots=True)
class LogisticEstimates:
    """What a fit that converged says."""

    loglik: float
    """Of the single binary answers; terms log C(n, k) are left out."""
    fixed: tuple[FixedEffect, ...]
    """One a column of the design's X."""
    terms: tuple[TermEstimate, ...]
    parameters: Floats
    """Entries of the Cholesky factors, then fixed effects; where a larger model's search may begin."""


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """One fit, converged or not."""

    n: int
    """Single answers."""
    n_rows: int
    """Rows of counts."""
    df: int
    """Estimated parameters."""
    converged: bool
    singular: bool | None
    """Whether a variance collapsed to zero or a correlation to ±1; None where the fit did not converge."""
    gradient: float | None
    """The largest entry of the log-likelihood's gradient where the search ended; None where there was no search."""
    problem: str
    """Why there are no estimates, as a sentence; empty where there are."""
    estimates: LogisticEstimates | None


def fit_logistic(design: LogisticDesign, further_starts: Sequence[Floats] = ()) -> LogisticFit:
    """Fit a model.

    Fixed effects without a finite maximum are told by their counts: where the rows that share one pattern of
    fixed effects hold no error, or nothing else, the data are separated and nothing is fitted.

    Args:
        design: Counts and design matrices; the fixed effects' columns are linearly independent.
        further_starts: Parameters where the search is to begin as well, for example a nested model's.
    """
    if problem := _why_not(design):
        return _no_fit(design, None, problem)
    likelihood = LaplaceLikelihood(design)
    climbs = [rough_climb(likelihood.at, start, _OUT_OF_REACH) for start in _starts(design, further_starts)]
    ends = [end for end in climbs if end is not None]
    if not ends:
        return _no_fit(design, None, "The likelihood could not be computed from any start.")
    best = max(ends, key=lambda end: likelihood.at(end).value)
    found = newton_steps(
        likelihood.at,
        lambda point: _curvature(likelihood, point),
        best,
        least_gain=_LEAST_GAIN,
        reach=_OUT_OF_REACH,
    )
    if found is None:
        return _no_fit(design, None, "The likelihood could not be computed where its search ended.")
    parameters, collapsed = _canonical(found, design)
    at = likelihood.at(parameters)
    free = ~_held(parameters, design)
    curvature = _curvature(likelihood, parameters)
    gradient = float(np.abs(at.gradient).max())
    if problem := _why_no_maximum(design, parameters, at.gradient, curvature, free):
        return _no_fit(design, gradient, problem)
    se = np.zeros(len(parameters))
    se[free] = np.sqrt(np.linalg.inv(curvature[np.ix_(free, free)]).diagonal())
    if se[design.n_theta :].max() > _OUT_OF_REACH:
        return _no_fit(design, gradient, "The data do not bound the fixed effects.")
    estimates = LogisticEstimates(
        loglik=at.value,
        fixed=tuple(
            _fixed_effect(float(value), float(error))
            for value, error in zip(parameters[design.n_theta :], se[design.n_theta :], strict=True)
        ),
        terms=_terms(design, parameters, at),
        parameters=parameters,
    )
    return LogisticFit(
        int(design.trials.sum()), len(design.trials), design.n_parameters, True, collapsed, gradient, "", estimates
    )


def _no_fit(design: LogisticDesign, gradient: float | None, problem: str) -> LogisticFit:
    n, rows = int(design.trials.sum()), len(design.trials)
    return LogisticFit(n, rows, design.n_parameters, False, None, gradient, problem, None)


def _why_not(design: LogisticDesign) -> str:
    """Return why the likelihood has no maximum, or nothing."""
    if np.linalg.matrix_rank(design.fixed) < design.fixed.shape[1]:
        return "The fixed effects cannot be told apart: gen_err has the same value in all rows."
    patterns, place = np.unique(design.fixed, axis=0, return_inverse=True)
    errors = np.bincount(place.ravel(), design.errors)
    trials = np.bincount(place.ravel(), design.trials)
    if len(patterns) == design.fixed.shape[1] and ((errors == 0) | (errors == trials)).any():
        return (
            "The data are separated: verifier errors are all or none where the generator is right, or where it is "
            "wrong, so the log-odds have no finite estimate."
        )
    return ""


def _starts(design: LogisticDesign, further: Sequence[Floats]) -> list[Floats]:
    """Return where searches begin; fixed effects fit the pooled log-odds."""
    log_odds = np.log((design.errors + 0.5) / (design.trials - design.errors + 0.5))
    weighted = design.fixed.T * design.trials
    beta = np.linalg.solve(weighted @ design.fixed, weighted @ log_odds)
    starts = list(further)
    for intercept, slope_on_intercept, slope in _STARTS:
        entries = [
            (intercept,) if term.effects == 1 else (intercept, slope_on_intercept, slope) for term in design.terms
        ]
        starts.append(np.array([*(entry for term in entries for entry in term), *beta]))
    unique = {start.tobytes(): start for start in starts}
    return list(unique.values())


def _curvature(likelihood: LaplaceLikelihood, parameters: Floats) -> Floats:
    """Return the negative second derivatives, by central differences of the exact gradient."""
    rows = []
    for place in range(len(parameters)):
        step = np.zeros(len(parameters))
        step[place] = _DIFFERENCE * max(1.0, abs(parameters[place]))
        ahead, behind = likelihood.at(parameters + step), likelihood.at(parameters - step)
        rows.append((behind.gradient - ahead.gradient) / (2 * step[place]))
    matrix = np.array(rows)
    symmetric: Floats = (matrix + matrix.T) / 2
    return symmetric


def _canonical(parameters: Floats, design: LogisticDesign) -> tuple[Floats, bool]:
    """Return the same covariances by Cholesky factors whose diagonals are not negative, and whether any is singular.

    Standard deviations below `SINGULAR_BELOW` become zero. Where the intercept's vanishes, all of the
    slope's variance stands on the diagonal.
    """
    entries, singular = [], False
    for term, factor in zip(design.terms, cholesky_factors(parameters, design.terms), strict=True):
        lower = np.zeros_like(factor)
        lower[0, 0] = abs(factor[0, 0])
        if lower[0, 0] < SINGULAR_BELOW:
            lower[0, 0] = 0.0
        if term.effects == 2:
            if lower[0, 0]:
                lower[1, 0], lower[1, 1] = factor[1, 0] * np.sign(factor[0, 0]), abs(factor[1, 1])
            else:
                lower[1, 1] = np.hypot(factor[1, 0], factor[1, 1])
            if lower[1, 1] < SINGULAR_BELOW:
                lower[1, 1] = 0.0
        singular = singular or not lower.diagonal().all()
        entries.append(lower[np.tril_indices(term.effects)])
    return np.concatenate([*entries, parameters[design.n_theta :]]), singular


def _held(parameters: Floats, design: LogisticDesign) -> npt.NDArray[np.bool_]:
    """Tell which entries stand in a column of zeros.

    The likelihood does not change with the sign of a column, so such entries are stationary and
    uncorrelated with all others: what remains is the curvature of the smaller model.
    """
    held = []
    for term, factor in zip(design.terms, cholesky_factors(parameters, design.terms), strict=True):
        empty = ~factor.any(axis=0)
        held.append(np.broadcast_to(empty, factor.shape)[np.tril_indices(term.effects)])
    return np.concatenate([*held, np.zeros(design.fixed.shape[1], dtype=bool)])


def _why_no_maximum(
    design: LogisticDesign, parameters: Floats, gradient: Floats, curvature: Floats, free: npt.NDArray[np.bool_]
) -> str:
    """Return why a point is no maximum to report, or nothing."""
    if np.abs(parameters).max() > _OUT_OF_REACH:
        return "The estimates run to infinity: groups of the data are separated."
    among = curvature[np.ix_(free, free)]
    sizes = np.linalg.eigvalsh(among)
    if sizes[0] <= _LEAST_CURVATURE * sizes[-1]:
        return "The likelihood does not curve down where the search ended: the data do not tell the estimates apart."
    if promised_gain(gradient[free], among) > _MOST_TO_GAIN:
        return "The search stopped before the top of the likelihood."
    return ""


def _fixed_effect(value: float, se: float) -> FixedEffect:
    reach = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * se
    z = value / se
    return FixedEffect(value, se, z, 2 * float(norm.sf(abs(z))), *_odds_ratios(value, reach))


def _odds_ratios(value: float, reach: float) -> tuple[float, float, float]:
    return exp(value), exp(value - reach), exp(value + reach)


def _terms(design: LogisticDesign, parameters: Floats, at: At) -> tuple[TermEstimate, ...]:
    """Return covariances and conditional modes, with the odds ratio of each level.

    The variance of a level's slope is that of beta and u together given the covariances: the inverse of
    Henderson's matrix.
    """
    scaled = design.random @ lambda_matrix(parameters[: design.n_theta], design.terms)
    joint = np.concatenate([design.fixed, scaled], axis=1)
    precision = joint.T @ (at.weights[:, None] * joint)
    p = design.fixed.shape[1]
    precision[p:, p:] += np.eye(len(at.mode))
    joint_covariance = np.linalg.inv(precision)
    slope = float(parameters[design.n_theta + 1]) if p > 1 else None
    terms, start = [], 0
    for term, factor in zip(design.terms, cholesky_factors(parameters, design.terms), strict=True):
        levels = []
        for name in term.levels:
            places = slice(start, start + term.effects)
            effects = factor @ at.mode[places]
            if term.effects == 1 or slope is None:
                levels.append(LevelEffect(name, float(effects[0]), None, None, None, None))
            else:
                contrast = np.zeros(len(joint_covariance))
                contrast[1] = 1.0
                contrast[p + start : p + start + term.effects] = factor[1]
                reach = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * sqrt(contrast @ joint_covariance @ contrast)
                ratios = _odds_ratios(slope + float(effects[1]), reach)
                levels.append(LevelEffect(name, float(effects[0]), float(effects[1]), *ratios))
            start += term.effects
        terms.append(TermEstimate(term.factor, factor @ factor.T, tuple(levels)))
    return tuple(terms)
