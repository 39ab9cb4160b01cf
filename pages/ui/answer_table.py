"""What every VLM answered to a case, verbatim, as one table; how each answer was judged lies folded below it.

Plain HTML, so that a reader can search, print and copy it, and folding needs no rerun. All
words are escaped: they come from data sets and VLMs.
"""

__all__ = ["answer_table", "verdict_order", "verdict_tag"]

from collections.abc import Mapping, Sequence
from html import escape

from backend.domain.records import AnswerStatus, Role, Stage
from backend.domain.stage_words import stage_words
from backend.endoca.outcomes import Outcome
from backend.services.cases import Case, CaseAnswer, CaseQuestion, CaseRun
from pages.ui.answer_words import PART_UNANSWERED, answer_name, judged, part_name, run_sentence
from pages.ui.facts_list import facts_list
from pages.ui.tags import origin_tag, outcome_tag, vlm_name

FOLDED_FROM = 280
"""Answers with more letters are folded; the whole text is one click away."""


def answer_table(case: Case, asked: Sequence[CaseRun], others: Sequence[CaseRun], places: Mapping[str, int]) -> str:
    """Return the table as HTML.

    Args:
        case: The case.
        asked: Its runs that the filter asks for, in order.
        others: Its further runs, set apart below them.
        places: Each VLM's place in the store, which gives it its colour.
    """
    width = len(case.questions) + 2
    bodies = [_run_rows(case, run, places) for run in asked]
    if others:
        words = "Other runs" if asked else "No run fits the filter on this case; the others"
        bodies.append(f'<tbody><tr><th class="apart" colspan="{width}" scope="rowgroup">{words}</th></tr></tbody>')
        bodies += [_run_rows(case, run, places) for run in others]
    return f'<div class="case-answers"><table>{_head(case.questions)}{"".join(bodies)}</table></div>'


def verdict_tag(run: CaseRun) -> str:
    """Return a run's verdict as a tag; a right answer whose parts lack answers is grey, and no contradiction."""
    if not run.part_unanswered:
        return outcome_tag(run.verdict.key)
    return f'<span class="unanswered" title="{run.verdict.label}"><i></i>{PART_UNANSWERED}</span>'


def verdict_order(run: CaseRun) -> tuple[bool, int, bool]:
    """Return where a run's verdict stands among others: contradictions first, then as outcomes are listed."""
    return not run.contradicts, list(Outcome).index(Outcome(run.verdict.key)), run.part_unanswered


def _head(questions: Sequence[CaseQuestion]) -> str:
    """Return the column heads, and the references as the first row to read the answers against."""
    lead, *parts = questions
    names = [answer_name(lead.role), *(part_name(part) for part in parts)]
    heads = "".join(
        f'<th scope="col" title="{escape(question.question)}">{escape(name)}</th>'
        for name, question in zip(names, questions, strict=True)
    )
    references = "".join(
        f'<td><span class="verbatim">{escape(question.reference)}</span></td>' for question in questions
    )
    return (
        f'<thead><tr><th scope="col">VLM</th>{heads}<th scope="col">Together</th></tr>'
        f'<tr class="reference"><th scope="row">reference</th>{references}<td></td></tr></thead>'
    )


def _run_rows(case: Case, run: CaseRun, places: Mapping[str, int]) -> str:
    """Return one run's answers as a row, and below it what they mean and how they were judged."""
    apart = run.contradicts
    details = [text for text in (run.setting, stage_words(run.stage) if run.stage != Stage.DIRECT else "") if text]
    about = "".join(f"<small>{escape(text)}</small>" for text in details)
    who = f"{vlm_name(run.vlm, run.vlm_group, places.get(run.vlm))}<br>{origin_tag(run.origin)} {about}"
    answers = "".join(_answer_cell(answer, apart and answer.answered and not answer.correct) for answer in run.answers)
    sentence = f"<p>{escape(run_sentence(case, run))}</p>"
    is_told = apart or run.part_unanswered
    said = sentence + _judgement(case, run, "") if is_told else _judgement(case, run, sentence)
    width = len(case.questions) + 2
    return (
        f'<tbody class="{"apart" if apart else "run"}">'
        f'<tr><th scope="row">{who}</th>{answers}<td>{verdict_tag(run)}</td></tr>'
        f'<tr class="more"><td colspan="{width}">{said}</td></tr></tbody>'
    )


def _answer_cell(answer: CaseAnswer, contradicts: bool) -> str:
    """Return what was said, then how it was judged; a failed call shows its error, quieter than an answer."""
    sign = "○" if not answer.answered else "✓" if answer.correct else "✗"
    text, kind = (answer.error, "error") if answer.status is AnswerStatus.FAILED else (answer.text, "said")
    spoken = f'<span class="verbatim {kind}">{_folded(text)}</span>' if text.strip() else ""
    word = f'<b class="{"right" if answer.correct else "wrong"}" aria-hidden="true">{sign}</b> {judged(answer)}'
    cell = '<td class="contradicts">' if contradicts else "<td>"
    return f'{cell}{spoken}<span class="judged">{word}</span></td>'


def _folded(text: str) -> str:
    """Return a text, escaped; a long one as its beginning, with the whole folded behind it."""
    if len(text) <= FOLDED_FROM:
        return escape(text)
    start = f"{escape(text[:FOLDED_FROM].rstrip())} …"
    return (
        f"<details><summary><span>{start}</span> <em>all {len(text):,} letters</em></summary>{escape(text)}</details>"
    )


def _judgement(case: Case, run: CaseRun, sentence: str) -> str:
    """Return the folded account: what was expected, what was read, by which rule, made by what."""
    parts = [part_name(question) for question in case.questions[1:]]
    lead = answer_name(case.questions[0].role)
    rows = _judged_rows(case.questions[0], run.answers[0], [f"{lead}, {name.lower()}" for name in parts])
    for question, answer, name in zip(case.questions[1:], run.answers[1:], parts, strict=True):
        rows += _judged_rows(question, answer, [name])
    made = {
        "scorer": f"{run.scorer} {run.scorer_version}",
        "prompts": run.prompt_version,
        "decoding": run.decoding,
        "stage": stage_words(run.stage),
        "setting": run.setting,
        "origin": run.origin,
        "source": run.source,
        "run": run.run_id,
    }
    heads = "".join(
        f'<th scope="col">{name}</th>' for name in ("Asked", "Expected", "Read as", "Judged", "Rule", "Why")
    )
    return (
        f"<details><summary>How it was judged</summary>{sentence}"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{facts_list(made)}</details>"
    )


def _judged_rows(question: CaseQuestion, answer: CaseAnswer, names: Sequence[str]) -> str:
    """Return a row a part of one answer; one row for an answer that has nothing to read."""
    if not answer.parts:
        name = answer_name(question.role) if question.role == Role.COMPLEX else names[0]
        why = answer.error or "there is nothing to read"
        return _row(name, question.reference, "–", judged(answer), "–", why)
    return "".join(
        _row(
            name,
            part.expected,
            "not read" if part.parsed is None else part.parsed,
            "✓ right" if part.correct else "✗ wrong",
            part.rule,
            part.reason,
        )
        for name, part in zip(names, answer.parts, strict=True)
    )


def _row(*cells: str) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
