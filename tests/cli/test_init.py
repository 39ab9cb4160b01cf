"""``init`` makes a store, leaves a sound one alone and refuses everything else with words."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tests.cli.calling import call, done


def test_init_makes_a_store_and_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "store.duckdb"
    assert done("init", "--store", path, "--json").json == {"store": str(path), "created": True}
    assert path.is_file()


def test_init_leaves_a_sound_store_as_it_is(filled: Path) -> None:
    before = done("metrics", "endoca", "--store", filled, "--json").json
    assert done("init", "--store", filled, "--json").json["created"] is False
    assert done("metrics", "endoca", "--store", filled, "--json").json == before


def text_file(path: Path) -> None:
    path.write_text("dear diary")


def empty_file(path: Path) -> None:
    path.touch()


def folder(path: Path) -> None:
    path.mkdir()


def other_database(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE patients (name TEXT)")


def newer_store(path: Path) -> None:
    done("init", "--store", path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("INSERT INTO migrations (number, name) VALUES (9000, 'from the future')")


def damaged_store(path: Path) -> None:
    done("init", "--store", path)
    content = bytearray(path.read_bytes())
    content[4096:8192] = b"\x55" * 4096
    path.write_bytes(bytes(content))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (text_file, "no Parallax store"),
        (empty_file, "no Parallax store"),
        (folder, "is a folder"),
        (other_database, "no Parallax store"),
        (newer_store, "newer Parallax"),
        (damaged_store, "damaged"),
    ],
)
def test_init_refuses_what_is_no_sound_store_and_leaves_it_as_it_is(
    store: Path, make: Callable[[Path], None], words: str
) -> None:
    make(store)
    before = store.read_bytes() if store.is_file() else None
    result = call("init", "--store", store)
    assert (result.code, result.out) == (2, "")
    assert words in result.err
    assert "Traceback" not in result.err
    assert before is None or store.read_bytes() == before
