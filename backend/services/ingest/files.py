"""Rows of a user's file, one after another, whatever its format.

JSON lines, CSV and Parquet, plain or gzipped, told apart by their first bytes and their
name. The file is streamed, never held whole. A row that cannot be read is a `BadLine` with
its number; the rows around it are still delivered. What is no data file at all (a folder, a
binary, an empty file) is one error that says so.
"""

__all__ = ["Row", "SourceFile", "read_rows", "stream_lines", "suite_name"]

import csv
import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from backend.domain.progress import Report
from backend.errors import AppError, BadLine

_SUFFIXES = re.compile(r"(\.(jsonl|ndjson|json|csv|parquet|txt|gz))+$", re.IGNORECASE)
_REPORT_EVERY = 5_000
_MAX_FIELD = 1 << 24


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
    """Return a suite's default name: no extensions, no leading ``endoca_``."""
    return _SUFFIXES.sub("", file.name).removeprefix("endoca_") or "suite"


def read_rows(file: SourceFile, report: Report) -> Iterator[Row | BadLine]:
    """Stream a file's rows.

    Args:
        file: JSON lines, CSV with a header, or Parquet; text may be gzipped.
        report: Told after every few thousand rows; its counts are bytes of the file.

    Yields:
        A `Row` for each readable row, a `BadLine` for each other one. A gzip stream that
        ends early is a bad line after the rows that came out of it. Blank lines are passed over.

    Raises:
        AppError: The path is absent or a folder, or the file is empty or of no known kind.
    """
    head = _head(file)
    if head.startswith(b"PAR1"):
        yield from _parquet_rows(file, report)
        return
    total = file.path.stat().st_size
    with file.path.open("rb") as raw:
        stream = _unzipped(raw)
        start = _peek(stream, file)
        if not start:
            raise AppError(f"{file.name} is empty.", "Choose a file with at least one line.")
        rows = _csv_rows if _is_csv(file, start) else _json_lines
        for seen, row in enumerate(rows(cast(IO[bytes], stream), file), start=1):
            yield row
            if seen % _REPORT_EVERY == 0:
                report(f"reading {file.name}", raw.tell(), total)
    report(f"reading {file.name}", total, total)


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
    _peek(stream, file)
    yield from _lines(cast(IO[bytes], stream))


def _head(file: SourceFile) -> bytes:
    if file.path.is_dir():
        raise AppError(f"{file.name} is a folder.", "Name the file inside it that holds the lines.")
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
    """Return the first bytes without taking them; refuse what is no text."""
    try:
        start = stream.peek(4096)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise AppError(
            f"{file.name} looks like gzip, but cannot be unpacked ({error}).", "Get the file again."
        ) from error
    _refuse_binary(start, file)
    return start


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
    """Rows of a CSV file with a header, each cell as it stands in the file."""
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
    reader = csv.DictReader(text_lines(), restkey="", strict=True)
    last_line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            yield BadLine(reader.line_num, f"not readable as CSV ({error})", file.name)
            break
        first_line, last_line = last_line + 1, reader.line_num
        if any(first_line <= bad.number <= last_line for bad in broken):
            continue
        if "" in cells or None in cells.values():
            yield BadLine(last_line, f"does not have the header's {len(reader.fieldnames or ())} columns", file.name)
            continue
        yield Row(last_line, dict(cells))
    yield from broken


def _parquet_rows(file: SourceFile, report: Report) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(file.path)
        total = table.metadata.num_rows
        if not total:
            raise AppError(f"{file.name} has no rows.", "Choose a file with at least one row.")
        number = 0
        for batch in table.iter_batches(batch_size=_REPORT_EVERY):
            for cells in batch.to_pylist():
                number += 1
                yield Row(number, cells)
            report(f"reading {file.name}", number, total)
    except (pa.ArrowException, OSError) as error:
        raise AppError(
            f"{file.name} is a damaged Parquet file ({str(error).splitlines()[0]}).", "Get the file again."
        ) from error
