"""Pointing scores, by hand."""

import numpy as np
import pytest

from backend.vlm.saliency.pointing import PointingScore, pointing_score

MASK = np.array([[True, True, False, False]])


@pytest.mark.parametrize(
    ("heat", "expected", "times"),
    [
        ([[1, 1, 1, 1]], PointingScore(0.5, 0.5, True), 1.0),
        ([[3, 0, 1, 0]], PointingScore(0.75, 0.5, True), 1.5),
        ([[1, 0, 3, 0]], PointingScore(0.25, 0.5, False), 0.5),
        ([[0, 2, 2, 0]], PointingScore(0.5, 0.5, True), 1.0),
        ([[0, 0, 0, 0]], PointingScore(None, 0.5, None), None),
    ],
)
def test_a_map_scores_the_share_of_it_that_lies_on_the_object(
    heat: list[list[float]], expected: PointingScore, times: float | None
) -> None:
    score = pointing_score(np.array(heat, dtype=float), MASK)
    assert score == expected
    assert score.times_chance == times


def test_without_an_object_there_is_no_chance_to_compare_with() -> None:
    score = pointing_score(np.ones((2, 2)), np.zeros((2, 2), dtype=bool))
    assert (score.mass, score.area, score.is_hit, score.times_chance) == (0.0, 0.0, False, None)


@pytest.mark.parametrize("heat", [np.ones((1, 3)), -np.ones((1, 4)), np.full((1, 4), np.nan)])
def test_what_is_no_map_of_the_mask_is_refused(heat: np.ndarray) -> None:
    with pytest.raises(ValueError, match="map"):
        pointing_score(heat, MASK)
