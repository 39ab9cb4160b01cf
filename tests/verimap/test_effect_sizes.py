"""Cohen's d."""

from math import nan, sqrt

import pytest

from backend.verimap.effect_sizes import paired_difference


def test_both_forms_of_d_by_hand() -> None:
    # differences 1, 2, 3; first side 3, 5, 7 (variance 4), second 2, 3, 4 (variance 1)
    found = paired_difference([3, 5, 7, None], [2, 3, 4, 9])
    assert found is not None
    assert (found.n, found.mean) == (3, 2)
    assert found.d_paired == pytest.approx(2 / 1)
    assert found.d_pooled == pytest.approx(2 / sqrt((4 + 1) / 2))


def test_a_constant_difference_has_no_paired_d_and_constant_sides_have_none_at_all() -> None:
    shifted = paired_difference([2, 3], [1, 2])
    assert shifted is not None
    assert shifted.d_paired is None
    assert shifted.d_pooled == pytest.approx(sqrt(2))
    rounded = paired_difference([0.8, 0.7], [0.5, 0.4])
    assert rounded is not None and rounded.d_paired is None, "both differ by 0.3"
    tiny = paired_difference([3e-15, 5e-15, 7e-15], [2e-15, 3e-15, 4e-15])
    assert tiny is not None and tiny.d_paired == pytest.approx(2), "a unit decides nothing"
    fixed = paired_difference([2, 2], [1, 1])
    assert fixed is not None
    assert (fixed.d_paired, fixed.d_pooled) == (None, None)


def test_fewer_than_two_pairs_have_no_effect_size() -> None:
    assert paired_difference([1, nan], [0, 1]) is None
