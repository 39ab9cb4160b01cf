"""A reply that goes round in circles is noticed, and one that lists or stresses is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.repetition import repeats_itself


@pytest.mark.parametrize(
    "text",
    [
        "polyp polyp polyp polyp polyp polyp",
        "Two polyps are visible. Two polyps are visible. Two polyps are visible.",
        "two polyps are visible. two polyps are visible. two polyps are visible",
        "One polyp.\nOne POLYP.\n\nOne polyp. One polyp. One po",
        "text is present, " + "in the upper-left and " * 4 + "in the up",
        "........................",
        "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "upper-left; upper-left; upper-left; upper-left",
    ],
)
def test_the_same_words_over_and_over_at_the_end_are_noticed(text: str) -> None:
    assert repeats_itself(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "No, no, no.",
        "polyp; polyp; polyp",
        "two polyps are visible, no text is present, and the instrument is in the lower-left",
        "upper-left; upper-center; upper-right; center-left; center; center-right",
        "Two polyps are visible. Two polyps are visible.",
        "polyp polyp polyp polyp polyp polyp, so there are six of them",
        '{"answer": "no polyp is visible", "consistency": "consistent", "decision": "answer"}',
    ],
)
def test_a_reply_that_comes_to_an_end_is_not(text: str) -> None:
    assert not repeats_itself(text)


@given(
    start=st.text(max_size=30),
    said=st.text(alphabet="abcdefgh ", min_size=20, max_size=60).filter(lambda text: len(text.split()) > 2),
    times=st.integers(3, 12),
)
def test_three_times_is_enough_whatever_was_said_before(start: str, said: str, times: int) -> None:
    assert repeats_itself(f"{start} " + f"{said}. " * times)


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    assert repeats_itself(text) in (True, False)
