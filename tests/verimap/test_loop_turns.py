"""What counts at a turn, by hand: one loop that ends at turn 0, one that goes on to turn 2."""

import pandas as pd
import pytest

from backend.verimap.loop_turns import Cumulation, counted_turns

TURNS = pd.DataFrame(
    {
        "loop": ["short", "long", "long", "long", "long"],
        "turn": [0, 0, 1, 2, 3],
        "ends": [0, 2, 2, 2, 2],
    }
)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        (
            Cumulation.STANDING,
            {0: ["short 0", "long 0"], 1: ["short 0", "long 1"], 2: ["short 0", "long 2"]},
        ),
        (
            Cumulation.ADDED_UP,
            {
                0: ["short 0", "long 0"],
                1: ["short 0", "long 0", "long 1"],
                2: ["short 0", "long 0", "long 1", "long 2"],
            },
        ),
        (Cumulation.BY_ITSELF, {0: ["short 0", "long 0"], 1: ["long 1"], 2: ["long 2"]}),
    ],
)
def test_each_way_counts_what_it_says(how: Cumulation, expected: dict[int, list[str]]) -> None:
    counted = counted_turns(TURNS, how, range(3))
    found = {
        at: [f"{loop} {turn}" for loop, turn in zip(group["loop"], group["turn"], strict=True)]
        for at, group in counted.groupby("at")
    }
    assert found == expected
    assert how.plain


def test_what_comes_after_a_loop_s_end_never_counts() -> None:
    for how in Cumulation:
        assert 3 not in set(counted_turns(TURNS, how, range(5))["turn"])


def test_without_a_turn_there_is_nothing_to_count() -> None:
    assert counted_turns(TURNS, Cumulation.STANDING, []).empty
