"""Promises of where files may come from: registered folders, and private copies of what a browser sends."""

import io
import os
from pathlib import Path

import pytest

from backend.errors import AppError
from backend.services.ingest.roots import allowed_path, entries
from backend.services.ingest.uploads import Uploads, shown_name


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A registered folder with a file and a folder; a secret lies beside it."""
    folder = tmp_path / "data"
    (folder / "frames").mkdir(parents=True)
    (folder / "core.jsonl").write_text("{}\n")
    (folder / ".hidden").write_text("x")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "data-too").mkdir()
    monkeypatch.setenv("PARALLAX_ROOTS", str(folder))
    return folder.resolve()


@pytest.mark.parametrize("typed", ["{root}/core.jsonl", "core.jsonl", "  core.jsonl ", "frames/../core.jsonl"])
def test_a_path_under_a_registered_folder_is_found(root: Path, typed: str) -> None:
    assert allowed_path(typed.format(root=root)) == root / "core.jsonl"


@pytest.mark.parametrize(
    "typed",
    [
        "/etc/passwd", "../secret.txt", "{root}/../secret.txt", "{root}/../data-too", "~", "frames/../../secret.txt",
        "/no/such/file", "core\x00.jsonl",
    ],
)  # fmt: skip
def test_a_path_outside_is_refused_with_the_way_to_register_a_folder(root: Path, typed: str) -> None:
    with pytest.raises(AppError, match="does not lie under a folder that this page may read") as refused:
        allowed_path(typed.format(root=root))
    assert "PARALLAX_ROOTS" in refused.value.hint
    assert str(root) in refused.value.hint


def test_a_link_that_leads_out_is_judged_by_where_it_leads(root: Path) -> None:
    (root / "out").symlink_to(root.parent / "secret.txt")
    (root / "round").symlink_to(root / "round")
    (root / "in").symlink_to(root / "core.jsonl")
    for name in ("out", "round"):
        with pytest.raises(AppError):
            allowed_path(name)
    assert allowed_path("in") == root / "core.jsonl"
    assert [entry.name for entry in entries(root)] == ["frames", "core.jsonl", "in"]


def test_a_path_inside_that_leads_nowhere_says_so(root: Path) -> None:
    with pytest.raises(AppError, match=r"There is nothing at absent\.jsonl"):
        allowed_path("absent.jsonl")


@pytest.mark.parametrize("typed", ["", "   "])
def test_no_path_is_asked_for(root: Path, typed: str) -> None:
    with pytest.raises(AppError, match="No path was given"):
        allowed_path(typed)


def test_several_folders_can_be_registered(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = root.parent / "data-too"
    (other / "late.jsonl").write_text("{}\n")
    monkeypatch.setenv("PARALLAX_ROOTS", os.pathsep.join([str(root), str(other)]))
    assert allowed_path("late.jsonl") == other / "late.jsonl"


def test_a_folder_lists_folders_first_with_sizes_and_without_hidden_files(root: Path) -> None:
    assert [tuple(entry) for entry in entries(root)] == [("frames", True, None), ("core.jsonl", False, 3)]


def test_a_folder_outside_is_not_listed(root: Path) -> None:
    with pytest.raises(AppError, match="does not lie under"):
        entries(root.parent)


def test_an_upload_lies_in_a_private_folder_and_is_gone_afterwards() -> None:
    uploads = Uploads()
    uploads.add("core.jsonl", io.BytesIO(b"{}\n"))
    [file] = uploads.files
    assert file.path.read_bytes() == b"{}\n"
    assert file.path.parent.stat().st_mode & 0o077 == 0
    uploads.delete()
    assert not file.path.parent.exists()


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("core.jsonl", "core.jsonl"),
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\core.jsonl", "core.jsonl"),
        ("a\x00b\n.jsonl", "ab.jsonl"),
        ("fdp\u202elnosj.exe", "fdplnosj.exe"),
        ("..", ".."),
        ("", "upload"),
        ("folder/", "upload"),
        ("x" * 500 + ".jsonl.gz", "x" * 111 + ".jsonl.gz"),
    ],
)
def test_an_upload_s_name_is_shown_and_never_a_path(sent: str, shown: str) -> None:
    uploads = Uploads()
    uploads.add(sent, io.BytesIO(b"1"))
    [file] = uploads.files
    assert file.name == shown == shown_name(sent)
    assert file.path.name == "0"
    uploads.delete()
