"""Plain text out of what a VLM wrote: the wrapping goes, the wording stays.

The three systems read answers by their own rules; all of them first need the same text without
reasoning blocks, markdown, "Answer:" labels and typographic variants. Nothing here knows a question
or a reference, and nothing here decides what an answer means.
"""

__all__ = ["final_answer", "json_value", "normalise_characters", "plain_answer", "strip_thinking"]

import json
import re
import unicodedata

_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", None),
        **dict.fromkeys("\u2022\u25cf\u25e6\u2023\u25aa\u00b7", "\n- "),
        "\u2026": "...",
        "\u2264": "<=",
        "\u2265": ">=",
        "\u2192": ":",
        "\u00a0": " ",
    }
)
_WIDE_DASHES = re.compile("[\u2014\u2015]")
_THINK = re.compile(r"<(think|thinking|thought|reasoning|scratchpad)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.I | re.S)
_THINK_TAIL = re.compile(r"\A.*</(?:think|thinking|thought|reasoning|scratchpad)\s*>", re.I | re.S)
_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\n?(.*?)(?:```|\Z)", re.S)
_WHOLE_FENCE = re.compile(r"\A\s*```[a-zA-Z]*[ \t]*\n(.*)\n\s*```[\s.!]*\Z", re.S)
_TABLE_ROW = re.compile(r"^[ \t]*\|[ \t]*([^|\n]*?)[ \t]*\|[ \t]*([^|\n]*?)[ \t]*\|?[ \t]*$", re.M)
_TABLE_LINE = re.compile(r"^[ \t]*\|[\s:|-]*$", re.M)
_TAG = re.compile(r"</?(?:answer|final|response|output|b|i|em|strong|s)\s*/?>", re.I)
_SPECIAL_TOKEN = re.compile(r"<\|[^|<>\n]*\|>|</?(?:(?:end|start)_of_turn|eos|bos|pad|unk|end_of_utterance)>", re.I)
_LINE_TAG = re.compile(r"</?(?:p|br|ul|ol|li|div|tr)\s*/?>", re.I)
_MARK = re.compile(r"\*{1,3}|_{2,3}|~~|(?<![\w])_(?=\w)|(?<=\w)_(?![\w])|\\(?=[*_#`])|\$")
_HEADING = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]+|>[ \t]?(?=[A-Za-z*_#]))+|[ \t]+#{1,6}[ \t]*$", re.M)
_RULE_LINE = re.compile(r"^[ \t]*(?:[-=_*][ \t]*){3,}$", re.M)
_LABEL = (
    r"(?:(?:the\s+)?(?:final\s+|short\s+|concise\s+|correct\s+|my\s+)?"
    r"(?:answers?|response|output|prediction|conclusion)(?:\s+is)?|assistant|a)"
)
_PREFIX = re.compile(rf"\A\s*{_LABEL}\s*(?::|=|-(?=\s)|\n)\s*", re.I)
_BARE_PREFIX = re.compile(
    r"\A\s*(?:the\s+)?(?:final\s+|short\s+|correct\s+)?answer(?:\s+is\b|\s+(?=\S))(?!\s*(?:that\s+)?"
    r"(?:can|could|not|un|depends))\s*",
    re.I,
)
_LATE_ANSWER = re.compile(
    r"(?:\A|[\n.!?;]|\bso|\btherefore|\bhence|\bthus)[\s,]*(?:the\s+)?(?:(?:final|short|correct)\s+)?"
    r"answer(?:\s+is)?\s*:\s*",
    re.I,
)
_EXPLANATION = re.compile(
    r"(?:\n|[.;!?]\s|\A\s*)\s*\(?(?:explanation|reasoning|reason|rationale|justification|confidence|note"
    r"|evidence from the image|disclaimer)\s*:.*\Z",
    re.I | re.S,
)


def normalise_characters(text: str) -> str:
    """Fold typographic variants: dashes to "-", curly quotes to straight ones, odd spaces to a space.

    A long dash (U+2014, U+2015) between words is punctuation and keeps spaces around it, unless it joins
    two letters or digits without spaces as a hyphen would (``upper—left``). Full-width forms are folded by
    NFKC; line breaks are kept.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text.translate(_CHARACTERS)).translate(_CHARACTERS)


def strip_thinking(text: str) -> str:
    """Remove reasoning blocks such as ``<think>…</think>``.

    An unclosed block runs to the end of the text: the VLM never came to an answer. A closing tag without
    an opening one ends a block that the chat template opened.
    """
    if "<" not in text:
        return text
    return _THINK_TAIL.sub("", _THINK.sub(" ", text))


def json_value(text: str) -> object | None:
    """Return the object or list that the text is, or None where it is not JSON.

    Bare JSON scalars are left to the reader of prose: ``1`` and ``"no"`` mean the same unwrapped.
    Python's spelling of a dictionary (single quotes) is taken for JSON too.
    """
    stripped = text.strip().rstrip(".!;")
    if not stripped or stripped[0] not in "{[" or stripped[-1] not in "}]":
        return None
    try:
        value: object = json.loads(stripped, strict=False)
    except json.JSONDecodeError:
        try:
            value = json.loads(re.sub(r"(?<=[\[{:,\s])'|'(?=\s*[\]}:,])", '"', stripped), strict=False)
        except json.JSONDecodeError:
            return None
    return value if isinstance(value, dict | list) else None


def final_answer(text: str) -> str:
    """Keep what stands behind the last "Answer:" and before an "Explanation:".

    An "Answer:" label at the start, in bold, as a heading or as a line of its own is only a label; one
    after some reasoning says where the reasoning ends.
    """
    if ":" in text:
        labels = [m for m in _LATE_ANSWER.finditer(text) if m.start() > 0]
        if labels and text[labels[-1].end() :].strip(" .\n"):
            text = text[labels[-1].end() :]
    for _ in range(3):
        stripped = _PREFIX.sub("", text, count=1)
        if stripped == text:
            stripped = _BARE_PREFIX.sub("", text, count=1)
        if stripped == text or not stripped.strip():
            break
        text = stripped
    if ":" in text:
        shortened = _EXPLANATION.sub("", text)
        if shortened.strip():
            text = shortened
    return text


def plain_answer(text: str) -> str:
    """Return the answer's words with thinking, fences, tags, markdown, labels and outer quotes removed.

    Line breaks survive (lists need them); letters keep their case. A text of wrapping alone gives "".
    """
    text = strip_thinking(normalise_characters(text))
    if "`" in text or "'''" in text:
        whole = _WHOLE_FENCE.match(text)
        text = whole[1] if whole else _FENCE.sub(r"\1", text).replace("`", "")
    if "<" in text:
        text = _LINE_TAG.sub("\n", _TAG.sub(" ", _SPECIAL_TOKEN.sub(" ", text)))
    if "*" in text or "_" in text or "~" in text or "$" in text or "\\" in text:
        text = _MARK.sub("", _RULE_LINE.sub("", text))
    if "#" in text or ">" in text:
        text = _HEADING.sub("", text)
    if "|" in text:
        text = _TABLE_ROW.sub(r"\1: \2", _TABLE_LINE.sub("", text))
    text = text.strip()
    for _ in range(2):
        text = final_answer(text).strip()
        if len(text) > 1 and text[0] in "\"'(" and text[-1] == {"(": ")"}.get(text[0], text[0]):
            inner = text[1:-1]
            if text[0] not in inner and text[-1] not in inner:
                text = inner.strip()
    return text
