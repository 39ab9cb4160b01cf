"""Answers written as JSON: an object with one key a part, a list in the question's order, or one answer inside."""

__all__ = ["read_json"]

import re
from collections.abc import Sequence

from backend.endoca.scoring.keyed_answers import Parts, by_key, in_order
from backend.endoca.scoring.question_parts import QuestionParts

_ANSWER_KEYS = (
    "final_answer",
    "final answer",
    "answer",
    "response",
    "prediction",
    "output",
    "result",
    "value",
    "text_answer",
)
_NOTE_KEYS = re.compile(r"reason|explan|confiden|rationale|thought|note|comment|justif|question|evidence|certainty")
_QUESTION_KEYS = ("question", "q", "part", "item", "name")


def _flat(value: object) -> str:
    """Return a JSON value as the text a VLM would have written instead."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "; ".join(_flat(v) for v in value) if value else "none"
    if isinstance(value, dict):
        return "; ".join(f"{k}: {_flat(v)}" for k, v in value.items())
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _lowered(value: dict[object, object]) -> dict[str, object]:
    return {str(key).strip().lower(): inner for key, inner in value.items()}


def _first_of(value: dict[str, object], keys: Sequence[str]) -> object | None:
    return next((value[key] for key in keys if key in value), None)


def _question_answer_pairs(value: Sequence[object]) -> list[tuple[str, str]]:
    """Return question and answer of each object of a list; empty unless all objects have both."""
    pairs = []
    for item in value:
        lowered = _lowered(item) if isinstance(item, dict) else {}
        question, answer = _first_of(lowered, _QUESTION_KEYS), _first_of(lowered, _ANSWER_KEYS)
        if question is None or answer is None:
            return []
        pairs.append((_flat(question), _flat(answer)))
    return pairs


def read_json(value: object, parts: QuestionParts, classes: tuple[str, ...]) -> str | Parts:
    """Return the text of each atom where keys or order tell them apart, else the one text inside."""
    if isinstance(value, dict):
        lowered = _lowered(value)
        for key in _ANSWER_KEYS:
            if key in lowered:
                inner = lowered[key]
                return read_json(inner, parts, classes) if isinstance(inner, dict | list) else _flat(inner)
        kept = {k: v for k, v in lowered.items() if not _NOTE_KEYS.search(k)} or lowered
        if len(classes) == 1 and len(kept) == 1:
            return _flat(next(iter(kept.values())))
        keyed = by_key([(k, _flat(v)) for k, v in kept.items()], classes, parts.order)
        return keyed or "\n".join(_flat(v) for v in kept.values())
    assert isinstance(value, list)
    pairs = _question_answer_pairs(value)
    keyed = by_key(pairs, classes, parts.order) if len(classes) > 1 else None
    if keyed:
        return keyed
    if len(value) == len(classes) > 1:
        return in_order([_flat(v) for v in value], parts.order)
    if len(value) == 1 and isinstance(value[0], dict | list):
        return read_json(value[0], parts, classes)
    return _flat(value)
