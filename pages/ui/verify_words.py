"""What a live verification says in plain words: its steps, whether an answer is right, and what it came to.

Everything returned is plain text and may hold a data set's or a VLM's words; who draws it escapes it.
"""

__all__ = ["Truth", "course_words", "said_words", "step_title", "summary", "truth_of", "truths", "turn_words"]

from collections.abc import Sequence
from typing import NamedTuple

from backend.domain.records import AnswerStatus, Stage
from backend.services.verimap_cases import CaseVerdict, VerificationCase
from backend.verimap.outcomes import Policy
from backend.verimap.verification import Course
from backend.verimap.verifier import Verdict
from pages.ui.import_report import plural
from pages.ui.verification_words import meaning_sentence, outcome_words, verdict_words

_FATES = {Verdict.CORRECT: "accepted", Verdict.INCORRECT: "rejected", Verdict.UNCERTAIN: "not sure"}


class Truth(NamedTuple):
    """Whether an answer is right, as far as matching tells."""

    sign: str
    kind: str
    """right, wrong or unknown."""
    words: str


def step_title(name: str, turn: int) -> tuple[str, str]:
    """Return what a step is called: in plain words, and in the paper's."""
    if name == Stage.DIRECT:
        return "The answer", "Generate"
    if name == Stage.LOOK:
        return "A look at the image, before any answer is shown", "Look"
    if name == Stage.LOOP:
        return "Told the verdict, it answers again", f"Loop, turn {turn}"
    return "The verdict on it", f"Verify, turn {turn}" if turn else "Verify"


def truth_of(case: VerificationCase, verdict: CaseVerdict) -> Truth:
    """Return whether an answer is right; where nobody can say, why not."""
    if verdict.oracle_correct is not None:
        return Truth("✓", "right", "right") if verdict.oracle_correct else Truth("✗", "wrong", "wrong")
    if not case.reference:
        return Truth("○", "unknown", "not known: there is no reference")
    if any(one.error for one in verdict.judgements):
        return Truth("○", "unknown", "not judged: the answer cannot be compared with the reference")
    return Truth("○", "unknown", "not judged: an open answer needs a judge")


def turn_words(case: VerificationCase, verdict: CaseVerdict) -> str:
    """Return what an answer is, and what became of it."""
    kind = truth_of(case, verdict).kind
    fate = _FATES[verdict.verdict] if verdict.verdict else said_words(verdict)
    return f"{'not judged' if kind == 'unknown' else kind}, {fate}"


def truths(case: VerificationCase, verdicts: Sequence[CaseVerdict]) -> str:
    """Return what the answers were, turn by turn."""
    return " → ".join("not judged" if t.kind == "unknown" else t.kind for t in (truth_of(case, v) for v in verdicts))


def said_words(verdict: CaseVerdict) -> str:
    """Return a verdict, or why there is none."""
    if verdict.status is AnswerStatus.MISSING:
        return "not reached"
    return verdict_words(verdict.verdict, verdict.status)


def course_words(course: Course) -> str:
    """Return what was to be done, in a few words; empty for one answer and one verdict."""
    words = []
    if course.two_step:
        words.append("two steps")
    if course.turns:
        words.append(f"{plural(course.turns, 'turn')} back{', CORRECT ends' if course.stop_at_correct else ''}")
    return ", ".join(words)


def summary(case: VerificationCase, verdicts: Sequence[CaseVerdict]) -> tuple[str, str] | None:
    """Return what a verification came to, as a word and a sentence, by its last verdict; None where there is none."""
    given = [one for one in verdicts if one.reply is not None]
    if not given:
        return None
    last, policy = given[-1], Policy()
    if last.oracle_correct is None:
        return said_words(last), f"Whether the answer is right is {truth_of(case, last).words}."
    word = outcome_words(last.outcome(policy), last.oracle_correct, last.verdict)
    return word[0].upper() + word[1:], meaning_sentence(case, last, policy)
