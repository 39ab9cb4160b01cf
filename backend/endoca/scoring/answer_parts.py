"""How an answer's parts meet the question's parts when the answer says so itself.

JSON keys, "text: yes" pairs and question-and-answer pairs name their part; a bare list ("none; yes; 0")
follows the order of the question's parts. Everything else is prose and is read as a whole.
"""

__all__ = ["Parts", "split_answer"]

import re
from collections.abc import Sequence
from functools import lru_cache

from backend.domain.text import json_value, plain_answer
from backend.endoca.scoring.lexicon import Topic
from backend.endoca.scoring.question_parts import QuestionParts, rank_of
from backend.endoca.scoring.statements import statements_of

Parts = tuple[str | None, ...]
"""One text for each atom; None where the answer gives none."""

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
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3}
_ORDINAL_KEY = re.compile(r"(?:q|a|part|question|answer|atomic|item)?[ _]?(\d)(?:st|nd|rd|th)?")
_NUMBERED = re.compile(r"(?:\A|\s)\(?(?:\d{1,2}|[a-h])[.)]\s+", re.I)
_LONGEST_ITEM = 60
"""Characters; items longer than that are sentences."""
_BULLET = re.compile(r"\A[\s>]*(?:[-*+]\s+|\(?(?:\d{1,2}|[a-h])[.):]\s+)?")
_KEY_VALUE = re.compile(r"\A([A-Za-z][A-Za-z0-9 _/'()-]{0,60}?)\s*(?::|=|\s-\s|->)\s*(\S.*)\Z", re.S)
_PIECES = re.compile(r"\n+|;\s*|\|\s*|(?<=[a-z0-9])\.\s+(?=[A-Z][\w ]{0,40}:)|,\s*(?=[A-Za-z][\w /]{0,40}:\s)")
_SEPARATORS = (re.compile(r"\n+"), re.compile(r"\s*;\s*"), re.compile(r"\s*\|\s*"))
_WEAK_SEPARATORS = (
    re.compile(r"\s*,\s*(?:and\s+)?", re.I),
    re.compile(r"\s*/\s*"),
    re.compile(r"(?<=[\w)])\.\s+"),
    re.compile(r"(?<=\d)\s+and\s+(?=\d)", re.I),
)
_QUESTION_ANSWER = re.compile(r"([^?]*)\?\s*([^?]*?)(?=(?:\A|[.\n;])[^.?\n;]*\?|\Z)", re.S)


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


def _by_key(pairs: Sequence[tuple[str, str]], classes: tuple[str, ...], order: Sequence[int]) -> Parts | None:
    """Give each pair to the class its key names; None where no key names one."""
    given: list[str | None] = [None] * len(classes)
    met = False
    for key, value in pairs:
        lowered = key.strip().lower().replace("_", " ")
        ordinal = _ORDINAL_KEY.fullmatch(lowered)
        place = int(ordinal[1]) - 1 if ordinal else _ORDINALS.get(lowered.split(" ")[0], -1)
        if 0 <= place < len(order):
            targets = [order[place]]
        else:
            ranks = [rank_of(lowered, name) for name in classes]
            best = max(ranks)
            targets = [i for i, rank in enumerate(ranks) if rank == best > 0]
        for target in targets:
            given[target] = value if given[target] is None else f"{given[target]}; {value}"
            met = True
    return tuple(given) if met else None


def _from_json(value: object, parts: QuestionParts, classes: tuple[str, ...]) -> str | Parts:
    if isinstance(value, dict):
        lowered = {str(k).strip().lower(): v for k, v in value.items()}
        for key in _ANSWER_KEYS:
            if key in lowered:
                inner = lowered[key]
                return _from_json(inner, parts, classes) if isinstance(inner, dict | list) else _flat(inner)
        kept = {k: v for k, v in lowered.items() if not _NOTE_KEYS.search(k)} or lowered
        if len(classes) == 1 and len(kept) == 1:
            return _flat(next(iter(kept.values())))
        keyed = _by_key([(k, _flat(v)) for k, v in kept.items()], classes, parts.order)
        if keyed:
            return keyed
        return "\n".join(_flat(v) for v in kept.values())
    assert isinstance(value, list)
    if len(value) == len(classes) > 1:
        return _in_order([_flat(v) for v in value], parts.order)
    if len(value) == 1 and isinstance(value[0], dict | list):
        return _from_json(value[0], parts, classes)
    return _flat(value)


def _in_order(items: Sequence[str], order: Sequence[int]) -> Parts:
    given: list[str | None] = [None] * len(order)
    for item, index in zip(items, order, strict=True):
        given[index] = item
    return tuple(given)


@lru_cache(maxsize=8192)
def _is_bare(item: str) -> bool:
    """Whether an item names no topic of its own: yes, no, a number, or labels alone."""
    if len(item.split()) > 6:
        return False
    read = statements_of(item.strip())
    if read.polars and not read.mentions:
        return len({value for value, _ in read.polars}) == 1
    return bool(read.mentions) and not any(
        m.topic in (Topic.TEXT, Topic.BOX)
        or (m.topic and not m.label and m.topic not in (Topic.NOT_APPLICABLE, Topic.NORMAL))
        or m.topic == Topic.POLYP
        or (m.label and m.negated)
        for m in read.mentions
    )


def _bare_list(text: str, parts: QuestionParts) -> Parts | None:
    """Cut a bare list into as many items as there are parts; None where it is no such list."""
    count = len(parts.order)
    if len(text) > _LONGEST_ITEM * count:
        return None
    numbered = [piece.strip(" \n,;") for piece in _NUMBERED.split(text)]
    candidates = [[piece for piece in numbered if piece]] if _NUMBERED.match(text) else []
    candidates += [[_BULLET.sub("", p, count=1).strip() for p in sep.split(text.strip(" \n.;"))] for sep in _SEPARATORS]
    for items in candidates:
        items = [item for item in items if item]
        if len(items) == count and any(_is_bare(item) for item in items):
            return _in_order(items, parts.order)
    for separator in (*_SEPARATORS, *_WEAK_SEPARATORS):
        items = [item for item in separator.split(text.strip(" \n.;")) if item]
        if len(items) >= count and all(_is_bare(item) for item in items):
            grouped = _by_topic(items) if len(items) > count else items
            if len(grouped) == count:
                return _in_order(grouped, parts.order)
    return None


def _by_topic(items: Sequence[str]) -> list[str]:
    """Join neighbours that name labels of one topic: "center; upper-left; yes" are two answers."""
    grouped: list[str] = []
    before = ""
    for item in items:
        mentions = statements_of(item.strip()).mentions
        topic = mentions[0].topic if mentions and mentions[0].label else ""
        if topic and topic == before:
            grouped[-1] += f"; {item}"
        else:
            grouped.append(item)
        before = topic
    return grouped


def split_answer(answer: str, parts: QuestionParts, classes: tuple[str, ...]) -> tuple[str, Parts | None, str]:
    """Unwrap an answer.

    Returns:
        The plain text; the text of each atom where the answer's own form says which is which, else None;
        and that form's name: "key", "list" or "".
    """
    text = plain_answer(answer)
    for _ in range(3):
        value = json_value(text)
        if value is None:
            break
        unwrapped = _from_json(value, parts, classes)
        if isinstance(unwrapped, tuple):
            form = "list" if isinstance(value, list) else "key"
            return " ".join(part or "" for part in unwrapped), unwrapped, form
        text = plain_answer(unwrapped)
    if "?" in text.rstrip("? "):
        pairs = [(q, a.strip(" \n.,;")) for q, a in _QUESTION_ANSWER.findall(text) if a.strip(" \n.,;")]
        if len(classes) == 1 and pairs:
            text = ". ".join(a for _, a in pairs)
        elif pairs:
            keyed = _by_key(pairs, classes, parts.order)
            if keyed:
                return text, keyed, "key"
    if len(classes) < 2:
        return text, None, ""
    if ":" in text or "=" in text or " - " in text:
        pieces = [_BULLET.sub("", piece, count=1).strip() for piece in _PIECES.split(text)]
        matches = [_KEY_VALUE.match(piece) for piece in pieces if piece]
        if len(matches) > 1 and all(matches):
            keyed = _by_key([(m[1], m[2].strip(" .,")) for m in matches if m], classes, parts.order)
            if keyed:
                return text, keyed, "key"
    listed = _bare_list(text, parts)
    return (text, listed, "list") if listed else (text, None, "")
