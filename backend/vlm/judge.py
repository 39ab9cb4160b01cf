"""A judge: an LLM behind the door of every VLM, asked about texts alone, again where its reply cannot be read.

Equal prompts are asked once. A reply that holds no score is asked for again, with a reminder of the
form; after the last try it is returned as it is, to be counted as unscored and never as wrong.
"""

__all__ = ["TRIES", "Judge"]

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from backend.domain.vlm import Ask, Decoding, OnText, Reply, Vlm
from backend.surgcheck.judge_rubric import again_prompt, read_judgement

TRIES = 3
"""Times that a prompt is asked, in all."""


class Judge:
    """A `Vlm` that scores answers by the rubric.

    Args:
        vlm: Who judges; it is shown no image.
        known: Replies to prompts that were asked before.
    """

    def __init__(self, vlm: Vlm, known: Mapping[str, Reply] | None = None) -> None:
        self._vlm = vlm
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
            sent = [Ask(None, again_prompt(prompt) if tries else prompt) for prompt in waiting]
            given = self._vlm.answer_all(sent, decoding) if sent else []
            for prompt, reply in zip(waiting, given, strict=True):
                before = replies.get(prompt)
                replies[prompt] = replace(reply, seconds=reply.seconds + before.seconds) if before else reply
            waiting = [prompt for prompt in waiting if not replies[prompt].error and _is_unread(replies[prompt])]
        self._known |= {prompt: reply for prompt, reply in replies.items() if not reply.error}
        return [replies.get(ask.prompt) or self._known[ask.prompt] for ask in asks]


def _is_unread(reply: Reply) -> bool:
    return read_judgement(reply.text) is None
