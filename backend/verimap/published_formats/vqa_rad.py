"""VQA-RAD (Lau et al. 2018): a JSON list; ``qid, image_name, question, answer`` and types.

Its dirt: answers that are numbers, ``"CLOSED "``, question types misspelt, in small letters or
several in one cell, spaces around questions. Copies with the columns image, question and answer
alone are read, too. The same question comes twice about one image in the training file, under two
ids; both are kept.
"""

__all__ = ["read"]

import re
from types import MappingProxyType

from backend.verimap.examples import AnswerType, Example
from backend.verimap.published_formats.rows import Cells, RowPlace, image_name, needed, text
from backend.verimap.vocabulary import Dataset

_MISSPELT = MappingProxyType({"ATRIB": "ATTRIB", "PRSE": "PRES"})
_TEST = re.compile(r"^test_")


def read(cells: Cells, place: RowPlace) -> Example:
    """Return a row's example.

    The split is what ``phrase_type`` says in the original file (test_freeform, test_para); the copies
    in circulation say it in the file's name alone.
    """
    return Example(
        source_id=text(cells, "qid") or place.made_id,
        dataset=Dataset.VQA_RAD,
        images=image_name(cells, "image_name", "image"),
        question=needed(cells, "question"),
        reference=needed(cells, "answer"),
        answer_type=answer_type(text(cells, "answer_type")),
        native_types=_types(text(cells, "question_type")),
        split="test" if _TEST.match(text(cells, "phrase_type")) else "",
    )


def answer_type(cell: str) -> AnswerType | None:
    """Return the answer type that a cell names, in whatever case; None where it names none."""
    word = cell.strip().lower()
    return AnswerType(word) if word in tuple(AnswerType) else None


def _types(cell: str) -> tuple[str, ...]:
    names = (name.strip().upper() for name in cell.split(","))
    return tuple(_MISSPELT.get(name, name) for name in names if name)
