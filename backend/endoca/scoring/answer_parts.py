"""How an answer's parts meet the question's parts when the answer says so itself.

JSON keys, "text: yes" pairs and question-and-answer pairs name their part (`json_answers`, `keyed_answers`); a
bare list follows the order of the question's parts (`bare_lists`). Everything else is prose and is read as a
whole.
"""

__all__ = ["split_answer"]

from backend.domain.text import json_value, plain_answer
from backend.endoca.scoring.bare_lists import bare_list
from backend.endoca.scoring.json_answers import read_json
from backend.endoca.scoring.keyed_answers import Parts, by_key, keyed_parts, question_answers
from backend.endoca.scoring.question_parts import QuestionParts


def split_answer(answer: str, parts: QuestionParts, classes: tuple[str, ...]) -> tuple[str, Parts | None, str]:
    """Unwrap an answer.

    Returns:
        The plain text; the text of each atom where the answer's own form says which is which, else None;
        and that form's name: "key", "list" or "".
    """
    text = plain_answer(answer)
    for _ in range(3):
        value = json_value(text)
        if value is None:
            break
        unwrapped = read_json(value, parts, classes)
        if isinstance(unwrapped, tuple):
            form = "list" if isinstance(value, list) else "key"
            return " ".join(part or "" for part in unwrapped), unwrapped, form
        text = plain_answer(unwrapped)
    restated = question_answers(text)
    if restated and len(classes) == 1:
        text = ". ".join(answer for _, answer in restated)
    if len(classes) < 2:
        return text, None, ""
    keyed = by_key(restated, classes, parts.order) or keyed_parts(text, classes, parts.order)
    if keyed:
        return text, keyed, "key"
    listed = bare_list(text, parts)
    return (text, listed, "list") if listed else (text, None, "")
