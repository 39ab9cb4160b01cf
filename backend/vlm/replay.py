"""A VLM that says again what was said before: stored answers behind the door of every VLM.

It knows answers by image and prompt. What is not stored is an error and never a guess, so a
pipeline that runs over stored answers either repeats what happened or says where it departs.

The blind baseline comes through this door too. It answers by role and question classes, which
no prompt carries; so whoever knows the probes (the runner) asks `BlindBaseline` for each of
them and stores what it says here, as the answer to the probe's image and prompt. In both EndoCA
suites an image and a prompt belong to one kind of question; where they do not, `Replay` refuses.
"""

__all__ = ["Replay", "StoredAnswer"]

import hashlib
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from backend.domain.vlm import Ask, Decoding, OnText, Reply, said_nothing
from backend.errors import AppError

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What was said about one image and prompt."""

    image: str | None
    """SHA-256 of the file in lower-case hex, or the file's name without folders; None for a
    prompt without an image."""
    prompt: str
    reply: Reply


class Replay:
    """A `Vlm` of stored answers.

    A file is looked up by its name, and by its content where answers are stored under hashes;
    found by name, it need not be there. Failed calls are said again with their error.

    Args:
        name: Its name among the VLMs of a store.
        answers: In any order; the same one twice is one.

    Raises:
        AppError: Two answers to one image and prompt differ: the prompt does not tell which.
    """

    def __init__(self, name: str, answers: Iterable[StoredAnswer]) -> None:
        self._name = name
        self._replies: dict[tuple[str | None, str], Reply] = {}
        for stored in answers:
            known = self._replies.setdefault((stored.image, stored.prompt), stored.reply)
            if (known.text, known.error) != (stored.reply.text, stored.reply.error):
                raise AppError(
                    f"There are two different answers of {name} about {stored.image or 'no image'} to one prompt: "
                    f"“{stored.prompt[:80]}”.",
                    "Leave one of them out.",
                )
        self._has_hashes = any(image and _SHA256.fullmatch(image) for image, _ in self._replies)

    @property
    def name(self) -> str:
        """Its name among the VLMs of a store."""
        return self._name

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        """Say again what is stored, in one piece; see `Vlm`. The decoding is the stored one's."""
        began = time.monotonic()
        reply = self._stored(image, prompt)
        if reply.text:
            on_text(reply.text)
        return replace(reply, seconds=time.monotonic() - began)

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        """Say again what is stored for each; see `Vlm`."""
        return [self.answer(ask.image, ask.prompt, decoding, said_nothing) for ask in asks]

    def _stored(self, image: Path | None, prompt: str) -> Reply:
        keys: list[str | None] = [image.name if image else None]
        if image and self._has_hashes and image.is_file():
            keys.append(_sha256_of(image))
        for key in keys:
            if reply := self._replies.get((key, prompt)):
                return reply
        about = f"about {image.name}" if image else "without an image"
        return Reply("", error=f"No answer of {self._name} to this prompt {about} is stored. Run the VLM itself.")


def _sha256_of(image: Path) -> str:
    with image.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
