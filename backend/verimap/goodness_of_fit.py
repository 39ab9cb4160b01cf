"""How well a mixed model fits: information criteria and the paper's pseudo-R² (Appendix D)."""

__all__ = [
    "LOGIT_VARIANCE",
    "VarianceExplained",
    "akaike",
    "bayes",
    "mcfadden",
    "slope_aware_variance",
    "trace_variance",
    "variance_explained",
]

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi

import numpy as np
import numpy.typing as npt

LOGIT_VARIANCE = pi**2 / 3
"""Variance of the standard logistic distribution: the residual of a logistic model on the scale of log-odds."""


@dataclass(frozen=True, slots=True)
class VarianceExplained:
    """Shares of variance, between 0 and 1."""

    marginal: float
    """By the fixed effects."""
    conditional: float
    """By fixed and random effects together."""


def akaike(loglik: float, df: int) -> float:
    """Return Akaike's information criterion, 2 df − 2 log L."""
    return 2 * df - 2 * loglik


def bayes(loglik: float, df: int, n: int) -> float:
    """Return the Bayesian information criterion, df log n − 2 log L, for n single observations."""
    return df * log(n) - 2 * loglik


def mcfadden(loglik: float, null_loglik: float) -> float | None:
    """Return 1 − log L / log L of the null model (equation 7); None where the null model fits perfectly."""
    return 1 - loglik / null_loglik if null_loglik else None


def variance_explained(fixed: float, random: float, residual: float) -> VarianceExplained:
    """Return marginal and conditional R² (equations 5, 6, 9 and 10; Nakagawa and Schielzeth 2013).

    Args:
        fixed: Variance of the predictions by the fixed effects alone, over the observations.
        random: Variance of the random effects; which sum over intercepts and slopes is the caller's choice.
        residual: The residual variance, or `LOGIT_VARIANCE`; above 0.
    """
    total = fixed + random + residual
    return VarianceExplained(fixed / total, (fixed + random) / total)


def trace_variance(covariances: Sequence[npt.NDArray[np.float64]]) -> float:
    """Return the paper's variance of random effects: the sum of the covariances' traces.

    A slope's variance counts whole, whatever its predictor does; it reproduces the printed .259 and .773.
    """
    return float(sum(np.trace(covariance) for covariance in covariances))


def slope_aware_variance(
    covariances: Sequence[npt.NDArray[np.float64]], predictors: npt.NDArray[np.float64], weights: npt.ArrayLike
) -> float:
    """Return the mean variance that random effects add to an observation (Johnson 2014): mean of z' Sigma z.

    Args:
        covariances: Of each factor; shape (effects, effects).
        predictors: z, shape (rows, effects) or wider: a factor with an intercept alone uses the first column.
        weights: How many observations a row stands for.
    """
    added = np.zeros(len(predictors))
    for covariance in covariances:
        z = predictors[:, : len(covariance)]
        added += np.einsum("ij,jk,ik->i", z, covariance, z)
    return float(np.average(added, weights=np.asarray(weights)))
