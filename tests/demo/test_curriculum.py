"""The learning rate of a stage rises to its highest and falls along a cosine."""

import pytest

from backend.demo.curriculum import CURRICULUM, Stage

STAGE = Stage("s", 200, endoscopy=1, surgical=1, learning_rate=0.01, last_rate=0.2, naming=1)


@pytest.mark.parametrize(
    ("number", "rate"),
    [
        pytest.param(0, 0.01 / 50, id="the first of fifty steps of warm-up"),
        pytest.param(100, 0.006, id="half way the mean of highest and last"),
        pytest.param(150, 0.01 * (1 - 0.8 * (1 + 0.5**0.5) / 2), id="three quarters"),
        pytest.param(200, 0.002, id="where the stage ends"),
    ],
)
def test_the_rate_warms_up_and_then_falls_along_a_cosine(number: int, rate: float) -> None:
    assert STAGE.rate(number) == pytest.approx(rate, rel=1e-3)


def test_the_rate_never_leaves_zero_to_the_highest() -> None:
    assert all(0 < stage.rate(number) <= stage.learning_rate for stage in CURRICULUM for number in range(stage.steps))
