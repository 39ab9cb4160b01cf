"""A VLM as the three systems see it: one prompt about one image, or none, in a fresh context.

There is no conversation. What an earlier call said reaches a later one only inside its
prompt, so a verifier never sees the context in which the answer it judges was given.
"""

__all__ = ["Ask", "Decoding", "OnText", "Reply", "Vlm", "said_nothing"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

OnText = Callable[[str], None]
"""Receives each new piece of a reply while it is generated."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """How a reply is decoded: greedily, always."""

    max_new_tokens: int = 80
    """EndoCA's authors used 80 for answers and 120 for ASR calls. With 0 nothing is generated: words are read."""
    reasoning_effort: str = ""
    """For remote VLMs that take it; empty leaves the VLM's own."""
    watched: tuple[str, ...] = ()
    """Words, as verdicts are, whose probabilities shall be noted where the first of them is said."""

    @property
    def label(self) -> str:
        """In words, as a run's key has it."""
        if not self.max_new_tokens:
            return "teacher-forced"
        effort = f", reasoning effort {self.reasoning_effort}" if self.reasoning_effort else ""
        return f"greedy, {self.max_new_tokens} new tokens{effort}"


@dataclass(frozen=True, slots=True)
class Ask:
    """One call: a prompt about an image file, or about none."""

    image: Path | None
    prompt: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back from one call, good or not."""

    text: str
    """Verbatim; empty where the call failed, and where nothing was said."""
    error: str = ""
    """What happened and what to do, where the call failed; empty otherwise."""
    n_tokens: int | None = None
    """Generated tokens, the end mark included; None where the VLM does not say."""
    was_cut: bool = False
    """Whether the token limit ended it."""
    seconds: float = 0.0
    """Wall time of the call; of a batch, its share."""
    probabilities: Mapping[str, float] = field(default_factory=dict)
    """Of the watched words, adding up to 1; empty where none was said or the VLM does not tell."""


class Vlm(Protocol):
    """Anything that answers prompts about images."""

    @property
    def name(self) -> str:
        """Its name among the VLMs of a store."""

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        """Answer one prompt in a fresh context.

        Args:
            image: File of the image; None asks about the text alone.
            prompt: All the VLM is told.
            decoding: How.
            on_text: Told of each new piece, where the VLM can stream.

        Returns:
            The reply. A call that failed is a reply with an error, never an exception.

        Raises:
            AppError: The VLM as a whole cannot go on: its process ended, its key is refused.
            Cancelled: Somebody stopped it.
        """

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        """Answer several prompts, each in a fresh context, in their order.

        The replies are those of `answer`, one by one; asks about one image may share its encoding.
        """


def said_nothing(text: str) -> None:
    """Listen to no pieces."""
