"""The feedback loop (section 4.6): verdict and explanation go back to the generator, which answers again.

Each call is made in a fresh context; the generator learns of its last answer and of the review
through its prompt alone. Nothing here sees a reference.
"""

__all__ = ["DECODINGS", "final_answer", "first_look", "given_answer", "goes_on", "revision_prompt"]

import re
from collections.abc import Mapping
from types import MappingProxyType

from backend.domain.records import Stage
from backend.domain.text import strip_thinking
from backend.domain.vlm import Decoding
from backend.verimap.prompts import loop_prompt
from backend.verimap.verifier import Review, Verdict

DECODINGS: Mapping[Stage, Decoding] = MappingProxyType(
    {
        Stage.DIRECT: Decoding(max_new_tokens=80),
        Stage.LOOK: Decoding(max_new_tokens=256),
        Stage.VERIFY: Decoding(max_new_tokens=256, watched=tuple(Verdict)),
        Stage.LOOP: Decoding(max_new_tokens=120),
    }
)
"""How each step is decoded where nobody says otherwise; a verdict follows its explanation and needs room for both."""

NONE_GIVEN = "none"
"""Goes back in the place of a verdict, or of an explanation, that the reviewer did not give."""

NOTHING_SAID = "(nothing)"
"""Stands for a first look of no words."""


def goes_on(review: Review, *, stop_at_correct: bool) -> bool:
    """Return whether the generator is asked once more. The paper leaves open whether CORRECT ends the loop."""
    return not (stop_at_correct and review.verdict is Verdict.CORRECT)


def revision_prompt(question: str, answer: str, review: Review) -> str:
    """Return what the generator is asked in the next turn.

    A review without a verdict goes back as one: what the reviewer wrote is its explanation.
    """
    return loop_prompt(question, answer, review.verdict or NONE_GIVEN, review.explanation or NONE_GIVEN)


_FINAL = re.compile(r"^\W*answer[*_`\s]*[:=][ \t*_`]*(.*?)[ \t*_`]*$", re.I | re.M)


def given_answer(reply: str) -> str:
    """Return a generator's answer: all it said, thinking left aside."""
    return strip_thinking(reply).strip()


def first_look(reply: str) -> str:
    """Return what the two-step verifier is reminded of: all it said at its first look, thinking left aside."""
    return given_answer(reply) or NOTHING_SAID


def final_answer(reply: str) -> str:
    """Return the answer of a revision turn: the last line called ANSWER, else all that was said.

    A line that is called so and empty, with words below it, leaves these the answer.
    """
    said = given_answer(reply)
    lines = list(_FINAL.finditer(said))
    if not lines:
        return said
    return lines[-1][1] or said[lines[-1].end() :].strip()
