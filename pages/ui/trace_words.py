"""What a reconciliation came to, in plain words: kept, changed or abstained, and because of what.

Everything returned is plain text and may hold a data set's or a VLM's words; who draws it escapes it.
"""

__all__ = ["Verdict", "ending_words", "reply_notes", "standing_words", "step_title", "verdict_of"]

from typing import NamedTuple

from backend.domain.repetition import repeats_itself
from backend.domain.vlm import Reply
from backend.endoca.asr import StepName, Trace, Variant
from backend.endoca.decision import Consistency, Decision
from backend.endoca.decision import Verdict as Choice
from backend.services.live import Standing
from backend.services.live_traces import Ending
from backend.vlm.worker_queue import Phase

QUOTED = 200
"""Letters of an answer that a sentence quotes; the whole stands in its card."""

PREMISES = "premises"
"""The step that asks nothing, beside those of `StepName`."""

_TITLES = {
    (Variant.ASR, StepName.DIRECT): ("The whole question", "Direct"),
    (Variant.ASR, StepName.ATOMIC): ("Its parts, each asked alone", "Atomic"),
    (Variant.ASR, PREMISES): ("What it is told of its parts", "Premises"),
    (Variant.ASR, StepName.REVISE): ("Asked again, with its parts", "Revise"),
    (Variant.ASR, StepName.SELECT): ("Give the answer or withhold it", "Select"),
    (Variant.SELF, StepName.DIRECT): ("The whole question", "Direct"),
    (Variant.SELF, StepName.REVISE): ("Asked again, without its parts", "Self-Revise"),
    (Variant.SELF, StepName.SELECT): ("Give the answer or withhold it", "Self-Select"),
}


class Verdict(NamedTuple):
    """What a reconciliation came to."""

    word: str
    """Kept, Changed, Abstained or Revised."""
    because: str
    """The sentence that follows the word."""
    final: str | None
    """The answer that is given; None where it is withheld, or was not decided on."""


def step_title(variant: Variant, name: str) -> tuple[str, str]:
    """Return what a step is called: in plain words, and in the paper's."""
    return _TITLES[variant, name]


def verdict_of(trace: Trace) -> Verdict | None:
    """Return what a trace came to; None where it ended before there was a revised answer."""
    direct, revised, decision = trace.direct, trace.revised, trace.decision
    if direct is None or revised is None:
        return None
    is_kept = _plain(direct) == _plain(revised)
    how = "with its parts" if trace.variant is Variant.ASR else "without its parts"
    again = (
        f"asked again {how} it gives the same answer"
        if is_kept
        else f"asked again {how} it says {_quote(revised)} in place of {_quote(direct)}"
    )
    if decision is None:
        return Verdict("Revised", f"{again}; there is no decision on it.", None)
    calls = _label_words(decision, trace.variant)
    if decision.verdict is Choice.ANSWER:
        join = "and" if decision.consistency is Consistency.CONSISTENT else "though"
        because = f"because {again}, {join} it calls it {calls}."
        return Verdict("Kept" if is_kept else "Changed", because + _echo(decision, revised), trace.final)
    if decision.problem:
        because = f"because its decision could not be read ({decision.problem}), which counts as withheld; {again}."
        return Verdict("Abstained", because, None)
    join = "though" if decision.consistency is Consistency.CONSISTENT else "because"
    because = f"{join} it calls its answer {calls}; {again}."
    return Verdict("Abstained", because + _echo(decision, revised), None)


def standing_words(standing: Standing | None) -> str:
    """Return where a call stands in the queue of its VLM."""
    if standing is None:
        return "asking"
    if standing.phase is Phase.WAITING:
        before = f": {standing.n_before:,} before you" if standing.n_before else ""
        return f"waits for its turn{before}"
    return {
        Phase.STARTING: "starting the VLM",
        Phase.LOADING: "loading the VLM's weights",
    }.get(standing.phase, "answering")


def ending_words(ending: Ending, problem: str, *, kept: bool) -> str:
    """Return how a reconciliation ended before its end; empty where it did not.

    Args:
        ending: How.
        problem: Why the VLM could not go on, where that is known.
        kept: Whether what was answered is stored.
    """
    stays = "What was answered until then is kept." if kept else "Nothing was answered, so nothing is kept."
    if ending is Ending.CANCELLED:
        return f"Cancelled. {stays}"
    if ending is Ending.FAILED:
        return " ".join(filter(None, (problem or "A call failed; its card says why.", stays)))
    return ""


def reply_notes(reply: Reply) -> list[str]:
    """Return what is to be known of a reply beside its words."""
    notes = []
    if reply.was_cut:
        notes.append("cut off at the limit of its length")
    if repeats_itself(reply.text):
        notes.append("it ends in the same words over and over")
    if not reply.text.strip() and not reply.error:
        notes.append("it said nothing")
    return notes


def _label_words(decision: Decision, variant: Variant) -> str:
    held_against = "the image and its parts" if variant is Variant.ASR else "the image"
    return f"{decision.consistency} with {held_against}"


def _echo(decision: Decision, revised: str) -> str:
    if not decision.echoes_another(revised):
        return ""
    return f" Its decision repeats another answer, {_quote(decision.echoed)}; the revised one is returned all the same."


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".").casefold()


def _quote(text: str) -> str:
    plain = " ".join(text.split())
    if not plain:
        return "nothing"
    return f"“{plain if len(plain) <= QUOTED else plain[:QUOTED].rstrip() + ' …'}”"
