"""Where a verifier falls on the plane."""

import pytest

from backend.verimap.counts import Counts
from backend.verimap.quadrants import BiasAxis, PlaneThresholds, Quadrant, quadrant, too_small

T = PlaneThresholds()


@pytest.mark.parametrize(
    ("error", "bias", "axis", "place"),
    [
        (0.40, 0.60, BiasAxis.FPR, Quadrant.MIRAGE),
        (0.39, 0.60, BiasAxis.FPR, Quadrant.LENIENT),
        (0.40, 0.59, BiasAxis.FPR, Quadrant.UNRELIABLE),
        (0.39, 0.59, BiasAxis.FPR, Quadrant.DESIRED),
        (0.50, 0.35, BiasAxis.BIAS, Quadrant.MIRAGE),
        (0.50, -0.50, BiasAxis.BIAS, Quadrant.UNRELIABLE),
        (0.50, 0.30, BiasAxis.DSKEW, Quadrant.MIRAGE),
        (0.50, -0.30, BiasAxis.SIGNED_DSKEW, Quadrant.UNRELIABLE),
        (0.50, None, BiasAxis.FPR, None),
        (None, 0.50, BiasAxis.FPR, None),
    ],
)
def test_a_value_on_a_threshold_is_high_and_an_undefined_one_has_no_place(
    error: float | None, bias: float | None, axis: BiasAxis, place: Quadrant | None
) -> None:
    assert quadrant(error, bias, axis, T) is place


def test_dskew_alone_takes_a_verifier_that_rejects_everything_for_a_mirage_and_its_signed_form_does_not() -> None:
    refusing = Counts(fn=6, tn=4)
    assert quadrant(refusing.error, refusing.dskew, BiasAxis.DSKEW, T) is Quadrant.MIRAGE
    assert quadrant(refusing.error, refusing.signed_dskew, BiasAxis.SIGNED_DSKEW, T) is Quadrant.UNRELIABLE


def test_thresholds_can_be_moved_but_not_out_of_range() -> None:
    assert quadrant(0.3, 0.5, BiasAxis.FPR, PlaneThresholds(error=0.3, fpr=0.5)) is Quadrant.MIRAGE
    with pytest.raises(ValueError, match="shares"):
        PlaneThresholds(error=40)
    with pytest.raises(ValueError, match="at least one"):
        PlaneThresholds(min_n=0)


def test_a_cell_is_too_small_below_thirty_verdicts_or_where_nobody_printed_n() -> None:
    assert [too_small(n, T) for n in (29, 30, None)] == [True, False, True]


def test_the_two_corners_that_the_paper_names_have_its_names() -> None:
    assert (Quadrant.MIRAGE.label, Quadrant.DESIRED.label) == ("verification mirage", "desired regime")
    assert all(place.plain for place in Quadrant)
