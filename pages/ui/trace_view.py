"""A reconciliation as cards that fill in order, each with its prompt, its verbatim reply and its time.

Plain HTML: a card that is done stays as it is, open or folded, while later ones fill. All words of
data sets and VLMs are escaped. The Live page and the case page draw the same cards.
"""

__all__ = ["show_case_traces", "side_by_side", "trace_cards", "trace_head", "verdict_line"]

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from backend.domain.vlm import Reply
from backend.endoca.asr import Step, StepName, Trace, Variant
from backend.services.batch_traces import batch_traces
from backend.services.cases import Case, CaseAnswer
from backend.services.endoca_series import vlm_places
from backend.services.live import Asking
from backend.services.live_traces import StoredTrace, unit_traces
from backend.services.trace_scores import TraceScores, score_trace
from backend.store.store import Store
from pages.ui.answer_words import judged
from pages.ui.asr_words import VARIANT_WORDS
from pages.ui.links import LIVE
from pages.ui.plain import plain
from pages.ui.tags import origin_tag, outcome_tag, vlm_name
from pages.ui.trace_words import PREMISES, ending_words, reply_notes, step_title, verdict_of

STYLE = Path(__file__).resolve().parent / "static" / "trace.css"

NO_SCORES = TraceScores(None, (), None, None, None)

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


def verdict_line(trace: Trace, scores: TraceScores = NO_SCORES) -> str:
    """Return what a trace came to as HTML; empty where it ended before there was a revised answer."""
    verdict = verdict_of(trace)
    if verdict is None:
        return ""
    final = f'<p class="final"><span>Answer</span> <q>{escape(verdict.final)}</q></p>' if verdict.final else ""
    judged_as = ""
    if scores.before is not None and scores.after is not None:
        judged_as = (
            f'<p class="judged">By the references: {outcome_tag(scores.before)} <span>before,</span> '
            f"{outcome_tag(scores.after)} <span>after.</span></p>"
        )
    elif scores.direct is not None and scores.revised is not None:
        judged_as = (
            f'<p class="judged">By the references: {judged(scores.direct)} before, {judged(scores.revised)} after.</p>'
        )
    return (
        f'<div class="trace-verdict {verdict.word.lower()}"><p><strong>{verdict.word}</strong>, '
        f"{escape(verdict.because)}</p>{final}{judged_as}</div>"
    )


def trace_head(stored: StoredTrace, places: Mapping[str, int]) -> str:
    """Return who was asked, in which variant and when, as HTML."""
    about = [VARIANT_WORDS[stored.trace.variant], f"prompts {stored.prompt_version}"]
    if stored.created_at is not None:
        about.append(f"{stored.created_at:%Y-%m-%d %H:%M} UTC")
    if stored.device:
        about.append(f"on {stored.device}")
    name = vlm_name(stored.vlm.name, stored.vlm.group, places.get(stored.vlm.name))
    spans = "".join(f"<span>{escape(text)}</span>" for text in about)
    return f'<div class="trace-head">{name} {origin_tag(stored.origin)} {spans}</div>'


def side_by_side(traces: Sequence[StoredTrace], case: Case, places: Mapping[str, int], here: str = "") -> str:
    """Return traces of one case as a table, a column each, as HTML.

    Args:
        traces: Of the case.
        case: The case.
        places: Each VLM's place in the store.
        here: The trace that is shown on the page, marked in its column.
    """
    heads, direct, revised, verdicts = [], [], [], []
    parts: list[list[str]] = [[] for _ in case.questions[1:]]
    for stored in traces:
        trace, scores = stored.trace, score_trace(case.questions, stored.trace)
        name = vlm_name(stored.vlm.name, stored.vlm.group, places.get(stored.vlm.name))
        when = f" {stored.created_at:%Y-%m-%d %H:%M}" if stored.created_at else ""
        mark = " · shown above" if here and stored.trace_id == here else ""
        about = f"<small>{escape(VARIANT_WORDS[trace.variant])}{when}{mark}</small>"
        heads.append(f'<th scope="col">{name}<br>{origin_tag(stored.origin)} {about}</th>')
        direct.append(_cell(trace.direct, scores.direct))
        revised.append(_cell(trace.revised, scores.revised))
        answers = {step.position: step.reply.text for step in trace.steps if step.name is StepName.ATOMIC}
        for at, cells in enumerate(parts):
            cells.append(_cell(answers.get(at), scores.atomic[at]))
        verdict = verdict_of(trace)
        words = verdict.word if verdict else ending_words(stored.ending, "", kept=True).split(".")[0]
        verdicts.append(f"<td><strong>{escape(words)}</strong></td>")
    rows = [("Whole question", direct)]
    rows += [(f"Part {at + 1}", cells) for at, cells in enumerate(parts)]
    rows += [("Asked again", revised), ("In the end", verdicts)]
    body = "".join(f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>' for name, cells in rows)
    return (
        f'<div class="trace-beside"><table><thead><tr><td></td>{"".join(heads)}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def show_case_traces(store: Store, case: Case) -> int:
    """Draw the case page's section of traces: those watched live, then those of batch runs.

    Returns:
        How many there are; where there is none, nothing is drawn.
    """
    traces = [*unit_traces(store, case.unit_id), *batch_traces(store, case)]
    if not traces:
        return 0
    places = vlm_places(store)
    atomic = [question.question for question in case.questions[1:]]
    st.html(STYLE)
    st.subheader("ASR traces")
    st.caption("What a VLM made of its own answers when it was asked again (Atomic-Support Reconciliation).")
    for stored in traces:
        scores = score_trace(case.questions, stored.trace)
        cards = "".join(trace_cards(stored.trace, atomic, scores, has_calls=bool(stored.trace_id)))
        ended = "" if not stored.trace_id else ending_words(stored.ending, stored.problem, kept=True)
        line = verdict_line(stored.trace, scores) or f'<p class="trace-ended">{escape(ended)}</p>'
        st.html(
            f'<div class="trace-one">{trace_head(stored, places)}{line}'
            f'<details><summary>every step</summary><div class="trace-cards">{cards}</div></details></div>'
        )
        if stored.trace_id:
            st.page_link(
                LIVE,
                label=f"Open this trace of {plain(stored.vlm.name)}",
                query_params={"trace": stored.trace_id},
            )
    return len(traces)


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


def _cell(text: str | None, score: CaseAnswer | None) -> str:
    if text is None:
        return '<td class="absent">–</td>'
    sign = "" if score is None else f' <span class="judged">{escape(judged(score))}</span>'
    return f'<td><span class="said">{escape(text)}</span>{sign}</td>'
