"""The rubric by which an LLM judges a VLM's free answer against the reference, from 1 to 5, without the image.

SurgCheck, section on evaluation: an answer in other words can be right, so zero-shot VLMs are not
scored by exact match. The judge is given question, reference and prediction and returns a JSON
object with a score and its reason.
"""

__all__ = ["RUBRIC_VERSION", "TEMPLATES", "Judgement", "again_prompt", "read_judgement", "rubric_prompt"]

import json
from collections.abc import Iterator
from types import MappingProxyType
from typing import NamedTuple

from backend.domain.text import json_value, plain_answer

RUBRIC_VERSION = "surgcheck-judge-1"
"""Raised with every change of a wording below."""

TEMPLATES = MappingProxyType(
    {
        "judge": (
            "You compare a prediction with a reference answer to a question about a frame of laparoscopic "
            "cholecystectomy. You do not see the frame: the reference counts as true, and only the meaning of the "
            "prediction against it is judged.\n"
            "\n"
            "Score:\n"
            "1: completely different from the reference, its opposite, or no answer to the question\n"
            "2: loosely related, but wrong\n"
            "3: partially correct\n"
            "4: clinically interchangeable with the reference\n"
            "5: perfectly equivalent\n"
            "\n"
            "Rules:\n"
            "- Where the reference is yes or no, the prediction gets 5 only if it says exactly the same, else 1.\n"
            "- Where the reference names an action and a target, both must be right for 4 or 5.\n"
            "- Case, spaces, underscores, plurals and the form of a word do not matter; nor does a number written as a "
            "word.\n"
            "\n"
            "Question: {question}\n"
            "Reference: {reference}\n"
            "Prediction: {prediction}\n"
            "\n"
            'Return one JSON object and nothing else: {{"score": <1 to 5>, "reason": "<one sentence>"}}'
        ),
        "again": (
            "{prompt}\n"
            "\n"
            "The last reply was no such object. Return only: "
            '{{"score": <whole number 1 to 5>, "reason": "<one sentence>"}}'
        ),
    }
)
"""Every wording, by its step."""

NOTHING_SAID = "(nothing)"
"""Stands for an empty prediction."""


class Judgement(NamedTuple):
    """What a judge said of an answer."""

    score: int
    """From 1 (different or opposite) to 5 (equivalent)."""
    reason: str
    """In the judge's words; empty where it gave none."""


def rubric_prompt(question: str, reference: str, prediction: str) -> str:
    """Return all that a judge is told about one answer."""
    return TEMPLATES["judge"].format(
        question=_line(question), reference=_line(reference), prediction=_line(prediction) or NOTHING_SAID
    )


def again_prompt(prompt: str) -> str:
    """Return the prompt after a reply that could not be read."""
    return TEMPLATES["again"].format(prompt=prompt)


def read_judgement(reply: str) -> Judgement | None:
    """Return the score and reason in a judge's reply; None where it holds no object with a whole number from 1 to 5.

    Thinking, fences and words around the object are left aside; of several objects the last that can
    be read counts. A score of "4" or 4.0 is 4; 4.5, 0 and true are none.
    """
    plain = plain_answer(reply)
    found = [json_value(plain), *reversed(list(_objects(plain)))]
    return next((judgement for judgement in map(_judgement, found) if judgement), None)


def _judgement(value: object) -> Judgement | None:
    if not isinstance(value, dict):
        return None
    score, reason = value.get("score"), value.get("reason", "")
    if isinstance(score, str) and score.strip() in {"1", "2", "3", "4", "5"}:
        score = int(score)
    if isinstance(score, bool) or not isinstance(score, int | float) or score not in range(1, 6):
        return None
    return Judgement(int(score), reason.strip() if isinstance(reason, str) else "")


def _objects(text: str) -> Iterator[object]:
    """Yield the JSON objects in a text, those inside others left out."""
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            end = start + 1
        else:
            yield value
        start = text.find("{", end)


def _line(text: str) -> str:
    """Return a text on one line, so that no answer can look like a part of the rubric."""
    return " ".join(text.split())
