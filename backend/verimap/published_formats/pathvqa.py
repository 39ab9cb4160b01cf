"""PathVQA (He et al. 2020): ``image, question, answer``, and no ids.

An id is made of the file's name and the row's number. ``image`` may be null, a name, or a struct
with a path. Open and closed questions are not told apart; yes/no references are scored as such.
"""

__all__ = ["read"]

from backend.verimap.examples import Example
from backend.verimap.published_formats.rows import Cells, RowPlace, image_name, needed
from backend.verimap.vocabulary import Dataset


def read(cells: Cells, place: RowPlace) -> Example:
    """Return a row's example."""
    return Example(
        source_id=place.made_id,
        dataset=Dataset.PATHVQA,
        images=image_name(cells, "image"),
        question=needed(cells, "question"),
        reference=needed(cells, "answer"),
    )
