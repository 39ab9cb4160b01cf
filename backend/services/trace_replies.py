"""The replies of a stored trace that can be looked into, and the image that was shown when they were given.

A trace is one of three kinds: a reconciliation, a pair, a verification. Of each it is told, reply by reply, what
the VLM was told, what it said, thinking left aside, and which VLM in which build said it.
"""

__all__ = ["AnyTrace", "ShownImage", "TraceReply", "image_to_look_at", "shown_image", "to_compare", "trace_replies"]

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from backend.domain.records import Role, Stage
from backend.endoca.asr import StepName
from backend.errors import AppError
from backend.services.images import image_file
from backend.services.live_traces import StoredTrace
from backend.services.live_units import image_to_ask
from backend.services.pair_traces import PairTrace
from backend.services.pair_units import pair_to_ask
from backend.services.runs.plan import VlmIdentity
from backend.services.verification_traces import VerificationTrace
from backend.store.store import Store
from backend.verimap.feedback_loop import given_answer
from backend.verimap.prompts import generate_prompt

AnyTrace = StoredTrace | PairTrace | VerificationTrace


@dataclass(frozen=True, slots=True)
class TraceReply:
    """A reply of a trace."""

    step: str
    position: int
    """Of the atomic question, or turn; 0 where there is one."""
    question: str
    """Of a reconciliation, what the step asks; empty in other traces."""
    prompt: str
    """Verbatim, all the VLM was told."""
    said: str
    """Thinking left aside."""
    vlm: VlmIdentity
    """Who said it; of a person's answer, the VLM that is read as if it had."""
    by_person: bool = False

    @property
    def key(self) -> tuple[str, int]:
        """Step and position, by which the store keeps looks."""
        return self.step, self.position


class ShownImage(NamedTuple):
    """The image that a trace is about, its file at hand."""

    image_id: str
    width: int
    """Of the upright image, as is the height."""
    height: int


def trace_replies(trace: AnyTrace) -> tuple[TraceReply, ...]:
    """Return the replies of a trace in the order given; a call that failed has none.

    A person's answer is read as if the generator had given it to the question, as in `looks.generator_look`; where
    the verification has no generator, as if the verifier had.
    """
    if isinstance(trace, StoredTrace):
        return tuple(
            TraceReply(step.name, step.position, step.question, step.prompt, given_answer(step.reply.text), trace.vlm)
            for step in trace.trace.steps
            if not step.reply.error
        )
    if isinstance(trace, PairTrace):
        return tuple(
            TraceReply(role, 0, "", told.prompt, given_answer(told.reply.text), trace.vlm)
            for role in (Role.ORIGINAL, Role.LESS_BIASED)
            if (told := trace.calls.get(role)) and not told.reply.error
        )
    return _verification_replies(trace)


def to_compare(replies: Sequence[TraceReply]) -> tuple[TraceReply, ...]:
    """Return the two replies of a trace that are compared first, fewer where it has fewer.

    The first answer with the first verdict, the direct answer with the revised one (where there is none, with the
    first part's), the original question's with the less-biased one's. What is lacking of these is filled up with
    the replies that come first.
    """
    by_key = {reply.key: reply for reply in replies}
    order = [
        (Stage.DIRECT, 0), (Stage.VERIFY, 0), (Role.ORIGINAL, 0), (Role.LESS_BIASED, 0), (StepName.REVISE, 0),
        (StepName.ATOMIC, 0),
    ]  # fmt: skip
    return tuple({key: by_key[key] for key in (*order, *by_key) if key in by_key}.values())[:2]


def shown_image(store: Store, trace: AnyTrace) -> ShownImage | None:
    """Return a stored image with the very bytes that the VLM was shown; None where none is at hand."""
    rows = store.rows("SELECT image_id, width, height FROM images WHERE sha256 = ? ORDER BY image_id", [_sha256(trace)])
    return next((ShownImage(*row) for row in rows if image_file(store, row[0])), None)


def image_to_look_at(store: Store, trace: AnyTrace) -> Path:
    """Return the file that the VLM was shown; a picture with a cue in it is drawn again where it is gone.

    Raises:
        AppError: Neither is at hand, or what is there now is another image.
    """
    shown = shown_image(store, trace)
    if shown is not None:
        return image_to_ask(store, shown.image_id).path
    if isinstance(trace, PairTrace):
        pair = pair_to_ask(store, trace.unit_id)
        if pair.picture_sha256 == trace.picture_sha256:
            return pair.picture
    raise AppError(
        "The image that the VLM was shown is not at hand any more, or has changed since.",
        "Attach the folder that holds it on the Data page, or ask again and look into the new answer.",
    )


def _sha256(trace: AnyTrace) -> str:
    return trace.picture_sha256 if isinstance(trace, PairTrace) else trace.image_sha256


def _verification_replies(trace: VerificationTrace) -> tuple[TraceReply, ...]:
    verification, verifier = trace.verification, trace.verifier.vlm
    generator = trace.generator.vlm if trace.generator else verifier
    replies = []
    if answer := verification.course.answer:
        prompt = generate_prompt(verification.question)
        replies.append(TraceReply(Stage.DIRECT, 0, "", prompt, answer, generator, by_person=True))
    for step in verification.steps:
        if not step.reply.error:
            vlm = verifier if step.name in (Stage.LOOK, Stage.VERIFY) else generator
            replies.append(TraceReply(step.name, step.turn, "", step.prompt, given_answer(step.reply.text), vlm))
    return tuple(replies)
