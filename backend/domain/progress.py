"""How long work says what it is doing, and how it is told to stop.

A service calls its `Report` with a stage in words and a count; whoever started it (a page,
the command line, a test) shows that, and may raise `Cancelled` from inside the call. Work
done so far is then rolled back by the transaction it runs in.
"""

__all__ = ["Cancelled", "Report", "silent"]

from typing import Protocol

from backend.errors import AppError


class Cancelled(AppError):
    """The person who started the work stopped it; nothing of it was kept."""

    def __init__(self) -> None:
        super().__init__("Cancelled; nothing was changed.", "Start it again when you like.")


class Report(Protocol):
    """Receives progress."""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Take note.

        Args:
            stage: What is being done, in words ("reading core.jsonl.gz").
            done: Items finished in this stage.
            total: Items in this stage, None where unknown.

        Raises:
            Cancelled: The work shall stop here.
        """


def silent(stage: str, done: int, total: int | None) -> None:
    """Report to nobody."""
