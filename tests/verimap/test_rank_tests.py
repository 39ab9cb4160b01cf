"""Tests by ranks, on tables small enough to count."""

from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.verimap.rank_tests import Alternative, kruskal_wallis, wilcoxon_signed_rank

NAMES = ("self", "cross")


def test_five_pairs_that_all_rise_have_one_chance_in_thirty_two() -> None:
    test = wilcoxon_signed_rank([2, 4, 6, 8, 10], [1, 2, 3, 4, 5], names=NAMES, alternative=Alternative.GREATER)
    assert test is not None
    assert (test.statistic, test.exact) == (15, True)
    assert test.p == pytest.approx(1 / 32)
    assert test.hypothesis == "H1: self > cross, one-sided"


def test_two_sided_doubles_and_less_looks_the_other_way() -> None:
    first, second = [2, 4, 6, 8, 10], [1, 2, 3, 4, 5]
    both = wilcoxon_signed_rank(first, second, names=NAMES)
    less = wilcoxon_signed_rank(first, second, names=NAMES, alternative=Alternative.LESS)
    assert both is not None and less is not None
    assert (both.p, less.p) == pytest.approx((2 / 32, 1.0))
    assert both.hypothesis == "H1: self ≠ cross, two-sided"


def test_pairs_without_a_difference_and_without_a_value_are_counted_apart() -> None:
    test = wilcoxon_signed_rank([1, 2, None, 4, 0.1 + 0.2], [1, 1, 3, nan, 0.3], names=NAMES)
    assert test is not None
    assert (test.n_pairs, test.n_equal, test.n_undefined) == (3, 2, 2)


def test_pairs_that_never_differ_give_a_p_of_one_and_no_pair_gives_no_test() -> None:
    test = wilcoxon_signed_rank([1, 2], [1, 2], names=NAMES)
    assert test is not None
    assert (test.n_equal, test.statistic, test.p) == (2, 0.0, 1.0)
    assert wilcoxon_signed_rank([None], [1], names=NAMES) is None
    assert wilcoxon_signed_rank([], [], names=NAMES) is None


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=40))
def test_swapping_the_sides_swaps_the_hypothesis(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    greater = wilcoxon_signed_rank(first, second, names=NAMES, alternative=Alternative.GREATER)
    less = wilcoxon_signed_rank(second, first, names=("cross", "self"), alternative=Alternative.LESS)
    assert greater is not None and less is not None
    assert less.p == pytest.approx(greater.p)
    assert 0 <= greater.p <= 1


def test_three_separate_groups_of_three_have_the_largest_h() -> None:
    test = kruskal_wallis({"a": [1, 2, 3], "b": [4, 5, 6], "c": [7, 8, 9], "empty": [None, nan]})
    assert test is not None
    # rank sums 6, 15, 24: H = 12 / (9 * 10) * (6² + 15² + 24²) / 3 - 3 * 10
    assert test.statistic == pytest.approx(7.2)
    assert test.df == 2
    assert test.groups == {"a": 3, "b": 3, "c": 3}


def test_one_group_or_equal_values_are_no_test() -> None:
    assert kruskal_wallis({"a": [1, 2], "b": []}) is None
    assert kruskal_wallis({"a": [1, 1], "b": [1]}) is None
