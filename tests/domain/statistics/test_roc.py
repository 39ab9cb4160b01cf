"""The area under the ROC curve, against values counted by hand and pair by pair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.statistics.roc import roc_area

SCORES = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("positive", "negative", "area"),
    [
        ([0.9, 0.8], [0.1, 0.2], 1.0),
        ([0.1, 0.2], [0.9, 0.8], 0.0),
        ([0.5], [0.5], 0.5),
        # Pairs: .8 above .6 and .4, .5 above .4 only: 3 of 4.
        ([0.8, 0.5], [0.6, 0.4], 0.75),
        # .5 ties with .5 and loses to .9, .7 wins once: (0.5 + 0 + 1 + 0) of 4.
        ([0.5, 0.7], [0.5, 0.9], 0.375),
    ],
)
def test_the_area_is_the_share_of_pairs_in_the_right_order(
    positive: list[float], negative: list[float], area: float
) -> None:
    found = roc_area(positive, negative)
    assert found is not None
    assert found.value == pytest.approx(area)
    assert (found.n_positive, found.n_negative) == (len(positive), len(negative))


@pytest.mark.parametrize(("positive", "negative"), [([], [0.5]), ([0.5], []), ([], [])])
def test_without_two_groups_there_is_no_area(positive: list[float], negative: list[float]) -> None:
    assert roc_area(positive, negative) is None


@given(SCORES, SCORES)
def test_turning_the_groups_round_turns_the_area_round(positive: list[float], negative: list[float]) -> None:
    there, back = roc_area(positive, negative), roc_area(negative, positive)
    assert there is not None and back is not None
    pairs = [1.0 if p > n else 0.5 if p == n else 0.0 for p in positive for n in negative]
    assert there.value == pytest.approx(sum(pairs) / len(pairs))
    assert there.value + back.value == pytest.approx(1)
    assert 0 <= there.low <= there.value <= there.high <= 1


def test_the_interval_is_that_of_hanley_and_mcneil() -> None:
    # Area 0.75, 2 and 2 scores: Q1 = .75/1.25 = .6, Q2 = 2(.5625)/1.75 = .642857,
    # variance = (.1875 + (.6 - .5625) + (.642857 - .5625)) / 4 = .0763393, root .276296; 1.959964 of it is .541530.
    found = roc_area([0.8, 0.5], [0.6, 0.4])
    assert found is not None
    assert found.low == pytest.approx(0.75 - 0.541530, abs=1e-5)
    assert found.high == 1.0
