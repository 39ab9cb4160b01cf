"""An answer, a verdict and what they come to together, as small pieces of HTML; all words are escaped."""

__all__ = [
    "answer_html",
    "explanation_html",
    "meaning_html",
    "outcome_html",
    "row_class",
    "truth_html",
    "verdict_html",
]

from html import escape

from backend.domain.records import AnswerStatus
from backend.figures.style import OUTCOME_COLORS
from backend.services.verimap_cases import CaseVerdict, VerificationCase
from backend.verimap.conditions import Condition
from backend.verimap.outcomes import Policy, VerdictOutcome
from backend.verimap.verifier import Verdict
from pages.ui.verification_words import answer_truth, meaning_sentence, outcome_words, verdict_words


def answer_html(text: str | None, error: str = "") -> str:
    """Return an answer verbatim, or why there is none.

    Args:
        text: None where the file of records does not hold it.
        error: Of a call that failed.
    """
    if error:
        return f'<span class="error">{escape(error)}</span>'
    if text is None:
        return '<span class="error">N/A: the file of records does not hold the answer</span>'
    return f'<span class="said">{escape(text)}</span>' if text.strip() else '<span class="error">empty answer</span>'


def truth_html(oracle_correct: bool | None, oracle: str | None) -> str:
    """Return whether an answer is right, and who says so."""
    sign = "○" if oracle_correct is None else "✓" if oracle_correct else "✗"
    kind = "right" if oracle_correct else "wrong"
    return (
        f'<span class="judged"><b class="{kind}" aria-hidden="true">{sign}</b> '
        f"{escape(answer_truth(oracle_correct, oracle))}</span>"
    )


def verdict_html(verdict: CaseVerdict) -> str:
    """Return the verdict, or why there is none."""
    kind = "verdict" if verdict.verdict else "error"
    return f'<span class="{kind}">{escape(verdict_words(verdict.verdict, verdict.status))}</span>'


def explanation_html(verdict: CaseVerdict) -> str:
    """Return what the verifier said besides, or why that is not known; what it saw at a first look lies folded."""
    looked = ""
    if verdict.looked is not None:
        looked = (
            f"<details><summary>what it said at the first look</summary><pre>{escape(verdict.looked)}</pre></details>"
        )
    if verdict.status is AnswerStatus.FAILED:
        return f'<span class="error">{escape(verdict.error)}</span>{looked}'
    if verdict.explanation is None:
        return f'<span class="error">N/A: no explanation on file</span>{looked}'
    said = verdict.explanation.strip()
    return f'<span class="explains">{escape(said)}</span>{looked}' if said else looked


def outcome_html(verdict: CaseVerdict, policy: Policy) -> str:
    """Return what became of a verdict as a tag; only verdicts that part from the truth are orange."""
    outcome = verdict.outcome(policy)
    words = escape(outcome_words(outcome, verdict.oracle_correct, verdict.verdict))
    paint = "border:1px dashed color-mix(in srgb, currentColor 55%, transparent)"
    if outcome is not None and verdict.verdict in (Verdict.CORRECT, Verdict.INCORRECT):
        fits = "supported" if verdict.oracle_correct else "mixed"
        light, dark = OUTCOME_COLORS["inconsistent" if verdict.contradicts else fits]
        paint = f"background:light-dark({light},{dark})"
    title = escape(outcome.plain) if outcome else ""
    return f'<span class="verdict-outcome" title="{title}"><i style="{paint}"></i>{words}</span>'


def meaning_html(case: VerificationCase, verdict: CaseVerdict, policy: Policy) -> str:
    """Return why a verdict counts as a failure; nothing where it does not."""
    if verdict.outcome(policy) not in (VerdictOutcome.FALSE_ACCEPTANCE, VerdictOutcome.FALSE_REJECTION):
        return ""
    return f"<p>{escape(meaning_sentence(case, verdict, policy))}</p>"


def row_class(verdict: CaseVerdict, *more: str) -> str:
    """Return the class of a verdict's row: whether it parts from the truth, and whether it is a plain one."""
    kinds = [("parts", verdict.contradicts), ("other", verdict.condition is not Condition.PLAIN)]
    return " ".join([*(name for name, holds in kinds if holds), *more])
