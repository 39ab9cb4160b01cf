"""The Laplace approximation to the likelihood of a logistic mixed model, with its gradient.

Counts of errors are binomial, k of n, with log-odds eta = X beta + Z Lambda u, and the random effects u
are standard normal. The approximation replaces the integral over u by its value around the mode
(Bates, Mächler, Bolker, Walker 2015; lme4 with ``nAGQ = 1``): with M = Lambda' Z' W Z Lambda + I,

    log L = sum(k eta - n log(1 + e^eta)) - |u|^2 / 2 - log det(M) / 2   at the mode of u.

Fixed effects and the Cholesky factors of the covariances are maximised together. The terms
log C(n, k) are left out: what remains is the likelihood of the single binary answers.
"""

__all__ = ["At", "LaplaceLikelihood", "LogisticDesign", "RandomTerm", "cholesky_factors", "lambda_matrix"]

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import block_diag, cho_factor, cho_solve
from scipy.sparse import csr_array
from scipy.special import expit

Floats = npt.NDArray[np.float64]

_MODE_STEPS = 100
_AT_MODE = 1e-18
"""The mode is found when a Newton step promises a log-density higher by no more than this. The determinant is
not stationary at the mode, so its error is of the order of the root."""
_NEAR_MODE = 1e-6
"""From here on a full Newton step is taken unseen: what it gains drowns in the log-density's rounding."""
_SMALLEST_STEP = 2.0**-30


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """Correlated random effects of one grouping factor."""

    factor: str
    levels: tuple[str, ...]
    effects: int
    """1: an intercept a level; 2: an intercept and a slope."""

    @property
    def n_parameters(self) -> int:
        """How many entries the Cholesky factor of the effects' covariance has."""
        return self.effects * (self.effects + 1) // 2


@dataclass(frozen=True, slots=True)
class LogisticDesign:
    """What a model is fitted to: counts and design matrices."""

    errors: Floats
    """Shape (rows,): k."""
    trials: Floats
    """Shape (rows,): n, at least 1."""
    fixed: Floats
    """X, shape (rows, fixed effects)."""
    random: Floats
    """Z, shape (rows, random effects): term by term, in a term level by level."""
    terms: tuple[RandomTerm, ...]

    @property
    def n_theta(self) -> int:
        """How many entries all Cholesky factors have."""
        return sum(term.n_parameters for term in self.terms)

    @property
    def n_parameters(self) -> int:
        """Estimated parameters: entries of the Cholesky factors, then fixed effects."""
        return self.n_theta + int(self.fixed.shape[1])


@dataclass(frozen=True, slots=True)
class At:
    """The likelihood at one point, and what it was made from."""

    value: float
    """The log-likelihood."""
    gradient: Floats
    """By the Cholesky factors' entries, then by the fixed effects."""
    mode: Floats
    """u."""
    weights: Floats
    """W: binomial variances n p (1 - p), shape (rows,)."""


def cholesky_factors(theta: Floats, terms: Sequence[RandomTerm]) -> list[Floats]:
    """Return each term's lower triangular factor from the entries, row by row."""
    factors, start = [], 0
    for term in terms:
        factor = np.zeros((term.effects, term.effects))
        factor[np.tril_indices(term.effects)] = theta[start : start + term.n_parameters]
        factors.append(factor)
        start += term.n_parameters
    return factors


def lambda_matrix(theta: Floats, terms: Sequence[RandomTerm]) -> Floats:
    """Return Lambda: each term's factor once a level, down the diagonal; shape (random effects, random effects)."""
    factors = zip(terms, cholesky_factors(theta, terms), strict=True)
    blocks = [np.kron(np.eye(len(term.levels)), factor) for term, factor in factors]
    return np.asarray(block_diag(*blocks), dtype=np.float64) if blocks else np.zeros((0, 0))


class LaplaceLikelihood:
    """The approximate log-likelihood of one design, as a function of its parameters.

    A row of Z has few entries, so Z' W Z is a sparse linear map of the weights. The mode found last is where
    the next search begins; the log-density of u is concave and has one mode, so where the search begins
    changes nothing.
    """

    def __init__(self, design: LogisticDesign) -> None:
        self.design = design
        self._random = csr_array(design.random)
        self._by_effect = csr_array(design.random.T)
        self._pairs = _products_of_pairs(self._random)
        self._by_pair = csr_array(self._pairs.T)
        self._mode = np.zeros(design.random.shape[1])

    def at(self, parameters: Floats) -> At:
        """Return value and gradient at a point."""
        design = self.design
        theta, beta = parameters[: design.n_theta], parameters[design.n_theta :]
        spread = lambda_matrix(theta, design.terms)
        mode, eta, cross, factor = self._find_mode(design.fixed @ beta, spread)
        shares = expit(eta)
        weights = design.trials * shares * (1 - shares)
        value = _density(design, eta, mode) - float(np.log(np.diag(factor[0])).sum())

        inverse = np.linalg.inv(spread.T @ cross @ spread + np.eye(len(spread)))
        covariance = inverse @ spread.T
        leverages = self._pairs @ (spread @ covariance).ravel()
        residuals = design.errors - design.trials * shares
        determinant_pull = leverages * weights * (1 - 2 * shares) / 2
        through_mode = inverse @ (spread.T @ (self._by_effect @ determinant_pull))
        pull = residuals - determinant_pull + weights * (self._random @ (spread @ through_mode))
        by_lambda = (
            np.outer(self._by_effect @ pull, mode)
            - cross @ covariance.T
            - np.outer(self._by_effect @ residuals, through_mode)
        )
        gradient = np.concatenate([self._by_theta(by_lambda), design.fixed.T @ pull])
        return At(value, gradient, mode, weights)

    def _by_theta(self, by_lambda: Floats) -> Floats:
        """Return the derivatives by the Cholesky factors' entries from those by all entries of Lambda."""
        parts, start = [np.zeros(0)], 0
        for term in self.design.terms:
            levels, effects = len(term.levels), term.effects
            stop = start + levels * effects
            blocks = by_lambda[start:stop, start:stop].reshape(levels, effects, levels, effects)
            parts.append(np.einsum("iaib->ab", blocks)[np.tril_indices(effects)])
            start = stop
        return np.concatenate(parts)

    def _find_mode(self, offset: Floats, spread: Floats) -> tuple[Floats, Floats, Floats, tuple[Floats, bool]]:
        """Find the mode of u by penalised iteratively reweighted least squares, with step halving.

        Returns:
            The mode, eta, Z' W Z and the Cholesky factor of M.
        """
        design = self.design
        size = len(spread)
        mode = self._mode
        eta = offset + self._random @ (spread @ mode)
        density = _density(design, eta, mode)
        at_zero = _density(design, offset, np.zeros(size))
        if not density >= at_zero:
            mode, eta, density = np.zeros(size), offset, at_zero
        for _ in range(_MODE_STEPS):
            shares = expit(eta)
            cross = (self._by_pair @ (design.trials * shares * (1 - shares))).reshape(size, size)
            factor = cho_factor(spread.T @ cross @ spread + np.eye(size), lower=True)
            slope = spread.T @ (self._by_effect @ (design.errors - design.trials * shares)) - mode
            step = cho_solve(factor, slope)
            promised = float(slope @ step)
            if promised <= _AT_MODE:
                break
            length = 1.0
            while True:
                tried = mode + length * step
                tried_eta = offset + self._random @ (spread @ tried)
                reached = _density(design, tried_eta, tried)
                if reached >= density or promised <= _NEAR_MODE or length < _SMALLEST_STEP:
                    break
                length /= 2
            mode, eta, density = tried, tried_eta, reached
        self._mode = mode
        return mode, eta, cross, factor


def _products_of_pairs(random: csr_array) -> csr_array:
    """Return each row's products of two entries, shape (rows, random effects squared)."""
    rows, size = random.shape
    counts = np.diff(random.indptr)
    row_of_entry = np.repeat(np.arange(rows), counts)
    partners = counts[row_of_entry]
    left = np.repeat(np.arange(random.nnz), partners)
    first_pair = np.cumsum(partners) - partners
    right = np.repeat(random.indptr[row_of_entry] - first_pair, partners) + np.arange(len(left))
    columns = random.indices[left].astype(np.int64) * size + random.indices[right]
    return csr_array((random.data[left] * random.data[right], (row_of_entry[left], columns)), shape=(rows, size * size))


def _density(design: LogisticDesign, eta: Floats, mode: Floats) -> float:
    """Return log p(k | u) + log p(u), constants left out."""
    return float(design.errors @ eta - design.trials @ np.logaddexp(0.0, eta) - mode @ mode / 2)
