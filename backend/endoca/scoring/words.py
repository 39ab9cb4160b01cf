"""An answer as a row of words, each with what the lexicon knows about it.

Quoted overlay text, dates and codes are taken out first: digits a VLM reads off the frame are no counts.
Sizes ("5 to 10 mm") become one word with their bins. Hyphens between letters are spaces, so that
"upper-left" and "upper left" are one.
"""

__all__ = ["Word", "words_of"]

import re
from functools import lru_cache
from typing import NamedTuple

from backend.endoca.scoring.lexicon import Kind, Tag, Topic, lookup_tables
from backend.endoca.scoring.sizes import replace_sizes

_WORDS, _PHRASES = lookup_tables()

_QUOTED = re.compile(r'"[^"\n]{1,80}"')
_CODE = re.compile(
    r"\b\d{1,4}[/.]\d{1,2}[/.]\d{2,4}\b|\b\d{1,2}:\d{2}(?::\d{2})?\b|\b\d{4}-\d{2}-\d{2}\b"
    r"|\b(?:19|20)\d{2}\b|\b\d+(?:\.\d+)?\s?(?:%|percent\b|fps\b|x\b|s\b|seconds?\b|o'clock\b)"
)
_JOINING_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])|(?<=\d)-(?=i)|(?<=[a-z])-(?=\d)")
_RANGE_HYPHEN = re.compile(r"(?<=\d)\s?-\s?(?=\d)")
_LIST_MARK = re.compile(r"(?:\A|(?<=\n))[ \t]*(?:[-*+]|\(?\d{1,2}[.)]|\(?[a-h]\))[ \t]+")
_TOKEN = re.compile(r"n/a\b|w/o\b|\d+(?:\.\d+)?|[a-z]+(?:'[a-z]+)?|[.;:!?,()\[\]/&<>=+~|\n-]")

_MARKS = {
    ".": Kind.END,
    "!": Kind.END,
    "\n": Kind.END,
    "?": Kind.QUESTION,
    ";": Kind.STOP,
    "|": Kind.STOP,
    ":": Kind.COLON,
    "=": Kind.COLON,
    ",": Kind.COMMA,
    "(": Kind.OPEN,
    "[": Kind.OPEN,
    ")": Kind.CLOSE,
    "]": Kind.CLOSE,
    "/": Kind.SLASH,
    "&": Kind.AND,
    "-": Kind.DASH,
    "+": Kind.VAGUE,
    "~": Kind.VAGUE,
    "<": Kind.VAGUE,
    ">": Kind.VAGUE,
}
_UNKNOWN = Tag(Kind.UNKNOWN)
_RANGE = Tag(Kind.VAGUE, label="range")


class Word(NamedTuple):
    """One word or known phrase of the answer."""

    kind: Kind
    topic: str
    label: str
    plural: bool
    number: int
    text: str


def _tag(word: str) -> Tag:
    known = _WORDS.get(word)
    if known is not None:
        return known
    if word in _MARKS:
        return Tag(_MARKS[word])
    if word[0].isdigit():
        return Tag(Kind.NUMBER, number=int(word)) if word.isdigit() and len(word) < 4 else _UNKNOWN
    if word.endswith("n't"):
        return Tag(Kind.NOT)
    if word.endswith("'s"):
        return _tag(word[:-2])
    return _UNKNOWN


@lru_cache(maxsize=20_000)
def _tagged(word: str) -> Word:
    return Word(*_tag(word), word)


@lru_cache(maxsize=8192)
def words_of(text: str) -> tuple[Word, ...]:
    """Return the words of a plain answer (see `backend.domain.text.plain_answer`)."""
    text = text.lower()
    if '"' in text:
        text = _QUOTED.sub(" quotation ", text)
    if "e.g." in text or "i.e." in text:
        text = text.replace("e.g.", "such as").replace("i.e.", "namely")
    text, sizes = replace_sizes(text)
    if any(map(str.isdigit, text)):
        text = _CODE.sub(" code ", text)
    if "-" in text:
        text = _LIST_MARK.sub("", text)
        text = _RANGE_HYPHEN.sub(" range ", _JOINING_HYPHEN.sub(" ", text))
    elif "\n" in text or ")" in text or ". " in text:
        text = _LIST_MARK.sub("", text)
    tokens = _TOKEN.findall(text)
    found: list[Word] = []
    i, n = 0, len(tokens)
    while i < n:
        token = tokens[i]
        for words, tag in _PHRASES.get(token, ()):
            size = len(words)
            if i + size <= n and tuple(tokens[i : i + size]) == words:
                if tag.label == "paris is" and words[-1] == "is" and not _is_label_is(tokens, i + size):
                    continue
                found.append(Word(*tag, " ".join(words)))
                i += size
                break
        else:
            i += 1
            if token == "range":
                found.append(Word(*_RANGE, token))
            elif token == "sizemark":
                found.append(Word(Kind.THING, Topic.SIZE, sizes.pop(0), False, 0, token))
            else:
                found.append(_tagged(token))
    return tuple(found)


def _is_label_is(tokens: list[str], after: int) -> bool:
    """Tell whether "Paris … is" names class Is; before a further word it is mostly the verb."""
    following = tokens[after] if after < len(tokens) else "."
    return not following[0].isalpha() or following in {
        "polyp", "polyps", "lesion", "lesions", "type", "morphology", "classification", "and", "with", "or",
        "polypoid", "is", "class", "in", "present", "noted", "identified", "observed", "seen", "detected", "has",
        "was", "appearance", "category", "adenoma", "located", "visible",
    }
