"""SLAKE (Liu et al. 2021): a JSON list; ``img_name, question, answer, q_lang, answer_type, content_type, qid``.

Half of its questions are Chinese and are left out: VeriMap is measured in English. Tables of SLAKE
in circulation hold ``img_id, img_name, question, answer`` alone; there the question's letters tell
its language.
"""

__all__ = ["read"]

import re

from backend.verimap.examples import Example
from backend.verimap.published_formats.rows import Cells, LeftOutError, RowPlace, image_name, needed, text
from backend.verimap.published_formats.vqa_rad import answer_type
from backend.verimap.vocabulary import Dataset

_CHINESE = re.compile("[\u4e00-\u9fff]")


def read(cells: Cells, place: RowPlace) -> Example:
    """Return a row's example.

    Raises:
        LeftOutError: The question is not English.
    """
    question = needed(cells, "question")
    language = text(cells, "q_lang").lower() or ("zh" if _CHINESE.search(question) else "en")
    if language != "en":
        raise LeftOutError(f"the question is not English (q_lang {language})")
    kind = text(cells, "content_type")
    return Example(
        source_id=text(cells, "qid") or place.made_id,
        dataset=Dataset.SLAKE,
        images=image_name(cells, "img_name", "image"),
        question=question,
        reference=needed(cells, "answer"),
        answer_type=answer_type(text(cells, "answer_type")),
        native_types=(kind,) if kind else (),
    )
