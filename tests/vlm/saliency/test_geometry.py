"""Image tokens as regions of the original, and their values painted onto it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.vlm.saliency.geometry import View, grid_of, paint, regions_of

WHOLE = View(0, 0, 1, 1, 2, 3)


def test_tokens_come_row_by_row() -> None:
    third = 1 / 3
    expected = [
        [0, 0, third, 0.5],
        [third, 0, 2 * third, 0.5],
        [2 * third, 0, 1, 0.5],
        [0, 0.5, third, 1],
        [third, 0.5, 2 * third, 1],
        [2 * third, 0.5, 1, 1],
    ]
    np.testing.assert_allclose(regions_of([WHOLE]), expected)


def test_a_whole_image_painted_onto_its_own_grid_stays_as_it_is() -> None:
    assert grid_of([WHOLE]) == (2, 3)
    np.testing.assert_allclose(paint([1, 2, 3, 4, 5, 6], regions_of([WHOLE]), (2, 3)), [[1, 2, 3], [4, 5, 6]])


def test_on_pixels_each_value_is_spread_over_its_region() -> None:
    painted = paint([4, 8], regions_of([View(0, 0, 1, 1, 1, 2)]), (2, 4))
    np.testing.assert_allclose(painted, [[1, 1, 2, 2], [1, 1, 2, 2]])


def test_tiles_and_the_whole_add_up() -> None:
    tiles = [View(0, 0, 0.5, 1, 1, 1), View(0.5, 0, 1, 1, 1, 1), View(0, 0, 1, 1, 1, 1)]
    assert grid_of(tiles) == (1, 2)
    np.testing.assert_allclose(paint([1, 2, 10], regions_of(tiles), (1, 2)), [[6, 7]])


def test_a_middle_crop_leaves_the_borders_empty() -> None:
    crop = View(0.25, 0, 0.75, 1, 2, 2)
    assert grid_of([crop]) == (2, 4)
    np.testing.assert_allclose(paint([1, 2, 3, 4], regions_of([crop]), (2, 4)), [[0, 1, 2, 0], [0, 3, 4, 0]])


def test_what_lies_on_padding_alone_is_left_out_and_what_overlaps_it_is_drawn_inside() -> None:
    padded = View(0, -0.5, 1, 1.5, 4, 1)  # a wide image with bars above and below
    assert grid_of([padded]) == (2, 1)
    np.testing.assert_allclose(paint([9, 1, 2, 9], regions_of([padded]), (2, 1)), [[1], [2]])
    partly = View(0, -1, 1, 1, 1, 1)
    np.testing.assert_allclose(paint([3], regions_of([partly]), (1, 1)), [[3]])


@given(
    st.integers(1, 7), st.integers(1, 7), st.integers(1, 23), st.integers(1, 23), st.floats(0, 0.4), st.floats(0.6, 1)
)
def test_painting_loses_nothing_on_any_grid(
    rows: int, columns: int, high: int, wide: int, start: float, end: float
) -> None:
    values = np.random.default_rng(rows).normal(size=rows * columns)
    painted = paint(values, regions_of([View(start, start, end, end, rows, columns)]), (high, wide))
    assert painted.shape == (high, wide)
    assert painted.sum() == pytest.approx(values.sum(), abs=1e-9)
