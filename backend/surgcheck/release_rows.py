"""Question pairs as the release writes them: one JSON object a row, original and less-biased in two files."""

__all__ = ["main_tag", "release_row"]

from typing import Any

from backend.surgcheck.prompts import answer_prompt
from backend.surgcheck.question_pairs import Pair
from backend.surgcheck.tasks import Level, Task


def release_row(pair: Pair, question: str, *, prefixed: bool) -> dict[str, Any]:
    """Return one row.

    Args:
        pair: The pair.
        question: One of its two texts.
        prefixed: Whether the prefix stands before the question, as in the full set; the balanced set has none.
    """
    asked = answer_prompt(question) if prefixed else question
    return {
        "image": pair.image,
        "conversations": [
            {"from": "human", "value": f"<image>\n{asked}"},
            {"from": "gpt", "value": pair.reference},
        ],
        "ori_img_tag": pair.frame,
        "main_tag": main_tag(pair.task),
        "sub_sub_tag": pair.task,
        "sub_tag": pair.cue.tag,
    }


def main_tag(task: Task) -> str:
    """Return the release's coarsest tag of a task."""
    return "Reasoning_QA" if task.level is Level.REASONING else "Visual_QA"
