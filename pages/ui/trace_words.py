"""What a reconciliation came to, in plain words: kept, changed or abstained, and because of what.

Everything returned is plain text and may hold a data set's or a VLM's words; who draws it escapes it.
"""

__all__ = ["Verdict", "ending_words", "reply_notes", "standing_words", "step_title", "verdict_of"]

from typing import NamedTuple

from backend.domain.repetition import repeats_itself
from backend.domain.vlm import Reply
from backend.endoca.asr import StepName, Trace, Variant
from backend.endoca.decision import Consistency, Decision, plain_words
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
    is_kept = plain_words(direct) == plain_words(revised)
    how = "with its parts" if trace.variant is Variant.ASR else "without its parts"
    again = (
        f"asked again {how} it gives the same answer"
        if is_kept
        else f"asked again {how} it says {_quote(revised)} in place of {_quote(direct)}"
    )
    if decision is None:
        return Verdict("Revised", f"{again}; there is no decision on it.", None)
    if decision.problem:
        return Verdict("Abstained", f"because {_undecided(trace, decision)}, which counts as withheld; {again}.", None)
    label, echo = _label_words(decision, trace.variant), _echo(decision, revised)
    is_consistent = decision.consistency is Consistency.CONSISTENT
    if decision.verdict is Choice.ANSWER:
        because = f"because {again}, {'and' if is_consistent else 'though'} it calls it {label}.{echo}"
        return Verdict("Kept" if is_kept else "Changed", because, trace.final)
    because = f"{'though' if is_consistent else 'because'} it calls its revised answer {label}; {again}.{echo}"
    return Verdict("Abstained", because, None)


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


def ending_words(ending: Ending, problem: str, *, kept: bool | None) -> str:
    """Return how a reconciliation ended before its end; empty where it did not.

    Args:
        ending: How.
        problem: Why the VLM could not go on, where that is known.
        kept: Whether what was answered is stored; None where that goes without saying, as in a batch run.
    """
    stays = {
        True: "What was answered until then is kept.",
        False: "Nothing was answered, so nothing is kept.",
        None: "",
    }[kept]
    if ending is Ending.CANCELLED:
        return f"Cancelled. {stays}".rstrip()
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


def _undecided(trace: Trace, decision: Decision) -> str:
    """Return why there is no decision to follow; a call that failed said nothing that could be read."""
    failed = trace.failed_step
    if failed is not None and failed.name is StepName.SELECT:
        return f"the call that decides failed ({decision.problem.rstrip('.')})"
    return f"its decision could not be read ({decision.problem})"


def _echo(decision: Decision, revised: str) -> str:
    """Return which answer the decision repeats, where it is another one, and what is returned all the same."""
    if not decision.echoes_another(revised):
        return ""
    is_given = decision.verdict is Choice.ANSWER
    if not decision.echoed.strip():
        return f" Its decision repeats no answer{'; the revised one is returned all the same' if is_given else ''}."
    returned = "the revised one is returned all the same" if is_given else "neither is returned"
    return f" Its decision repeats another answer, {_quote(decision.echoed)}; {returned}."


def _quote(text: str) -> str:
    plain = " ".join(text.split())
    if not plain:
        return "nothing"
    return f"“{plain if len(plain) <= QUOTED else plain[:QUOTED].rstrip() + ' …'}”"
