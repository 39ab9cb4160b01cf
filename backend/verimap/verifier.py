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


_LINE = re.compile(r"(?:^\W*verdict\b|\bverdict[\s*_`\"']*[:=–—-])[\s*_`\"':=–—-]*([^\n]*)", re.I | re.M)
_INCORRECT = re.compile(r"\b(?:in-?|(?:not|\w+n['’]t)\s+(?:\w+\s+){0,2})correct\b", re.I)
_UNCERTAIN = re.compile(r"\buncertain\b", re.I)
_CORRECT = re.compile(r"(?<!in-)(?<!partly )(?<!partially )(?<!mostly )(?<!largely )\bcorrect\b", re.I)
_OPEN_CLAUSE = re.compile(r"\b(?:if|whether)\b[^.,;\n]*", re.I)
_CORRECT_IN_PROSE = re.compile(
    r"(?:(?i:\A\W*|\b(?:is|was|are|as|verdict)\W+)(?i:correct)|\bCORRECT)\b(?!\s+(?i:answer|one)\b)"
)
"""In a sentence "correct" says more than a verdict: "the correct answer is …", "partly correct"."""


def parse_verdict(reply: str) -> Verdict | None:
    """Return the verdict of a verifier's reply.

    Where a line is called the verdict (it begins with the word, or a mark follows it), the last such line counts;
    else the whole reply does, and "correct" only where it is said of the answer. INCORRECT is looked for first: it
    holds "correct". "Partly correct", and a line that repeats all three words, is no verdict. A reply without one is
    unparsed: None.
    """
    lines = _LINE.findall(reply)
    said = lines[-1] if lines else _OPEN_CLAUSE.sub("", reply)
    correct = _CORRECT if lines else _CORRECT_IN_PROSE
    words = {Verdict.INCORRECT: _INCORRECT, Verdict.UNCERTAIN: _UNCERTAIN, Verdict.CORRECT: correct}
    found = [verdict for verdict, pattern in words.items() if pattern.search(said)]
    return found[0] if 0 < len(found) < len(words) else None


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
