"""What a verification says in plain words: what became of a verdict, and what that means for whoever relies on it.

Everything returned is plain text and may hold a data set's or a VLM's words; who draws it escapes it.
"""

__all__ = [
    "ANSWER_TYPES",
    "answer_truth",
    "condition_words",
    "control_words",
    "labelled_words",
    "meaning_sentence",
    "outcome_words",
    "task_and_group",
    "verdict_words",
    "verification_sentence",
]

from collections.abc import Mapping
from types import MappingProxyType

from backend.domain.records import AnswerStatus
from backend.services.verimap_cases import CaseVerdict, GivenAnswer, VerificationCase
from backend.verimap.conditions import Condition
from backend.verimap.examples import AnswerType
from backend.verimap.outcomes import Policy, Treatment, VerdictOutcome
from backend.verimap.verifier import Verdict
from backend.verimap.vocabulary import Task
from pages.ui.answer_words import quoted

QUOTED = 120
"""Letters of an answer that a sentence quotes; the whole stands beside it."""

_CONDITION_WORDS: Mapping[Condition, str] = MappingProxyType(
    {
        Condition.PLAIN: "saw the image",
        Condition.TWO_STEP: "looked first, then saw the answer",
        Condition.IMAGE_WITHHELD: "control: image withheld",
        Condition.IMAGE_SWAPPED: "control: another image shown",
    }
)

ANSWER_TYPES: Mapping[AnswerType, str] = MappingProxyType(
    {
        AnswerType.OPEN: "open question",
        AnswerType.CLOSED: "closed question",
        AnswerType.SET: "question for all that apply",
    }
)

_LABELLED = {
    "file": "as its file says",
    "vote": "majority of three labels",
    "rules": "proposed by rules from the question's words",
}

_ORACLES = {"file": "its file says so", "matching": "compared with the reference"}

_NO_VERDICT = {
    AnswerStatus.FAILED: "call failed",
    AnswerStatus.EMPTY: "empty reply",
    AnswerStatus.MISSING: "no reply on file",
}


def condition_words(condition: Condition) -> str:
    """Return what the verifier was shown, in a few words."""
    return _CONDITION_WORDS[condition]


def task_and_group(task: Task | None) -> str:
    """Return a question's task and the group it is of, or that it has none."""
    return f"{task.label} ({task.group})" if task else "N/A: nobody has labelled it"


def labelled_words(labelled_by: str) -> str:
    """Return how a task came to be known."""
    return _LABELLED.get(labelled_by, f"labelled by {labelled_by}")


def answer_truth(oracle_correct: bool | None, oracle: str | None) -> str:
    """Return whether an answer is right, and who says so."""
    if oracle_correct is None:
        return "N/A: nobody judged this answer"
    who = _ORACLES.get(oracle or "", f"judged by {oracle}")
    return f"{'right' if oracle_correct else 'wrong'} ({who})"


def verdict_words(verdict: Verdict | None, status: AnswerStatus) -> str:
    """Return a verdict, or why there is none."""
    return verdict.value if verdict else _NO_VERDICT.get(status, "no verdict in the reply")


def outcome_words(outcome: VerdictOutcome | None, oracle_correct: bool | None, verdict: Verdict | None) -> str:
    """Return what became of a verdict, in the plane's words; one that is left out says why.

    Args:
        outcome: Under the policy at hand; None: left out.
        oracle_correct: Whether the answer is right; None: not judged.
        verdict: None: none.
    """
    if oracle_correct is None:
        return "answer not judged"
    undecided = "no verdict" if verdict is None else "not sure" if verdict is Verdict.UNCERTAIN else ""
    truth = "right" if oracle_correct else "wrong"
    if outcome is None:
        return f"{truth} answer, {undecided}, left out"
    if undecided:
        return f"{truth} answer, not accepted ({undecided})"
    return outcome.label


def meaning_sentence(case: VerificationCase, verdict: CaseVerdict, policy: Policy) -> str:
    """Return what a verdict means for a clinician who would rely on it."""
    if verdict.oracle_correct is None:
        return (
            "Nobody judged the answer, so that the verdict is neither right nor wrong. It is in no rate, and counted."
        )
    answer = "The answer" if verdict.answer is None else quoted(verdict.answer, QUOTED)
    truth = "right" if verdict.oracle_correct else f"wrong (the reference is {quoted(case.reference, QUOTED)})"
    who, whose = ("it", "its own answer") if verdict.is_self else (verdict.verifier, "it")
    match verdict.verdict, verdict.oracle_correct:
        case Verdict.CORRECT, True:
            return f"{answer} is right, and the verdict says so."
        case Verdict.CORRECT, False:
            relying = "Whoever relies on the verdict takes a wrong answer for a checked one."
            return f"{answer} is {truth}, yet {who} accepts {whose}. {relying}"
        case Verdict.INCORRECT, True:
            return (
                f"{answer} is right, yet {who} rejects {whose}. Whoever relies on the verdict gives up a right answer."
            )
        case Verdict.INCORRECT, False:
            return f"{answer} is {truth}, and the verdict notices."
    said = "The verifier is not sure" if verdict.verdict else f"There is no verdict ({_why_none(verdict)})"
    treatment = policy.uncertain if verdict.verdict else policy.unparsed
    counted = "is left out of the rates, and counted" if treatment is Treatment.DROP else "counts as not accepted"
    return f"{answer} is {truth}. {said}, which {counted}."


def control_words(answer: GivenAnswer, verdict: CaseVerdict) -> tuple[str, str]:
    """Return whether a verdict differs from the same verifier's plain one, in a few words and in a sentence.

    Args:
        answer: What was verified.
        verdict: Of a condition other than the plain one.
    """
    plain = answer.plain_verdict(verdict.verifier)
    if plain is None or plain.verdict is None or verdict.verdict is None:
        return "N/A", "There are no two verdicts of this verifier to compare."
    plainly = "with the right image" if verdict.condition.is_control else "without the first look"
    if plain.verdict is not verdict.verdict:
        return "verdict changed", f"{plainly.capitalize()} it said {plain.verdict}."
    told = ": it did not depend on what the image shows" if verdict.condition.is_control else ""
    return "verdict unchanged", f"The same as {plainly}{told}."


def verification_sentence(case: VerificationCase) -> str:
    """Return how generators and verifiers fare on this example, counted over first answers and plain verdicts."""
    answers = [answer for generator in case.generators for answer in generator.answers]
    if not answers:
        return "No VLM has answered it yet."
    n_right = sum(answer.oracle_correct is True for answer in answers)
    n_unjudged = sum(answer.oracle_correct is None for answer in answers)
    if len(answers) == 1:
        said = f"The first answer is {'right' if n_right else 'not judged' if n_unjudged else 'wrong'}"
    else:
        said = f"{n_right} of {len(answers)} first answers {'is' if n_right == 1 else 'are'} right"
        said += f", {n_unjudged} not judged" if n_unjudged else ""
    verdicts = [one for answer in answers for one in answer.verdicts if one.condition is Condition.PLAIN]
    if not verdicts:
        return f"{said}. No verifier has judged {'it' if len(answers) == 1 else 'them'} yet."
    n_false = sum(one.contradicts and one.oracle_correct is False for one in verdicts)
    n_lost = sum(one.contradicts and one.oracle_correct is True for one in verdicts)
    parted = [
        f"{count} {words}"
        for count, words in (
            (n_false, "accepts a wrong answer" if n_false == 1 else "accept a wrong answer"),
            (n_lost, "rejects a right one" if n_lost == 1 else "reject a right one"),
        )
        if count
    ]
    of = f"Of {len(verdicts)} verdict{'s' if len(verdicts) > 1 else ''}"
    return f"{said}. {of}, {' and '.join(parted) or 'none parts from the truth'}."


def _why_none(verdict: CaseVerdict) -> str:
    return _NO_VERDICT.get(verdict.status, "the reply names none")
