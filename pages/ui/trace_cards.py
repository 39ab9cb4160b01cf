"""A reconciliation as cards that fill in order, each with its prompt, its verbatim reply and its time.

Plain HTML: a card that is done stays as it is, open or folded, while later ones fill. All words of
data sets and VLMs are escaped.
"""

__all__ = ["STYLE", "trace_cards"]

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from backend.domain.vlm import Reply
from backend.endoca.asr import Step, StepName, Trace, Variant
from backend.services.cases import CaseAnswer
from backend.services.live import Asking
from backend.services.trace_scores import NO_SCORES, TraceScores
from pages.ui.answer_words import judged
from pages.ui.trace_words import PREMISES, reply_notes, step_title

STYLE = Path(__file__).resolve().parent / "static" / "trace.css"
"""Of the cards, and of what stands with them: `trace_lines`, `trace_table`."""

_ORDER: Mapping[Variant, tuple[str, ...]] = {
    Variant.ASR: (StepName.DIRECT, StepName.ATOMIC, PREMISES, StepName.REVISE, StepName.SELECT),
    Variant.SELF: (StepName.DIRECT, StepName.REVISE, StepName.SELECT),
}


def trace_cards(
    trace: Trace,
    atomic: Sequence[str],
    scores: TraceScores = NO_SCORES,
    *,
    asking: Sequence[Asking] = (),
    standing: str = "",
    is_over: bool = True,
    has_calls: bool = True,
) -> list[str]:
    """Return a card a step, in the order of Workflow 1, each as HTML.

    Args:
        trace: What was answered so far.
        atomic: The unit's atomic questions.
        scores: What the scorer made of it.
        asking: The calls that are being made.
        standing: Where these stand, in words.
        is_over: Whether no further step will come.
        has_calls: Whether prompts and times are known.
    """
    cards = []
    for number, name in enumerate(_ORDER[trace.variant], start=1):
        if name == PREMISES:
            rows = _premises(trace, atomic, is_over)
        else:
            questions = atomic if name == StepName.ATOMIC else [trace.question]
            rows = [
                _row(StepName(name), at, question, trace, scores, asking, is_over=is_over, has_calls=has_calls)
                for at, question in enumerate(questions)
            ]
        cards.append(_card(number, trace.variant, name, rows, standing))
    return cards


class _Row(NamedTuple):
    """One call in a card, or the premises."""

    state: str
    """asking, failed, waiting, no answer or done."""
    html: str


def _row(
    name: StepName,
    at: int,
    question: str,
    trace: Trace,
    scores: TraceScores,
    asking: Sequence[Asking],
    *,
    is_over: bool,
    has_calls: bool,
) -> _Row:
    """Return one call; a part's question stands above its answer, the whole question stands beside the image."""
    asked = f'<p class="asked">{escape(question)}</p>' if name is StepName.ATOMIC else ""
    step = next((one for one in trace.steps if (one.name, one.position) == (name, at)), None)
    if step is not None:
        state = "failed" if step.reply.error else "done"
        return _Row(state, asked + _answered(step, _score(scores, name, at), has_calls))
    call = next((one for one in asking if (one.name, one.position) == (name, at)), None)
    if call is not None:
        said = f'<p class="said unfinished">{escape(call.said)}</p>' if call.said else ""
        return _Row("asking", asked + said + _prompt(call.prompt))
    return _Row("no answer" if is_over else "waiting", asked)


def _card(number: int, variant: Variant, name: str, rows: Sequence[_Row], standing: str) -> str:
    """Return a card; of its calls' states, what still goes on stands before what is over."""
    title, term = step_title(variant, name)
    states = {row.state for row in rows}
    state = next(one for one in ("asking", "failed", "waiting", "no answer", "done") if one in states)
    words = standing if state == "asking" and standing else state
    items = "".join(f'<div class="call">{row.html}</div>' for row in rows if row.html)
    return (
        f'<section class="trace-card {state.replace(" ", "-")}" aria-label="Step {number}: {title}">'
        f'<header><span class="number">{number}</span><strong>{title}</strong><span class="term">{term}</span>'
        f'<span class="state">{escape("" if words == "done" else words)}</span></header>{items}</section>'
    )


def _answered(step: Step, score: CaseAnswer | None, has_calls: bool) -> str:
    reply = step.reply
    kind, text = ("error", reply.error) if reply.error else ("said", reply.text)
    return f'<p class="{kind}">{escape(text)}</p>{_judged(score)}{_notes(reply, has_calls)}{_prompt(step.prompt)}'


def _premises(trace: Trace, atomic: Sequence[str], is_over: bool) -> list[_Row]:
    premises = trace.premises
    if len(premises) < len(atomic):
        return [_Row("no answer" if is_over else "waiting", "")]
    items = "".join(f"<li>{escape(question)} <b>{escape(answer)}</b></li>" for question, answer in premises)
    return [_Row("done", f'<ul>{items}</ul><p class="notes">Its own answers, and nothing else.</p>')]


def _judged(score: CaseAnswer | None) -> str:
    if score is None:
        return ""
    sign = "○" if not score.answered else "✓" if score.correct else "✗"
    reasons = "".join(f"<li>expected {escape(part.expected)}: {escape(part.reason)}</li>" for part in score.parts)
    why = f"<details><summary>why</summary><ul>{reasons}</ul></details>" if reasons else ""
    kind = "right" if score.correct else "wrong"
    return f'<div class="judged {kind}"><b aria-hidden="true">{sign}</b> {escape(judged(score))}{why}</div>'


def _notes(reply: Reply, has_calls: bool) -> str:
    notes = reply_notes(reply)
    if has_calls or reply.seconds:
        notes.append(f"{reply.seconds:.1f} s")
    return f'<p class="notes">{escape("; ".join(notes))}</p>' if notes else ""


def _prompt(prompt: str) -> str:
    if not prompt:
        return ""
    return f"<details><summary>prompt</summary><pre>{escape(prompt)}</pre></details>"


def _score(scores: TraceScores, name: StepName, at: int) -> CaseAnswer | None:
    if name is StepName.DIRECT:
        return scores.direct
    if name is StepName.REVISE:
        return scores.revised
    return scores.atomic[at] if name is StepName.ATOMIC and at < len(scores.atomic) else None
