"""MedXpertQA MM (Zuo et al. 2025): JSON lines; ``id, question, options {A … E}, label, images [ ]``, and its own types.

The question text ends in its own options ("Answer Choices: (A) …"). They are cut off where they are
what ``options`` says, so that whether a VLM sees options is one setting for all data sets. A question may
have several images.
"""

__all__ = ["read"]

import re
from collections.abc import Mapping

from backend.verimap.examples import AnswerType, Example, Option
from backend.verimap.published_formats.rows import Cells, RowPlace, image_name, needed, text
from backend.verimap.vocabulary import Dataset

_CHOICES = re.compile(r"\s*Answer Choices:\s*(.*)\Z", re.IGNORECASE | re.DOTALL)


def read(cells: Cells, place: RowPlace) -> Example:
    """Return a row's example; native types are medical task, question type and body system.

    Raises:
        ValueError: ``options`` is no object of texts, or has no entry for the label.
    """
    given = cells.get("options")
    if not isinstance(given, Mapping):
        raise ValueError("options is no object of letters and texts")
    options = tuple(Option(str(letter).strip().upper(), text(given, letter)) for letter in given if text(given, letter))
    choices = {option.letter: option.text for option in options}
    letter = needed(cells, "label").upper()
    if letter not in choices:
        raise ValueError(f"no option has the letter {letter!r}")
    types = (text(cells, column) for column in ("medical_task", "question_type", "body_system"))
    return Example(
        source_id=text(cells, "id") or place.made_id,
        dataset=Dataset.MEDXPERTQA,
        images=image_name(cells, "images", "image"),
        question=_stem(needed(cells, "question"), options),
        reference=choices[letter],
        reference_letter=letter,
        options=options,
        answer_type=AnswerType.CLOSED,
        native_types=tuple(name for name in types if name),
    )


def _stem(question: str, options: tuple[Option, ...]) -> str:
    """Return the question without its options; whole where the text's options are not those of the row."""
    found = _CHOICES.search(question)
    printed = " ".join(f"({option.letter}) {option.text}" for option in options)
    if found and " ".join(found[1].split()) == " ".join(printed.split()):
        return question[: found.start()].rstrip()
    return question
