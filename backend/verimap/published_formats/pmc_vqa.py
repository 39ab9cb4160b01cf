"""PMC-VQA (Zhang et al. 2023): CSV; ``Figure_path, Question, Answer, Choice A … Choice D``, in two versions.

Version 1 has the answer's text in ``Answer`` and its letter in ``Answer_label``; version 2 has the
letter in ``Answer``, and ``index, Caption, split`` besides. An index may begin anew in each split, so that
both make the id. Choices repeat their letter (" A: CT "), which is taken off. A row whose letter and
text disagree cannot be scored and is bad.
"""

__all__ = ["read"]

import re

from backend.verimap.examples import AnswerType, Example, Option
from backend.verimap.published_formats.rows import Cells, RowPlace, image_name, needed, text
from backend.verimap.vocabulary import Dataset

_LETTERS = "ABCD"


def read(cells: Cells, place: RowPlace) -> Example:
    """Return a row's example; a choice without text is left out of its options.

    Raises:
        ValueError: No choice has the answer's letter, or its text is another than the answer's.
    """
    question, answer = needed(cells, "Question"), needed(cells, "Answer")
    options = tuple(
        Option(letter, choice)
        for letter in _LETTERS
        if (choice := re.sub(rf"^{letter}\s*[:.)]\s*", "", text(cells, f"Choice {letter}")))
    )
    choices = {option.letter: option.text for option in options}
    letter = text(cells, "Answer_label", "Answer").upper()
    if letter not in choices:
        raise ValueError(f"no choice has the letter {letter!r}")
    if "Answer_label" in cells and _plain(answer) not in {_plain(letter), _plain(choices[letter])}:
        raise ValueError(f"Answer is {answer!r}, but choice {letter} is {choices[letter]!r}")
    index, split = text(cells, "index"), text(cells, "split")
    return Example(
        source_id=f"{split}-{index}" if index and split else place.made_id,
        dataset=Dataset.PMC_VQA,
        images=image_name(cells, "Figure_path"),
        question=question,
        reference=choices[letter],
        reference_letter=letter,
        options=options,
        answer_type=AnswerType.CLOSED,
        split=split,
    )


def _plain(answer: str) -> str:
    return re.sub(r"^[A-D]\s*[:.)]\s*", "", answer).strip(" .").casefold()
