"""Least-squares slopes by task."""

import pandas as pd
import pytest

from backend.verimap.cell_rates import cell_metrics
from backend.verimap.slopes import least_squares_slope, slopes_by
from backend.verimap.undefined_rates import Undefined
from tests.conftest import ROOT

PUBLISHED = pd.read_csv(ROOT / "data" / "published" / "verimap_cells.csv")


def test_a_slope_by_hand() -> None:
    # means 1 and 2; Sxy = 3, Sxx = 2: slope 1.5; residuals 0.5, -1, 0.5: s² = 1.5, se = sqrt(0.75)
    found = least_squares_slope([0, 1, 2], [1, 1, 4])
    assert found is not None
    assert (found.slope, found.intercept, found.se) == pytest.approx((1.5, 0.5, 0.75**0.5))
    assert found.low == pytest.approx(1.5 - 12.7062 * 0.75**0.5, rel=1e-4)
    assert found.n == 3


@pytest.mark.parametrize(("x", "y"), [([0, 1], [0, 1]), ([1, 1, 1], [0, 1, 2]), ([0, 1, 2], [3, 3, 3])])
def test_a_slope_that_is_not_defined_is_none(x: list[float], y: list[float]) -> None:
    assert least_squares_slope(x, y) is None


@pytest.mark.parametrize(
    ("undefined", "n", "slope", "p"), [(Undefined.AS_PRINTED, 30, 0.78, 0.0001), (Undefined.DROP, 28, 0.07, 0.76)]
)
def test_the_steepest_printed_slope_rests_on_two_cells_without_a_wrong_answer(
    undefined: Undefined, n: int, slope: float, p: float
) -> None:
    found = slopes_by(cell_metrics(PUBLISHED, undefined), "fpr")["causal_explanation"]
    assert found is not None
    assert found.n == n
    assert [found.slope, found.p] == pytest.approx([slope, p], abs=5e-3)


def test_every_task_has_its_slope() -> None:
    assert len(slopes_by(cell_metrics(PUBLISHED), "bias")) == 7
