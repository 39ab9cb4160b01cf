"""Likelihood-ratio tests between nested models (Appendix D.1), with variances on the edge of their range."""

__all__ = ["LikelihoodRatio", "likelihood_ratio"]

from dataclasses import dataclass
from math import comb

from scipy.stats import chi2

_ROUNDING = 1e-4
"""A larger model whose log-likelihood is lower by more than this was not fitted to its maximum."""


@dataclass(frozen=True, slots=True)
class LikelihoodRatio:
    """One test of a smaller against a larger model."""

    null: str
    alternative: str
    statistic: float
    """2 (log L − log L of the null model), at least 0."""
    df: int
    """Parameters that the larger model has more."""
    p: float
    """From chi-squared with ``df``; 0.0 stands for less than the smallest number."""
    p_mixture: float | None
    """From the mixture that holds at the edge; None where no parameter lies there under the null model."""
    note: str


def likelihood_ratio(
    null: str, alternative: str, null_loglik: float, loglik: float, df: int, *, new_slopes: int = 0
) -> LikelihoodRatio | None:
    """Test a smaller model against a larger one, both fitted by maximum likelihood.

    A random slope adds a variance, which is 0 under the null model and cannot be less, and a covariance.
    Chi-squared with all parameters is then conservative. For one factor the statistic follows an equal mixture
    of chi-squared with 1 and 2 degrees of freedom (Stram and Lee 1994); for several, taken as independent,
    the degrees of freedom add up, which gives binomial weights.

    Args:
        null: Name of the smaller model.
        alternative: Name of the larger one.
        null_loglik: Log-likelihood of the smaller model.
        loglik: Log-likelihood of the larger one.
        df: Parameters that the larger model has more, at least 1.
        new_slopes: Factors that get a random slope, correlated with their intercept, in the larger model.

    Returns:
        The test; None where the larger model's log-likelihood is the lower one, which no maximum allows.
    """
    if loglik < null_loglik - _ROUNDING:
        return None
    statistic = max(0.0, 2 * (loglik - null_loglik))
    p = float(chi2.sf(statistic, df))
    if not new_slopes:
        return LikelihoodRatio(null, alternative, statistic, df, p, None, "Chi-squared: no parameter lies at an edge.")
    mixture = sum(
        comb(new_slopes, both) / 2**new_slopes * float(chi2.sf(statistic, new_slopes + both))
        for both in range(new_slopes + 1)
    )
    note = (
        f"The {new_slopes} slope variances cannot be less than 0, so chi-squared with {df} degrees of freedom is "
        f"conservative; the mixture weighs {new_slopes} to {2 * new_slopes} degrees of freedom binomially (Stram and "
        "Lee 1994, factors taken as independent)."
    )
    return LikelihoodRatio(null, alternative, statistic, df, p, mixture, note)
