"""A reconciliation in two lines of HTML: who was asked and when, and what it came to."""

__all__ = ["trace_head", "verdict_line"]

from collections.abc import Mapping
from html import escape

from backend.endoca.asr import Trace
from backend.services.live_traces import StoredTrace
from backend.services.trace_scores import NO_SCORES, TraceScores
from pages.ui.answer_words import judged
from pages.ui.asr_words import VARIANT_WORDS
from pages.ui.tags import origin_tag, outcome_tag, vlm_name
from pages.ui.trace_words import verdict_of


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
