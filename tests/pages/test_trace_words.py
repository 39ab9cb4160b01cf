"""What a reconciliation came to is told in a sentence that is true of its answers and its decision."""

import json

import pytest

from backend.domain.vlm import Reply
from backend.endoca.asr import Step, StepName, Trace, Variant
from backend.services.live_traces import Ending
from pages.ui.trace_words import ending_words, verdict_of

SAME = "asked again with its parts it gives the same answer"
OTHER = "asked again with its parts it says “B” in place of “A”"
AGREES = "consistent with the image and its parts"
PARTLY, DIFFERS = f"partly {AGREES}", f"in{AGREES}"


def trace(revised: str, select: Reply | None, variant: Variant = Variant.ASR) -> Trace:
    """Return a trace whose direct answer is A; without a reply to Select, one of a Revise run alone."""
    replies = {StepName.DIRECT: Reply("A"), StepName.REVISE: Reply(revised)}
    if select is not None:
        replies[StepName.SELECT] = select
    return Trace("?", variant, tuple(Step(name, 0, "?", "prompt", reply) for name, reply in replies.items()))


def decided(decision: str, consistency: str, echoed: str) -> Reply:
    return Reply(json.dumps({"answer": echoed, "consistency": consistency, "decision": decision}))


@pytest.mark.parametrize(
    ("revised", "decision", "consistency", "echoed", "word", "because"),
    [
        ("A", "answer", "consistent", "A", "Kept", f"because {SAME}, and it calls it {AGREES}."),
        ("a.", "answer", "partly consistent", "A", "Kept", f"because {SAME}, though it calls it {PARTLY}."),
        (
            "A", "answer", "consistent", "C", "Kept",
            f"because {SAME}, and it calls it {AGREES}. Its decision repeats another answer, “C”; the revised one is "
            "returned all the same.",
        ),
        (
            "A", "answer", "consistent", " ", "Kept",
            f"because {SAME}, and it calls it {AGREES}. Its decision repeats no answer; the revised one is returned "
            "all the same.",
        ),
        ("B", "answer", "consistent", "B", "Changed", f"because {OTHER}, and it calls it {AGREES}."),
        ("B", "answer", "inconsistent", "B", "Changed", f"because {OTHER}, though it calls it {DIFFERS}."),
        (
            "B", "answer", "partly consistent", "A", "Changed",
            f"because {OTHER}, though it calls it {PARTLY}. Its decision repeats another answer, “A”; the revised one "
            "is returned all the same.",
        ),
        ("A", "abstain", "inconsistent", "A", "Abstained", f"because it calls its revised answer {DIFFERS}; {SAME}."),
        ("A", "abstain", "consistent", "A", "Abstained", f"though it calls its revised answer {AGREES}; {SAME}."),
        (
            "A", "abstain", "inconsistent", "C", "Abstained",
            f"because it calls its revised answer {DIFFERS}; {SAME}. Its decision repeats another answer, “C”; "
            "neither is returned.",
        ),
        ("B", "abstain", "inconsistent", "B", "Abstained", f"because it calls its revised answer {DIFFERS}; {OTHER}."),
        (
            "B", "abstain", "partly consistent", "C", "Abstained",
            f"because it calls its revised answer {PARTLY}; {OTHER}. Its decision repeats another answer, “C”; "
            "neither is returned.",
        ),
        (
            "B", "abstain", "inconsistent", "", "Abstained",
            f"because it calls its revised answer {DIFFERS}; {OTHER}. Its decision repeats no answer.",
        ),
    ],
)  # fmt: skip
def test_the_sentence_is_true_of_what_was_decided_repeated_and_changed(
    revised: str, decision: str, consistency: str, echoed: str, word: str, because: str
) -> None:
    verdict = verdict_of(trace(revised, decided(decision, consistency, echoed)))
    assert verdict is not None
    assert (verdict.word, verdict.because) == (word, because)
    assert verdict.final == (revised if decision == "answer" else None)


@pytest.mark.parametrize(
    ("select", "word", "because"),
    [
        (
            Reply("Yes."), "Abstained",
            f"because its decision could not be read (not one JSON object), which counts as withheld; {OTHER}.",
        ),
        (
            Reply(""), "Abstained",
            f"because its decision could not be read (not one JSON object), which counts as withheld; {OTHER}.",
        ),
        (
            Reply("", error="The call timed out. Ask again."), "Abstained",
            "because the call that decides failed (The call timed out. Ask again), which counts as withheld; "
            f"{OTHER}.",
        ),
        (None, "Revised", f"{OTHER}; there is no decision on it."),
    ],
    ids=["not readable", "empty", "failed", "not asked"],
)  # fmt: skip
def test_without_a_decision_it_is_said_why_and_nothing_is_returned(
    select: Reply | None, word: str, because: str
) -> None:
    assert verdict_of(trace("B", select)) == (word, because, None)


def test_the_control_speaks_of_no_parts() -> None:
    verdict = verdict_of(trace("B", decided("abstain", "inconsistent", "B"), Variant.SELF))
    assert verdict is not None
    assert verdict.because == (
        "because it calls its revised answer inconsistent with the image; asked again without its parts it says “B” "
        "in place of “A”."
    )


@pytest.mark.parametrize(
    ("ending", "problem", "kept", "words"),
    [
        (Ending.DONE, "", True, ""),
        (Ending.CANCELLED, "", True, "Cancelled. What was answered until then is kept."),
        (Ending.CANCELLED, "", False, "Cancelled. Nothing was answered, so nothing is kept."),
        (Ending.FAILED, "", True, "A call failed; its card says why. What was answered until then is kept."),
        (Ending.FAILED, "It ended. Ask again.", True, "It ended. Ask again. What was answered until then is kept."),
        (Ending.FAILED, "", None, "A call failed; its card says why."),
    ],
)
def test_an_early_end_is_told_with_what_is_kept(ending: Ending, problem: str, kept: bool | None, words: str) -> None:
    assert ending_words(ending, problem, kept=kept) == words
