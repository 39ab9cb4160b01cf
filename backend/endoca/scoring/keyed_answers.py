"""Answers that name the part they belong to: "text: yes", "yes (text)", a question restated before its answer."""

__all__ = ["Parts", "by_key", "in_order", "keyed_parts", "question_answers"]

import re
from collections.abc import Sequence

from backend.endoca.scoring.question_parts import rank_of

Parts = tuple[str | None, ...]
"""One text for each atom; None where the answer gives none."""

_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3}
_ORDINAL_KEY = re.compile(r"(?:q|a|part|question|answer|atomic|item)?[ _]?(\d)(?:st|nd|rd|th)?")
BULLET = re.compile(r"\A[\s>]*(?:[-*+]\s+|\(?(?:\d{1,2}|[a-h])[.):]\s+)?")
"""The mark before a list item, none included."""
_KEY_VALUE = re.compile(r"\A([A-Za-z][A-Za-z0-9 _/'()-]{0,60}?)\s*(?::|=|\s-\s|->)\s*(\S.*)\Z", re.S)
_VALUE_KEY = re.compile(r"\A(yes|no|none|\d+|[a-z]+)\s*\(([A-Za-z][^()]*)\)\W*\Z", re.I)
_PIECES = re.compile(r"\n+|;\s*|\|\s*|(?<=[a-z0-9])\.\s+(?=[A-Z][\w ]{0,40}:)|,\s*(?=[A-Za-z][\w /]{0,40}:\s)")
_BEHIND_BRACKET = re.compile(r"(?<=\))[,;.\n]?\s*(?:and\s+)?")
_QUESTION_ANSWER = re.compile(r"([^?]*)\?\s*([^?]*?)(?=(?:\A|[.\n;])[^.?\n;]*\?|\Z)", re.S)


def in_order(items: Sequence[str], order: Sequence[int]) -> Parts:
    """Give each item to the atom that the question asks for at its place."""
    given: list[str | None] = [None] * len(order)
    for item, index in zip(items, order, strict=True):
        given[index] = item
    return tuple(given)


def _named_by(key: str, classes: tuple[str, ...], order: Sequence[int]) -> list[int]:
    """Return the atoms a key names: by its place ("first", "q1"), else those whose class it fits best."""
    lowered = key.strip().lower().replace("_", " ")
    ordinal = _ORDINAL_KEY.fullmatch(lowered)
    place = int(ordinal[1]) - 1 if ordinal else _ORDINALS.get(lowered.split(" ")[0], -1)
    if 0 <= place < len(order):
        return [order[place]]
    ranks = [rank_of(lowered, name) for name in classes]
    best = max(ranks)
    return [i for i, rank in enumerate(ranks) if rank == best > 0]


def by_key(pairs: Sequence[tuple[str, str]], classes: tuple[str, ...], order: Sequence[int]) -> Parts | None:
    """Give each pair to the atoms its key names; None where no key names one."""
    given: list[str | None] = [None] * len(classes)
    for key, value in pairs:
        for target in _named_by(key, classes, order):
            before = given[target]
            given[target] = value if before is None else f"{before}; {value}"
    return None if all(value is None for value in given) else tuple(given)


def keyed_parts(text: str, classes: tuple[str, ...], order: Sequence[int]) -> Parts | None:
    """Read a text made of nothing but pairs of key and value; None where it is no such text."""
    if ":" in text or "=" in text or " - " in text:
        pieces = [BULLET.sub("", piece, count=1).strip() for piece in _PIECES.split(text)]
        matches = [_KEY_VALUE.match(piece) for piece in pieces if piece]
        if len(matches) > 1 and all(matches):
            return by_key([(m[1], m[2].strip(" .,")) for m in matches if m], classes, order)
    if text.count(")") >= len(classes):
        pieces = [piece.strip() for piece in _BEHIND_BRACKET.split(text) if piece.strip()]
        matches = [_VALUE_KEY.match(piece) for piece in pieces]
        if len(matches) == len(classes) and all(m and _named_by(m[2], classes, order) for m in matches):
            return by_key([(m[2], m[1]) for m in matches if m], classes, order)
    return None


def question_answers(text: str) -> list[tuple[str, str]]:
    """Return the questions a text restates, each with the answer behind it."""
    if "?" not in text.rstrip("? "):
        return []
    return [(q, a.strip(" \n.,;")) for q, a in _QUESTION_ANSWER.findall(text) if a.strip(" \n.,;")]
