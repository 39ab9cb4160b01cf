"""Text of a data set or of a VLM's name in the few places of Streamlit that read Markdown and nothing else."""

__all__ = ["plain"]

from string import punctuation

_ESCAPED = str.maketrans({sign: f"\\{sign}" for sign in punctuation})


def plain(text: str) -> str:
    """Return Markdown that reads as the text, on one line, whatever stands in it."""
    return " ".join(text.split()).translate(_ESCAPED)
