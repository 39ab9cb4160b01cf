"""What an annotator is asked: which of the seven tasks a question is of (Appendix A), from its words alone.

The wording is our own. Each annotator labels alone; three of them vote (`backend.verimap.task_labels`).
"""

__all__ = ["LABEL_DECODING", "LABEL_VERSION", "TEMPLATES", "label_prompt", "read_label"]

import re
from types import MappingProxyType

from backend.domain.text import strip_thinking
from backend.domain.vlm import Decoding
from backend.verimap.vocabulary import Task, task_of_name

LABEL_VERSION = "verimap-label-1"
"""Raised with every change of a wording below, and of what a task covers."""

LABEL_DECODING = Decoding(max_new_tokens=40)
"""Room for one name."""

TEMPLATES = MappingProxyType(
    {
        "label": (
            "Which task does a question about a medical image set? Choose one of these:\n"
            + "".join(f"- {task.value}: questions about {task.covers}\n" for task in Task)
            + "Question: {question}\n"
            "Reply in one line.\nTASK: its name"
        )
    }
)
"""Every wording, by its step."""


def label_prompt(question: str) -> str:
    """Return all that an annotator is told of one question."""
    return TEMPLATES["label"].format(question=question)


_LINE = re.compile(r"^\W*task[*_`]*\s*[:=-](.*)$", re.I | re.M)


def read_label(reply: str) -> Task | None:
    """Return the task in a reply; None where it names none, or several.

    The last line called TASK counts, else the whole reply: it may be the name alone, in any of its
    forms, or hold one task's full name.
    """
    said = strip_thinking(reply).strip()
    lines = _LINE.findall(said)
    text = lines[-1] if lines else said
    named = {task for task in Task if re.search(task.value.replace("_", r"[\W_]+"), text, re.I)}
    if named:
        return named.pop() if len(named) == 1 else None
    return task_of_name(text)
