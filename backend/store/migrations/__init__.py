"""The store's shape, as numbered SQL files that are only ever appended.

Each is applied once, recorded in the table ``migrations``, and followed by a checkpoint. A
store written by a newer Parallax is refused, never touched.
"""

__all__ = ["Migration", "applied_number", "known_migrations", "migrate"]

from pathlib import Path
from typing import NamedTuple

import duckdb

from backend.errors import AppError

FOLDER = Path(__file__).parent


class Migration(NamedTuple):
    """One step from an older shape to the next."""

    number: int
    name: str
    sql: str


def known_migrations() -> tuple[Migration, ...]:
    """Return all migrations this Parallax knows, oldest first."""
    files = sorted(FOLDER.glob("[0-9]*.sql"))
    return tuple(Migration(int(f.stem.split("_")[0]), f.stem, f.read_text("utf-8")) for f in files)


def applied_number(connection: duckdb.DuckDBPyConnection) -> int | None:
    """Return the number of the newest applied migration; None where this is no Parallax store."""
    tables = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    if not tables:
        return 0
    if not {"migrations", "suites", "runs"} <= tables:
        return None
    row = connection.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()
    return int(row[0]) if row else 0


def migrate(connection: duckdb.DuckDBPyConnection, file: Path) -> None:
    """Bring an open store to the newest shape.

    Raises:
        AppError: The file belongs to another program, or to a newer Parallax. It is left as it is.
    """
    number = applied_number(connection)
    if number is None:
        raise AppError(
            f"{file} is a DuckDB database, but no Parallax store.",
            "Name another file (--store on the command line, PARALLAX_STORE for the app); this one was left as it is.",
        )
    migrations = known_migrations()
    newest = migrations[-1].number
    if number > newest:
        raise AppError(
            f"{file} was written by a newer Parallax (store version {number}, this one knows {newest}).",
            "Update Parallax, or name another file (--store on the command line, PARALLAX_STORE for the app).",
        )
    for migration in migrations:
        if migration.number > number:
            _apply(connection, migration)


def _apply(connection: duckdb.DuckDBPyConnection, migration: Migration) -> None:
    connection.execute("BEGIN")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS migrations ("
        "number INTEGER NOT NULL, name TEXT NOT NULL, applied_at TIMESTAMP NOT NULL DEFAULT current_timestamp)"
    )
    connection.execute(migration.sql)
    connection.execute("INSERT INTO migrations (number, name) VALUES (?, ?)", [migration.number, migration.name])
    connection.execute("COMMIT")
    connection.execute("CHECKPOINT")
