"""The store opens what is its own, refuses the rest with a next step, and keeps reads and writes apart."""

import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

from backend.errors import AppError
from backend.store.migrations import known_migrations
from backend.store.store import Store, insert
from tests.conftest import ROOT


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test's store lies."""
    return tmp_path / "parallax.duckdb"


def put_suite(store: Store, name: str) -> None:
    with store.write() as cursor:
        cursor.execute("INSERT INTO suites (suite, system, source) VALUES (?, 'endoca', 'test')", [name])


def test_a_store_keeps_what_was_written(path: Path) -> None:
    with Store.create(path) as store:
        put_suite(store, "core")
    with Store.open(path) as store:
        assert store.rows("SELECT suite FROM suites") == [("core",)]


def test_creating_where_a_store_stands_opens_it(path: Path) -> None:
    with Store.create(path) as store:
        put_suite(store, "core")
    with Store.create(path) as store:
        assert store.value("SELECT count(*) FROM suites") == 1


def test_opening_an_absent_store_says_how_to_make_one(path: Path) -> None:
    with pytest.raises(AppError, match="no store") as caught:
        Store.open(path)
    assert "init" in caught.value.hint
    assert not path.exists()


def text_file(path: Path) -> None:
    path.write_text("not a database\n" * 100)


def sqlite_file(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()


def foreign_duckdb(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")


def newer_store(path: Path) -> None:
    Store.create(path).close()
    with duckdb.connect(str(path)) as connection:
        connection.execute("INSERT INTO migrations (number, name) VALUES (9999, 'from_the_future')")


def half_a_store(path: Path) -> None:
    Store.create(path).close()
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flipped_bits(path: Path) -> None:
    Store.create(path).close()
    content = bytearray(path.read_bytes())
    content[5000:9000] = bytes(byte ^ 0x5A for byte in content[5000:9000])
    path.write_bytes(content)


def empty_file(path: Path) -> None:
    path.touch()


def folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (text_file, "no Parallax store"),
        (empty_file, "no Parallax store"),
        (sqlite_file, "no Parallax store"),
        (foreign_duckdb, "no Parallax store"),
        (newer_store, "newer Parallax"),
        (half_a_store, "damaged"),
        (flipped_bits, "damaged"),
        (folder, "is a folder"),
    ],
)
@pytest.mark.parametrize("method", [Store.open, Store.create])
def test_what_is_no_sound_store_is_refused_and_left_as_it_is(path: Path, make, says: str, method) -> None:  # type: ignore[no-untyped-def]
    make(path)
    before = None if path.is_dir() else path.read_bytes()
    with pytest.raises(AppError, match=says) as caught:
        method(path)
    assert caught.value.hint
    if before is not None:
        assert path.read_bytes() == before


def test_a_store_whose_free_blocks_were_cut_off_its_end_is_sound(path: Path) -> None:
    Store.create(path).close()
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE passing AS SELECT range, random() FROM range(300_000)")
        connection.execute("CHECKPOINT")
        connection.execute("DROP TABLE passing")
        connection.execute("CHECKPOINT")
    with duckdb.connect(str(path), read_only=True) as connection:
        [(counted,)] = connection.execute("SELECT total_blocks * block_size FROM pragma_database_size()").fetchall()
    assert path.stat().st_size < counted, "DuckDB cut off blocks that it still counts"
    with Store.open(path) as store:
        assert store.value("SELECT count(*) FROM suites") == 0


def test_a_store_in_use_names_the_process_that_holds_it(path: Path) -> None:
    with Store.create(path):
        code = (
            "import sys\nfrom pathlib import Path\n"
            "from backend.errors import AppError\nfrom backend.store.store import Store\n"
            "try: Store.open(Path(sys.argv[1]))\n"
            "except AppError as error: print(error.message, '|', error.hint)"
        )
        said = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
        ).stdout
    assert "is in use by process" in said
    assert str(multiprocessing.current_process().pid) in said
    assert "--store" in said


def test_a_failed_write_leaves_nothing_behind(path: Path) -> None:
    with Store.create(path) as store:
        with pytest.raises(ZeroDivisionError), store.write() as cursor:
            cursor.execute("INSERT INTO suites (suite, system, source) VALUES ('core', 'endoca', 'test')")
            raise ZeroDivisionError
        assert store.value("SELECT count(*) FROM suites") == 0
        assert store.data_version == 0


def test_every_committed_write_moves_the_data_version(path: Path) -> None:
    with Store.create(path) as store:
        put_suite(store, "core")
        put_suite(store, "diagnostic")
        assert store.data_version == 2


def test_threads_that_read_at_once_get_their_own_rows(path: Path) -> None:
    wrong: list[tuple[int, object]] = []
    with Store.create(path) as store:

        def read(number: int) -> None:
            for _ in range(50):
                got = store.value("SELECT ?::INTEGER + sum(range)::INTEGER FROM range(100)", [number])
                if got != number + 4950:
                    wrong.append((number, got))

        threads = [threading.Thread(target=read, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_text_read_as_categories_holds_the_same_values(path: Path) -> None:
    sql = "SELECT * FROM (VALUES ('b', 1), ('a', 2), (NULL, 3), ('b', 4)) AS t(name, n) WHERE n <> $left_out"
    with Store.create(path) as store:
        plain, coded = store.read(sql, {"left_out": 2}), store.read_categories(sql, {"left_out": 2})
    assert isinstance(coded["name"].dtype, pd.CategoricalDtype)
    assert coded["n"].tolist() == [1, 3, 4]
    pd.testing.assert_series_equal(coded["name"].astype(plain["name"].dtype), plain["name"])


def test_sql_cannot_reach_other_files(path: Path) -> None:
    with Store.create(path) as store, pytest.raises(duckdb.Error, match="disabled by configuration"):
        store.rows("SELECT * FROM read_csv('/etc/hostname')")


WRITTEN = """
import sys
from pathlib import Path
from backend.store.store import Store
with Store.create(Path(sys.argv[1])) as store:
    with store.write() as cursor:
        cursor.execute("INSERT INTO suites (suite, system, source) VALUES ('core', 'endoca', 'test')")
        print(cursor.execute("SELECT created_at FROM suites").fetchall()[0][0].isoformat())
"""


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kathmandu", "UTC"])
def test_times_are_utc_wherever_the_machine_stands(path: Path, zone: str) -> None:
    before = datetime.now(UTC).replace(tzinfo=None)
    said = subprocess.run(
        [sys.executable, "-c", WRITTEN, str(path)],
        capture_output=True, text=True, check=True, cwd=ROOT, env={**os.environ, "TZ": zone},
    ).stdout  # fmt: skip
    assert before <= datetime.fromisoformat(said.strip()) <= datetime.now(UTC).replace(tzinfo=None)


@pytest.mark.parametrize(
    "setting",
    [
        "GLOBAL TimeZone = 'Asia/Kathmandu'",
        "TimeZone = 'Asia/Kathmandu'",
        "enable_external_access = true",
        "lock_configuration = false",
    ],
)
def test_sql_cannot_change_the_configuration(path: Path, setting: str) -> None:
    with Store.create(path) as store, pytest.raises(duckdb.Error, match="has been locked"):
        store.rows(f"SET {setting}")


def test_a_process_may_open_its_store_twice(path: Path) -> None:
    with Store.create(path) as first, Store.open(path) as second:
        put_suite(second, "core")
        assert first.rows("SELECT suite FROM suites") == [("core",)]


def test_a_bulk_insert_goes_by_column_name(path: Path) -> None:
    with Store.create(path) as store:
        with store.write() as cursor:
            insert(cursor, "suites", pa.table({"source": ["a"], "system": ["endoca"], "suite": ["core"]}))
        assert store.rows("SELECT suite, system, source FROM suites") == [("core", "endoca", "a")]


def test_migrations_are_numbered_one_after_another() -> None:
    assert [migration.number for migration in known_migrations()] == list(range(1, len(known_migrations()) + 1))


def test_an_applied_migration_is_recorded_once(path: Path) -> None:
    Store.create(path).close()
    with Store.open(path) as store:
        assert store.rows("SELECT number FROM migrations ORDER BY number") == [
            (migration.number,) for migration in known_migrations()
        ]


def test_a_copy_of_a_closed_store_opens(path: Path, tmp_path: Path) -> None:
    with Store.create(path) as store:
        put_suite(store, "core")
    copy = tmp_path / "copy.duckdb"
    shutil.copy(path, copy)
    with Store.open(copy) as store:
        assert store.value("SELECT count(*) FROM suites") == 1


def test_a_store_that_lacks_its_end_is_refused_when_it_is_opened(path: Path) -> None:
    with Store.create(path) as store, store.write() as cursor:
        cursor.execute("INSERT INTO answers SELECT 'r', 'p' || range, repeat('x', 50) || range, '' FROM range(200000)")
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 3 // 4])
    with pytest.raises(AppError, match="its end is missing"):
        Store.open(path)


def test_damage_found_while_reading_is_said_and_no_bug(path: Path) -> None:
    with Store.create(path) as store, store.write() as cursor:
        cursor.execute("INSERT INTO answers SELECT 'r', 'p' || range, repeat('x', 50) || range, '' FROM range(200000)")
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 200_000] = bytes(200_000)
    path.write_bytes(content)
    with pytest.raises(AppError, match="damaged"), Store.open(path) as store:
        store.rows("SELECT max(answer), max(probe_id) FROM answers")
