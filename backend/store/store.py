"""The store: one DuckDB file, one owner process, a cursor a read, one transaction a write.

A connection shared by threads hands one thread's rows to another, so every read opens its own
cursor. Writes take a lock and commit whole or not at all. A file that is locked, foreign,
newer or damaged is refused with words that say what to do; nothing is overwritten unasked.
Times are UTC.
"""

__all__ = ["Store", "insert"]

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from backend.errors import AppError
from backend.store.migrations import migrate

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Parameters = Sequence[object] | Mapping[str, object]

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "enable_external_access": False,
}
"""Nothing is fetched from outside, SQL reads no other file, and no Python variable becomes a table."""

_MAGIC = b"DUCK"
_MAGIC_OFFSET = 8


class Store:
    """An open store. Use `Store.open` or `Store.create`; close it, or use it as a context manager."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        self._connection = connection
        self._writing = threading.Lock()
        self.path = path
        self.data_version = 0
        """Grows with every committed write; caches key on it."""

    @classmethod
    def open(cls, path: Path) -> "Store":
        """Open an existing store and bring it to the newest shape.

        Raises:
            AppError: The file is absent, locked by another process, no store, newer, or damaged.
        """
        if not path.exists():
            raise AppError(f"There is no store at {path}.", "Make one with: python -m backend init")
        _check_header(path)
        return cls._connect(path)

    @classmethod
    def create(cls, path: Path) -> "Store":
        """Open the store at ``path``, making an empty one where there is none.

        Raises:
            AppError: As for `open`; or the folder cannot be made.
        """
        if path.exists():
            return cls.open(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise AppError(f"The folder {path.parent} cannot be made ({error.strerror}).", "Name another.") from error
        return cls._connect(path)

    @classmethod
    def _connect(cls, path: Path) -> "Store":
        try:
            connection = duckdb.connect(str(path), config=CONFIG)
        except duckdb.Error as error:
            raise _explain(error, path) from error
        try:
            _set_time_zone(connection)
            _check_length(connection, path)
            migrate(connection, path)
        except duckdb.Error as error:
            connection.close()
            raise _explain(error, path) from error
        except AppError:
            connection.close()
            raise
        return cls(connection, path)

    def read(self, sql: str, parameters: Parameters = ()) -> "pd.DataFrame":
        """Run a query in a cursor of its own and return a DataFrame."""
        with self._cursor() as cursor:
            return cursor.execute(sql, parameters).df()

    def read_categories(self, sql: str, parameters: Parameters = ()) -> "pd.DataFrame":
        """Run a query as `read`; text columns come as categories, at a fraction of the cost where values repeat."""
        import pyarrow as pa

        table = self.table(sql, parameters)
        columns = [
            column.dictionary_encode() if pa.types.is_string(column.type) else column for column in table.columns
        ]
        frame: pd.DataFrame = pa.table(columns, names=table.column_names).to_pandas()
        return frame

    def table(self, sql: str, parameters: Parameters = ()) -> "pa.Table":
        """Run a query in a cursor of its own and return an Arrow table."""
        with self._cursor() as cursor:
            return cursor.sql(sql, params=parameters).to_arrow_table()

    def rows(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Run a query in a cursor of its own and return plain tuples."""
        with self._cursor() as cursor:
            return cursor.execute(sql, parameters).fetchall()

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """Return the first value of a query's first row; None where there is no row."""
        found = self.rows(sql, parameters)
        return found[0][0] if found else None

    @contextmanager
    def write(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the one write transaction: it commits at the end, or leaves nothing behind."""
        with self._writing, self._cursor() as cursor:
            cursor.execute("BEGIN")
            try:
                yield cursor
            except BaseException:
                cursor.execute("ROLLBACK")
                raise
            cursor.execute("COMMIT")
            self.data_version += 1

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        cursor = self._connection.cursor()
        try:
            yield cursor
        except duckdb.Error as error:
            if isinstance(error, duckdb.IOException | duckdb.FatalException) or "Corrupt" in str(error):
                raise _explain(error, self.path) from error
            raise
        finally:
            cursor.close()

    def close(self) -> None:
        """Close the file, so that another process may open it."""
        self._connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def insert(cursor: duckdb.DuckDBPyConnection, table: str, rows: "pa.Table") -> None:
    """Append ``rows`` to ``table`` by column name, in one bulk insert."""
    cursor.register("incoming_rows", rows)
    columns = ", ".join(rows.column_names)
    cursor.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM incoming_rows")
    cursor.unregister("incoming_rows")


def _set_time_zone(connection: duckdb.DuckDBPyConnection) -> None:
    """Make all times UTC, wherever the machine stands, and lock the configuration.

    The time zone can be set only once the file is open. Whoever opens it twice in one process finds it locked.
    """
    if connection.execute("SELECT NOT current_setting('lock_configuration')").fetchall() == [(True,)]:
        connection.execute("SET GLOBAL TimeZone = 'UTC'")
        connection.execute("SET lock_configuration = true")


def _check_header(path: Path) -> None:
    """Refuse what is no DuckDB file before DuckDB sees it: for some formats it would fetch a reader."""
    if path.is_dir():
        raise AppError(f"{path} is a folder, not a store.", "Name a file, for example parallax.duckdb inside it.")
    try:
        with path.open("rb") as file:
            head = file.read(_MAGIC_OFFSET + len(_MAGIC))
    except OSError as error:
        raise AppError(f"{path} cannot be read ({error.strerror}).", "Check its permissions.") from error
    if head[_MAGIC_OFFSET:] != _MAGIC:
        raise AppError(
            f"{path} is no Parallax store (not a DuckDB file).",
            "Name another file (--store on the command line, PARALLAX_STORE for the app); this one was left as it is.",
        )


def _check_length(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse a file that lacks blocks in use: DuckDB would notice when it first reads them.

    Free blocks are counted in its header too, but at the end of the file they may be cut off.
    """
    [(block_size, blocks)] = connection.execute(
        "SELECT block_size, used_blocks FROM pragma_database_size() WHERE database_name = current_database()"
    ).fetchall()
    if path.stat().st_size < block_size * blocks:
        raise AppError(f"The store {path} is damaged: its end is missing.", _DAMAGED_HINT)


_DAMAGED_HINT = "It was left as it is. Restore a copy, or move it away and import again."


def _explain(error: duckdb.Error, path: Path) -> AppError:
    """Turn DuckDB's refusal to open a file into words with a next step."""
    text = str(error)
    if "Conflicting lock" in text or "Could not set lock" in text:
        holder = re.search(r"held in (.+?) \(PID (\d+)\)", text)
        who = f"process {holder[2]} ({Path(holder[1]).name})" if holder else "another process"
        return AppError(
            f"The store {path} is in use by {who}.",
            "Close that process (the app, or another command) and try again, import on the app's Data page "
            "instead, or name another store (--store on the command line, PARALLAX_STORE for the app).",
        )
    if "Permission denied" in text:
        return AppError(f"The store {path} cannot be opened: permission denied.", "Check the file's permissions.")
    if "No space left" in text:
        return AppError(f"The disk of the store {path} is full.", "Make room and try again; nothing was changed.")
    return AppError(
        f"The store {path} is damaged or was written by a newer DuckDB.",
        f"{_DAMAGED_HINT} DuckDB says: {text.splitlines()[0]}",
    )
