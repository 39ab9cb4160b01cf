"""A typed question is asked on one line, and one that is too long is refused."""

import pytest

from backend.endoca.typed_questions import MAX_QUESTION, typed_question
from backend.errors import AppError


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("Is there text?", "Is there text?"),
        ("  Is there\n text?\r\n", "Is there text?"),
        ("Is\u2028there\ttext?", "Is there text?"),
        (" \n ", ""),
        ("?" * MAX_QUESTION, "?" * MAX_QUESTION),
    ],
)
def test_a_question_is_asked_on_one_line_with_one_space_between_its_words(typed: str, asked: str) -> None:
    assert typed_question(typed) == asked


def test_a_question_that_is_too_long_is_refused_in_words_that_say_which_and_how_long() -> None:
    with pytest.raises(AppError, match=r"2,001 characters; at most 2,000") as refused:
        typed_question("green " + "?" * (MAX_QUESTION - 5))
    assert "“green ????" in refused.value.hint
    assert len(refused.value.hint) < 100
