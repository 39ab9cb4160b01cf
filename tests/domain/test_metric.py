"""Values read the same everywhere: percent with one decimal, counts beside it, N/A for undefined."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.metric import Estimate, describe_estimate, percent, points

fractions = st.floats(min_value=0, max_value=1)


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(0.551, "55.1 %"), (0.0, "0.0 %"), (1.0, "100.0 %"), (2 / 3, "66.7 %"), (None, "N/A")],
)
def test_a_fraction_reads_as_percent_with_one_decimal(fraction: float | None, text: str) -> None:
    assert percent(fraction) == text


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (0.031, "+3.1 points"),
        (-0.103, "−10.3 points"),
        (0.0, "0.0 points"),
        (-0.0004, "0.0 points"),
        (0.0004, "0.0 points"),
        (0.0006, "+0.1 points"),
        (None, "N/A"),
    ],
)
def test_a_difference_reads_in_points_with_its_sign(difference: float | None, text: str) -> None:
    assert points(difference) == text


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(0.551, 0.540, 0.562, 6612, 12000), "55.1 % (54.0–56.2), 6,612/12,000"),
        (Estimate(0.5, None, None, 1, 2), "50.0 %, 1/2"),
        (Estimate(0.425, 0.4, 0.45, None, 1898), "42.5 % (40.0–45.0), n = 1,898"),
        (Estimate(None, None, None, 0, 0), "N/A"),
        (Estimate(0.0, 0.0, 0.1, 0, 34), "0.0 % (0.0–10.0), 0/34"),
    ],
)
def test_an_estimate_reads_with_interval_and_counts(estimate: Estimate, text: str) -> None:
    assert describe_estimate(estimate) == text


@pytest.mark.parametrize("value", [55.1, -0.1, math.nan, math.inf])
def test_an_estimate_refuses_what_is_no_fraction(value: float) -> None:
    with pytest.raises(ValueError, match="fraction"):
        Estimate(value, None, None, None, 10)


def test_an_estimate_refuses_half_an_interval() -> None:
    with pytest.raises(ValueError, match="two bounds"):
        Estimate(0.5, 0.4, None, 5, 10)


@given(fractions)
def test_percent_never_shows_nan_or_a_sign(fraction: float) -> None:
    assert 0 <= float(percent(fraction).removesuffix(" %")) <= 100
