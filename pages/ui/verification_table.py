"""One generator's answer, whether it is right, and beside it what every verifier said of it; then its loops.

Plain HTML, so that a reader can search, print and copy it, and folding needs no rerun. All words are escaped: they
come from data sets and VLMs. Orange marks verdicts that part from the truth and nothing else.
"""

__all__ = ["STYLE", "Shown", "example_html", "generator_html"]

from collections.abc import Collection, Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from backend.domain.records import LIVE_EXAMPLES
from backend.domain.stage_words import stage_words
from backend.services.verimap_cases import (
    CaseVerdict,
    GeneratorCase,
    GivenAnswer,
    VerdictKey,
    VerdictRun,
    VerificationCase,
)
from backend.verimap.conditions import Condition
from backend.verimap.outcomes import Policy
from backend.verimap.setups import setting_words
from pages.ui.facts_list import facts_list
from pages.ui.tags import origin_tag, vlm_name
from pages.ui.verification_loop import loop_html
from pages.ui.verification_marks import (
    answer_html,
    explanation_html,
    meaning_html,
    outcome_html,
    row_class,
    truth_html,
    verdict_html,
)
from pages.ui.verification_words import (
    ANSWER_TYPES,
    answer_truth,
    condition_words,
    control_words,
    labelled_words,
    meaning_sentence,
    task_and_group,
)

APART = "Verifiers whose verdicts are not in this list"

NOT_HELD = "N/A: the file of records does not hold it"

STYLE = Path(__file__).resolve().parent / "static" / "verification.css"


class Shown(NamedTuple):
    """What a case is shown for."""

    case: VerificationCase
    asked: Collection[VerdictKey]
    """The verdicts that the filter asks for; their verifiers come first."""
    policy: Policy
    """What the filter makes of undecided verdicts."""
    places: Mapping[str, int]
    """Each VLM's place in the store, which gives it its colour."""

    def asks_for(self, verdicts: Sequence[CaseVerdict]) -> bool:
        """Return whether the filter asks for one of these."""
        return any(one.key in self.asked for one in verdicts)


def example_html(case: VerificationCase) -> str:
    """Return the question with its options, the reference and the task."""
    options = "".join(
        f"<li{' class=right' if option.letter == case.reference_letter else ''}><b>{escape(option.letter)}</b> "
        f"{escape(option.text)}</li>"
        for option in case.options
    )
    listed = f'<ol class="options">{options}</ol>' if options else ""
    how = f" <small>{escape(labelled_words(case.labelled_by))}</small>" if case.labelled_by else ""
    answered = [ANSWER_TYPES[case.answer_type]] if case.answer_type else []
    kinds = ", ".join((*answered, *case.native_types))
    own = f'<p class="kinds">In its data set: {escape(kinds)}</p>' if kinds else ""
    return (
        f'<div class="case-questions"><span class="role">Question</span>'
        f'<p class="lead">{escape(case.question or NOT_HELD)}</p>{listed}{_reference(case)}'
        f'<p class="task"><span class="role">task</span> {escape(task_and_group(case.task))}{how}</p>{own}</div>'
    )


def _reference(case: VerificationCase) -> str:
    """Return the reference; nothing where nobody gave one, as may be with an example that was made on the spot."""
    if not case.reference and case.suite == LIVE_EXAMPLES:
        return ""
    letter = f"{case.reference_letter}: " if case.reference_letter else ""
    return f'<p class="reference">{escape(f"{letter}{case.reference}" if case.reference else NOT_HELD)}</p>'


def generator_html(shown: Shown, generator: GeneratorCase) -> str:
    """Return one generator's block."""
    answers = "".join(_answer(shown, answer) for answer in generator.answers)
    loops = "".join(
        loop_html(shown.case, loop, shown.policy, is_open=len(generator.loops) == 1 or shown.asks_for(loop.steps[1:]))
        for loop in generator.loops
    )
    name = vlm_name(generator.vlm, generator.vlm_group, shown.places.get(generator.vlm))
    return f'<section class="verified"><h4>{name}</h4>{answers}{loops}</section>'


def _answer(shown: Shown, answer: GivenAnswer) -> str:
    """Return a first answer, whether it is right, and the verdicts on it."""
    origins = "".join(origin_tag(origin) for origin in sorted({run.origin for run in answer.runs}))
    settings = "".join(
        f' <small title="{escape(run.run_id)}">{escape(setting_words(run.setting))}</small>'
        for run in answer.runs
        if run.setting
    )
    head = (
        f'<div class="answer"><span class="role">answered</span>{answer_html(answer.text, answer.error)}'
        f"{truth_html(answer.oracle_correct, answer.oracle)} {origins}{settings}</div>"
    )
    if not answer.verdicts:
        return f'{head}<p class="none">N/A: no verifier has judged this answer yet.</p>{_account(shown, answer)}'
    by_verifier = [list(own) for _, own in groupby(answer.verdicts, key=lambda one: one.verifier)]
    by_verifier.sort(key=lambda own: not any(one.contradicts for one in own))
    asked = "".join(_verifier_rows(shown, answer, own) for own in by_verifier if shown.asks_for(own))
    others = "".join(_verifier_rows(shown, answer, own) for own in by_verifier if not shown.asks_for(own))
    apart = f'<tr><th class="apart" colspan="4" scope="rowgroup">{APART}</th></tr>' if asked and others else ""
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("Verifier", "Verdict", "What it says", "Together"))
    return (
        f'{head}<div class="verdicts"><table><thead><tr>{heads}</tr></thead><tbody>{asked}{apart}{others}</tbody>'
        f"</table></div>{_account(shown, answer)}"
    )


def _verifier_rows(shown: Shown, answer: GivenAnswer, verdicts: Sequence[CaseVerdict]) -> str:
    """Return a row a verdict of one verifier; the name stands once, other conditions below it."""
    first = verdicts[0]
    whose = "its own answer" if first.is_self else "another VLM's answer"
    name = vlm_name(first.verifier, first.run.vlm_group, shown.places.get(first.verifier))
    rows = ""
    for verdict in verdicts:
        who = f"{name}<small>{whose}</small>" if verdict is first else ""
        rows += (
            f'<tr class="{row_class(verdict, *(("first",) if verdict is first else ()))}">'
            f'<th scope="row">{who}{_condition(verdict)}</th>'
            f"<td>{verdict_html(verdict)}</td><td>{explanation_html(verdict)}</td>"
            f"<td>{_together(shown, answer, verdict)}</td></tr>"
        )
    return rows


def _together(shown: Shown, answer: GivenAnswer, verdict: CaseVerdict) -> str:
    """Return what verdict and truth come to together; under another condition, beside the plain verdict.

    A control counts in no rate: its verifier was not shown the image that the answer is about.
    """
    judged = f"{outcome_html(verdict, shown.policy)}{meaning_html(shown.case, verdict, shown.policy)}"
    if verdict.condition is Condition.PLAIN:
        return judged
    word, sentence = control_words(answer, verdict)
    beside = f'<span class="beside">{escape(sentence)}</span>'
    return f'<span class="verdict-outcome">{word}</span>{beside}' if verdict.condition.is_control else judged + beside


def _condition(verdict: CaseVerdict) -> str:
    """Return where the verdict comes from; its condition too, where it is not the plain one."""
    shown = ""
    if verdict.condition is not Condition.PLAIN:
        shown = f'<span class="condition">{condition_words(verdict.condition)}</span>'
    again = f"<small>alike record {verdict.place + 1}</small>" if verdict.place else ""
    return f'<span class="from">{shown}{origin_tag(verdict.run.origin)}{again}</span>'


def _account(shown: Shown, answer: GivenAnswer) -> str:
    """Return how the answer was judged, and what each verdict was made with and means, folded."""
    oracles = "".join(
        f"<tr><td>{escape(one.oracle)}</td>"
        f"<td>{'could not tell' if one.correct is None else 'right' if one.correct else 'wrong'}</td>"
        f"<td>{escape(one.reason or one.error)}</td></tr>"
        for one in answer.judgements
    )
    judged = (
        f'<table><thead><tr><th scope="col">Oracle</th><th scope="col">Says</th><th scope="col">Why</th></tr></thead>'
        f"<tbody>{oracles}</tbody></table>"
        if oracles
        else f"<p>Whether the answer is right: {escape(answer_truth(answer.oracle_correct, answer.oracle))}.</p>"
    )
    made = "".join(f"<p>The answer</p>{_made(run)}" for run in answer.runs)
    verdicts = "".join(
        f"<p>{escape(one.verifier)}, {condition_words(one.condition)}"
        f"{'' if one.condition.is_control else escape(f': {meaning_sentence(shown.case, one, shown.policy)}')}</p>"
        f"{f'<pre>{escape(one.reply)}</pre>' if one.reply else ''}{_made(one.run)}"
        for one in answer.verdicts
    )
    return f"<details><summary>How it was judged</summary>{judged}{made}{verdicts}</details>"


def _made(run: VerdictRun) -> str:
    return facts_list(
        {
            "prompts": run.prompt_version,
            "decoding": run.decoding,
            "stage": stage_words(run.stage),
            "setting": run.setting,
            "origin": run.origin,
            "source": run.source,
            "run": run.run_id,
        }
    )
