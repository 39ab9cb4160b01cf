"""What the commands that ask about one image share: a call told on stderr, and the words of what went wrong."""

__all__ = ["Told", "error_words", "failed_call", "say_untrained", "tell_end"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from backend.cli.output import say
from backend.domain.progress import Cancelled
from backend.domain.vlm import Reply
from backend.errors import AppError

if TYPE_CHECKING:
    from backend.vlm.entries import VlmEntry


class _Replied(Protocol):
    @property
    def reply(self) -> Reply: ...


AnyStep = TypeVar("AnyStep", bound=_Replied)


@dataclass
class Told(Generic[AnyStep]):
    """Follows calls on stderr, and keeps what was answered. What a call is called is said by the subclasses."""

    steps: list[AnyStep] = field(default_factory=list, init=False)
    error: Exception | None = field(default=None, init=False)
    """Why a VLM as a whole could not go on, be it a bug; or that somebody cancelled it."""
    n_pieces: int = field(default=0, init=False)
    """Of the present reply."""

    @property
    def has_answers(self) -> bool:
        """Whether any call was answered."""
        return any(not step.reply.error for step in self.steps)

    @property
    def problem(self) -> str:
        """Why it ended early; empty where it did not, or where somebody cancelled it."""
        return "" if self.error is None or self.was_cancelled else error_words(self.error)

    @property
    def was_cancelled(self) -> bool:
        """Whether somebody stopped it."""
        return isinstance(self.error, Cancelled)

    def follow(self, ask: Callable[[], object]) -> None:
        """Make the calls, and keep what ends them early: it is raised again once what was answered is printed."""
        try:
            ask()
        except KeyboardInterrupt:
            self.error = Cancelled()
        except Exception as error:  # noqa: BLE001 - see above
            self.error = error
        if self.error is not None:
            say("")  # ends the line of the call

    def says(self, text: str) -> None:
        """Tell a piece of the reply; see the systems' `Watcher`."""
        self.n_pieces += 1
        say(text, end="")

    def ends(self, step: AnyStep) -> None:
        """Tell how a call ended; see the systems' `Watcher`."""
        self.steps.append(step)
        tell_end(step.reply, was_streamed=self.n_pieces > 0)


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
