"""A question that somebody types: on one line, since a list of premises holds one a line, and not too long."""

__all__ = ["MAX_QUESTION", "typed_question"]

from backend.errors import AppError

MAX_QUESTION = 2_000
"""Characters of one question."""

_SHOWN = 40


def typed_question(text: str) -> str:
    """Return a question as it is asked: words with one space between them; empty where nothing is typed.

    Raises:
        AppError: It is longer than `MAX_QUESTION`.
    """
    text = " ".join(text.split())
    if len(text) > MAX_QUESTION:
        raise AppError(
            f"A question has {len(text):,} characters; at most {MAX_QUESTION:,} can be asked.",
            f"Shorten the one that begins with “{text[:_SHOWN]} …”.",
        )
    return text
