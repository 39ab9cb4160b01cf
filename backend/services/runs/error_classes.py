"""Errors of calls, sorted: what differs only by a name or a number is one class."""

__all__ = ["error_class"]

import re

_VARYING = re.compile(r"""(?<!\w)(["'`])[^"'`]*\1|\S*(?:[\d/\\]|\.\w)\S*""")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_LONGEST = 160


def error_class(error: str) -> str:
    """Return an error's first sentence with … for what varies: quoted text, and words with a digit, slash or inner dot.

    "The image a/7.jpg is not on this machine. Attach it." and the same of another image are
    "The image … is not on this machine."
    """
    first = _SENTENCE_END.split(" ".join(error.split()), maxsplit=1)[0]
    return _VARYING.sub("…", first)[:_LONGEST]
