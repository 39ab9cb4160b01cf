"""A trace judged by the references its unit has: step by step, and the whole before and after Revise.

The scorer is the one that scores runs. Nothing is stored, so a reference given later judges earlier traces too.
"""

__all__ = ["NO_SCORES", "TraceScores", "score_trace"]

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from backend.domain.records import AnswerStatus
from backend.endoca.asr import Step, StepName, Trace
from backend.endoca.outcomes import Outcome, outcome_of
from backend.endoca.scoring import Atom, score_answer
from backend.services.cases import CaseAnswer, CaseQuestion, Part


@dataclass(frozen=True, slots=True)
class TraceScores:
    """What the scorer made of a trace; None where a reference is missing or the step was not reached."""

    direct: CaseAnswer | None
    atomic: tuple[CaseAnswer | None, ...]
    """One an atomic question of the unit, in order."""
    revised: CaseAnswer | None
    before: Outcome | None
    """Of the direct answer with the atomic ones; None too in the control, which asks no parts."""
    after: Outcome | None
    """Of the revised answer with the same atomic ones."""


NO_SCORES = TraceScores(None, (), None, None, None)
"""Of a trace that nobody has scored."""


def score_trace(questions: Sequence[CaseQuestion], trace: Trace) -> TraceScores:
    """Score a trace.

    A complex answer is judged by the references of its parts, so it needs all of them; its own
    reference is for people.

    Args:
        questions: The unit's, the complex one first.
        trace: Of that unit.
    """
    lead, *parts = questions
    atoms = [Atom(part.question_class, part.reference, part.question) for part in parts]
    steps = {(step.name, step.position): step for step in trace.steps}
    whole = atoms if all(part.reference for part in parts) else []
    direct = _judged(lead, whole, steps.get((StepName.DIRECT, 0)))
    revised = _judged(lead, whole, steps.get((StepName.REVISE, 0)))
    atomic = tuple(
        _judged(part, [atom] if part.reference else [], steps.get((StepName.ATOMIC, at)))
        for at, (part, atom) in enumerate(zip(parts, atoms, strict=True))
    )
    return TraceScores(direct, atomic, revised, _outcome(direct, atomic), _outcome(revised, atomic))


def _judged(question: CaseQuestion, atoms: Sequence[Atom], step: Step | None) -> CaseAnswer | None:
    if step is None or not atoms:
        return None
    reply = step.reply
    if reply.error:
        return CaseAnswer(question.probe_id, "", reply.error, AnswerStatus.FAILED, False, ())
    score = score_answer(question.question, atoms, reply.text)
    status = AnswerStatus.READ if score.parsed_all else AnswerStatus.UNPARSED
    parts = tuple(Part(**asdict(atom)) for atom in score.atoms)
    return CaseAnswer(
        question.probe_id, reply.text, "", AnswerStatus.EMPTY if score.is_empty else status, score.correct, parts
    )


def _outcome(answer: CaseAnswer | None, atomic: Sequence[CaseAnswer | None]) -> Outcome | None:
    told = [part for part in atomic if part is not None]
    if answer is None or not told or len(told) < len(atomic):
        return None
    return outcome_of(
        complex_correct=answer.correct,
        n_atoms=len(told),
        n_atoms_correct=sum(part.correct for part in told),
        complex_answered=answer.answered,
    )
