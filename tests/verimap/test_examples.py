"""One example of a data set."""

import pytest

from backend.verimap.examples import Example, Option, question_with_options
from backend.verimap.vocabulary import Dataset


def example(options: tuple[Option, ...], letter: str) -> Example:
    return Example(
        source_id="1",
        dataset=Dataset.PMC_VQA,
        images=("a.jpg",),
        question="Which side?",
        reference="left",
        options=options,
        reference_letter=letter,
    )


def test_options_stand_below_the_question_only_where_they_are_asked_for() -> None:
    made = example((Option("A", "left"), Option("B", "right")), "A")
    assert made.question == "Which side?"
    assert question_with_options(made.question, made.options) == "Which side?\nA: left\nB: right"
    assert question_with_options("Which side?", ()) == "Which side?"


def test_the_right_option_is_one_of_the_options() -> None:
    with pytest.raises(ValueError, match="no option has the letter 'C'"):
        example((Option("A", "left"),), "C")
