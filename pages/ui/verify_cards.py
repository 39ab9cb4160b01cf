"""A live verification as a conversation of cards: the generator's on the left, the verifier's set in to the right.

Each fills as it arrives, with its prompt, its verbatim reply and its time; beside a verdict stands the truth. Plain
HTML, as in `trace_cards`. All words of data sets and VLMs are escaped. Orange marks a verdict that parts from the
truth and nothing else.
"""

__all__ = ["STYLE", "Seen", "verify_cards", "verify_summary"]

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from backend.domain.records import Stage
from backend.services.live_calls import Asking
from backend.services.verimap_cases import CaseVerdict, VerificationCase
from backend.verimap.outcomes import Policy
from backend.verimap.verification import Step, Verification
from pages.ui.trace_words import reply_notes
from pages.ui.verification_marks import outcome_html
from pages.ui.verify_words import said_words, step_title, summary, truth_of, turn_words

STYLE = Path(__file__).resolve().parent / "static" / "verify.css"
"""Beside that of `trace_cards`, whose frame the cards share."""


class Seen(NamedTuple):
    """A verification as it stands, with its answers judged."""

    case: VerificationCase
    verification: Verification
    verdicts: Sequence[CaseVerdict]
    """One an answer there is (`live_verdicts.judged_turns`)."""

    def verdict(self, turn: int) -> CaseVerdict | None:
        """Return the judged answer of a turn."""
        return next((one for one in self.verdicts if one.turn == turn), None)


def verify_cards(
    seen: Seen,
    generator: str,
    verifier: str,
    *,
    asking: Sequence[Asking] = (),
    standing: str = "",
    is_over: bool = True,
) -> list[str]:
    """Return a card a step, in the order asked, each as HTML.

    Args:
        seen: What was answered so far.
        generator: Name of the VLM that answers.
        verifier: Name of the VLM that judges.
        asking: The call that is being made.
        standing: Where it stands, in words.
        is_over: Whether no further step will come; steps that an early end made needless are then left out.
    """
    verification = seen.verification
    cards = []
    for number, (name, turn) in enumerate(_planned(seen.verification), start=1):
        if is_over and verification.is_whole and not _is_there(verification, name, turn):
            break
        call = next((one for one in asking if (one.name, one.position) == (name, turn)), None)
        who = verifier if name in (Stage.LOOK, Stage.VERIFY) else generator
        cards.append(_card(seen, number, name, turn, who, call, standing, is_over))
    return cards


def verify_summary(seen: Seen) -> str:
    """Return what it came to as HTML; empty where there is no verdict."""
    told = summary(seen.case, seen.verdicts)
    if told is None:
        return ""
    given = [one for one in seen.verdicts if one.reply is not None]
    kind = "parts" if given[-1].contradicts else ""
    turns = " → ".join(
        f"<b{' class=parts' if one.contradicts else ''}>{escape(turn_words(seen.case, one))}</b>"
        for one in seen.verdicts
    )
    over = f'<p class="judged">Turn by turn: {turns}</p>'
    return (
        f'<div class="trace-verdict {kind}"><p><strong>{escape(told[0])}</strong></p><p>{escape(told[1])}</p>'
        f"{over if len(seen.verdicts) > 1 else ''}</div>"
    )


def _planned(verification: Verification) -> list[tuple[Stage, int]]:
    course = verification.course
    planned = [(Stage.DIRECT, 0), *([(Stage.LOOK, 0)] if course.two_step else []), (Stage.VERIFY, 0)]
    for turn in range(1, course.turns + 1):
        planned += [(Stage.LOOP, turn), (Stage.VERIFY, turn)]
    return planned


def _is_there(verification: Verification, name: Stage, turn: int) -> bool:
    is_given = name is Stage.DIRECT and bool(verification.course.answer)
    return is_given or verification.step(name, turn) is not None


def _card(
    seen: Seen, number: int, name: Stage, turn: int, who: str, call: Asking | None, standing: str, is_over: bool
) -> str:
    title, term = step_title(name, turn)
    step = seen.verification.step(name, turn)
    answer = seen.verification.course.answer if name is Stage.DIRECT else ""
    if answer:
        title, term, state, who = "The answer, given by a person", "", "done", ""
        body = f'<p class="said">{escape(answer)}</p>{_truth(seen, turn)}'
    elif step is not None:
        state = "failed" if step.reply.error else "done"
        body = _answered(seen, step)
    elif call is not None:
        state = "asking"
        said = f'<p class="said unfinished">{escape(call.said)}</p>' if call.said else ""
        body = said + _prompt(call.prompt)
    else:
        state, body = "no answer" if is_over else "waiting", ""
    words = standing if state == "asking" and standing else "" if state == "done" else state
    verdict = seen.verdict(turn) if name is Stage.VERIFY else None
    parts = " parts" if verdict is not None and verdict.contradicts else ""
    side = "judges" if name in (Stage.LOOK, Stage.VERIFY) else "answers"
    by = f'<span class="who">{escape(who)}</span>' if who else ""
    inner = f'<div class="call">{body}</div>' if body else ""
    return (
        f'<section class="trace-card {state.replace(" ", "-")} {side}{parts}" aria-label="Step {number}: {title}">'
        f'<header><span class="number">{number}</span><strong>{title}</strong>{by}<span class="term">{term}</span>'
        f'<span class="state">{escape(words)}</span></header>{inner}</section>'
    )


def _answered(seen: Seen, step: Step) -> str:
    reply = step.reply
    if reply.error:
        return f'<p class="error">{escape(reply.error)}</p>{_prompt(step.prompt)}'
    if step.name is Stage.VERIFY:
        body = _verdict(seen, step)
    elif step.name is Stage.LOOK:
        body = f'<p class="looked">{escape(reply.text)}</p>'
    else:
        body = _said(seen, step) + _truth(seen, step.turn)
    notes = "; ".join([*reply_notes(reply), f"{reply.seconds:.1f} s"])
    return f'{body}<p class="notes">{escape(notes)}</p>{_prompt(step.prompt)}'


def _said(seen: Seen, step: Step) -> str:
    verdict = seen.verdict(step.turn)
    answer = verdict.answer if verdict is not None and verdict.answer is not None else step.reply.text
    whole = _folded("whole reply", step.reply.text) if answer.strip() != step.reply.text.strip() else ""
    return f'<p class="said">{escape(answer)}</p>{whole}'


def _truth(seen: Seen, turn: int) -> str:
    verdict = seen.verdict(turn)
    if verdict is None:
        return ""
    truth = truth_of(seen.case, verdict)
    return f'<div class="judged {truth.kind}"><b aria-hidden="true">{truth.sign}</b> {escape(truth.words)}</div>'


def _verdict(seen: Seen, step: Step) -> str:
    """Return the verdict beside the truth, what the two come to, and what the verifier said."""
    verdict = seen.verdict(step.turn)
    if verdict is None:
        return f'<p class="said">{escape(step.reply.text)}</p>'
    truth = truth_of(seen.case, verdict)
    reference = f"<small>the reference is <q>{escape(seen.case.reference)}</q></small>" if seen.case.reference else ""
    said = said_words(verdict)
    explanation = f'<p class="looked">{escape(verdict.explanation)}</p>' if verdict.explanation else ""
    whole = _folded("whole reply", step.reply.text) if verdict.verdict is None and not explanation else ""
    return (
        f'<div class="beside-truth"><div><span class="role">the verifier says</span>'
        f'<span class="verdict">{escape(said)}</span></div>'
        f'<div><span class="role">the answer is</span><span class="truth {truth.kind}">'
        f'<b aria-hidden="true">{truth.sign}</b> {escape(truth.words)}</span>{reference}</div></div>'
        f"{outcome_html(verdict, Policy()) if verdict.oracle_correct is not None else ''}{explanation}{whole}"
    )


def _prompt(prompt: str) -> str:
    return _folded("prompt", prompt)


def _folded(name: str, text: str) -> str:
    return f"<details><summary>{name}</summary><pre>{escape(text)}</pre></details>"
