"""A live verification in the shape of verdicts, its answers judged by the reference that the example has now.

The truth is matching's, the deterministic one: an open answer, or one that cannot be read, is not judged, and
neither is any where no reference is known. Nothing is stored, so a reference given later judges earlier traces too.
"""

__all__ = ["PERSON", "judged_turns", "live_run", "trace_verdicts"]

import re

from backend.domain.records import AnswerStatus, Origin, Stage
from backend.services.oracle import MATCHING, match_answer
from backend.services.verification_traces import VerificationTrace
from backend.services.verimap_cases import CaseVerdict, OracleJudgement, VerdictRun
from backend.verimap.conditions import Condition
from backend.verimap.scoring import Question
from backend.verimap.verification import Turn, Verification

PERSON = "A person"
"""Stands for the generator of an answer that a person gave."""


def trace_verdicts(question: Question, trace: VerificationTrace) -> tuple[CaseVerdict, ...]:
    """Return a stored trace's answers, each judged, with the verdicts on them."""
    generator = trace.generator.vlm.name if trace.generator else PERSON
    return judged_turns(question, trace.verification, generator, live_run(trace.trace_id, trace.verifier.vlm.name))


def live_run(trace_id: str, verifier: str) -> VerdictRun:
    """Return what stands for the run of verdicts that were given live; the trace says the rest."""
    return VerdictRun(trace_id, verifier, None, "", Stage.VERIFY, Origin.LIVE, "", "", "asked live")


def judged_turns(
    question: Question, verification: Verification, generator: str, run: VerdictRun
) -> tuple[CaseVerdict, ...]:
    """Return the answers there are, in order, each judged, with the verdict on it.

    Args:
        question: The example's, with its reference.
        verification: Of that example; it may still run.
        generator: Name of the VLM that answers; of a person's answer `PERSON` takes its place.
        run: From `live_run`.
    """
    return tuple(_verdict(question, verification, turn, generator, run) for turn in verification.turns)


def _verdict(
    question: Question, verification: Verification, turn: Turn, generator: str, run: VerdictRun
) -> CaseVerdict:
    word = match_answer(question, turn.answer)
    step = verification.step(Stage.VERIFY, turn.number)
    looked = verification.step(Stage.LOOK, 0)
    told = word is not None and word.correct is not None
    review = turn.review
    return CaseVerdict(
        run=run,
        generator=PERSON if verification.course.answer and turn.number == 0 else generator,
        verifier=run.vlm,
        condition=Condition.TWO_STEP if verification.course.two_step else Condition.PLAIN,
        turn=turn.number,
        place=0,
        answer=turn.answer,
        oracle_correct=word.correct if word else None,
        oracle=MATCHING if told else None,
        verdict=review.verdict if review else None,
        explanation=review.explanation if review else None,
        status=_status(verification, turn),
        error=step.reply.error if step else "",
        reply=step.reply.text if step and not step.reply.error else None,
        looked=looked.reply.text if looked and not looked.reply.error else None,
        judgements=(OracleJudgement(MATCHING, *word),) if word else (),
    )


def _status(verification: Verification, turn: Turn) -> AnswerStatus:
    """Return what became of the verifier's call."""
    step = verification.step(Stage.VERIFY, turn.number)
    if step is None:
        return AnswerStatus.MISSING
    if step.reply.error:
        return AnswerStatus.FAILED
    if not re.search(r"\w", step.reply.text):
        return AnswerStatus.EMPTY
    return AnswerStatus.READ if turn.review and turn.review.verdict else AnswerStatus.UNPARSED
