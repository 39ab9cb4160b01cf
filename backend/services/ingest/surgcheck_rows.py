"""Rows of somebody's SurgCheck file: release rows with their references, prediction rows, in any of their layouts.

JSON, CSV or Parquet in the layouts that `load_objects` takes. A row that cannot be used is a `BadLine`.
"""

__all__ = ["FileRows", "PairRow", "Record", "load_records", "read_pair_rows"]

import ast
import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from backend.domain.progress import Report
from backend.errors import AppError, BadLine
from backend.services.ingest.files import SourceFile
from backend.services.ingest.judgements import Judged
from backend.services.ingest.objects import Record, load_objects
from backend.services.ingest.surgcheck_columns import Columns, find_columns
from backend.services.ingest.surgcheck_names import FileName, Variant, variant_of_word
from backend.surgcheck.answer_text import answer_text
from backend.surgcheck.question_reading import cue_of_question, frame_of_picture, plain_question, task_of_question
from backend.surgcheck.tasks import Cue, Task

JUDGE_SCORES = {str(score): score for score in range(1, 6)}

_NAMED, _SHOWN = 30, 40
"""So many columns are named, and so many letters of what stands in the place of a score are shown, at most."""


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


def load_records(file: SourceFile, report: Report) -> list[Record | BadLine]:
    """Return a file's rows as they are; a COCO file is one row.

    Raises:
        AppError: The file cannot be read at all.
    """

    def is_row(content: Mapping[str, Any]) -> bool:
        fields = find_columns([content], {}, file.name).keys()
        return bool({"image", "frame"} & fields and {"question", "conversations"} & fields)

    return load_objects(file, report, is_row)


def read_pair_rows(
    records: Sequence[Record | BadLine],
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
    contents = [record.content for record in records if isinstance(record, Record)]
    columns = find_columns(contents, named, file)
    is_release = "conversations" in columns and "question" not in columns
    lacking = [
        field for field, there in (("image", {"image", "frame"} & set(columns)), ("question", is_release)) if not there
    ]
    if "question" in columns and "question" in lacking:
        lacking.remove("question")
    if lacking and contents:
        names = list(dict.fromkeys(key for content in contents[:50] for key in content))
        further = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        raise AppError(
            f"{file} has no column for: {', '.join(lacking)}. It has {', '.join(names[:_NAMED])}{further}.",
            f"Name it, for example with --map {lacking[0]}=COLUMN (on the Data page: in the form for answers, under "
            "Columns). data/README.md lists the names that are known.",
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

    def row(self, record: Record) -> PairRow | BadLine:
        """Return a row, or why it cannot be used."""
        try:
            return self._row(record)
        except ValueError as error:
            return BadLine(record.number, str(error), self._file)

    def _row(self, record: Record) -> PairRow:
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

    def _value(self, record: Record, field: str) -> Any:
        column = self._columns.get(field)
        return None if column is None else record.content.get(column)

    def _text(self, record: Record, field: str) -> str | None:
        """Return what a row says; None where it says nothing, or an empty text."""
        column = self._columns.get(field)
        return None if column is None else _as_text(record.content.get(column)) or None

    def _asked(self, content: Mapping[str, Any]) -> tuple[str, str | None]:
        if "question" in self._columns:
            reference = content.get(self._columns["gt"]) if "gt" in self._columns else None
            return _as_text(content.get(self._columns["question"])) or "", _as_text(reference)
        turns = content.get(self._columns["conversations"])
        if isinstance(turns, str):
            turns = _parsed(turns.strip())
        if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
            raise ValueError("holds no conversation")
        said = {
            str(turn.get("from", turn.get("role"))): _as_text(turn.get("value", turn.get("content"))) for turn in turns
        }
        asked, told = said.get("human", said.get("user")), said.get("gpt", said.get("assistant"))
        if len(turns) != 2 or asked is None or told is None:
            raise ValueError("its conversation is not one question and one answer")
        return asked, told

    def _answer(self, record: Record) -> tuple[str | None, str | None]:
        """Return what the VLM returned, and the answer in it where the rule would take another."""
        raw, extracted = _as_text(self._value(record, "pred")), _as_text(self._value(record, "extracted"))
        if raw is None:
            raw = extracted
        differs = raw is not None and extracted is not None and extracted.strip() != answer_text(raw)
        return raw, extracted if differs else None

    def _variant_of(self, record: Record) -> Variant | None:
        if self._variant is not None:
            return self._variant
        word = self._text(record, "variant")
        if word is None:
            return self._name.variant
        variant = variant_of_word(word)
        if variant is None:
            raise ValueError(f"its variant {word!r} is not known (known: {', '.join(Variant)})")
        return variant

    def _task(self, record: Record, question: str) -> Task:
        word = self._text(record, "task")
        task = task_of_question(question) if word is None else _TASK_WORDS.get(_plain(word))
        if task is None:
            what = "its task" if word is None else f"its task {word!r}"
            raise ValueError(f"{what} is not known (known: {', '.join(Task)})")
        return task

    def _cue(self, record: Record, question: str) -> Cue:
        word = self._text(record, "cue")
        if word is not None:
            if _plain(word) not in _CUE_WORDS:
                raise ValueError(f"its cue {word!r} is not known (known: {', '.join(cue.tag for cue in Cue)})")
            return _CUE_WORDS[_plain(word)]
        return self._name.cue or cue_of_question(question)

    def _judged(self, record: Record) -> Judged | None:
        """Return what a judge said; None where the row holds no judgement.

        The judge's column holds an object with score and reason, as JSON or as Python writes it into a table,
        or the score alone. Where scores have a column of their own it is the judge's name.
        """
        held = self._value(record, "judge")
        if isinstance(held, str):
            held = _parsed(held.strip()) or held
        if isinstance(held, dict):
            score, reason, judge = held.get("score"), held.get("reason"), held.get("model") or held.get("judge")
        else:
            score, reason, judge = held, self._value(record, "judge_reason"), None
            if "judge_score" in self._columns:
                score, judge = self._value(record, "judge_score"), held
            elif not _as_text(held):
                return None
        told = (_as_text(score) or "").strip()
        number = JUDGE_SCORES.get(told)
        error = "" if number is not None else f"the file holds no score from 1 to 5 ({told[:_SHOWN] or 'none'})"
        return Judged(_as_text(judge) or "imported", number, _as_text(reason) or "", error)


def _as_text(value: Any) -> str | None:
    """Return a cell as text; None for null and NaN. Whole numbers lose the ``.0`` that tables put behind them.

    Half a surrogate pair, which no store can hold, becomes U+FFFD.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, float):
        return None if math.isnan(value) else str(int(value)) if value.is_integer() else str(value)
    return str(value)


def _parsed(text: str) -> Any:
    """Return a cell's list or object, as JSON or as Python writes it; None where it is neither."""
    if not text.startswith(("{", "[")):
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
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
