"""What a pair says in plain words: what each question gives away, what became of each run, one sentence for all.

Everything returned is plain text and may hold a data set's or a VLM's words; who draws it escapes it.
"""

__all__ = [
    "CUE_WORDS",
    "TASK_WORDS",
    "judge_words",
    "outcome_words",
    "pair_sentence",
    "run_sentence",
    "shown_words",
    "text_names",
]

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from backend.services.surgcheck_cases import Judgement, PairAnswer, PairCase, PairRun
from backend.surgcheck.outcomes import PairOutcome
from backend.surgcheck.tasks import Cue, Task
from pages.ui.answer_words import judged, quoted

QUOTED = 120
"""Letters of an answer that a sentence quotes; the whole stands in the table."""

TASK_WORDS: Mapping[Task, str] = MappingProxyType(
    {
        Task.INSTRUMENT_COUNT: "Instrument count",
        Task.ANATOMY: "Anatomy",
        Task.INSTRUMENT: "Instrument",
        Task.ACTION: "Action",
        Task.TARGET: "Target",
        Task.TRIPLET: "Triplet",
        Task.ANATOMY_HOP: "Anatomy-hop",
        Task.CVS: "Critical view of safety",
    }
)

CUE_WORDS: Mapping[Cue, str] = MappingProxyType(
    {
        Cue.NONE: "no cue",
        Cue.BOX: "red box",
        Cue.ARROW: "red arrow",
        Cue.POSITION: "position in words",
        Cue.PERIPHRASIS: "whose hand, in words",
    }
)

_SHOWN = {
    Cue.NONE: "The frame itself; the question points at nothing.",
    Cue.BOX: "The frame with a red box drawn in.",
    Cue.ARROW: "The frame with a red arrow drawn in.",
    Cue.POSITION: "The frame itself; the question's words point.",
    Cue.PERIPHRASIS: "The frame itself; the question's words point.",
}


def shown_words(cue: Cue) -> str:
    """Return what the VLM was shown."""
    return _SHOWN[cue]


def text_names(pair: PairCase) -> tuple[str, str]:
    """Return what the pair's two texts are called above them."""
    if pair.is_paired:
        return "With the hint (original)", "Without it (less-biased)"
    return "Asked first (original)", "Asked again, in the same words"


def judge_words(judgement: Judgement) -> str:
    """Return a judge's score in words; one that is not scored is not wrong."""
    if judgement.score is None:
        return f"not scored by {judgement.judge}"
    return f"{judgement.judge}: {judgement.score} of 5"


def outcome_words(pair: PairCase, run: PairRun) -> str:
    """Return what became of a pair in one run, in a clinician's words; what has no answer says so."""
    if run.is_text_only:
        return f"{_word(run.original)} without seeing the image"
    if run.is_answered and run.outcome is not None:
        if pair.is_paired:
            return run.outcome.plain
        same = "right both times" if run.outcome is PairOutcome.BOTH_RIGHT else "wrong both times"
        return "right once, wrong once, asked the same" if run.contradicts else same
    with_hint, without = _ways(pair)
    first, second = _word(run.original), _word(run.less_biased)
    return f"{first} {with_hint} and {without}" if first == second else f"{first} {with_hint}, {second} {without}"


def run_sentence(pair: PairCase, run: PairRun) -> str:
    """Return what one run said to the two questions, as a sentence."""
    if run.is_text_only:
        return f"Without the image it says {_told(run.original)}. {_reference(pair)}"
    with_hint, without = _ways(pair)
    said = f"{with_hint.capitalize()} it says {_told(run.original)}; {without} {_told(run.less_biased)}."
    return f"{said} {_reference(pair)}"


def pair_sentence(pair: PairCase, runs: Sequence[PairRun]) -> str:
    """Return how the runs fare on this pair, counted; runs without the image count apart."""
    seeing = [run for run in runs if not run.is_text_only]
    if not seeing:
        return "No VLM that saw the image has answered it yet."
    n_right = sum(_is_right(run.original) for run in seeing)
    verb = "runs answer" if len(seeing) > 1 else "run answers"
    if not pair.is_paired:
        return f"{n_right} of {len(seeing)} {verb} it right; it gives no hint away, so both its texts are the same."
    n_lost = sum(run.outcome is PairOutcome.HINT_ONLY for run in seeing)
    n_gained = sum(run.outcome is PairOutcome.POINTED_ONLY for run in seeing)
    lost = f"; {n_lost} of these {'is' if n_lost == 1 else 'are'} wrong without it" if n_lost else ""
    gained = f"; {n_gained} {'is' if n_gained == 1 else 'are'} right without it alone" if n_gained else ""
    return f"{n_right} of {len(seeing)} {verb} right with the hint{lost}{gained}."


def _ways(pair: PairCase) -> tuple[str, str]:
    return ("with the hint", "without it") if pair.is_paired else ("asked first", "asked again")


def _is_right(answer: PairAnswer | None) -> bool:
    return answer is not None and answer.said.correct


def _word(answer: PairAnswer | None) -> str:
    if answer is None:
        return "not asked"
    return judged(answer.said) if answer.said.answered else "no answer"


def _told(answer: PairAnswer | None) -> str:
    if answer is None:
        return "nothing (not asked)"
    if not answer.said.answered:
        return f"nothing ({judged(answer.said)})"
    return f"{quoted(answer.read_as, QUOTED)} ({judged(answer.said)})"


def _reference(pair: PairCase) -> str:
    return f"The reference is {quoted(pair.reference, QUOTED)}."
