"""What goes back to the generator is the review as it was given; what it answers is its last line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.verimap.feedback_loop import final_answer, given_answer, goes_on, revision_prompt
from backend.verimap.prompts import loop_prompt
from backend.verimap.verifier import Review, Verdict, read_review


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("EXPLANATION: The liver is large.\nVERDICT: CORRECT", (Verdict.CORRECT, "The liver is large.")),
        ("VERDICT: INCORRECT\nEXPLANATION: No.\nIt is small.", (Verdict.INCORRECT, "No.\nIt is small.")),
        ("**EXPLANATION:** large **VERDICT:** UNCERTAIN", (Verdict.UNCERTAIN, "large")),
        ("VERDICT: CORRECT\nThe liver is large.", (Verdict.CORRECT, "The liver is large.")),
        ("I think so.", (None, "I think so.")),
        ("<think>VERDICT: CORRECT</think>VERDICT: INCORRECT", (Verdict.INCORRECT, "")),
        ("<think>EXPLANATION: large. VERDICT: CORRECT", (None, "")),
        ("", (None, "")),
    ],
)
def test_a_review_is_verdict_and_explanation_thinking_left_aside(
    reply: str, expected: tuple[Verdict | None, str]
) -> None:
    assert read_review(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("ANSWER: yes", "yes"),
        ("I keep it.\n**ANSWER:** the left lung.**", "the left lung."),
        ("Answer:\nleft", "left"),
        ("ANSWER: left\n\nANSWER: right", "right"),
        ("ANSWER: left\nbecause it is", "left"),
        ("<think>ANSWER: left</think>ANSWER: right", "right"),
        ("The answer: no way", "The answer: no way"),
        ("a mass", "a mass"),
        ("ANSWER:", ""),
        ("", ""),
    ],
)
def test_the_last_line_called_answer_is_the_answer_else_all_that_was_said(reply: str, expected: str) -> None:
    assert final_answer(reply) == expected


@given(st.text())
def test_a_first_answer_is_all_that_was_said_but_for_thinking(text: str) -> None:
    assert given_answer(f"<think>{text.replace('<', '')}</think> a mass ") == "a mass"


def test_a_review_without_verdict_or_explanation_says_none_in_its_place() -> None:
    assert revision_prompt("Q?", "a", Review(None, "It may be.")) == loop_prompt("Q?", "a", "none", "It may be.")
    assert revision_prompt("Q?", "a", Review(Verdict.CORRECT, "")) == loop_prompt("Q?", "a", "CORRECT", "none")


@pytest.mark.parametrize("verdict", [*Verdict, None])
@pytest.mark.parametrize("stop", [True, False])
def test_only_correct_ends_a_loop_and_only_where_it_is_asked_to(verdict: Verdict | None, stop: bool) -> None:
    assert goes_on(Review(verdict, ""), stop_at_correct=stop) is not (stop and verdict is Verdict.CORRECT)
