"""A plan is cut into batches at fixed places, images together, no larger than the VLM's pace allows."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.services.runs.batches import LARGEST, TRIAL, Sizes, batches, cut, size_for
from backend.services.runs.plan import Item


def items_of(of_images: list[int]) -> list[Item]:
    """Return a plan of so many questions about each image."""
    return [
        Item(f"{image}.{at}", "", "", "", str(image), "", None, None)
        for image, n in enumerate(of_images)
        for at in range(n)
    ]


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(1, 10))
def test_batches_hold_every_item_once_in_order_and_part_an_image_only_where_they_must(
    of_images: list[int], size: int
) -> None:
    items = items_of(of_images)
    cut = [list(batch) for batch in batches(items, size)]
    assert [item for batch in cut for item in batch] == items
    assert all(1 <= len(batch) <= size for batch in cut)
    for image, n in enumerate(of_images):
        n_batches = sum(any(item.image_id == str(image) for item in batch) for batch in cut)
        assert n_batches == 1 if n <= size else n_batches >= 2
    shorter = [list(batch) for batch in batches(items[: len(items) // 2], size)]
    assert shorter[:-1] == cut[: max(len(shorter) - 1, 0)]


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(1, 10), st.integers(0, 6))
def test_wherever_the_pace_becomes_known_a_later_session_cuts_at_the_same_places(
    of_images: list[int], size: int, n_trials: int
) -> None:
    items = items_of(of_images)
    sizes, first = [Sizes(TRIAL, None)], []
    for number, batch in enumerate(cut(items, lambda: sizes[-1])):
        first.append(list(batch))
        if number == n_trials:
            sizes.append(Sizes(size, sum(map(len, first))))
    assert [item for batch in first for item in batch] == items
    assert [list(batch) for batch in cut(items, lambda: sizes[-1])] == first
    assert all(len(batch) <= (TRIAL if number <= n_trials else size) for number, batch in enumerate(first))


def test_a_size_that_was_given_is_that_of_all_batches() -> None:
    items = items_of([3, 3, 3, 3])
    assert [len(batch) for batch in cut(items, lambda: Sizes(6))] == [6, 6]


def test_while_no_pace_is_known_batches_stay_small() -> None:
    items = items_of([1] * 10)
    ends = list(accumulate(len(batch) for batch in cut(items, lambda: Sizes(TRIAL, None))))
    assert ends == [4, 8, 10]


@pytest.mark.parametrize(
    ("seconds", "n_calls", "size"),
    [
        pytest.param(0.08, 4, LARGEST, id="a quick VLM is given as many as is allowed"),
        pytest.param(4.0, 4, 15, id="a second each: as many as fit into a quarter of a minute"),
        pytest.param(160.0, 4, 1, id="a slow one is asked one by one"),
        pytest.param(0.0, 4, LARGEST, id="no time at all"),
    ],
)
def test_a_batch_holds_what_the_vlm_answers_in_a_quarter_of_a_minute(seconds: float, n_calls: int, size: int) -> None:
    assert size_for(seconds, n_calls) == size
