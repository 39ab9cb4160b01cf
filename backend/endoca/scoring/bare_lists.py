"""Bare lists: "none; yes; 0", numbered lines and "2, 1" follow the order of the question's parts.

"Yes and no" is never a list; "two and one" and "no and no" are.
"""

__all__ = ["bare_list"]

import re
from collections.abc import Sequence
from functools import lru_cache

from backend.endoca.scoring.keyed_answers import BULLET, Parts, in_order
from backend.endoca.scoring.lexicon import Kind, Topic
from backend.endoca.scoring.question_parts import QuestionParts
from backend.endoca.scoring.statements import statements_of
from backend.endoca.scoring.words import words_of

_NUMBERED = re.compile(r"(?:\A|\s)\(?(?:\d{1,2}|[a-h])[.)]\s+", re.I)
_LONGEST_ITEM = 60
"""Characters; items longer than that are sentences."""
_SEPARATORS = (re.compile(r"\n+"), re.compile(r"\s*;\s*"), re.compile(r"\s*\|\s*"))
_WEAK_SEPARATORS = (
    re.compile(r"\s*,\s*(?:and\s+)?", re.I),
    re.compile(r"\s*/\s*"),
    re.compile(r"(?<=[\w)])\.\s+"),
)
"""Between items that are bare, every one."""
_AND = re.compile(r"\s+and\s+", re.I)
_RESPECTIVELY = re.compile(r",?\s*respectively\W*\Z", re.I)


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


def bare_list(text: str, parts: QuestionParts) -> Parts | None:
    """Cut a bare list into as many items as there are parts; None where it is no such list."""
    count = len(parts.order)
    text = _RESPECTIVELY.sub("", text)
    if len(text) > _LONGEST_ITEM * count:
        return None
    numbered = [piece.strip(" \n,;") for piece in _NUMBERED.split(text)]
    candidates = [[piece for piece in numbered if piece]] if _NUMBERED.match(text) else []
    candidates += [[BULLET.sub("", p, count=1).strip() for p in sep.split(text.strip(" \n.;"))] for sep in _SEPARATORS]
    for items in candidates:
        items = [item for item in items if item]
        if len(items) == count and any(_is_bare(item) for item in items):
            return in_order(items, parts.order)
    for separator in (*_SEPARATORS, *_WEAK_SEPARATORS):
        items = [item for item in separator.split(text.strip(" \n.;")) if item]
        if len(items) >= count and all(_is_bare(item) for item in items):
            grouped = _by_topic(items) if len(items) > count else items
            if len(grouped) == count:
                return in_order(grouped, parts.order)
    joined = _AND.split(text.strip(" \n.").lower())
    alike = len(set(joined)) == 1 and joined[0] in ("yes", "no")
    if len(joined) == count and (alike or all(_is_number(item) for item in joined)):
        return in_order(joined, parts.order)
    return None


def _is_number(item: str) -> bool:
    words = words_of(item)
    return len(words) == 1 and words[0].kind is Kind.NUMBER


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
