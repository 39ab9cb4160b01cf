"""What the commands that ask about one image share: a call told on stderr, and the words of what went wrong."""

__all__ = ["error_words", "failed_call", "say_untrained", "tell_end"]

from collections.abc import Sequence
from typing import TYPE_CHECKING

from backend.cli.output import say
from backend.domain.progress import Cancelled
from backend.domain.vlm import Reply
from backend.errors import AppError

if TYPE_CHECKING:
    from backend.vlm.entries import VlmEntry


def say_untrained(asked: "Sequence[VlmEntry]", questions: Sequence[str]) -> None:
    """Say which questions the VLM in the box never learned to answer, where it is among those asked."""
    from backend.demo.question_wordings import is_trained_question

    for name in dict.fromkeys(entry.name for entry in asked if entry.group == "demo"):
        for question in questions:
            if not is_trained_question(question):
                say(f"{name} was not trained for this question, and its answer may mean nothing: {question}")


def tell_end(reply: Reply, *, was_streamed: bool) -> None:
    """Tell how a call ended; its words too, where they were not told piece by piece."""
    from backend.domain.repetition import repeats_itself

    if reply.error or not was_streamed:
        say(reply.error or reply.text, end="")
    say(f" ({reply.seconds:.1f} s)")
    if repeats_itself(reply.text):
        say("  The reply ends in the same words over and over.")


def failed_call(name: str, reply: Reply, *, has_answers: bool) -> AppError:
    """Return the error of a call that failed."""
    rest = "What was answered is printed." if has_answers else "No call was answered."
    return AppError(f"The {name} call failed: {reply.error}", rest)


def error_words(error: BaseException) -> str:
    """Return what an error says. Of one that is cancelled here, what was answered is printed, and may be kept."""
    if isinstance(error, Cancelled | KeyboardInterrupt):
        return "Cancelled."
    return str(error) or type(error).__name__
