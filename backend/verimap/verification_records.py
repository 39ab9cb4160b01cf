"""Verification records: one verdict of one verifier on one answer, as a file of results holds them.

The gate for JSON lines, CSV and Parquet alike. A record needs `id, dataset, task, generator, verifier,
oracle_correct, verdict`; null is a verdict that was not given, and an answer that no oracle judged. Records of the
controls say so in `condition`, and a call that failed in `error`.
"""

__all__ = ["COLUMNS", "NEEDED", "VerificationRecord", "parse_record"]

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from backend.verimap.conditions import Condition
from backend.verimap.verifier import Verdict
from backend.verimap.vocabulary import Task, task_of_name


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationRecord:
    """One verification (sections 3.1 and 4.6)."""

    source_id: str
    dataset: str
    """As the file names it; any data set may be measured."""
    task: Task | None
    """None where the file does not label it."""
    generator: str
    """VLM whose answer was verified."""
    verifier: str
    """VLM that verified it."""
    oracle_correct: bool | None
    """None where no oracle judged the answer."""
    verdict: Verdict | None
    """None for a reply without a verdict."""
    turn: int = 0
    """Turn of the feedback loop; 0 is the first answer."""
    question: str | None = None
    reference: str | None = None
    answer: str | None = None
    """What the generator said in that turn."""
    explanation: str | None = None
    """What the verifier said besides."""
    image: str | None = None
    condition: Condition = Condition.PLAIN
    """What the verifier was shown."""
    error: str | None = None
    """Why the call failed; None where it went well."""

    @property
    def is_self(self) -> bool:
        """Whether the verifier judged its own answer."""
        return self.generator == self.verifier


def parse_record(content: bytes | Mapping[str, Any]) -> VerificationRecord:
    """Check one row at the gate.

    Column names and verdicts are taken in any case. Columns besides `COLUMNS` are let through: they
    are the researcher's own. Empty cells and NaN are null; where no text is asked for, so are the words that
    tables write for null. Half a surrogate pair, which no store can hold, becomes U+FFFD.

    Args:
        content: A line of JSON, or a table's row by column.

    Raises:
        ValueError: It is no record; the message says why, in words for the file's owner.
    """
    if isinstance(content, bytes):
        try:
            content = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"not JSON ({error})") from error
        if not isinstance(content, dict):
            raise ValueError("not a JSON object")
    names = [str(name).strip().lower() for name in content]
    if repeated := next((name for name in COLUMNS if names.count(name) > 1), None):
        raise ValueError(f"has {repeated} twice")
    try:
        row = _Row.model_validate(dict(zip(names, content.values(), strict=True)))
    except ValidationError as error:
        raise ValueError(_why(error)) from error
    return VerificationRecord(
        source_id=row.id,
        dataset=row.dataset,
        task=row.task,
        generator=row.generator,
        verifier=row.verifier,
        oracle_correct=row.oracle_correct,
        verdict=row.verdict,
        turn=row.turn,
        question=row.question,
        reference=row.reference,
        answer=row.answer,
        explanation=row.explanation,
        image=row.image,
        condition=row.condition,
        error=row.error,
    )


_HALF_PAIR = re.compile("[\ud800-\udfff]")
_NULLS = frozenset({"null", "none", "nan", "na", "n/a"})
"""Words that tables write for null, in lower case."""


def _cell(value: object) -> object:
    """Empty cells and NaN are null; whole numbers lose the ``.0`` that a table with gaps puts behind them."""
    if isinstance(value, float):
        return None if math.isnan(value) else int(value) if value.is_integer() else value
    if isinstance(value, str):
        return _HALF_PAIR.sub("\ufffd", value).strip() or None
    return value


def _no_text(value: object) -> object:
    """As `_cell`, of a column that asks for no text: there a word for null is null."""
    value = _cell(value)
    return None if isinstance(value, str) and value.lower() in _NULLS else value


def _task(value: object) -> object:
    value = _no_text(value)
    if value is None:
        return None
    found = task_of_name(str(value))
    if found is None:
        raise ValueError(f"{value!r} is no task; the tasks are {', '.join(Task)}")
    return found


def _verdict(value: object) -> object:
    value = _no_text(value)
    if value is None:
        return None
    said = str(value).upper()
    if said not in tuple(Verdict):
        raise ValueError(f"{value!r} is no verdict; write {', '.join(Verdict)}, or null for none")
    return Verdict(said)


def _condition(value: object) -> object:
    value = _no_text(value)
    if value is None:
        return Condition.PLAIN
    name = str(value).lower().replace("-", "_").replace(" ", "_")
    if name not in tuple(Condition):
        raise ValueError(f"{value!r} is no condition; write {', '.join(Condition)}, or null for plain")
    return Condition(name)


def _turn(value: object) -> object:
    value = _no_text(value)
    if isinstance(value, bool):
        raise ValueError("a turn is a whole number from 0")
    return value or 0


_LAST_TURN = 999
"""The largest that a link can ask for; no loop is as long."""

_Text = Annotated[str, BeforeValidator(_cell)]
_MaybeText = Annotated[str | None, BeforeValidator(_cell)]


class _Row(BaseModel):
    model_config = ConfigDict(extra="allow", coerce_numbers_to_str=True)

    id: _Text
    dataset: _Text
    task: Annotated[Task | None, BeforeValidator(_task)]
    generator: _Text
    verifier: _Text
    oracle_correct: Annotated[bool | None, BeforeValidator(_no_text)]
    verdict: Annotated[Verdict | None, BeforeValidator(_verdict)]
    turn: Annotated[int, BeforeValidator(_turn), Field(ge=0, le=_LAST_TURN)] = 0
    question: _MaybeText = None
    reference: _MaybeText = None
    answer: _MaybeText = None
    explanation: _MaybeText = None
    image: _MaybeText = None
    condition: Annotated[Condition, BeforeValidator(_condition)] = Condition.PLAIN
    error: _MaybeText = None


COLUMNS = tuple(_Row.model_fields)
"""Columns of a record, the needed ones first."""

NEEDED = tuple(name for name, field in _Row.model_fields.items() if field.is_required())
"""Columns that every record has."""


def _why(error: ValidationError) -> str:
    """Return the first thing wrong with a row, in words."""
    first = error.errors(include_url=False, include_input=False)[0]
    column = str(first["loc"][0])
    if first["type"] == "missing":
        return f"lacks {column}"
    if first["type"] == "string_type":
        return f"{column} is empty or no text"
    if first["type"].startswith("bool"):
        return f"{column} is neither true nor false"
    return f"{column}: {first['msg'].removeprefix('Value error, ')}"
