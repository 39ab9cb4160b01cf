"""Rows of a file as objects, in whatever layout people share them.

JSON lines, one JSON list, a JSON object that holds one or that holds rows by their id, CSV or Parquet, plain
or gzipped. The file is held whole, unlike those that `files.read_rows` streams.
"""

__all__ = ["Record", "load_objects"]

import gzip
import json
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from backend.domain.progress import Report
from backend.errors import AppError, BadLine
from backend.services.ingest.files import SourceFile, read_rows


class Record(NamedTuple):
    """A row as it stands in the file."""

    number: int
    """From 1."""
    content: Mapping[str, Any]


def load_objects(
    file: SourceFile, report: Report, is_row: Callable[[Mapping[str, Any]], bool]
) -> list[Record | BadLine]:
    """Return a file's rows as they are.

    A file of one object that is itself no row is the one list of objects in it; of several, the one whose
    objects are rows. One that holds nothing but rows, each under a name, is these.

    Args:
        file: The file.
        report: Told of progress.
        is_row: Whether an object is a row.

    Raises:
        AppError: The file cannot be read at all.
    """
    whole = _whole_json(file)
    if whole is not None:
        return _records_of(whole, file, is_row)
    records: list[Record | BadLine] = []
    for row in read_rows(file, report):
        if isinstance(row, BadLine):
            records.append(row)
            continue
        if isinstance(row.content, dict):
            records.append(Record(row.number, row.content))
            continue
        try:
            content = json.loads(row.content)
        except (ValueError, RecursionError) as error:
            records.append(BadLine(row.number, f"no JSON object ({error})", file.name))
            continue
        if isinstance(content, dict):
            records.append(Record(row.number, content))
        else:
            records.append(BadLine(row.number, "no JSON object", file.name))
    only = records[0] if len(records) == 1 else None
    if isinstance(only, Record):
        return _records_of(only.content, file, is_row)
    return records


def _whole_json(file: SourceFile) -> Any:
    """Return the content of a file that is one JSON value over several lines, or a list; None for any other file."""
    if not file.path.is_file():
        return None
    try:
        raw = file.path.read_bytes()
        content = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
    except (OSError, EOFError, zlib.error):
        return None  # `read_rows` tells what is wrong with it
    start = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith((b"[", b"{")):
        return None
    if start.startswith(b"{") and _is_json(content.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0]):
        return None
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        if start.startswith(b"{") and not re.match(rb"\{\s*\n", start):
            return None  # JSON lines, the first of them broken
        raise AppError(f"{file.name} is no whole JSON file ({error}).", "Get the file again.") from error


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _records_of(value: Any, file: SourceFile, is_row: Callable[[Mapping[str, Any]], bool]) -> list[Record | BadLine]:
    """Return the rows of a JSON list, or of those that an object holds."""
    if isinstance(value, dict):
        if is_row(value):
            return [Record(1, value)]
        lists = [held for held in value.values() if isinstance(held, list) and held and isinstance(held[0], dict)]
        if len(lists) > 1:
            lists = [held for held in lists if is_row(held[0])]
        if not lists and value and all(isinstance(held, dict) and is_row(held) for held in value.values()):
            lists = [list(value.values())]
        if len(lists) != 1:
            return [Record(1, value)]
        [value] = lists
    return [
        Record(at, row) if isinstance(row, dict) else BadLine(at, "no JSON object", file.name)
        for at, row in enumerate(value, start=1)
    ]
