"""The log of imports: one row for everything that changed what the store holds, with its report."""

__all__ = ["LoggedImport", "logged_imports", "write_log", "write_note"]

import json
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from backend.services.ingest.report import ImportReport
from backend.store.store import Store

if TYPE_CHECKING:
    import duckdb


class LoggedImport(NamedTuple):
    """One import, as the log keeps it."""

    at: datetime
    """When it was committed, UTC."""
    report: ImportReport


def write_log(cursor: "duckdb.DuckDBPyConnection", report: ImportReport) -> None:
    """Log an import, inside its own transaction; one that changed nothing leaves no row."""
    if report.changed:
        _write(cursor, report)


def write_note(cursor: "duckdb.DuckDBPyConnection", kind: str, source: str, sentence: str) -> None:
    """Log a change that a sentence says whole, inside its own transaction."""
    _write(cursor, ImportReport(kind, source, notes=[sentence]))


def _write(cursor: "duckdb.DuckDBPyConnection", report: ImportReport) -> None:
    cursor.execute(
        "INSERT INTO imports (kind, source, report) VALUES (?, ?, ?)",
        [report.kind, report.source, json.dumps(report.as_json(), ensure_ascii=False)],
    )


def logged_imports(store: Store, *, limit: int = 200) -> list[LoggedImport]:
    """Return the newest imports, newest first."""
    rows = store.rows("SELECT imported_at, report FROM imports ORDER BY imported_at DESC, rowid DESC LIMIT ?", [limit])
    return [LoggedImport(at, ImportReport.from_json(json.loads(report))) for at, report in rows]
