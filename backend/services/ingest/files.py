"""Rows of a user's file, one after another, whatever its format.

JSON lines, CSV and Parquet, plain or gzipped, told apart by their first bytes and their
name. The file is streamed, never held whole. A row that cannot be read is a `BadLine` with
its number; the rows around it are still delivered. What is no data file at all (a folder, a
binary, an empty file) is one error that says so.
"""

__all__ = ["Row", "SourceFile", "checked_suite_name", "read_rows", "stream_lines", "suite_name"]

import csv
import gzip
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from backend.domain.progress import Report
from backend.domain.records import LIVE_SUITES
from backend.errors import AppError, BadLine

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_SUFFIXES = re.compile(r"(\.(jsonl|ndjson|json|csv|parquet|txt|gz))+$", re.IGNORECASE)
_NOT_IN_A_NAME = re.compile(r"[:~\x00-\x1f\x7f]")
_REPORT_EVERY = 5_000
_MAX_FIELD = 1 << 24
_PARQUET = b"PAR1"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to import, and the name people know it by."""

    path: Path
    name: str
    """For an upload, the name it had on the user's machine; text to show, never a path to open."""

    @classmethod
    def at(cls, path: Path) -> "SourceFile":
        """Return the file at ``path`` under its own name."""
        return cls(path, path.name)


class Row(NamedTuple):
    """One row: a JSON line as it stands in the file, or a table's row by column name."""

    number: int
    """1-based line of a text file; for Parquet, row."""
    content: bytes | dict[str, Any]


def suite_name(file: SourceFile) -> str:
    """Return a suite's default name: no extensions, no leading ``endoca_``, nothing that ids are joined with.

    Raises:
        AppError: It is the name of the suite of live questions.
    """
    name = _NOT_IN_A_NAME.sub("-", _SUFFIXES.sub("", file.name)).strip().removeprefix("endoca_") or "suite"
    _refuse_reserved(name)
    return name


def checked_suite_name(name: str | None) -> str | None:
    """Return a suite's name as the user gave it, outer spaces off; None where it is empty.

    Raises:
        AppError: It holds a character that ids and links are joined with, or is the name of the suite of
            live questions.
    """
    name = (name or "").strip()
    if _NOT_IN_A_NAME.search(name):
        raise AppError(f"A suite cannot be named {name!r}.", "Leave out colons, tildes and control characters.")
    _refuse_reserved(name)
    return name or None


def _refuse_reserved(name: str) -> None:
    if name in LIVE_SUITES:
        raise AppError(
            f"A suite cannot be named {name}: that one holds the questions asked live.",
            "Name another with --suite (on the Data page: 'suite'); of verification records, in their column dataset.",
        )


def read_rows(file: SourceFile, report: Report) -> Iterator[Row | BadLine]:
    """Stream a file's rows.

    Args:
        file: JSON lines, CSV with a header, or Parquet; text may be gzipped.
        report: Told after every few thousand rows; it counts the file's kilobytes, or the rows of a table.

    Yields:
        A `Row` for each readable row, a `BadLine` for each other one. A gzip stream that
        ends early is a bad line after the rows that came out of it. Blank lines are passed over.

    Raises:
        AppError: The path is absent or a folder, or the file is empty or of no known kind.
    """
    head = _head(file)
    if head.startswith(_PARQUET):
        yield from _parquet_rows(file, report)
        return
    total = file.path.stat().st_size
    with file.path.open("rb") as raw:
        stream = _unzipped(raw)
        start = _peek(stream, file)
        if start.startswith(_PARQUET):
            yield from _zipped_parquet_rows(stream, file, report)
            return
        if not start:
            raise AppError(f"{file.name} is empty.", "Choose a file with at least one line.")
        _refuse_binary(start, file)
        rows = _csv_rows if _is_csv(file, start) else _json_lines
        for seen, row in enumerate(rows(cast(IO[bytes], stream), file), start=1):
            yield row
            if seen % _REPORT_EVERY == 0:
                report(f"reading {file.name} (kB)", raw.tell() // 1000, total // 1000)
    report(f"reading {file.name} (kB)", total // 1000, total // 1000)


def stream_lines(raw: BufferedReader, file: SourceFile) -> Iterator[bytes | BadLine]:
    """Yield the lines of an open stream one by one, blank ones too, for work that answers line by line.

    Args:
        raw: Text, plain or gzipped; a pipe will do.
        file: What to call it.

    Yields:
        Each line as it stands; where a gzip stream ends early, one `BadLine` and the end.

    Raises:
        AppError: The stream is binary, UTF-16 or one JSON list, or its gzip header is damaged.
    """
    stream = _unzipped(raw)
    _refuse_binary(_peek(stream, file), file)
    yield from _lines(cast(IO[bytes], stream))


def _head(file: SourceFile) -> bytes:
    if file.path.is_dir():
        raise AppError(f"{file.name} is a folder.", "Name the file inside it that holds the lines.")
    if file.path.exists() and not file.path.is_file():
        raise AppError(f"{file.path} is no regular file.", "Save its content to a file and import that.")
    try:
        with file.path.open("rb") as raw:
            return raw.read(4)
    except FileNotFoundError as error:
        raise AppError(f"There is no file {file.path}.", "Check the path.") from error
    except OSError as error:
        raise AppError(f"{file.name} cannot be read ({error.strerror}).", "Check its permissions.") from error


def _unzipped(raw: BufferedReader) -> BufferedReader | gzip.GzipFile:
    return gzip.GzipFile(fileobj=raw) if raw.peek(2).startswith(b"\x1f\x8b") else raw


def _peek(stream: BufferedReader | gzip.GzipFile, file: SourceFile) -> bytes:
    """Return the first bytes without taking them."""
    try:
        return stream.peek(4096)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise AppError(
            f"{file.name} looks like gzip, but cannot be unpacked ({error}).", "Get the file again."
        ) from error


def _refuse_binary(start: bytes, file: SourceFile) -> None:
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise AppError(f"{file.name} is UTF-16 text.", "Save it as UTF-8 and import it again.")
    if b"\x00" in start:
        raise AppError(
            f"{file.name} is a binary file of no known kind.", "Choose a .jsonl, .csv (plain or .gz) or .parquet file."
        )
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        raise AppError(
            f"{file.name} is one JSON list.", "Write one JSON object on each line (JSON lines) and import it again."
        )


def _is_csv(file: SourceFile, start: bytes) -> bool:
    """A name that ends in .csv, or a first line that is no JSON object."""
    if re.search(r"\.csv(\.gz)?$", file.name, re.IGNORECASE):
        return True
    named_json = re.search(r"\.(jsonl|ndjson|json)(\.gz)?$", file.name, re.IGNORECASE)
    return not named_json and not start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _lines(stream: IO[bytes]) -> Iterator[bytes | BadLine]:
    """Yield the stream's lines; where gzip breaks off, one `BadLine` and the end."""
    number = 0
    try:
        for line in stream:
            number += 1
            yield line
    except (EOFError, zlib.error, gzip.BadGzipFile):
        yield BadLine(number + 1, "the gzip stream ends early or is damaged here; get the file again")


def _json_lines(stream: IO[bytes], file: SourceFile) -> Iterator[Row | BadLine]:
    for number, line in enumerate(_lines(stream), start=1):
        if isinstance(line, BadLine):
            yield BadLine(line.number, line.reason, file.name)
            return
        text = line.strip().removeprefix(b"\xef\xbb\xbf")
        if not text:
            continue
        problem = _encoding_problem(text)
        yield BadLine(number, problem, file.name) if problem else Row(number, text)


def _encoding_problem(text: bytes) -> str:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8 (byte 0x{text[error.start]:02x} at position {error.start + 1}); save the file as UTF-8"
    return ""


def _csv_rows(stream: IO[bytes], file: SourceFile) -> Iterator[Row | BadLine]:
    """Rows of a CSV file with a header, each cell as it stands in the file.

    The columns are separated by what the header uses most: comma, semicolon or tab. A row with
    a stray quote is a bad line, and reading goes on with the next; a quote that is never closed
    takes the rest of the file with it, and is reported as that.

    Raises:
        AppError: Two columns have one name.
    """
    broken: list[BadLine] = []

    def text_lines() -> Iterator[str]:
        for number, line in enumerate(_lines(stream), start=1):
            if isinstance(line, BadLine):
                broken.append(BadLine(line.number, line.reason, file.name))
                return
            problem = _encoding_problem(line)
            if problem:
                broken.append(BadLine(number, problem, file.name))
            yield line.decode("utf-8-sig" if number == 1 else "utf-8", errors="replace")

    csv.field_size_limit(_MAX_FIELD)
    lines = text_lines()
    header = next(lines, "")
    reader = csv.reader(chain([header], lines), delimiter=max(",;\t", key=header.count), strict=True)
    columns = next(reader)
    _refuse_repeated(columns, file)
    last_line = reader.line_num
    while True:
        cells: list[str] | None = None
        problem = ""
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            problem = f"not readable as CSV ({error})"
        first_line, last_line = last_line + 1, reader.line_num
        unreadable = [bad for bad in broken if bad.number <= last_line]
        if unreadable or cells == []:
            yield from unreadable
            del broken[: len(unreadable)]
            continue
        if cells is None and last_line > first_line:
            problem = f"a quote opened here is not closed; lines {first_line} to {last_line} were read as one cell"
        elif cells is not None and len(cells) != len(columns):
            problem = f"has {len(cells)} columns, the header {len(columns)}"
        if problem or cells is None:
            yield BadLine(first_line, problem, file.name)
        else:
            yield Row(last_line, dict(zip(columns, cells, strict=True)))
    yield from broken


def _refuse_repeated(columns: list[str], file: SourceFile) -> None:
    repeated = sorted({name for name in columns if columns.count(name) > 1})
    if repeated:
        raise AppError(f"{file.name} has two columns named {repeated[0]!r}.", "Give each column its own name.")


def _zipped_parquet_rows(stream: BufferedReader | gzip.GzipFile, file: SourceFile, report: Report) -> Iterator[Row]:
    """Rows of a gzipped Parquet file: Parquet is read from its end, so it is unpacked beside first."""
    with tempfile.NamedTemporaryFile(suffix=".parquet") as unpacked:
        try:
            shutil.copyfileobj(stream, unpacked)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise AppError(f"{file.name} ends early ({error}).", "Get the file again.") from error
        unpacked.flush()
        yield from _parquet_rows(SourceFile(Path(unpacked.name), file.name), report)


def _column_paths(schema: "pq.ParquetSchema") -> list[str]:
    return [schema.column(at).path for at in range(len(schema.names))]


def _parquet_rows(file: SourceFile, report: Report) -> Iterator[Row]:
    """Rows of a Parquet file; the content of image files in it (bytes beside a path) is passed over.

    Raises:
        AppError: It is damaged, or has no rows.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(file.path)
        total = table.metadata.num_rows
        if not total:
            raise AppError(f"{file.name} has no rows.", "Choose a file with at least one row.")
        number = 0
        columns = [path for path in _column_paths(table.schema) if not path.endswith(".bytes")]
        for batch in table.iter_batches(batch_size=_REPORT_EVERY, columns=columns):
            for cells in batch.to_pylist():
                number += 1
                yield Row(number, cells)
            report(f"reading {file.name} (rows)", number, total)
    except (pa.ArrowException, OSError) as error:
        raise AppError(
            f"{file.name} is a damaged Parquet file ({str(error).splitlines()[0]}).", "Get the file again."
        ) from error
