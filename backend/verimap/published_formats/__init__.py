"""The five data sets as they are published, dirt included: rows in, examples out.

Pure: rows come from whoever reads the file. A row that cannot be an example is a `BadLine`; a sound
row that is not taken (another language) is left out with its reason; both keep their numbers.
"""

__all__ = ["PublishedExamples", "read_published"]

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from backend.verimap.published_formats import medxpertqa, pathvqa, pmc_vqa, slake, vqa_rad
from backend.verimap.published_formats.rows import PublishedExamples, RowReader, read_rows
from backend.verimap.vocabulary import Dataset

_READERS: Mapping[Dataset, RowReader] = MappingProxyType(
    {
        Dataset.VQA_RAD: vqa_rad.read,
        Dataset.SLAKE: slake.read,
        Dataset.PATHVQA: pathvqa.read,
        Dataset.PMC_VQA: pmc_vqa.read,
        Dataset.MEDXPERTQA: medxpertqa.read,
    }
)


def read_published(dataset: Dataset, rows: Iterable[tuple[int, Mapping[str, Any]]], file: str) -> PublishedExamples:
    """Return the examples of one published file.

    Args:
        dataset: Whose format it is.
        rows: Number and cells of each row, from 1.
        file: Name of the file; where rows have no id of their own it begins theirs, so that two files
            of a data set never share one.
    """
    return read_rows(_READERS[dataset], rows, file)
