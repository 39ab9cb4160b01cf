"""The five data sets as they are published, dirt included: rows in, examples out.

Pure: rows come from whoever reads the file. A row that cannot be an example is a `BadLine`; a sound
row that is not taken (another language) is left out with its reason; both keep their numbers.
"""

__all__ = ["PublishedExamples", "read_published", "telling_dataset"]

from collections.abc import Collection, Iterable, Mapping
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

_OWN_COLUMNS: Mapping[Dataset, frozenset[str]] = MappingProxyType(
    {
        Dataset.VQA_RAD: frozenset({"image_name", "image_organ", "phrase_type"}),
        Dataset.SLAKE: frozenset({"img_name", "q_lang", "content_type"}),
        Dataset.PMC_VQA: frozenset({"figure_path"}),
        Dataset.MEDXPERTQA: frozenset({"medical_task", "body_system"}),
    }
)
"""Columns that one data set alone has, in small letters; PathVQA has none."""


def telling_dataset(columns: Collection[str]) -> Dataset | None:
    """Return the data set that a file's columns tell of; None where they fit several, or none."""
    names = {name.strip().lower() for name in columns}
    told = [dataset for dataset, own in _OWN_COLUMNS.items() if names & own]
    return told[0] if len(told) == 1 else None


def read_published(dataset: Dataset, rows: Iterable[tuple[int, Mapping[str, Any]]], file: str) -> PublishedExamples:
    """Return the examples of one published file.

    Args:
        dataset: Whose format it is.
        rows: Number and cells of each row, from 1.
        file: Name of the file; where rows have no id of their own it begins theirs, so that two files
            of a data set never share one.
    """
    return read_rows(_READERS[dataset], rows, file)
