"""Learning curves on disk."""

from pathlib import Path

import pytest

from backend.demo.curves import CURVES, CurvePoint, begin_curves, keep_point, read_curves
from backend.errors import AppError


def point(step: int, loss: float = 1.0) -> CurvePoint:
    return CurvePoint("answering", step, 2.0 * step, loss, {"atomic": {"polyp_count": (3, 4)}})


def test_what_was_kept_is_read_again_as_it_was(tmp_path: Path) -> None:
    begin_curves(tmp_path, 0)
    for step in (250, 500):
        keep_point(tmp_path, point(step))
    assert read_curves(tmp_path) == [point(250), point(500)]


def test_points_after_the_checkpoint_a_training_goes_on_from_are_measured_again(tmp_path: Path) -> None:
    for step in (250, 500, 750):
        keep_point(tmp_path, point(step, loss=0.5))
    begin_curves(tmp_path, 500)
    keep_point(tmp_path, point(750, loss=0.4))
    assert [(kept.step, kept.training_loss) for kept in read_curves(tmp_path)] == [(250, 0.5), (500, 0.5), (750, 0.4)]


def test_curves_that_are_not_there_are_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(AppError, match=CURVES):
        read_curves(tmp_path)
