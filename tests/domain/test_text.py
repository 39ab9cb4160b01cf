"""Unwrapping keeps the words of an answer and drops everything around them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.text import final_answer, json_value, normalise_characters, plain_answer, strip_thinking


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("yes", "yes"),
        ("  yes \n", "yes"),
        ("**yes**", "yes"),
        ("_yes_", "yes"),
        ("`yes`", "yes"),
        ("```\nyes\n```", "yes"),
        ("```text\nyes\n```", "yes"),
        ('"yes"', "yes"),
        ("Answer: yes", "yes"),
        ("answer - yes", "yes"),
        ("Answer\nyes", "yes"),
        ("**Answer:** yes", "yes"),
        ("**Answer**: yes", "yes"),
        ("### Answer\n\nyes", "yes"),
        ("## Final answer:\nyes", "yes"),
        ("The answer is yes", "yes"),
        ("The final answer is: yes", "yes"),
        ("> yes", "yes"),
        ("<answer>yes</answer>", "yes"),
        ("yes<br>no<br/>", "yes\nno"),
        ("<|assistant|>yes<|im_end|>", "yes"),
        ("yes<end_of_turn>", "yes"),
        ("<think>no, or maybe</think>yes", "yes"),
        ("<think>no, or maybe", ""),
        ("no, or maybe</think>\nyes", "yes"),
        ("I look at the corner first. Answer: yes", "yes"),
        ("yes\n\nExplanation: a date stands in the corner", "yes"),
        ("| text | yes |\n|---|---|\n| box | no |", "text: yes\n\nbox: no"),
        ("", ""),
        ("***", ""),
    ],
)
def test_wrapping_goes_and_the_wording_stays(written: str, plain: str) -> None:
    assert plain_answer(written) == plain


def test_an_answer_that_is_itself_about_answering_is_not_cut() -> None:
    assert final_answer("answer cannot be given") == "answer cannot be given"


def test_a_greater_sign_before_a_number_is_no_quotation_mark() -> None:
    assert plain_answer(">20") == ">20"


@pytest.mark.parametrize("dash", list("\u2010\u2011\u2012\u2013\u2014\u2015\u2212"))
def test_every_dash_is_a_hyphen(dash: str) -> None:
    assert plain_answer(f"upper{dash}left") == "upper-left"


def test_dashes_that_appear_only_when_wide_forms_are_folded_are_hyphens_too() -> None:
    assert normalise_characters("upper\uff0dleft \uff11") == "upper-left 1"


def test_curly_quotes_and_no_break_spaces_are_plain() -> None:
    assert normalise_characters("doesn\u2019t\u00a0show \u201ctext\u201d") == 'doesn\'t show "text"'


def test_thinking_is_stripped_where_several_blocks_stand() -> None:
    assert strip_thinking("<think>a</think>one<think>b</think> two").split() == ["one", "two"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"answer": "no"}', {"answer": "no"}),
        ('{"answer": "no"}.', {"answer": "no"}),
        ("{'answer': 'no'}", {"answer": "no"}),
        ('["tube", "snare"]', ["tube", "snare"]),
        ('"no"', None),
        ("1", None),
        ('{"answer": ', None),
        ("[see the corner]", None),
    ],
)
def test_json_is_recognised_where_it_is_json(text: str, value: object) -> None:
    assert json_value(text) == value


@given(st.text(max_size=200))
def test_any_text_can_be_unwrapped_and_twice_changes_no_word(text: str) -> None:
    plain = plain_answer(text)
    assert plain == plain.strip()
    assert len(plain) <= 4 * len(text) + 4


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=3))
def test_an_object_written_as_json_is_read_back(value: dict[str, str]) -> None:
    assert json_value(json.dumps(value)) == value
