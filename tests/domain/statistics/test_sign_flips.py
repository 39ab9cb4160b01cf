"""The sign-flip test counts all sign combinations, and is McNemar's where clusters are single pairs."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.statistics.paired_tests import mcnemar_exact
from backend.domain.statistics.sign_flips import sign_flip_exact


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([], 1.0),
        ([0, 0, 0], 1.0),
        ([1], 1.0),  # +1 and −1 are both as far as what was seen
        ([2, 1], 0.5),  # totals ±3, ±1: two of four reach 3
        ([2, -1], 1.0),  # total 1: all four reach it
        ([3, 3, 3, 3, 3], 2 / 32),
        ([1, 1, 1, -1], 10 / 16),  # total 2: all signs alike 2, three alike 8
        ([5, 0, 0], 1.0),
    ],
)
def test_p_is_the_share_of_sign_combinations_at_least_as_far_from_zero(differences: list[int], expected: float) -> None:
    assert sign_flip_exact(differences) == pytest.approx(expected)


@settings(deadline=None)
@given(st.lists(st.integers(-4, 4), max_size=9))
def test_it_agrees_with_counting_every_combination(differences: list[int]) -> None:
    totals = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    assert sign_flip_exact(differences) == pytest.approx(np.mean([total >= abs(sum(differences)) for total in totals]))


@given(st.integers(0, 60), st.integers(0, 60))
def test_with_one_discordant_pair_a_cluster_it_is_mcnemar_s(a_only: int, b_only: int) -> None:
    assert sign_flip_exact([1] * a_only + [-1] * b_only) == pytest.approx(mcnemar_exact(a_only, b_only))


@settings(deadline=None)
@given(st.lists(st.integers(-4, 4), max_size=9))
def test_the_two_conditions_may_change_places(differences: list[int]) -> None:
    assert sign_flip_exact(differences) == pytest.approx(sign_flip_exact([-d for d in differences]))


def test_pairs_that_fall_together_are_weaker_evidence_than_single_ones() -> None:
    assert sign_flip_exact([4, 4, 4]) > sign_flip_exact([1] * 12)


def test_half_a_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="whole number"):
        sign_flip_exact([0.5, 1])
