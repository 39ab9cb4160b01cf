"""What the oracle judge is asked (Appendix A): question, reference and answer, without the image; right or wrong.

The paper's wording is lost; this one is our own, by its rules: synonyms accepted, strict on yes and no, no
partial credit.
"""

__all__ = ["ORACLE_VERSION", "TEMPLATES", "OracleVerdict", "again_prompt", "oracle_prompt", "read_oracle"]

import re
from types import MappingProxyType
from typing import NamedTuple

from backend.domain.text import strip_thinking

ORACLE_VERSION = "verimap-oracle-1"
"""Raised with every change of a wording below."""

TEMPLATES = MappingProxyType(
    {
        "judge": (
            "You compare an answer with the reference answer to a question about a medical image. You do not see the "
            "image: the reference counts as true.\n"
            "\n"
            "Rules:\n"
            "- Synonyms, abbreviations and other words of the same clinical meaning are correct.\n"
            "- Where the reference is yes or no, the answer is correct only if it clearly says the same.\n"
            "- There is no partial credit: an answer that lacks a part of the reference, or contradicts a part of it, "
            "is incorrect.\n"
            "- Options below a question may be named by their letter or by their text.\n"
            "\n"
            "Question: {question}\n"
            "Reference: {reference}\n"
            "Answer: {answer}\n"
            "\n"
            "Reply in two lines.\n"
            "REASON: one sentence\n"
            "VERDICT: CORRECT or INCORRECT"
        ),
        "again": (
            "{prompt}\n"
            "\n"
            "The last reply held no such verdict. Reply in two lines: REASON: one sentence, then VERDICT: CORRECT or "
            "VERDICT: INCORRECT"
        ),
    }
)
"""Every wording, by its step."""

NOTHING_SAID = "(nothing)"
"""Stands for an answer of no words."""


class OracleVerdict(NamedTuple):
    """What a judge said of an answer."""

    correct: bool
    reason: str
    """In its words; empty where it gave none."""


def oracle_prompt(question: str, reference: str, answer: str) -> str:
    """Return all that a judge is told about one answer.

    Args:
        question: As the generator was asked it; options below it stay on lines of their own.
        reference: The ground-truth answer.
        answer: As it was given; put on one line, so that it cannot look like a part of the rules.
    """
    return TEMPLATES["judge"].format(
        question=question.strip(), reference=_line(reference), answer=_line(answer) or NOTHING_SAID
    )


def again_prompt(prompt: str) -> str:
    """Return the prompt after a reply that could not be read."""
    return TEMPLATES["again"].format(prompt=prompt)


_VERDICT = re.compile(r"^\W*verdict[*_`]*\s*[:=-][\s*_`]*(in)?correct\b[\s*_`.]*$", re.I | re.M)
_ALONE = re.compile(r"\W*(in)?correct\W*", re.I)
_REASON = re.compile(r"^\W*reason[*_`]*\s*[:=-][ \t*_`]*(.*?)[ \t*_`]*$", re.I | re.M)


def read_oracle(reply: str) -> OracleVerdict | None:
    """Return the verdict in a judge's reply; None where it holds none.

    The last line called VERDICT counts, and nothing but CORRECT or INCORRECT is read there; a reply of
    that one word is a verdict too. Thinking is left aside.
    """
    said = strip_thinking(reply).strip()
    found = [*_VERDICT.finditer(said)][-1:] or [one for one in [_ALONE.fullmatch(said)] if one]
    if not found:
        return None
    reason = _REASON.search(said)
    return OracleVerdict(found[0][1] is None, reason[1] if reason else "")


def _line(text: str) -> str:
    return " ".join(text.split())
