"""A run folder on disk: ``run.json``, ``plan.parquet``, and shards ``answers-00001.parquet`` and on.

Each file is written whole beside its place, forced to disk and then put there, so a kill or a
power cut at any moment leaves every file as it was before or after, never in between. A shard
is never changed again. What is damaged all the same is found by checksums, and named; so is a
file that another program wrote, where a column or a value is missing that this one always writes.
"""

__all__ = [
    "RECORD",
    "AnswerRow",
    "Shards",
    "check_free",
    "read_plan_table",
    "read_record",
    "read_shards",
    "tidy",
    "write_plan",
    "write_record",
    "write_shard",
]

import math
import os
import re
from collections.abc import Collection, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from backend.errors import AppError
from backend.services.runs.lock import LOCK
from backend.services.runs.plan import Plan
from backend.services.runs.record import RunRecord
from backend.store.arrow import arrow_array, arrow_table

if TYPE_CHECKING:
    import pyarrow as pa

RECORD, PLAN = "run.json", "plan.parquet"
"""File names."""
_SHARD = re.compile(r"answers-(\d{5}|[1-9]\d{5})\.parquet(\.damaged)?")
"""Names of shards, up to number `backend.services.runs.record.MOST_SHARDS`."""
_DAMAGED = ".damaged"
"""Ending that a damaged shard gets."""
_PART = ".part"
"""Ending of a file that is being written."""
_LEVEL = 12
"""Of compression: a shard takes milliseconds to write, and seconds to fill."""


class AnswerRow(NamedTuple):
    """What became of one item; the columns of a shard."""

    item_id: str
    """A hash of the prompt, among others; the prompt itself stands in ``plan.parquet`` under it."""
    probe_id: str
    stage: str
    image_sha256: str | None
    """Of the image that the VLM was given; None where it was given none."""
    answer: str
    """Verbatim, but for half a surrogate pair, which no file of text can hold: it becomes U+FFFD."""
    error: str
    n_tokens: int | None
    was_cut: bool
    seconds: float
    probabilities: str | None
    """Of the watched words, as a JSON object; None where the VLM does not tell."""


class Shards(NamedTuple):
    """All shards of a folder, read."""

    answers: "pa.Table"
    """Columns of `AnswerRow`; of an item's rows, the last one alone."""
    lost: tuple[str, ...]
    """Names of shards that are damaged, or gone from among the others."""
    last: int
    """Highest number in use."""


def check_free(folder: Path) -> None:
    """Refuse a folder that holds other people's files; a run that had not begun is no hindrance.

    Raises:
        AppError: There is something else in it.
    """
    own = (RECORD, PLAN, LOCK)
    for entry in sorted(folder.iterdir()):
        if entry.name not in own and not _is_part(entry):
            raise AppError(f"{folder} is no run folder: {entry.name} lies in it.", "Name an empty or a new folder.")


def read_record(folder: Path) -> RunRecord | None:
    """Return what ``run.json`` says; None where there is none.

    Raises:
        AppError: It cannot be read, or is not what this Parallax writes.
    """
    path = folder / RECORD
    try:
        return RunRecord.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise AppError(f"{path} cannot be read ({error.strerror}).", "Check its permissions.") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise AppError(
            f"{path} is damaged, or was written by another Parallax ({place}: {first['msg'].lower()}).",
            "Restore it from a copy, or start the run anew in another folder.",
        ) from error


def write_record(folder: Path, record: RunRecord) -> None:
    """Write ``run.json``."""
    _write(folder / RECORD, record.model_dump_json(indent=2).encode() + b"\n")


def write_plan(folder: Path, plan: Plan) -> None:
    """Write ``plan.parquet``: one row an item, in order, with the exact prompt. It holds no path of this machine."""
    _write_table(
        folder / PLAN,
        arrow_table(
            {
                "item_id": [item.item_id for item in plan.items],
                "probe_id": [item.probe_id for item in plan.items],
                "unit_id": [item.unit_id for item in plan.items],
                "image_id": [item.image_id for item in plan.items],
                "image_name": [item.image_name for item in plan.items],
                "image_sha256": [item.image_sha256 for item in plan.items],
                "prompt": [item.prompt for item in plan.items],
            }
        ),
    )


def read_plan_table(folder: Path) -> "pa.Table":
    """Return ``plan.parquet`` as `write_plan` wrote it.

    Raises:
        AppError: It is absent or damaged, or lacks a column or a value.
    """
    table = _read_table(folder / PLAN)
    if table is None or table.schema != _plan_schema() or _has_holes(table, {"image_sha256"}):
        raise AppError(
            f"{PLAN} of the run folder {folder} is damaged or gone.",
            "Go on with the run (its command and --resume): it writes the plan again and keeps the answers.",
        )
    return table


def read_shards(folder: Path, record: RunRecord) -> Shards:
    """Read all shards; see `Shards` for what is found."""
    import pyarrow as pa

    shards = {int(found[1]): path for path in folder.iterdir() if (found := _SHARD.fullmatch(path.name))}
    tables, lost = [_answer_table(())], []
    for number in sorted({*shards, *range(1, record.n_shards + 1)}):
        path = shards.get(number, folder / _shard_name(number))
        if path.name in record.lost_shards or path.suffix == _DAMAGED:
            continue
        table = _as_now(_read_table(path))
        if table is None or not _is_sound(table):
            lost.append(path.name)
        else:
            tables.append(table)
    rows = pa.concat_tables(tables)
    newest = {item_id: at for at, item_id in enumerate(rows.column("item_id").to_pylist())}
    kept = rows.take(arrow_array(list(newest.values())).cast("int64"))
    return Shards(kept, tuple(lost), max((0, record.n_shards, *shards)))


def _as_now(table: "pa.Table | None") -> "pa.Table | None":
    """Return a shard without the prompt's hash, which earlier builds wrote beside the item's id."""
    if table is not None and "prompt_sha256" in table.column_names:
        return table.drop_columns(["prompt_sha256"])
    return table


def tidy(folder: Path, lost: Sequence[str]) -> None:
    """Remove what a killed process had begun to write; rename damaged shards, so that they are kept and not read.

    Args:
        folder: Locked by the caller.
        lost: As `read_shards` found them.
    """
    for path in folder.iterdir():
        if _is_part(path):
            path.unlink()
        elif path.name in lost:
            path.rename(path.with_name(path.name + _DAMAGED))


def write_shard(folder: Path, number: int, rows: Sequence[AnswerRow]) -> None:
    """Write a shard.

    Raises:
        AppError: It cannot be written; nothing of it is there.
    """
    _write_table(folder / _shard_name(number), _answer_table(rows))


def _shard_name(number: int) -> str:
    return f"answers-{number:05d}.parquet"


def _is_part(path: Path) -> bool:
    return path.name.startswith(".") and path.name.endswith(_PART)


def _plan_schema() -> "pa.Schema":
    import pyarrow as pa

    names = ("item_id", "probe_id", "unit_id", "image_id", "image_name", "image_sha256", "prompt")
    return pa.schema([(name, pa.string()) for name in names])


def _is_sound(table: "pa.Table") -> bool:
    """Return whether a shard holds all that `write_shard` writes, and numbers that can be."""
    if table.schema != _answer_schema() or _has_holes(table, {"image_sha256", "n_tokens", "probabilities"}):
        return False
    seconds, counts = (table.column(name).to_pylist() for name in ("seconds", "n_tokens"))
    return all(0 <= n < math.inf for n in seconds) and all(n is None or n >= 0 for n in counts)


def _has_holes(table: "pa.Table", may_lack: Collection[str]) -> bool:
    return any(table.column(name).null_count for name in table.column_names if name not in may_lack)


def _answer_schema() -> "pa.Schema":
    import pyarrow as pa

    return pa.schema(
        [
            ("item_id", pa.string()),
            ("probe_id", pa.string()),
            ("stage", pa.string()),
            ("image_sha256", pa.string()),
            ("answer", pa.string()),
            ("error", pa.string()),
            ("n_tokens", pa.int64()),
            ("was_cut", pa.bool_()),
            ("seconds", pa.float64()),
            ("probabilities", pa.string()),
        ]
    )


def _answer_table(rows: Sequence[AnswerRow]) -> "pa.Table":
    schema = _answer_schema()
    columns = dict(zip(AnswerRow._fields, zip(*rows, strict=True), strict=True)) if rows else {}
    columns = {name: columns.get(name, ()) for name in schema.names}
    return arrow_table(columns).cast(schema)


def _write_table(path: Path, table: "pa.Table") -> None:
    import pyarrow.parquet as pq

    content = BytesIO()
    pq.write_table(table, content, compression="zstd", compression_level=_LEVEL, write_page_checksum=True)
    _write(path, content.getvalue())


def _read_table(path: Path) -> "pa.Table | None":
    """Return a Parquet file's table; None where it is damaged or gone."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path, page_checksum_verification=True).read()
    except (pa.ArrowException, OSError):
        return None


def _write(path: Path, content: bytes) -> None:
    part = path.with_name(f".{path.name}{_PART}")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _refused(path, error) from error


def _refused(path: Path, error: OSError) -> AppError:
    return AppError(
        f"{path} cannot be written ({error.strerror}).", "Check the disk's space and the folder's permissions."
    )
