"""What the replies of a trace are called where it is shown where the VLM looked.

Everything returned is plain text and may hold a data set's words or a VLM's name; who draws it escapes it.
"""

__all__ = ["reply_name", "when_words"]

from collections.abc import Mapping

from backend.domain.records import Role, Stage
from backend.endoca.asr import StepName
from backend.services.trace_replies import TraceReply

_NAMES: Mapping[str, str] = {
    StepName.DIRECT: "Complex answer",
    StepName.REVISE: "Revised answer",
    StepName.SELECT: "Decision on it",
    Role.ORIGINAL: "Original question",
    Role.LESS_BIASED: "Less-biased question",
}

_WHEN: Mapping[str, str] = {
    StepName.ATOMIC: "When answering this part",
    StepName.REVISE: "When asked again",
    StepName.SELECT: "When deciding",
    Role.ORIGINAL: "With the original question",
    Role.LESS_BIASED: "With the less-biased question",
    Stage.LOOK: "When looking first",
    Stage.VERIFY: "When judging",
    Stage.LOOP: "When answering again",
}


def reply_name(reply: TraceReply) -> str:
    """Return what a reply is called among those of its trace; of a verification it names the VLM."""
    if reply.by_person:
        return f"A person’s answer, read by {reply.vlm.name}"
    if reply.step == StepName.ATOMIC:
        return f"Part {reply.position + 1}: {reply.question}"
    if reply.question or reply.step in (Role.ORIGINAL, Role.LESS_BIASED):
        return _NAMES[reply.step]
    role = "Verifier" if reply.step in (Stage.LOOK, Stage.VERIFY) else "Generator"
    turn = ", first look" if reply.step == Stage.LOOK else f", turn {reply.position}" if reply.position else ""
    return f"{role} ({reply.vlm.name}){turn}"


def when_words(reply: TraceReply) -> str:
    """Return when the VLM looked there, to begin a sentence."""
    return _WHEN.get(reply.step, "When answering")
