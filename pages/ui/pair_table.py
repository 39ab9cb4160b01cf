"""A pair's two questions one above the other, and beside them, a column each, what every VLM answered to both.

Plain HTML, so that a reader can search, print and copy it. All words are escaped: they come from data sets and VLMs.
"""

__all__ = ["STYLE", "pair_judgements", "pair_outcome_tag", "pair_table", "question_html"]

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from backend.domain.records import AnswerStatus, Origin
from backend.domain.stage_words import stage_words
from backend.figures.style import OUTCOME_COLORS
from backend.services.surgcheck_cases import PairAnswer, PairCase, PairRun
from backend.surgcheck.differing_words import Words, differing_words
from backend.surgcheck.outcomes import PairOutcome
from pages.ui.answer_words import judged
from pages.ui.facts_list import facts_list
from pages.ui.pair_words import judge_words, outcome_words, run_sentence, text_names
from pages.ui.tags import origin_tag, vlm_name

STYLE = Path(__file__).resolve().parent / "static" / "pair.css"

FOLDED_FROM = 160
"""Answers with more letters stand in the table by their beginning; the whole stands under how it was judged."""

_PAINT = {
    PairOutcome.BOTH_RIGHT: OUTCOME_COLORS["supported"],
    PairOutcome.HINT_ONLY: OUTCOME_COLORS["inconsistent"],
    PairOutcome.POINTED_ONLY: OUTCOME_COLORS["inconsistent"],
    PairOutcome.BOTH_WRONG: OUTCOME_COLORS["mixed"],
}


def pair_table(pair: PairCase, runs: Sequence[PairRun], places: Mapping[str, int]) -> str:
    """Return the table as HTML.

    Args:
        pair: The pair.
        runs: Of the pair, in order; none leaves the questions alone.
        places: Each VLM's place in the store, which gives it its colour.
    """
    original, less_biased = differing_words(pair.original.question, pair.less_biased.question)
    with_hint, without = text_names(pair)
    heads = "".join(f'<th scope="col">{_who(run, places)}</th>' for run in runs)
    first = "".join(_cell(run, run.original) for run in runs)
    second = "".join(_cell(run, run.less_biased) for run in runs)
    together = "".join(f'<td class="together">{pair_outcome_tag(pair, run)}</td>' for run in runs)
    reference = f'<span class="role">reference</span><span class="reference">{escape(pair.reference)}</span>'
    return (
        f'<div class="pair-answers"><table><thead><tr><td></td>{heads}</tr></thead><tbody>'
        f'<tr><th scope="row">{_asked(with_hint, original)}</th>{first}</tr>'
        f'<tr><th scope="row">{_asked(without, less_biased)}</th>{second}</tr>'
        f'<tr><th scope="row">{reference}</th>{together}</tr></tbody></table></div>'
    )


def question_html(words: Sequence[Words]) -> str:
    """Return a question with the words marked that its twin lacks."""
    return " ".join(f"<mark>{escape(one.text)}</mark>" if one.differ else escape(one.text) for one in words)


def pair_outcome_tag(pair: PairCase, run: PairRun) -> str:
    """Return what became of a pair in a run as a tag; the paper's words are its tooltip."""
    words = escape(outcome_words(pair, run))
    if run.outcome is None or not run.is_answered:
        edge = "border:1px dashed color-mix(in srgb, currentColor 55%, transparent)"
        return f'<span class="pair-outcome"><i style="{edge}"></i>{words}</span>'
    light, dark = _PAINT[run.outcome]
    paint = f"background:light-dark({light},{dark})"
    return f'<span class="pair-outcome" title="{run.outcome.label}"><i style="{paint}"></i>{words}</span>'


def pair_judgements(pair: PairCase, runs: Sequence[PairRun]) -> str:
    """Return how every answer was judged, a folded account a run, as HTML."""
    return f'<div class="pair-judged">{"".join(_account(pair, run) for run in runs)}</div>'


def _asked(role: str, words: Sequence[Words]) -> str:
    return f'<span class="role">{role}</span><span class="asked">{question_html(words)}</span>'


def _who(run: PairRun, places: Mapping[str, int]) -> str:
    details = [text for text in (run.setting, "image withheld" if run.is_text_only else "") if text]
    if run.origin == Origin.LIVE:
        details.append(run.source.removeprefix("asked live, "))
    about = " ".join(f"<small>{escape(text)}</small>" for text in details)
    return f"{vlm_name(run.vlm, run.vlm_group, places.get(run.vlm))}<br>{origin_tag(run.origin)} {about}"


def _cell(run: PairRun, answer: PairAnswer | None) -> str:
    """Return one answer: what was said, how it was judged; both are marked where they part."""
    if answer is None:
        return '<td><span class="judged">not asked</span></td>'
    said = answer.said
    sign = "○" if not said.answered else "✓" if said.correct else "✗"
    kind = "right" if said.correct else "wrong"
    text, style = (said.error, "error") if said.status is AnswerStatus.FAILED else (answer.read_as, "said")
    spoken = f'<span class="{style}">{escape(_beginning(text))}</span>' if text.strip() else ""
    taken = ", taken out of a longer reply" if said.answered and answer.read_as != said.text else ""
    judges = "".join(
        f'<span class="judged" title="{escape(one.reason)}">{escape(judge_words(one))}</span>'
        for one in answer.judgements
    )
    cell = f'<td class="parts {kind}">' if run.contradicts else "<td>"
    return (
        f'{cell}{spoken}<span class="judged"><b class="{kind}" aria-hidden="true">{sign}</b> '
        f"{escape(judged(said))}{taken}</span>{judges}</td>"
    )


def _beginning(text: str) -> str:
    return text if len(text) <= FOLDED_FROM else f"{text[:FOLDED_FROM].rstrip()} …"


def _account(pair: PairCase, run: PairRun) -> str:
    """Return what was expected, what was read, by which rule, and what a judge said, of one run."""
    answers = [("with the hint", run.original), ("without it", run.less_biased)]
    if not pair.is_paired:
        answers = [("first", run.original), ("again", run.less_biased)]
    rows = "".join(_row(name, pair, answer) for name, answer in answers if answer is not None)
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
    raw = "".join(
        f"<p>The whole reply {name}:</p><pre>{escape(answer.said.text)}</pre>"
        for name, answer in answers
        if answer is not None and (answer.read_as != answer.said.text or len(answer.said.text) > FOLDED_FROM)
    )
    who = ", ".join(part for part in (run.vlm, run.setting, "image withheld" if run.is_text_only else "") if part)
    return (
        f"<details><summary>How {escape(who)} was judged</summary>"
        f"<p>{escape(run_sentence(pair, run))}</p>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{raw}{facts_list(made)}</details>"
    )


def _row(name: str, pair: PairCase, answer: PairAnswer) -> str:
    said = answer.said
    rows = [
        (
            name,
            pair.reference,
            answer.read_as if said.answered else "–",
            judged(said),
            said.parts[0].rule if said.parts else "–",
            said.parts[0].reason if said.parts else said.error or "there is nothing to read",
        )
    ]
    rows += [
        (name, pair.reference, answer.read_as, judge_words(one), "judge, 1 to 5", one.reason or one.error)
        for one in answer.judgements
    ]
    return "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
