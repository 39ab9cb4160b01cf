"""Reconciliations of one case side by side."""

__all__ = ["side_by_side"]

from collections.abc import Mapping, Sequence
from html import escape

from backend.endoca.asr import StepName
from backend.services.cases import Case, CaseAnswer
from backend.services.live_traces import StoredTrace
from backend.services.trace_scores import score_trace
from pages.ui.answer_words import judged
from pages.ui.asr_words import VARIANT_WORDS
from pages.ui.tags import origin_tag, vlm_name
from pages.ui.trace_words import ending_words, verdict_of


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
        when = f" {stored.created_at:%Y-%m-%d %H:%M} UTC" if stored.created_at else ""
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


def _cell(text: str | None, score: CaseAnswer | None) -> str:
    if text is None:
        return '<td class="absent">–</td>'
    sign = "" if score is None else f' <span class="judged">{escape(judged(score))}</span>'
    return f'<td><span class="said">{escape(text)}</span>{sign}</td>'
