"""The way to the top of a likelihood: a quasi-Newton search, then Newton steps.

Both maximise. The functions climbed here are smooth and even in each standard deviation, so there are no bounds to
keep. Whether the end is a maximum is for the caller to judge, by gradient and curvature.
"""

__all__ = ["Climbed", "newton_steps", "promised_gain", "rough_climb"]

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError
from scipy.optimize import minimize

Floats = npt.NDArray[np.float64]

_ROUGH_GRADIENT = 1e-3
_ROUGH_STEPS = 300
_NEWTON_STEPS = 25
_LEAST_CURVATURE = 1e-9
"""Curvatures below this share of the largest are raised to it, so that no step is endless."""
_SHORTEST = 1e-6
_SIDESTEPS = (0.03, 0.1, 0.3)
"""How far to step off a saddle, along the direction that curves most the wrong way."""


class Climbed(Protocol):
    """A function's value and gradient at one point."""

    @property
    def value(self) -> float:
        """The height."""

    @property
    def gradient(self) -> Floats:
        """Its first derivatives."""


def rough_climb(at: Callable[[Floats], Climbed], start: Floats, reach: float = np.inf) -> Floats | None:
    """Climb by BFGS until the gradient is small.

    Args:
        at: The function.
        start: Where to begin.
        reach: A search ends where a parameter is larger than this: it is on its way to infinity.

    Returns:
        Where the search ended; None where numbers overflowed on its way.
    """

    def loss(point: Floats) -> tuple[float, Floats]:
        found = at(point)
        return -found.value, -found.gradient

    def stop_out_of_reach(intermediate_result: object) -> None:
        if np.abs(intermediate_result.x).max() > reach:  # type: ignore[attr-defined]
            raise StopIteration

    try:
        with np.errstate(all="ignore"):
            found = minimize(
                loss,
                start,
                jac=True,
                method="BFGS",
                callback=stop_out_of_reach,
                options={"gtol": _ROUGH_GRADIENT, "maxiter": _ROUGH_STEPS},
            )
    except (LinAlgError, ValueError):
        return None
    return np.asarray(found.x) if np.isfinite(found.fun) else None


def newton_steps(
    at: Callable[[Floats], Climbed],
    curvature: Callable[[Floats], Floats],
    start: Floats,
    *,
    least_gain: float,
    reach: float = np.inf,
) -> Floats | None:
    """Climb by Newton steps, shortened as long as they do not lead up.

    Along directions that curve the wrong way a step goes uphill all the same; where the gradient vanishes on a
    saddle, the climb goes on from a point beside it if that lies higher.

    Args:
        at: The function.
        curvature: Its negative second derivatives, shape (parameters, parameters).
        start: Where to begin.
        least_gain: The steps end when the next promises less.
        reach: As in `rough_climb`.

    Returns:
        Where the steps ended; None where numbers overflowed on their way.
    """
    try:
        point, here = start, at(start)
        if not len(point):
            return point
        for _ in range(_NEWTON_STEPS):
            values, vectors = np.linalg.eigh(curvature(point))
            sizes = np.maximum(np.abs(values), _LEAST_CURVATURE * np.abs(values).max())
            step = vectors @ ((vectors.T @ here.gradient) / sizes)
            if np.abs(point).max() > reach:
                break
            if float(here.gradient @ step) / 2 < least_gain:
                aside = max((point + size * vectors[:, 0] for size in _SIDESTEPS), key=lambda tried: at(tried).value)
                if values[0] >= 0 or at(aside).value <= here.value + least_gain:
                    break
                point, here = aside, at(aside)
                continue
            length = 1.0
            while length > _SHORTEST and not at(point + length * step).value > here.value:
                length /= 4
            if length <= _SHORTEST:
                break
            point = point + length * step
            here = at(point)
    except (LinAlgError, ValueError):
        return None
    return point


def promised_gain(gradient: Floats, curvature: Floats) -> float:
    """Return by how much a Newton step promises to climb; the curvature is positive definite."""
    return float(gradient @ np.linalg.solve(curvature, gradient)) / 2
