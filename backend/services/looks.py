"""Two looks at one image: the generator's when it answered, and the verifier's when it judged the answer.

Both are taken of one verification, afterwards: its prompts are read again with what was said behind
them, and nothing new is asked. The two differ in their prompts alone where a VLM judges itself.
"""

__all__ = ["Look", "SaliencyVlm", "TwoLooks", "generator_look", "two_looks", "verifier_look"]

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from backend.domain.records import Stage
from backend.domain.vlm import Vlm
from backend.verimap.feedback_loop import given_answer
from backend.verimap.prompts import generate_prompt
from backend.verimap.verification import Verification
from backend.vlm.saliency.result import Saliency, SaliencyError


@runtime_checkable
class SaliencyVlm(Vlm, Protocol):
    """A VLM that runs on this machine, in this process or in its own, and can be looked into."""

    def saliency(self, image: Path, prompt: str, answer: str) -> Saliency:
        """Return the saliency of an answer to a prompt; see `TransformersLocal.saliency`."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What a VLM attended to, and what it depended on, when it said something."""

    prompt: str
    """Verbatim, all the VLM was told."""
    said: str
    """What the saliency is of: the answer, or the verifier's reply; thinking left aside."""
    saliency: Saliency


@dataclass(frozen=True, slots=True, eq=False)
class TwoLooks:
    """The looks of a verification's first turn."""

    generator: Look
    """At the image with the question."""
    verifier: Look
    """At the image with the question and the answer."""


def two_looks(generator: SaliencyVlm, verifier: SaliencyVlm, image: Path, verification: Verification) -> TwoLooks:
    """Look into both VLMs of a verification.

    Args:
        generator: Who answered; of a person's answer, the VLM that might have given it.
        verifier: Who judged: the same VLM or another.
        image: File of the image.
        verification: What was asked and said. Only its first answer and the first word on it count.

    Raises:
        ValueError: The verification lacks the answer or the word on it.
        SaliencyError: One of the looks cannot be had; it says whose.
        AppError: A VLM as a whole cannot go on.
        Cancelled: Somebody at a VLM stopped it.
    """
    return TwoLooks(generator_look(generator, image, verification), verifier_look(verifier, image, verification))


def generator_look(vlm: SaliencyVlm, image: Path, verification: Verification) -> Look:
    """Return what the first answer attended to; as `two_looks`, whose errors are raised.

    A person's answer is read as if the VLM had given it to the question.
    """
    if not verification.turns:
        raise ValueError("there is no answer yet")
    step = verification.step(Stage.DIRECT, 0)
    prompt = step.prompt if step else generate_prompt(verification.question)
    return _look(vlm, image, prompt, verification.turns[0].answer, "the generator's answer")


def verifier_look(vlm: SaliencyVlm, image: Path, verification: Verification) -> Look:
    """Return what the verifier's word on the first answer attended to; as `two_looks`, whose errors are raised."""
    step = verification.step(Stage.VERIFY, 0)
    if step is None or step.reply.error:
        raise ValueError("the verifier has not replied")
    return _look(vlm, image, step.prompt, given_answer(step.reply.text), "the verifier's reply")


def _look(vlm: SaliencyVlm, image: Path, prompt: str, said: str, whose: str) -> Look:
    try:
        return Look(prompt, said, vlm.saliency(image, prompt, said))
    except SaliencyError as error:
        raise SaliencyError(f"Saliency of {whose}: {error.message}", error.hint) from error
