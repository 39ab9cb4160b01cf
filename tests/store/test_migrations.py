"""A store of an older shape is brought to the newest one, and keeps what it holds."""

from pathlib import Path
from unittest.mock import patch

import pytest

from backend.errors import AppError
from backend.store import migrations
from backend.store.store import Store

KNOWN = migrations.known_migrations()


@pytest.mark.parametrize("number", [migration.number for migration in KNOWN[:-1]])
def test_an_older_store_keeps_its_rows_and_gets_the_newest_shape(tmp_path: Path, number: int) -> None:
    path = tmp_path / "old.duckdb"
    older = patch.object(migrations, "known_migrations", lambda: KNOWN[:number])
    with older, Store.create(path) as old, old.write() as cursor:
        cursor.execute("INSERT INTO suites (suite, system, source) VALUES ('core', 'endoca', 'core.jsonl')")
        cursor.execute("INSERT INTO answers VALUES ('run', 'core:1', 'yes', '')")
    with Store.open(path) as opened, Store.create(tmp_path / "new.duckdb") as new:
        assert opened.rows("SELECT suite FROM suites") == [("core",)]
        assert opened.rows("SELECT answer FROM answers") == [("yes",)]
        shape = "SELECT table_name, column_name, data_type FROM duckdb_columns() ORDER BY ALL"
        assert opened.rows(shape) == new.rows(shape)


def test_a_store_of_a_newer_shape_is_refused_by_an_older_parallax(tmp_path: Path) -> None:
    path = tmp_path / "new.duckdb"
    Store.create(path).close()
    with (
        patch.object(migrations, "known_migrations", lambda: KNOWN[:1]),
        pytest.raises(AppError, match="newer Parallax"),
    ):
        Store.open(path)
