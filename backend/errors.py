"""The one kind of error a user sees: what happened, and what to do next.

Everything a person can cause (a damaged file, a locked store, an unknown VLM) is an
`AppError`. Pages and the command line print its message and hint and never a traceback;
any other exception is a bug.
"""

__all__ = ["AppError", "BadLine", "BadLines"]

from collections.abc import Sequence
from dataclasses import dataclass

MAX_LISTED_LINES = 50
"""So many bad lines are spelled out; the rest is counted."""


class AppError(Exception):
    """A problem with its next step.

    Args:
        message: What happened, one or two plain sentences.
        hint: What to do next. Where a value was wrong, it lists the right ones.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}"


@dataclass(frozen=True, slots=True)
class BadLine:
    """One line or row of a file that could not be used."""

    number: int
    """1-based line of a text file, or row of a table (the header is not counted)."""
    reason: str
    """Why, in words a user can act on."""
    file: str = ""
    """Name of the file, where an import reads several."""


class BadLines(AppError):
    """A file holds lines that cannot be used, and the caller did not ask to skip them."""

    def __init__(self, lines: Sequence[BadLine], hint: str) -> None:
        self.lines = tuple(lines)
        listed = "\n".join(describe_bad_line(line) for line in self.lines[:MAX_LISTED_LINES])
        rest = len(self.lines) - MAX_LISTED_LINES
        tail = f"\n… and {rest} more." if rest > 0 else ""
        count = f"{len(self.lines)} bad line{'s' if len(self.lines) != 1 else ''}; nothing was imported."
        super().__init__(f"{count}\n{listed}{tail}\n", hint)


def describe_bad_line(line: BadLine) -> str:
    """Return ``file, line n: reason`` (the file left out where it is empty)."""
    place = f"{line.file}, line {line.number}" if line.file else f"line {line.number}"
    return f"  {place}: {line.reason}"
