"""Cell metrics from printed rates, with values worked out by hand."""

from math import nan
from typing import Any

import pandas as pd
import pytest

from backend.verimap.cell_rates import cell_metrics
from backend.verimap.undefined_rates import Undefined


def one(accuracy: float, fpr: float, fnr: float, undefined: Undefined = Undefined.DROP) -> dict[str, Any]:
    """Return the metrics of one cell."""
    cells = pd.DataFrame({"task": ["t"], "generator_accuracy": [accuracy], "fpr": [fpr], "fnr": [fnr]})
    [row] = cell_metrics(cells, undefined).to_dict("records")
    return {str(name): value for name, value in row.items()}


def test_a_cell_of_ten_answers_gives_the_metrics_of_its_counts() -> None:
    # 6 right of 10; 3 of the 4 wrong ones accepted, 1 of the 6 right ones rejected: FP = 3, FN = 1, N = 10
    row = one(60, 75, 100 / 6)
    assert row["p_g"] == pytest.approx(0.4)
    assert row["bias"] == pytest.approx((3 - 1) / 10)
    assert row["dskew"] == pytest.approx((3 - 1) ** 2 / (10 * (3 + 1) - 2 * 3 * 1))
    assert row["fpr_minus_fnr"] == pytest.approx(0.75 - 1 / 6)


@pytest.mark.parametrize(
    ("cell", "undefined", "expected"),
    [
        ((100, 0, 20), Undefined.DROP, {"fpr": None, "fnr": 0.2, "bias": -0.2, "fpr_minus_fnr": None}),
        ((100, 0, 20), Undefined.AS_PRINTED, {"fpr": 0, "fnr": 0.2, "bias": -0.2, "fpr_minus_fnr": -0.2}),
        ((100, nan, 20), Undefined.AS_PRINTED, {"fpr": 0, "bias": -0.2}),
        ((0, 30, 0), Undefined.DROP, {"fpr": 0.3, "fnr": None, "bias": 0.3, "fpr_minus_fnr": None}),
        ((0, 30, 0), Undefined.AS_PRINTED, {"fnr": 0, "fpr_minus_fnr": 0.3}),
        ((50, 0, 0), Undefined.DROP, {"fpr": 0, "fnr": 0, "bias": 0, "dskew": None}),
        ((50, 0, 0), Undefined.AS_PRINTED, {"dskew": 0}),
        ((50, nan, 10), Undefined.DROP, {"fpr": None, "fnr": 0.1, "bias": None, "dskew": None}),
        ((50, nan, 10), Undefined.AS_PRINTED, {"fpr": None, "fnr": 0.1, "bias": None, "dskew": None}),
    ],
)
def test_a_rate_over_nothing_is_dropped_or_taken_as_printed(
    cell: tuple[float, float, float], undefined: Undefined, expected: dict[str, float | None]
) -> None:
    row = one(*cell, undefined)
    for name, value in expected.items():
        if value is None:
            assert pd.isna(row[name]), name
        else:
            assert row[name] == pytest.approx(value), name


def test_other_columns_are_kept() -> None:
    assert one(50, 10, 10)["task"] == "t"
