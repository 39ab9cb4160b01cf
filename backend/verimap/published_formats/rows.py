"""What the five formats share: reading rows one after another, and cells that are not what they should be."""

__all__ = [
    "LeftOutError",
    "PublishedExamples",
    "RowPlace",
    "RowReader",
    "image_name",
    "needed",
    "read_rows",
    "text",
]

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from backend.errors import BadLine
from backend.verimap.examples import Example

Cells = Mapping[str, Any]
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_EXTENSIONS = re.compile(r"(\.\w{1,8})+$")


class LeftOutError(Exception):
    """A sound row that is not taken; the message is the reason."""


class RowPlace(NamedTuple):
    """Where a row stands."""

    file: str
    number: int

    @property
    def made_id(self) -> str:
        """An id for a row without one: the file's name without extensions, and the row's number."""
        return f"{_EXTENSIONS.sub('', self.file)}-{self.number}"


RowReader = Callable[[Cells, RowPlace], Example]
"""Returns a row's example; raises ValueError for a bad row, LeftOutError for one that is not taken."""


@dataclass(frozen=True, slots=True)
class PublishedExamples:
    """What a file holds."""

    examples: tuple[Example, ...]
    bad_lines: tuple[BadLine, ...]
    """Rows that cannot be examples."""
    left_out: tuple[BadLine, ...]
    """Sound rows that were not taken, each with its reason."""


def read_rows(reader: RowReader, rows: Iterable[tuple[int, Cells]], file: str) -> PublishedExamples:
    """Return all examples of a file.

    A second row with an id that an earlier row has is bad: VQA-RAD and SLAKE number their questions once.
    """
    examples: dict[str, Example] = {}
    bad: list[BadLine] = []
    left_out: list[BadLine] = []
    for number, cells in rows:
        try:
            example = reader(cells, RowPlace(file, number))
        except LeftOutError as reason:
            left_out.append(BadLine(number, str(reason), file))
            continue
        except ValueError as reason:
            bad.append(BadLine(number, str(reason), file))
            continue
        if example.source_id in examples:
            bad.append(BadLine(number, f"id {example.source_id} is there already", file))
            continue
        examples[example.source_id] = example
    return PublishedExamples(tuple(examples.values()), tuple(bad), tuple(left_out))


def text(cells: Cells, *columns: str) -> str:
    """Return the first of the columns that holds something as text, outer spaces off; "" where none does.

    Numbers are text here, whole ones without ``.0``; None and NaN are nothing. Half a surrogate pair, which no
    store can hold, becomes U+FFFD.
    """
    for column in columns:
        value = cells.get(column)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            continue
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, str | int | float) and (whole := _storable(str(value))):
            return whole
    return ""


def needed(cells: Cells, *columns: str) -> str:
    """Return `text`.

    Raises:
        ValueError: None of the columns holds anything.
    """
    found = text(cells, *columns)
    if not found:
        raise ValueError(f"has no {' or '.join(columns)}")
    return found


def image_name(cells: Cells, *columns: str) -> tuple[str, ...]:
    """Return the names of a row's images; none where it names none.

    A cell is a name, a list of names, or what Parquet files of image data sets hold: a struct whose
    ``path`` is the name.
    """
    for column in columns:
        value = cells.get(column)
        if isinstance(value, Mapping):
            value = value.get("path")
        if isinstance(value, list | tuple):
            return tuple(_storable(str(name)) for name in value if name)
        if isinstance(value, str) and (name := _storable(value)):
            return (name,)
    return ()


def _storable(value: str) -> str:
    return _HALF_PAIR.sub("\ufffd", value).strip()
