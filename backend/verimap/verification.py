"""One verification about one image, call after call: a generator answers, a verifier judges, and its word goes back.

Sections 3.2 and 4.6. It is given a question and no reference, so none can reach a prompt. Every call is made in a
fresh context: generator and verifier learn of each other through their prompts alone, though both be one VLM. The
first answer may also be a person's own.
"""

__all__ = ["Course", "Step", "Turn", "Verification", "Watcher", "verify"]

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from backend.domain.records import Stage
from backend.domain.vlm import Reply, Vlm
from backend.verimap.feedback_loop import (
    DECODINGS,
    final_answer,
    first_look,
    given_answer,
    goes_on,
    revision_prompt,
)
from backend.verimap.prompts import generate_prompt, look_prompt, two_step_prompt, verify_prompt
from backend.verimap.verifier import Review, read_review


@dataclass(frozen=True, slots=True)
class Course:
    """What is to be done about a question."""

    answer: str = ""
    """A person's, which is verified; empty lets the generator answer first."""
    two_step: bool = False
    """Whether the verifier looks at the image once before it is shown any answer."""
    turns: int = 0
    """Turns in which verdict and explanation go back to the generator, at most."""
    stop_at_correct: bool = False
    """Whether the verdict CORRECT ends it; the paper leaves that open."""

    @property
    def asks_generator(self) -> bool:
        """Whether any call is the generator's."""
        return not self.answer or self.turns > 0


@dataclass(frozen=True, slots=True)
class Step:
    """One call."""

    name: Stage
    """DIRECT and LOOP are the generator's, LOOK and VERIFY the verifier's."""
    turn: int
    """0 before anything went back."""
    prompt: str
    """Verbatim, all the VLM was told."""
    reply: Reply


class Turn(NamedTuple):
    """An answer, and what the verifier said of it."""

    number: int
    answer: str
    review: Review | None
    """None where the call failed or was not reached."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What a verification came to. Where a call failed no later one is made."""

    question: str
    """As it was asked, options below it where it has any."""
    course: Course
    steps: tuple[Step, ...]
    """In the order asked."""

    def step(self, name: Stage, turn: int) -> Step | None:
        """Return a call; None where it was not made, or has not come back."""
        return next((step for step in self.steps if (step.name, step.turn) == (name, turn)), None)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The answers there are, in order, each with its review."""
        found = []
        if self.course.answer:
            found.append(Turn(0, self.course.answer, self._review(0)))
        for step in self.steps:
            if step.name in (Stage.DIRECT, Stage.LOOP) and not step.reply.error:
                read = final_answer if step.name is Stage.LOOP else given_answer
                found.append(Turn(step.turn, read(step.reply.text), self._review(step.turn)))
        return tuple(found)

    @property
    def failed_step(self) -> Step | None:
        """The call that failed; None where none did."""
        return next((step for step in self.steps if step.reply.error), None)

    @property
    def is_whole(self) -> bool:
        """Whether all that its course asks for was answered."""
        turns = self.turns
        if self.failed_step or not turns or turns[-1].review is None:
            return False
        ends = not goes_on(turns[-1].review, stop_at_correct=self.course.stop_at_correct)
        return ends or turns[-1].number >= self.course.turns

    def _review(self, turn: int) -> Review | None:
        step = self.step(Stage.VERIFY, turn)
        return read_review(step.reply.text) if step and not step.reply.error else None


class Watcher(Protocol):
    """Follows a verification while it runs. Any method may raise `Cancelled`."""

    def begins(self, name: Stage, turn: int, question: str, prompt: str) -> None:
        """A call is about to be made."""

    def says(self, text: str) -> None:
        """A new piece of the reply, where the VLM can stream."""

    def ends(self, step: Step) -> None:
        """A call came back, good or not."""


def verify(
    generator: Vlm | None, verifier: Vlm, image: Path, question: str, watcher: Watcher, course: Course
) -> Verification:
    """Run a verification on one image.

    The two-step verifier looks once, and is reminded of what it wrote in every turn. A VLM that says nothing has
    answered with nothing, and goes on; so does a verdict that cannot be read.

    Args:
        generator: Who answers; may be None where the course never asks it.
        verifier: Who judges: the same VLM or another.
        image: File of the image.
        question: With its options below it, where it has any.
        watcher: Told of every call; keeps what was done when it is cancelled.
        course: What is to be done.

    Raises:
        ValueError: There is no generator, and the course asks it.
        AppError: A VLM as a whole cannot go on.
        Cancelled: The watcher, or somebody at a VLM, stopped it.
    """
    steps: list[Step] = []

    def ask(name: Stage, turn: int, prompt: str) -> Reply:
        asked = verifier if name in (Stage.LOOK, Stage.VERIFY) else generator
        if asked is None:
            raise ValueError("nobody is there to answer")
        watcher.begins(name, turn, question, prompt)
        step = Step(name, turn, prompt, asked.answer(image, prompt, DECODINGS[name], watcher.says))
        steps.append(step)
        watcher.ends(step)
        return step.reply

    def result() -> Verification:
        return Verification(question, course, tuple(steps))

    if course.answer:
        answer = course.answer
    else:
        reply = ask(Stage.DIRECT, 0, generate_prompt(question))
        if reply.error:
            return result()
        answer = given_answer(reply.text)
    looked = None
    if course.two_step:
        reply = ask(Stage.LOOK, 0, look_prompt(question))
        if reply.error:
            return result()
        looked = first_look(reply.text)
    for turn in range(course.turns + 1):
        prompt = verify_prompt(question, answer) if looked is None else two_step_prompt(question, answer, looked)
        reply = ask(Stage.VERIFY, turn, prompt)
        review = read_review(reply.text)
        if reply.error or turn == course.turns or not goes_on(review, stop_at_correct=course.stop_at_correct):
            break
        reply = ask(Stage.LOOP, turn + 1, revision_prompt(question, answer, review))
        if reply.error:
            break
        answer = final_answer(reply.text)
    return result()
