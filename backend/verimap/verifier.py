"""The verifier: what its reply says of an answer."""

__all__ = ["Verdict", "parse_verdict"]

import re
from enum import StrEnum


class Verdict(StrEnum):
    """The verdicts (VeriMap, section 3.2)."""

    CORRECT = "CORRECT"
    INCORRECT = "INCORRECT"
    UNCERTAIN = "UNCERTAIN"


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
