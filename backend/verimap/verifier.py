"""The verifier: what its reply says of an answer."""

__all__ = ["Review", "Verdict", "parse_verdict", "read_review"]

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from backend.domain.text import strip_thinking


class Verdict(StrEnum):
    """The verdicts (VeriMap, section 3.2)."""

    CORRECT = "CORRECT"
    INCORRECT = "INCORRECT"
    UNCERTAIN = "UNCERTAIN"


class Review(NamedTuple):
    """What a verifier's reply holds."""

    verdict: Verdict | None
    """None where none can be read."""
    explanation: str
    """What it says besides, on one line or several; empty where that is nothing."""


_LINE = re.compile(r"verdict[\s*_`:=-]*([^\n]*)", re.IGNORECASE)
_WORDS = (
    (Verdict.INCORRECT, re.compile(r"\b(?:in|not\s+)correct\b", re.IGNORECASE)),
    (Verdict.UNCERTAIN, re.compile(r"\buncertain\b", re.IGNORECASE)),
    (Verdict.CORRECT, re.compile(r"\bcorrect\b", re.IGNORECASE)),
)
"""Looked for in this order: "incorrect" holds "correct"."""


def parse_verdict(reply: str) -> Verdict | None:
    """Return the verdict of a verifier's reply.

    Where a line is called the verdict, the last such line counts; else the whole reply does. A
    reply that names no verdict is unparsed: None.
    """
    lines = _LINE.findall(reply)
    said = lines[-1] if lines else reply
    return next((verdict for verdict, words in _WORDS if words.search(said)), None)


_EXPLANATION = re.compile(r"\bexplanation[*_`]*\s*[:=-][\s*_`]*(.*?)(?=[\s*_`]*\bverdict[\s*_`]*[:=-]|\Z)", re.I | re.S)
_VERDICT_LINE = re.compile(r"^\W*verdict\b[^\n]*$", re.I | re.M)


@lru_cache(maxsize=4096)
def read_review(reply: str) -> Review:
    """Return verdict and explanation of a verifier's reply, thinking left aside.

    The explanation is what stands behind the word, up to the verdict; without the word it is the whole
    reply but for the line of the verdict.
    """
    said = strip_thinking(reply)
    found = _EXPLANATION.search(said)
    explanation = found[1] if found else _VERDICT_LINE.sub("", said)
    return Review(parse_verdict(said), explanation.strip())
