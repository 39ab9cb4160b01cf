"""A feedback loop as a conversation: the generator answers, the verifier reviews, turn by turn; all words escaped."""

__all__ = ["loop_html"]

from html import escape

from backend.services.verimap_cases import CaseVerdict, Loop, VerificationCase
from backend.verimap.conditions import Condition
from backend.verimap.outcomes import Policy
from pages.ui.verification_marks import (
    answer_html,
    explanation_html,
    meaning_html,
    outcome_html,
    row_class,
    truth_html,
    verdict_html,
)
from pages.ui.verification_words import condition_words


def loop_html(case: VerificationCase, loop: Loop, policy: Policy, *, is_open: bool) -> str:
    """Return a loop, folded below what its answers were in each turn.

    Args:
        case: The case.
        loop: Of the case.
        policy: What the filter makes of undecided verdicts.
        is_open: Whether it is unfolded.
    """
    truths = " → ".join(
        "not judged" if step.oracle_correct is None else "right" if step.oracle_correct else "wrong"
        for step in loop.steps
    )
    reviewer = "by itself" if loop.steps[0].is_self else f"by {loop.verifier}"
    condition = "" if loop.condition is Condition.PLAIN else f" ({condition_words(loop.condition)})"
    turns = "".join(_turn(case, step, policy) for step in loop.steps)
    return (
        f'<details class="loop"{" open" if is_open else ""}><summary>Reviewed turn by turn {escape(reviewer)}'
        f'{condition}: <span class="fates">{truths}</span></summary><ol>{turns}</ol></details>'
    )


def _turn(case: VerificationCase, step: CaseVerdict, policy: Policy) -> str:
    name = f"turn {step.turn}" if step.turn else "first answer"
    lost = step.error if step.answer is None else ""
    answers = f"{step.generator} answers again" if step.turn else f"{step.generator} answers"
    return (
        f'<li class="{row_class(step)}"><span class="turn">{name}</span>'
        f'<div class="said-by"><span class="role">{escape(answers)}</span>{answer_html(step.answer, lost)}'
        f"{truth_html(step.oracle_correct, step.oracle)}</div>"
        f'<div class="reviewed-by"><span class="role">{escape(step.verifier)} reviews</span>{verdict_html(step)}'
        f"{explanation_html(step)}{outcome_html(step, policy)}{meaning_html(case, step, policy)}</div></li>"
    )
