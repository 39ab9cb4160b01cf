"""Verifications out of the store, as verification records.

Importing them into an empty store gives the same verifications. What records do not hold is not written: options of
questions, and who judged an answer, which then is the file.
"""

__all__ = ["export_verimap"]

import csv
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.progress import Report, silent
from backend.domain.records import System
from backend.errors import AppError
from backend.services.choosing import find_runs
from backend.services.export import open_text, written_whole
from backend.store.store import Store
from backend.verimap.verification_records import COLUMNS

if TYPE_CHECKING:
    import pyarrow as pa

_RECORDS = """
    SELECT u.source_id AS id, v.suite AS dataset, e.task, v.generator, v.verifier, v.oracle_correct, v.verdict,
           v.turn, nullif(p.question, '') AS question, nullif(p.reference, '') AS reference, v.answer, v.explanation,
           e.images[1] AS image, v.condition, nullif(v.error, '') AS error
    FROM verifications v
    JOIN units u USING (unit_id)
    JOIN examples e USING (unit_id)
    JOIN probes p ON p.unit_id = v.unit_id
    WHERE list_contains($runs, v.run_id)
    ORDER BY v.suite, v.generator, v.condition, v.run_id, v.turn, try_cast(u.source_id AS BIGINT), u.source_id, v.place
"""
"""A row a record; its columns are those of `COLUMNS`. Records that are alike stand in their order."""


class _Format(NamedTuple):
    name: str
    endings: re.Pattern[str]
    write: Callable[["pa.Table", Path], None]


def export_verimap(store: Store, verifier: str, out: Path, *, suite: str | None = None, report: Report = silent) -> int:
    """Write what a verifier said: all its verdicts, on whosever answers, in all turns and conditions.

    The file appears whole or not at all, and takes the place of an older one.

    Args:
        store: The store.
        verifier: A VLM by name, or one run by its id.
        out: JSON lines, CSV (both gzipped where the name ends in ``.gz``) or Parquet, by its ending.
        suite: One data set; all of them if None.
        report: Told of progress; may raise `Cancelled`.

    Returns:
        The number of records.

    Raises:
        AppError: The store holds no verdict of that VLM, or several runs of it over the same answers, which a
            file of records cannot tell apart; the ending is none of the known, or the file cannot be written.
    """
    write = _format(out).write
    runs = [run.run_id for run in find_runs(store, System.VERIMAP, names=[verifier], suite=suite)]
    _refuse_pooling(store, verifier, runs)
    report(f"writing {out.name}", 0, None)
    records = store.table(_RECORDS, {"runs": runs})
    if not records.num_rows:
        known = [row[0] for row in store.rows("SELECT DISTINCT verifier FROM verifications ORDER BY 1")]
        raise AppError(
            f"{verifier} has verified nothing{f' of {suite}' if suite else ''} in this store.",
            f"Verifiers: {', '.join(known) or 'none yet'}.",
        )
    with written_whole(store, out) as part:
        write(records.select(list(COLUMNS)), part)
    report(f"writing {out.name}", records.num_rows, records.num_rows)
    return int(records.num_rows)


def _refuse_pooling(store: Store, verifier: str, runs: Sequence[str]) -> None:
    rows = store.rows(
        "SELECT list(DISTINCT run_id ORDER BY run_id) FROM verifications WHERE list_contains($runs, run_id) "
        "GROUP BY suite, generator, verifier, condition, turn HAVING count(DISTINCT run_id) > 1 ORDER BY 1 LIMIT 1",
        {"runs": list(runs)},
    )
    if rows:
        raise AppError(
            f"{verifier} has several runs over the same answers, which a file of records cannot tell apart.",
            f"Name one by its id: {', '.join(rows[0][0])}.",
        )


def _format(out: Path) -> _Format:
    found = next((one for one in _FORMATS if one.endings.search(out.name)), None)
    if found is None:
        raise AppError(
            f"{out.name} does not say which format is wanted.",
            "End the file's name in .jsonl, .csv (both also with .gz) or .parquet.",
        )
    return found


def _write_json_lines(records: "pa.Table", path: Path) -> None:
    with open_text(path) as file:
        for batch in records.to_batches():
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())


def _write_csv(records: "pa.Table", path: Path) -> None:
    with open_text(path) as file:
        writer = csv.writer(file)
        writer.writerow(records.column_names)
        for batch in records.to_batches():
            writer.writerows(map(_cells, batch.to_pylist()))


def _cells(row: dict[str, object]) -> Sequence[object]:
    """Return a record as cells; what is not known is an empty one, and truth is written as JSON writes it."""
    return [str(value).lower() if isinstance(value, bool) else value for value in row.values()]


def _write_parquet(records: "pa.Table", path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(records, path)


_FORMATS = (
    _Format("JSON lines", re.compile(r"\.(jsonl|ndjson|json)(\.gz)?$", re.IGNORECASE), _write_json_lines),
    _Format("CSV", re.compile(r"\.csv(\.gz)?$", re.IGNORECASE), _write_csv),
    _Format("Parquet", re.compile(r"\.parquet$", re.IGNORECASE), _write_parquet),
)
