"""An answer as a row of words, each with what the lexicon knows about it.

Quoted overlay text (but not a quoted label), dates and codes are taken out first: digits a VLM reads off
the frame are no counts. Sizes ("5 to 10 mm") become one word with their bins. Hyphens between letters are
spaces, so that "upper-left" and "upper left" are one.
"""

__all__ = ["RANGE_MARK", "Word", "words_of"]

import re
from functools import lru_cache
from typing import NamedTuple

from backend.endoca.scoring.grammar_words import GRAMMAR_WORDS
from backend.endoca.scoring.lexicon import Kind, Tag, Topic, phrase_table
from backend.endoca.scoring.sizes import SIZE_MARK, replace_sizes
from backend.endoca.scoring.thing_words import THING_WORDS

_WORDS, _PHRASES = phrase_table([*GRAMMAR_WORDS, *THING_WORDS])

_QUOTED = re.compile(r'"([^"\n]{1,80})"')
_CODE = re.compile(
    r"\b\d{1,4}[/.]\d{1,2}[/.]\d{2,4}\b|\b\d{1,2}:\d{2}(?::\d{2})?\b|\b\d{4}-\d{2}-\d{2}\b"
    r"|\b(?:19|20)\d{2}\b|\b\d+(?:\.\d+)?\s?(?:%|percent\b|fps\b|x\b|s\b|seconds?\b)"
    r"|#\s?\d+|\b\d{1,2}(?:\s?(?:-|,|&|and|to|or)\s?\d{1,2})*\s?o'clock\b"
)
_JOINING_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])|(?<=\d)-(?=i)|(?<=[a-z])-(?=\d)")
_RANGE_HYPHEN = re.compile(r"(?<=\d)\s?-\s?(?=\d)")
_LIST_MARK = re.compile(r"(?:\A|(?<=\n))[ \t]*(?:[-*+]|\(?\d{1,2}[.)]|\(?[a-h]\))[ \t]+")
_TOKEN = re.compile(r"n/a\b|w/o\b|\d+(?:\.\d+)?|[a-z]+(?:'[a-z]+)?|[.;:!?,()\[\]/&<>=+~|\n\x1e\x1f-]")

RANGE_MARK = "\x1e"
"""Stands for the hyphen of "1-2" while the text is cut into words."""
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
    RANGE_MARK: Kind.VAGUE,
}
_AFTER_CLASS_IS = frozenset(
    {
        *("polyp", "polyps", "polypoid", "lesion", "lesions", "adenoma", "type", "morphology", "classification"),
        *("class", "category", "appearance", "and", "with", "or", "is", "in", "has", "was", "present", "noted"),
        *("identified", "observed", "seen", "detected", "located", "visible"),
    }
)
_UNKNOWN = Tag(Kind.UNKNOWN)


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
    text = text.lower().replace(SIZE_MARK, " ").replace(RANGE_MARK, " ")
    if '"' in text:
        text = _QUOTED.sub(lambda quoted: quoted[1] if _is_label(quoted[1]) else " quotation ", text)
    if "e.g." in text or "i.e." in text:
        text = text.replace("e.g.", "such as").replace("i.e.", "namely")
    text, sizes = replace_sizes(text)
    if any(map(str.isdigit, text)):
        text = _CODE.sub(" code ", text)
    if "-" in text:
        text = _LIST_MARK.sub("", text)
        text = _RANGE_HYPHEN.sub(RANGE_MARK, _JOINING_HYPHEN.sub(" ", text))
    elif "\n" in text or ")" in text or ". " in text:
        text = _LIST_MARK.sub("", text)
    tokens = _TOKEN.findall(text)
    found: list[Word] = []
    i = 0
    while i < len(tokens):
        phrase = _phrase_at(tokens, i)
        if phrase:
            found.append(phrase[0])
            i += phrase[1]
        elif tokens[i] == SIZE_MARK:
            found.append(Word(Kind.THING, Topic.SIZE, sizes.pop(0), False, 0, "size"))
            i += 1
        else:
            found.append(_tagged(tokens[i]))
            i += 1
    return tuple(found)


def _is_label(quoted: str) -> bool:
    """Whether a quotation is the name of a label, as in 'the "z-line"', and no overlay text."""
    tokens = tuple(quoted.replace("-", " ").split())
    if len(tokens) == 1:
        return bool(_WORDS.get(tokens[0], _UNKNOWN).label)
    return any(tokens in phrases for _, phrases in _PHRASES.get(tokens[0], ())) if tokens else False


def _phrase_at(tokens: list[str], i: int) -> tuple[Word, int] | None:
    """Return the longest known phrase that starts here, and its length in tokens."""
    for size, phrases in _PHRASES.get(tokens[i], ()):
        words = tuple(tokens[i : i + size])
        tag = phrases.get(words)
        if tag is None or (tag.label == "paris is" and words[-1] == "is" and not _names_class_is(tokens, i + size)):
            continue
        return Word(*tag, " ".join(words)), size
    return None


def _names_class_is(tokens: list[str], after: int) -> bool:
    """Tell whether "Paris … is" names class Is; before most further words it is the verb."""
    following = tokens[after] if after < len(tokens) else "."
    return not following[0].isalpha() or following in _AFTER_CLASS_IS
