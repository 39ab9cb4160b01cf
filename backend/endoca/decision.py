"""The decision object of the Select step, read strictly.

What cannot be read is an abstention: a VLM that does not say clearly that its answer stands has
not said so.
"""

__all__ = ["Consistency", "Decision", "Verdict", "failed_decision", "plain_words", "read_decision"]

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError


class Verdict(StrEnum):
    """Whether the answer is given or withheld (Workflow 1, step 5)."""

    ANSWER = "answer"
    ABSTAIN = "abstain"


class Consistency(StrEnum):
    """The coarse consistency label: how far the answer agrees with image and premises."""

    CONSISTENT = "consistent"
    PARTLY = "partly consistent"
    INCONSISTENT = "inconsistent"


@dataclass(frozen=True, slots=True)
class Decision:
    """What Select decided."""

    verdict: Verdict
    consistency: Consistency | None
    """None where the object could not be read."""
    echoed: str
    """The answer as the object repeats it; counted and shown, never returned."""
    problem: str = ""
    """Why it could not be read, or why the call failed; empty otherwise."""

    def echoes_another(self, revised: str) -> bool:
        """Return whether the object carries another answer than the one it was asked about."""
        return not self.problem and plain_words(self.echoed) != plain_words(revised)


class _Object(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    answer: str
    consistency: str
    decision: str


_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL | re.IGNORECASE)


def read_decision(reply: str) -> Decision:
    """Read the reply to a Select prompt.

    It is one JSON object with ``answer``, ``consistency`` and ``decision``, each once, and nothing
    before, after or beside; a code fence around it is a mark, as it is around an answer. Labels are those
    of `Consistency` and `Verdict`, to the letter.
    """
    text = reply.strip()
    fenced = _FENCE.fullmatch(text)
    text = fenced[1] if fenced else text
    try:
        content = json.loads(text, object_pairs_hook=_each_once)
    except _SaidTwice as twice:
        return failed_decision(f"says {twice} twice")
    except (ValueError, RecursionError):
        return failed_decision("not one JSON object")
    if not isinstance(content, dict):
        return failed_decision("not one JSON object")
    try:
        found = _Object.model_validate_json(text)  # stricter: half a character ("\\ud800") is no text
        return Decision(Verdict(found.decision), Consistency(found.consistency), found.answer)
    except ValidationError as error:
        return failed_decision(_explained(error.errors(include_url=False, include_input=False)[0]))
    except ValueError as error:
        return failed_decision(f"unknown label: {error}")


def failed_decision(problem: str) -> Decision:
    """Return the abstention that stands for a decision that was not reached.

    Args:
        problem: Why, in words.
    """
    return Decision(Verdict.ABSTAIN, None, "", problem)


def plain_words(text: str) -> str:
    """Return an answer without what does not make it another: spaces, capitals, the full stop at its end."""
    return " ".join(text.split()).rstrip(". ").casefold()


class _SaidTwice(Exception):
    """A key that stands in an object more than once."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for key, _ in pairs:
        if sum(key == other for other, _ in pairs) > 1:
            raise _SaidTwice(ascii(key)[1:-1])
    return dict(pairs)


def _explained(first: Any) -> str:
    place = ".".join(str(part) for part in first["loc"])
    if not place:
        return "not one JSON object"
    if first["type"] == "missing":
        return f"lacks {place}"
    if first["type"] == "extra_forbidden":
        return f"has {place}, which was not asked for"
    return f"{place}: {first['msg'].lower()}"
