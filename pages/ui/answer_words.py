"""What a case says in plain words: one word for each answer, one sentence for each run.

Everything returned is plain text and may hold a data set's or a VLM's words; who draws it
escapes it.
"""

__all__ = [
    "PART_UNANSWERED",
    "answer_name",
    "case_sentence",
    "judged",
    "part_name",
    "quoted",
    "role_name",
    "run_sentence",
]

from collections.abc import Sequence

from backend.domain.records import AnswerStatus, Role
from backend.endoca.outcomes import Outcome
from backend.endoca.scoring import Rule
from backend.services.cases import Case, CaseAnswer, CaseQuestion, CaseRun

QUOTED = 160
"""Letters of an answer that a sentence quotes; the whole stands in the table."""

PART_UNANSWERED = "right answer, part not answered"
"""Of a run whose wrong parts are all missing, failed or empty: nothing was said that contradicts."""

_UNDECIDED = (Rule.HEDGE, Rule.REFUSAL, Rule.NON_COMMITTAL)

_STATUS_WORDS = {
    AnswerStatus.UNPARSED: "could not be read",
    AnswerStatus.EMPTY: "empty answer",
    AnswerStatus.FAILED: "call failed",
    AnswerStatus.MISSING: "no answer on file",
}

_ROLE_NAMES = {
    Role.COMPLEX: "Complex question",
    Role.ATOMIC: "Part",
    Role.ORIGINAL: "Original question",
    Role.LESS_BIASED: "Less-biased question",
    Role.GENERATE: "Question",
}
_ANSWER_NAMES = {Role.COMPLEX: "Complex answer", Role.ATOMIC: "Part"}


def role_name(role: str) -> str:
    """Return what a question of a role is called on the screen."""
    return _ROLE_NAMES[Role(role)]


def answer_name(role: str) -> str:
    """Return what the answers to questions of a role are called on the screen."""
    return _ANSWER_NAMES[Role(role)]


def part_name(question: CaseQuestion) -> str:
    """Return the short name of a part: its number and, where it has one, its question class."""
    name = f"{role_name(question.role)} {question.position + 1}"
    return f"{name}: {question.question_class.replace('_', ' ')}" if question.question_class else name


def judged(answer: CaseAnswer) -> str:
    """Return the judgement of one answer in a word or three: right, wrong, or why there is none."""
    if answer.status is AnswerStatus.UNPARSED and _undecided(answer):
        return "gives no definite answer"
    return _STATUS_WORDS.get(answer.status, "right" if answer.correct else "wrong")


def _undecided(answer: CaseAnswer) -> bool:
    """Return whether all that was not read is a hedge, a refusal, or says that nothing can be said."""
    return all(part.rule in _UNDECIDED for part in answer.parts if part.parsed is None)


def case_sentence(runs: Sequence[CaseRun]) -> str:
    """Return how the runs fare on this case, counted."""
    if not runs:
        return "No VLM has answered it yet."
    n_right = sum(run.answers[0].correct for run in runs)
    n_apart = sum(run.contradicts for run in runs)
    n_silent = sum(run.part_unanswered for run in runs)
    sentence = (
        f"{n_right} of {len(runs)} {'run answers' if len(runs) == 1 else 'runs answer'} the complex question right"
    )
    if not n_right:
        return f"{sentence}."
    faults = [
        f"{count} of these {words}"
        for count, words in ((n_apart, "on a wrong part"), (n_silent, "with a part not answered"))
        if count
    ]
    return f"{sentence}; {', '.join(faults) or 'all on right parts'}."


def run_sentence(case: Case, run: CaseRun) -> str:
    """Return what became of one run's answers, as a sentence for a clinician."""
    lead, *parts = run.answers
    wrong = [
        (question, answer) for question, answer in zip(case.questions[1:], parts, strict=True) if not answer.correct
    ]
    n_right = len(parts) - len(wrong)
    match Outcome(run.verdict.key):
        case Outcome.SUPPORTED:
            return "Right answer, and every part is right when asked alone."
        case Outcome.INCONSISTENT if run.part_unanswered:
            numbers = [question.position + 1 for question, _ in wrong]
            one = len(numbers) == 1
            listed = " and ".join(filter(None, (", ".join(map(str, numbers[:-1])), str(numbers[-1]))))
            return (
                f"The complex answer is right; part{'' if one else 's'} {listed} {'was' if one else 'were'} not "
                f"answered, which counts as wrong."
            )
        case Outcome.INCONSISTENT:
            told = "; ".join(_told(question, answer) for question, answer in wrong)
            return f"Right answer, wrong part: it says {quoted(lead.text)} (right), but asked alone {told}."
        case Outcome.COMPOSITION_FAILURE:
            return f"Every part is right when asked alone, yet together it says {quoted(lead.text)} ({judged(lead)})."
        case Outcome.MIXED:
            return f"Wrong answer: {n_right} of {len(parts)} parts are right when asked alone."
        case Outcome.VISUAL_FACT_FAILURE:
            return "Wrong answer, and no part is right when asked alone."
        case Outcome.NOT_ANSWERED:
            alone = f"{n_right} of {len(parts)} parts are right when asked alone"
            return f"No complex answer ({judged(lead)}), counted as wrong; {alone}."


def _told(question: CaseQuestion, answer: CaseAnswer) -> str:
    """Return what a wrong part was asked and what it answered."""
    asked = quoted(question.question)
    if not answer.answered:
        return f"{asked} there is no answer ({judged(answer)})"
    return f"{asked} it says {quoted(answer.text)} ({judged(answer)}; the reference is {quoted(question.reference)})"


def quoted(text: str, letters: int = QUOTED) -> str:
    """Return a text in quotation marks, cut where it has more letters than these."""
    plain = " ".join(text.split())
    return f"“{plain if len(plain) <= letters else plain[:letters].rstrip() + ' …'}”"
