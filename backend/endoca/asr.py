"""Atomic-Support Reconciliation (ASR): the paper's Workflow 1, one call after another.

Direct → Atomic → Premises → Revise → Select, about one image. It is given question texts and
nothing else, so no reference can reach a prompt. The control leaves the premises out:
Self-Revise and Self-Select (section V-D). Every call is made in a fresh context; what an
earlier one said reaches a later one only as the workflow puts it into its prompt.
"""

__all__ = [
    "DECODINGS",
    "Premises",
    "Step",
    "StepName",
    "Trace",
    "Variant",
    "Watcher",
    "reconcile",
    "revise_step",
    "select_step",
]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from backend.domain.vlm import Ask, Decoding, Reply, Vlm
from backend.endoca.decision import Decision, Verdict, failed_decision, read_decision
from backend.endoca.prompts import (
    Premises,
    answer_prompt,
    revise_prompt,
    select_prompt,
    self_revise_prompt,
    self_select_prompt,
)


class Variant(StrEnum):
    """With the VLM's own atomic answers as premises, or without."""

    ASR = "asr"
    SELF = "self"


class StepName(StrEnum):
    """The steps that ask the VLM; Premises, between Atomic and Revise, asks nothing."""

    DIRECT = "direct"
    ATOMIC = "atomic"
    REVISE = "revise"
    SELECT = "select"


DECODINGS: Mapping[StepName, Decoding] = MappingProxyType(
    {
        StepName.DIRECT: Decoding(max_new_tokens=80),
        StepName.ATOMIC: Decoding(max_new_tokens=80),
        StepName.REVISE: Decoding(max_new_tokens=120),
        StepName.SELECT: Decoding(max_new_tokens=120),
    }
)
"""How each step is decoded: greedily, within the benchmark authors' limits."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a trace."""

    name: StepName
    position: int
    """Place among the steps of its name, from 0: atomic question 0, 1, …"""
    question: str
    prompt: str
    """Verbatim, all the VLM was told."""
    reply: Reply


@dataclass(frozen=True, slots=True)
class Trace:
    """What a reconciliation came to.

    Where a call failed no later step is asked; of the atomic questions, which are asked at once, all stand there.
    """

    question: str
    variant: Variant
    steps: tuple[Step, ...]
    """In the order asked."""

    @property
    def direct(self) -> str | None:
        """The direct answer; None where there is none."""
        return self._answer(StepName.DIRECT)

    @property
    def premises(self) -> Premises:
        """Each atomic question with the VLM's own answer (equation 7: P_i); empty in the control."""
        return [
            (step.question, step.reply.text)
            for step in self.steps
            if step.name is StepName.ATOMIC and not step.reply.error
        ]

    @property
    def revised(self) -> str | None:
        """ASR-Revise's answer; None where the trace ended before it."""
        return self._answer(StepName.REVISE)

    @property
    def decision(self) -> Decision | None:
        """What Select decided; None where the trace ended before it."""
        found = [step.reply for step in self.steps if step.name is StepName.SELECT]
        if not found:
            return None
        return failed_decision(found[0].error) if found[0].error else read_decision(found[0].text)

    @property
    def final(self) -> str | None:
        """ASR-Selective's answer: Revise's, where Select decided to answer; else None."""
        decision = self.decision
        return self.revised if decision is not None and decision.verdict is Verdict.ANSWER else None

    @property
    def failed_step(self) -> Step | None:
        """The first call that failed, after whose step the trace ends; None where none did."""
        return next((step for step in self.steps if step.reply.error), None)

    def _answer(self, name: StepName) -> str | None:
        return next((step.reply.text for step in self.steps if step.name is name and not step.reply.error), None)


class Watcher(Protocol):
    """Follows a reconciliation while it runs. Any method may raise `Cancelled`."""

    def begins(self, name: StepName, position: int, question: str, prompt: str) -> None:
        """A call is about to be made."""

    def says(self, text: str) -> None:
        """A new piece of the reply, where the VLM can stream; atomic questions are asked at once and do not."""

    def ends(self, step: Step) -> None:
        """A call came back, good or not."""


def reconcile(
    vlm: Vlm, image: Path, question: str, atomic: Sequence[str], watcher: Watcher, variant: Variant = Variant.ASR
) -> Trace:
    """Run Workflow 1 on one image.

    After a call that failed no later step is asked: it would be about an answer that is not there.
    The atomic questions are one step, asked at once. A VLM that says nothing has answered with
    nothing, and goes on.

    Args:
        vlm: Who is asked.
        image: File of the image.
        question: The complex question.
        atomic: Its atomic questions, at least one; the control does not ask them.
        watcher: Told of every call; keeps what was done when the reconciliation is cancelled.
        variant: With premises or without.

    Raises:
        AppError: The VLM as a whole cannot go on.
        Cancelled: The watcher, or somebody at the VLM, stopped it.
    """
    steps: list[Step] = []

    def ask(name: StepName, prompt: str) -> Step:
        watcher.begins(name, 0, question, prompt)
        step = Step(name, 0, question, prompt, vlm.answer(image, prompt, DECODINGS[name], watcher.says))
        return end(step)

    def end(step: Step) -> Step:
        steps.append(step)
        watcher.ends(step)
        return step

    def trace() -> Trace:
        return Trace(question, variant, tuple(steps))

    direct = ask(StepName.DIRECT, answer_prompt(question))
    if direct.reply.error:
        return trace()
    if variant is Variant.ASR:
        prompts = [answer_prompt(part) for part in atomic]
        for position, (part, prompt) in enumerate(zip(atomic, prompts, strict=True)):
            watcher.begins(StepName.ATOMIC, position, part, prompt)
        replies = vlm.answer_all([Ask(image, prompt) for prompt in prompts], DECODINGS[StepName.ATOMIC])
        for position, (part, prompt, reply) in enumerate(zip(atomic, prompts, replies, strict=True)):
            end(Step(StepName.ATOMIC, position, part, prompt, reply))
        if any(step.reply.error for step in steps):
            return trace()
    premises = trace().premises
    revised = ask(StepName.REVISE, revise_step(variant, question, direct.reply.text, premises))
    if not revised.reply.error:
        ask(StepName.SELECT, select_step(variant, question, revised.reply.text, premises))
    return trace()


def revise_step(variant: Variant, question: str, direct: str, premises: Premises) -> str:
    """Return the prompt of step 4, or of its control.

    Args:
        variant: With premises or without.
        question: The complex question.
        direct: The direct answer.
        premises: The atomic questions with the VLM's own answers; the control leaves them out.
    """
    return revise_prompt(question, direct, premises) if variant is Variant.ASR else self_revise_prompt(question, direct)


def select_step(variant: Variant, question: str, revised: str, premises: Premises) -> str:
    """Return the prompt of step 5, or of its control.

    Args:
        variant: With premises or without.
        question: The complex question.
        revised: Revise's answer.
        premises: The atomic questions with the VLM's own answers; the control leaves them out.
    """
    return (
        select_prompt(question, revised, premises) if variant is Variant.ASR else self_select_prompt(question, revised)
    )
