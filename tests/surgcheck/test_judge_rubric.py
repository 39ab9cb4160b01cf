"""The rubric tells a judge all it needs on one answer, and its reply is read or found unreadable, never guessed."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.surgcheck.judge_rubric import TEMPLATES, Judgement, again_prompt, read_judgement, rubric_prompt


def test_a_prompt_holds_question_reference_prediction_scale_and_rules() -> None:
    prompt = rubric_prompt("Which tool is in the red box?", "grasper", "It looks like\n a grasping  forceps.")
    for words in (
        "Question: Which tool is in the red box?\n",
        "Reference: grasper\n",
        "Prediction: It looks like a grasping forceps.\n",
        "1: completely different",
        "3: partially correct",
        "5: perfectly equivalent",
        "yes or no",
        "action and a target",
        '{"score": <1 to 5>, "reason": "<one sentence>"}',
    ):
        assert words in prompt


def test_an_empty_prediction_is_said_to_be_one() -> None:
    assert "Prediction: (nothing)\n" in rubric_prompt("q", "r", "  ")


@settings(deadline=None)
@given(st.text(string.printable), st.text(string.printable), st.text(string.printable))
def test_no_text_can_add_a_line_to_the_rubric_or_break_it(question: str, reference: str, prediction: str) -> None:
    lines = TEMPLATES["judge"].count("\n")
    assert rubric_prompt(question, reference, prediction).count("\n") == lines


def test_the_reminder_repeats_the_whole_prompt() -> None:
    prompt = rubric_prompt("q", "{score}", "p")
    assert again_prompt(prompt).startswith(prompt + "\n") and "no such object" in again_prompt(prompt)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"score": 4, "reason": "Same tool."}', Judgement(4, "Same tool.")),
        ('{"score":5,"reason":""}', Judgement(5, "")),
        ('{"score": 3}', Judgement(3, "")),
        ('{"score": "2", "reason": "x"}', Judgement(2, "x")),
        ('{"score": 4.0, "reason": "x"}', Judgement(4, "x")),
        ('```json\n{"score": 1, "reason": "Opposite."}\n```', Judgement(1, "Opposite.")),
        ('<think>maybe {"score": 5}</think>{"score": 2, "reason": "x"}', Judgement(2, "x")),
        ('Sure. Here it is: {"score": 4, "reason": "it says {grasper}"}', Judgement(4, "it says {grasper}")),
        ('{"note": {"score": 5}}', None),
        ('No object { here, but {"score": 2, "reason": "x"} is', Judgement(2, "x")),
        ('First {"score": 2, "reason": "a"}, no: {"score": 3, "reason": "b"}', Judgement(3, "b")),
        ("{'score': 4, 'reason': 'x'}", Judgement(4, "x")),
        ('{"score": 4, "reason": {"why": "x"}}', Judgement(4, "")),
        ('{"score": 0, "reason": "x"}', None),
        ('{"score": 6, "reason": "x"}', None),
        ('{"score": 4.5, "reason": "x"}', None),
        ('{"score": true, "reason": "x"}', None),
        ('{"score": null, "reason": "x"}', None),
        ('{"reason": "x"}', None),
        ("[4]", None),
        ("4", None),
        ("Score: 4", None),
        ('{"score": 4, "reason": "cut off in the', None),
        ("", None),
    ],
)
def test_a_reply_gives_the_score_it_states_or_none(reply: str, expected: Judgement | None) -> None:
    assert read_judgement(reply) == expected


@settings(deadline=None)
@given(st.text())
def test_any_reply_is_read_without_an_error(reply: str) -> None:
    judgement = read_judgement(reply)
    assert judgement is None or 1 <= judgement.score <= 5
