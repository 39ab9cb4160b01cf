"""A look into somebody's SurgCheck file before its import: its columns, those that are known, and how a row reads."""

__all__ = ["FilePreview", "preview_file", "read_as"]

from collections.abc import Mapping
from dataclasses import dataclass

from backend.domain.progress import silent
from backend.errors import AppError, BadLine
from backend.services.ingest.files import SourceFile
from backend.services.ingest.scene_graphs import is_scene_file
from backend.services.ingest.surgcheck_columns import Columns, find_columns
from backend.services.ingest.surgcheck_names import FileName, Variant, read_name
from backend.services.ingest.surgcheck_rows import PairRow, Record, load_records, read_pair_rows

SAMPLE = 200
"""Rows kept: as many as the import looks at to tell which column is which."""


@dataclass(frozen=True, slots=True)
class FilePreview:
    """The beginning of a file."""

    file: str
    columns: tuple[str, ...]
    """In the order in which rows name them."""
    known: Columns
    """Column by field, as the import tells it when nobody says otherwise."""
    records: tuple[Record, ...]
    """The first rows as they stand in the file."""

    @property
    def name(self) -> FileName:
        """What the file's name says."""
        return read_name(self.file)


def preview_file(file: SourceFile) -> FilePreview:
    """Look into a file of rows.

    Raises:
        AppError: It cannot be read at all, holds no row, or is a file of scene graphs.
    """
    read = load_records(file, silent)
    records = tuple(record for record in read if isinstance(record, Record))[:SAMPLE]
    if not records:
        raise AppError(f"{file.name} holds no row that can be read.", "Get the file again, or write it anew.")
    if is_scene_file(records[0].content):
        raise AppError(
            f"{file.name} is a file of scene graphs, and holds no answers.",
            "Import it as questions: they are made of it.",
        )
    contents = [record.content for record in records]
    columns = tuple(dict.fromkeys(name for content in contents for name in content))
    return FilePreview(file.name, columns, find_columns(contents, {}, file.name), records)


def read_as(preview: FilePreview, columns: Mapping[str, str], variant: Variant | None) -> PairRow | BadLine:
    """Return a file's first row, read as an import would read it.

    Args:
        preview: From `preview_file`.
        columns: Columns that the user named, by field.
        variant: What he says that the rows are.

    Raises:
        AppError: A column is not there, or picture or question have none.
    """
    return read_pair_rows(preview.records, preview.file, preview.name, columns, variant).rows[0]
