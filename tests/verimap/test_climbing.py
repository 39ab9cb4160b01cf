"""The way to the top of a likelihood."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from backend.verimap.climbing import newton_steps, promised_gain, rough_climb

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Height:
    """A value and its gradient."""

    value: float
    gradient: Floats


def twin_peaks(point: Floats) -> Height:
    """Peaks of height 1 at (±1, 0), a saddle of height 0 between them."""
    x, y = point
    return Height(2 * x**2 - x**4 - y**2, np.array([4 * x - 4 * x**3, -2 * y]))


def twin_curvature(point: Floats) -> Floats:
    """Negative second derivatives of `twin_peaks`."""
    return np.diag([12 * point[0] ** 2 - 4, 2.0])


def test_both_climbs_end_at_the_top() -> None:
    start = np.array([0.5, 2.0])
    rough = rough_climb(twin_peaks, start)
    exact = newton_steps(twin_peaks, twin_curvature, start, least_gain=1e-14)
    assert rough is not None and rough == pytest.approx([1, 0], abs=1e-3)
    assert exact is not None and exact == pytest.approx([1, 0], abs=1e-6)


def test_newton_steps_leave_a_saddle() -> None:
    end = newton_steps(twin_peaks, twin_curvature, np.array([0.0, 0.0]), least_gain=1e-12)
    assert end is not None
    assert twin_peaks(end).value == pytest.approx(1)


def test_a_climb_towards_infinity_ends_out_of_reach() -> None:
    def slope(point: Floats) -> Height:
        return Height(float(-np.exp(-point[0])), np.exp(-point))

    end = newton_steps(slope, lambda point: np.diag(np.exp(-point)), np.zeros(1), least_gain=1e-300, reach=5)
    assert end is not None
    assert 5 < end[0] < 10


def test_a_promise_is_kept_by_a_parabola() -> None:
    curvature = np.array([[2.0, 0.5], [0.5, 1.0]])
    top = np.array([1.0, -2.0])
    gap = top.copy()
    assert promised_gain(curvature @ top, curvature) == pytest.approx(gap @ curvature @ gap / 2)


def test_numbers_that_overflow_end_a_climb_without_a_result() -> None:
    def broken(point: Floats) -> Height:
        raise ValueError

    assert rough_climb(broken, np.zeros(2)) is None
    assert newton_steps(broken, twin_curvature, np.zeros(2), least_gain=1e-9) is None
