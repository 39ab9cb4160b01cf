"""What a verifier's reply says of an answer."""

import pytest

from backend.verimap.prompts import verify_prompt
from backend.verimap.verifier import Verdict, parse_verdict


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("EXPLANATION: Two polyps are visible.\nVERDICT: CORRECT", Verdict.CORRECT),
        ("EXPLANATION: Two polyps are visible.\nVERDICT: INCORRECT", Verdict.INCORRECT),
        ("VERDICT: UNCERTAIN\nEXPLANATION: The frame is dark.", Verdict.UNCERTAIN),
        ("**Verdict:** incorrect", Verdict.INCORRECT),
        ("Verdict - not correct", Verdict.INCORRECT),
        ("VERDICT: CORRECT\nEXPLANATION: nothing is incorrect here", Verdict.CORRECT),
        ("The answer is incorrect.", Verdict.INCORRECT),
        ("The answer is correct.", Verdict.CORRECT),
        ("verdict: correct, no, verdict: incorrect", Verdict.INCORRECT),
        ("VERDICT: CORRECT\n…\nVERDICT: INCORRECT", Verdict.INCORRECT),
        ("VERDICT: CORRECT\nEXPLANATION: My verdict rests on the colour.", Verdict.CORRECT),
        ("VERDICT INCORRECT\nEXPLANATION: The correct organ is the liver.", Verdict.INCORRECT),
        ("My verdict – correct", Verdict.CORRECT),
        ('{"verdict": "INCORRECT"}', Verdict.INCORRECT),
        ("VERDICT: In-correct", Verdict.INCORRECT),
        ("VERDICT: isn't correct", Verdict.INCORRECT),
        ("The answer is not entirely correct.", Verdict.INCORRECT),
        ("CORRECT", Verdict.CORRECT),
        ("Correct. The mass is in the left lobe.", Verdict.CORRECT),
        ("The verdict is CORRECT.", Verdict.CORRECT),
        ("I am uncertain whether it is correct.", Verdict.UNCERTAIN),
        ("VERDICT: CORRECT, INCORRECT or UNCERTAIN", None),
        ("VERDICT: partially correct", None),
        ("The correct answer is a mass.", None),
        ("It is the correct answer only if a mass is seen.", None),
        ("I cannot say if it is correct.", None),
        ("EXPLANATION: Two polyps are visible.", None),
        ("VERDICT:", None),
        ("", None),
        ("correctly seen", None),
    ],
)
def test_a_reply_is_read_by_its_verdict_line_and_incorrect_is_looked_for_first(
    reply: str, verdict: Verdict | None
) -> None:
    assert parse_verdict(reply) is verdict


def test_the_prompt_asks_for_the_verdicts_that_are_read() -> None:
    assert all(verdict in verify_prompt("How many polyps?", "2") for verdict in Verdict)
