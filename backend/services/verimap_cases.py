"""One example of VeriMap as a case: an image, its question, what generators answered and what verifiers said of it.

An answer is true or not by its oracle, and stands beside every verdict on it. A verdict is shown
under its own condition: what a verifier said without the image is never mixed with what it said
with it. The turns of a feedback loop are put together into one conversation.
"""

__all__ = [
    "CaseVerdict",
    "GeneratorCase",
    "GivenAnswer",
    "Loop",
    "OracleJudgement",
    "VerdictKey",
    "VerdictRun",
    "VerificationCase",
]

from dataclasses import dataclass
from typing import NamedTuple

from backend.domain.records import AnswerStatus
from backend.services.cases import CaseImage
from backend.verimap.conditions import Condition
from backend.verimap.examples import AnswerType, Option
from backend.verimap.outcomes import Policy, VerdictOutcome, verdict_outcome
from backend.verimap.verifier import Verdict
from backend.verimap.vocabulary import Task


@dataclass(frozen=True, slots=True)
class OracleJudgement:
    """What one oracle said of an answer."""

    oracle: str
    correct: bool | None
    """None: it could not tell, or was not reached; that is not wrong."""
    reason: str
    error: str


@dataclass(frozen=True, slots=True)
class VerdictRun:
    """The run a verdict, or an answer without one, belongs to."""

    run_id: str
    vlm: str
    vlm_group: str | None
    setting: str
    stage: str
    origin: str
    prompt_version: str
    decoding: str
    source: str


class VerdictKey(NamedTuple):
    """What tells the verdicts on one example apart."""

    run_id: str
    turn: int
    place: int


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """What one verifier said of one answer."""

    run: VerdictRun
    generator: str
    verifier: str
    condition: Condition
    turn: int
    """Of the feedback loop; 0: on the first answer."""
    place: int
    answer: str | None
    """That was judged; None where the file of records does not hold it."""
    oracle_correct: bool | None
    """Whether the answer is right; None: nobody judged it."""
    oracle: str | None
    verdict: Verdict | None
    """None: no verdict was given or could be read."""
    explanation: str | None
    status: AnswerStatus
    error: str
    reply: str | None = None
    """The verifier's whole reply, verbatim; None where the run holds none."""
    looked: str | None = None
    """What the two-step verifier said of the image before it saw the answer; None where there was no such step."""
    judgements: tuple[OracleJudgement, ...] = ()
    """Of all oracles that were asked about the answer."""

    @property
    def key(self) -> VerdictKey:
        """What tells it from the other verdicts on its example."""
        return VerdictKey(self.run.run_id, self.turn, self.place)

    @property
    def is_self(self) -> bool:
        """Whether the verifier judged its own answer."""
        return self.generator == self.verifier

    def outcome(self, policy: Policy) -> VerdictOutcome | None:
        """Return its outcome; None: nobody judged the answer, or the policy drops the verdict."""
        if self.oracle_correct is None:
            return None
        return verdict_outcome(self.oracle_correct, self.verdict, policy)

    @property
    def contradicts(self) -> bool:
        """Whether verdict and truth part.

        An UNCERTAIN verdict says neither, so that it never does; nor does one of a control, whose verifier
        was not shown the image that the truth is about.
        """
        if self.verdict not in (Verdict.CORRECT, Verdict.INCORRECT) or self.condition.is_control:
            return False
        return self.oracle_correct is not None and self.oracle_correct is (self.verdict is Verdict.INCORRECT)


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """A first answer of a generator with the verdicts on it."""

    text: str | None
    """Verbatim; None where the file of records does not hold it."""
    error: str
    """Why there is no answer; empty where there is one, or none is known."""
    oracle_correct: bool | None
    oracle: str | None
    judgements: tuple[OracleJudgement, ...]
    runs: tuple[VerdictRun, ...]
    """The generator's own runs that gave it; empty for imported records."""
    verdicts: tuple[CaseVerdict, ...]
    """By verifier, its own generator first; the plain one before those of other conditions."""

    def plain_verdict(self, verifier: str) -> CaseVerdict | None:
        """Return what a verifier said under the plain condition; None where it did not, or said two things."""
        plain = [one for one in self.verdicts if (one.verifier, one.condition) == (verifier, Condition.PLAIN)]
        return plain[0] if len({one.verdict for one in plain}) == 1 else None


@dataclass(frozen=True, slots=True)
class Loop:
    """A feedback loop: answer and verdict, turn by turn."""

    verifier: str
    condition: Condition
    steps: tuple[CaseVerdict, ...]
    """In the order of turns, from the first answer where its verdict is known."""


@dataclass(frozen=True, slots=True)
class GeneratorCase:
    """Everything one generator said."""

    vlm: str
    vlm_group: str | None
    answers: tuple[GivenAnswer, ...]
    """Its different first answers; more than one where runs differ."""
    loops: tuple[Loop, ...]

    @property
    def verdicts(self) -> tuple[CaseVerdict, ...]:
        """All verdicts on its answers, each once."""
        first = [verdict for answer in self.answers for verdict in answer.verdicts]
        return (*first, *(step for loop in self.loops for step in loop.steps if step.turn))


@dataclass(frozen=True, slots=True)
class VerificationCase:
    """An example with everything that was said about it."""

    unit_id: str
    source_id: str
    suite: str
    split: str
    image: CaseImage
    more_images: tuple[str, ...]
    """File names of the example's further images."""
    question: str
    reference: str
    reference_letter: str
    """Of the right option; empty without options."""
    options: tuple[Option, ...]
    answer_type: AnswerType | None
    task: Task | None
    labelled_by: str | None
    """How the task came to be known; None as the task."""
    native_types: tuple[str, ...]
    generators: tuple[GeneratorCase, ...]
