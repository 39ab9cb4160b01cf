"""Rows of somebody's SurgCheck file: release rows with their references, prediction rows, in any of their layouts.

JSON lines, one JSON list, a JSON object that holds one, CSV or Parquet, plain or gzipped. A row that
cannot be used is a `BadLine`.
"""

__all__ = ["FileRows", "PairRow", "load_records", "read_pair_rows"]

import gzip
import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from backend.domain.progress import Report
from backend.errors import AppError, BadLine
from backend.services.ingest.files import SourceFile, read_rows
from backend.services.ingest.judgements import Judged
from backend.services.ingest.surgcheck_columns import Columns, find_columns
from backend.services.ingest.surgcheck_names import FileName, Variant, variant_of_word
from backend.surgcheck.answer_text import answer_text
from backend.surgcheck.question_reading import cue_of_question, frame_of_picture, plain_question, task_of_question
from backend.surgcheck.tasks import Cue, Task

JUDGE_RANGE = range(1, 6)


class PairRow(NamedTuple):
    """One row: a question about a picture, and what was answered where the file says it."""

    number: int
    file: str
    variant: Variant | None
    """None where neither the row nor its file's name says it."""
    picture: str
    """Name of the file that was shown, without folders."""
    frame: str
    """Name of the frame's file."""
    question: str
    """Without the image's mark and the release's prefix."""
    reference: str | None
    """Verbatim; None where the file holds none."""
    task: Task
    cue: Cue
    answer: str | None = None
    """As the VLM returned it; None where there is none."""
    extracted: str | None = None
    """The text that the file takes for the answer, where that is not what `answer_text` finds."""
    error: str = ""
    judged: Judged | None = None
    model: str | None = None
    setting: str | None = None

    @property
    def is_chat(self) -> bool:
        """Whether the answer stands at the end of a whole chat."""
        return self.answer is not None and answer_text(self.answer) != self.answer.strip()


class FileRows(NamedTuple):
    """What a file holds."""

    file: str
    rows: list[PairRow | BadLine]
    """In order, bad ones in their places."""
    holds_answers: bool
    """Whether it has a column of predictions."""


class _Record(NamedTuple):
    number: int
    content: Mapping[str, Any]


def load_records(file: SourceFile, report: Report) -> list[_Record | BadLine]:
    """Return a file's rows as they are; a COCO file is one row.

    Raises:
        AppError: The file cannot be read at all.
    """
    whole = _whole_json(file)
    if whole is not None:
        return _records_of(whole, file)
    records: list[_Record | BadLine] = []
    for row in read_rows(file, report):
        if isinstance(row, BadLine):
            records.append(row)
            continue
        if isinstance(row.content, dict):
            records.append(_Record(row.number, row.content))
            continue
        try:
            content = json.loads(row.content)
        except (ValueError, RecursionError) as error:
            records.append(BadLine(row.number, f"no JSON object ({error})", file.name))
            continue
        if isinstance(content, dict):
            records.append(_Record(row.number, content))
        else:
            records.append(BadLine(row.number, "no JSON object", file.name))
    only = records[0] if len(records) == 1 else None
    if isinstance(only, _Record):
        return _records_of(only.content, file)
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


def _records_of(value: Any, file: SourceFile) -> list[_Record | BadLine]:
    """Return the rows of a JSON list, or of the one list of objects that an object holds."""
    if isinstance(value, dict):
        if {"image", "frame"} & find_columns([value], {}, file.name).keys():
            return [_Record(1, value)]
        lists = [held for held in value.values() if isinstance(held, list) and held and isinstance(held[0], dict)]
        if len(lists) != 1:
            return [_Record(1, value)]  # of a COCO file, too
        [value] = lists
    return [
        _Record(at, row) if isinstance(row, dict) else BadLine(at, "no JSON object", file.name)
        for at, row in enumerate(value, start=1)
    ]


def read_pair_rows(
    records: Sequence[_Record | BadLine],
    file: str,
    name: FileName,
    named: Mapping[str, str],
    variant: Variant | None = None,
) -> FileRows:
    """Return a file's rows, checked.

    Args:
        records: From `load_records`.
        file: What to call the file.
        name: What its name says; counts where the rows are silent.
        named: Columns that the user named, by field.
        variant: What the user says that its rows are; None where he does not.

    Raises:
        AppError: The rows lack a picture or a question.
    """
    contents = [record.content for record in records if isinstance(record, _Record)]
    columns = find_columns(contents, named, file)
    is_release = "conversations" in columns and "question" not in columns
    lacking = [
        field for field, there in (("image", {"image", "frame"} & set(columns)), ("question", is_release)) if not there
    ]
    if "question" in columns and "question" in lacking:
        lacking.remove("question")
    if lacking and contents:
        names = ", ".join(dict.fromkeys(key for content in contents[:50] for key in content))
        raise AppError(
            f"{file} has no column for: {', '.join(lacking)}. It has {names}.",
            f"Name it, for example with --map {lacking[0]}=COLUMN. data/README.md lists the names that are known.",
        )
    reader = _Reader(file, name, columns, variant)
    rows = [record if isinstance(record, BadLine) else reader.row(record) for record in records]
    holds_answers = "pred" in columns or "extracted" in columns
    return FileRows(file, rows, holds_answers)


class _Reader:
    """Reads the rows of one file."""

    def __init__(self, file: str, name: FileName, columns: Columns, variant: Variant | None) -> None:
        self._file = file
        self._name = name
        self._columns = columns
        self._variant = variant

    def row(self, record: _Record) -> PairRow | BadLine:
        """Return a row, or why it cannot be used."""
        try:
            return self._row(record)
        except ValueError as error:
            return BadLine(record.number, str(error), self._file)

    def _row(self, record: _Record) -> PairRow:
        question, reference = self._asked(record.content)
        picture = _base_name(self._text(record, "image") or self._text(record, "frame") or "")
        if not picture:
            raise ValueError("names no image")
        question = plain_question(question)
        if not question:
            raise ValueError("holds no question")
        answer, extracted = self._answer(record)
        return PairRow(
            number=record.number,
            file=self._file,
            variant=self._variant_of(record),
            picture=picture,
            frame=frame_of_picture(_base_name(self._text(record, "frame") or picture)),
            question=question,
            reference=reference,
            task=self._task(record, question),
            cue=self._cue(record, question),
            answer=answer,
            extracted=extracted,
            error=self._text(record, "error") or "",
            judged=self._judged(record),
            model=self._text(record, "model"),
            setting=self._text(record, "setting"),
        )

    def _value(self, record: _Record, field: str) -> Any:
        column = self._columns.get(field)
        return None if column is None else record.content.get(column)

    def _text(self, record: _Record, field: str) -> str | None:
        """Return what a row says; None where it says nothing, or an empty text."""
        column = self._columns.get(field)
        if column is None:
            return None
        value = record.content.get(column)
        return (value if isinstance(value, str) else _as_text(value)) or None

    def _asked(self, content: Mapping[str, Any]) -> tuple[str, str | None]:
        if "question" in self._columns:
            reference = content.get(self._columns["gt"]) if "gt" in self._columns else None
            return _as_text(content.get(self._columns["question"])) or "", _as_text(reference)
        turns = content.get(self._columns["conversations"])
        if isinstance(turns, str):
            turns = _parsed(turns)
        if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
            raise ValueError("holds no conversation")
        said = {str(turn.get("from", turn.get("role"))): str(turn.get("value", turn.get("content"))) for turn in turns}
        asked, told = said.get("human", said.get("user")), said.get("gpt", said.get("assistant"))
        if len(turns) != 2 or asked is None or told is None:
            raise ValueError("its conversation is not one question and one answer")
        return asked, told

    def _answer(self, record: _Record) -> tuple[str | None, str | None]:
        """Return what the VLM returned, and the answer in it where the rule would take another."""
        raw, extracted = _as_text(self._value(record, "pred")), _as_text(self._value(record, "extracted"))
        if raw is None:
            raw = extracted
        differs = raw is not None and extracted is not None and extracted.strip() != answer_text(raw)
        return raw, extracted if differs else None

    def _variant_of(self, record: _Record) -> Variant | None:
        if self._variant is not None:
            return self._variant
        word = self._text(record, "variant")
        if word is None:
            return self._name.variant
        variant = variant_of_word(word)
        if variant is None:
            raise ValueError(f"its variant {word!r} is not known (known: {', '.join(Variant)})")
        return variant

    def _task(self, record: _Record, question: str) -> Task:
        word = self._text(record, "task")
        task = task_of_question(question) if word is None else _TASK_WORDS.get(_plain(word))
        if task is None:
            what = "its task" if word is None else f"its task {word!r}"
            raise ValueError(f"{what} is not known (known: {', '.join(Task)})")
        return task

    def _cue(self, record: _Record, question: str) -> Cue:
        word = self._text(record, "cue")
        if word is not None:
            if _plain(word) not in _CUE_WORDS:
                raise ValueError(f"its cue {word!r} is not known (known: {', '.join(cue.tag for cue in Cue)})")
            return _CUE_WORDS[_plain(word)]
        return self._name.cue or cue_of_question(question)

    def _judged(self, record: _Record) -> Judged | None:
        held = self._value(record, "judge")
        if isinstance(held, str):
            held = _parsed(held)
        if isinstance(held, dict):
            score, reason, judge = held.get("score"), held.get("reason"), held.get("model") or held.get("judge")
        elif "judge_score" in self._columns:
            score, reason = self._value(record, "judge_score"), self._value(record, "judge_reason")
            judge = None
        else:
            return None
        told = _as_text(score)
        number = int(told) if told is not None and told.isdigit() and int(told) in JUDGE_RANGE else None
        error = "" if number is not None else f"the file holds no score from 1 to 5 ({told or 'none'})"
        return Judged(str(judge or "imported"), number, _as_text(reason) or "", error)


def _as_text(value: Any) -> str | None:
    """Return a cell as text; None for null and NaN. Whole numbers lose the ``.0`` that tables put behind them."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else str(int(value)) if value.is_integer() else str(value)
    return str(value)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _base_name(path: str) -> str:
    """Return the last part of a path, written as on any system."""
    return path.strip().replace("\\", "/").rstrip("/").rpartition("/")[2]


@lru_cache(maxsize=1_024)
def _plain(word: str) -> str:
    return re.sub(r"[^a-z]+", "", word.casefold())


_TASK_WORDS = {_plain(task): task for task in Task} | {"count": Task.INSTRUMENT_COUNT, "hop": Task.ANATOMY_HOP}
_CUE_WORDS = (
    {_plain(cue): cue for cue in Cue}
    | {_plain(cue.tag): cue for cue in Cue}
    | {"bbox": Cue.BOX, "bboxcue": Cue.BOX, "word": Cue.PERIPHRASIS, "periphrasiscue": Cue.PERIPHRASIS, "no": Cue.NONE}
)
