"""A judge: an LLM behind the door of every VLM, asked about texts alone, again where its reply cannot be read.

Equal prompts are asked once. A reply that cannot be read is asked for again, with a reminder of the
form; after the last try it is returned as it is, to be counted as unjudged and never as wrong.
"""

__all__ = ["TRIES", "Judge", "Rubric"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from backend.domain.vlm import Ask, Decoding, OnText, Reply, Vlm

TRIES = 3
"""Times that a prompt is asked, in all."""


class Rubric(NamedTuple):
    """What a judge has to know of the rules it judges by."""

    is_read: Callable[[str], bool]
    """Whether a reply holds what was asked for."""
    again: Callable[[str], str]
    """The prompt after a reply that does not."""


class Judge:
    """A `Vlm` that judges answers by a rubric.

    Args:
        vlm: Who judges; it is shown no image.
        rubric: By which rules.
        known: Replies to prompts that were asked before.
    """

    def __init__(self, vlm: Vlm, rubric: Rubric, known: Mapping[str, Reply] | None = None) -> None:
        self._vlm = vlm
        self._rubric = rubric
        self._known = dict(known or {})

    @property
    def name(self) -> str:
        """Its name among the VLMs of a store."""
        return self._vlm.name

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        """Judge one answer; see `Vlm`. The reply is one piece."""
        [reply] = self.answer_all([Ask(image, prompt)], decoding)
        if reply.text:
            on_text(reply.text)
        return reply

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        """Judge several answers; see `Vlm`. Failed calls are not remembered, so they can be made again."""
        replies: dict[str, Reply] = {}
        waiting = list(dict.fromkeys(ask.prompt for ask in asks if ask.prompt not in self._known))
        for tries in range(TRIES):
            sent = [Ask(None, self._rubric.again(prompt) if tries else prompt) for prompt in waiting]
            given = self._vlm.answer_all(sent, decoding) if sent else []
            for prompt, reply in zip(waiting, given, strict=True):
                before = replies.get(prompt)
                replies[prompt] = replace(reply, seconds=reply.seconds + before.seconds) if before else reply
            unread = [prompt for prompt in waiting if not self._rubric.is_read(replies[prompt].text)]
            waiting = [prompt for prompt in unread if not replies[prompt].error]
        self._known |= {prompt: reply for prompt, reply in replies.items() if not reply.error}
        return [replies.get(ask.prompt) or self._known[ask.prompt] for ask in asks]
