"""The files of a VLM are found, fetched and looked at before anything is loaded from them."""

import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from huggingface_hub import errors
from safetensors.numpy import save_file

from backend.errors import AppError
from backend.vlm.weights import (
    ADAPTER,
    MODEL,
    broken_file,
    fetched,
    is_folder,
    lacking_file,
    read_tensors,
    refuse_misfits,
    settled_commit,
    weights_folder,
)
from tests.vlm.hub import FIRST, SECOND, Hub, cached


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A hub with one VLM, of which nothing is cached."""
    cache = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    hub = Hub(cache)
    monkeypatch.setattr("huggingface_hub.snapshot_download", hub.snapshot_download)
    hub.has["owner/vlm"] = {FIRST: saved(tmp_path / "first"), SECOND: saved(tmp_path / "second")}
    return hub


def saved(folder: Path) -> Path:
    folder.mkdir()
    for name in ("config.json", "tokenizer.json", "own.py", "pytorch_model.bin", "training_args.bin"):
        (folder / name).write_text("{}")
    save_file({"a": np.zeros(3)}, folder / "model.safetensors")
    return folder


@pytest.mark.parametrize(
    ("source", "expected"),
    [("./a", True), ("../a/b", True), ("/a", True), ("~/a", True), ("C:\\a", True), ("a/b", False), ("C3/a", False)],
)
def test_a_folder_is_told_by_how_it_begins(source: str, expected: bool) -> None:
    assert is_folder(source) is expected


def test_a_folder_of_the_name_of_a_hub_id_is_not_taken_for_it(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "owner").mkdir()
    saved(tmp_path / "owner" / "vlm")
    monkeypatch.chdir(tmp_path)
    assert weights_folder("owner/vlm", None) is None


@pytest.mark.parametrize(
    ("names", "lacking"),
    [
        ([], "config.json"),
        (["model.safetensors"], "config.json"),
        (["config.json"], "model.safetensors"),
        (["config.json", "model-1.safetensors"], "model.safetensors"),
        (["config.json", "model.safetensors.index.json"], "a.safetensors"),
        (["config.json", "model.safetensors.index.json", "a.safetensors"], "b.safetensors"),
        (["config.json", "model.safetensors.index.json", "a.safetensors", "b.safetensors"], ""),
        (["config.json", "model.safetensors"], ""),
    ],
)
def test_the_first_file_that_lacks_is_named(tmp_path: Path, names: list[str], lacking: str) -> None:
    for name in names:
        (tmp_path / name).write_text('{"weight_map": {"x": "b.safetensors", "y": "a.safetensors"}}')
    assert lacking_file(tmp_path, MODEL) == lacking
    assert (weights_folder(str(tmp_path), None) is None) is bool(lacking)


def test_an_adapter_is_two_files_of_fixed_names(tmp_path: Path) -> None:
    """Parts that an index names are not read by PEFT, which would look for a pickle instead."""
    for name in ("adapter_config.json", "adapter_extra.safetensors", "adapter_model.bin"):
        (tmp_path / name).touch()
    (tmp_path / "adapter_model.safetensors.index.json").write_text('{"weight_map": {"x": "adapter_extra.safetensors"}}')
    assert lacking_file(tmp_path, ADAPTER) == "adapter_model.safetensors"


class TestWholeness:
    """What a safetensors file says of itself is held against the file."""

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        (tmp_path / "config.json").write_text("{}")
        save_file({"a": np.zeros(3), "b": np.ones((2, 2), dtype=np.float32)}, tmp_path / "model.safetensors")
        return tmp_path / "model.safetensors"

    def test_a_whole_file_tells_where_its_tensors_lie(self, file: Path) -> None:
        found = read_tensors(file)
        assert found is not None
        size = file.stat().st_size
        assert sorted(end - start for start, end in found.spans) == [16, 24]
        assert found.spans[-1][1] == size == 8 + len(found.header) + 40
        assert broken_file(file.parent, MODEL) == ""

    @pytest.mark.parametrize("kept", [0, 4, 8, 60, -1])
    def test_a_file_that_was_cut_short_is_named(self, file: Path, kept: int) -> None:
        file.write_bytes(file.read_bytes()[:kept])
        assert read_tensors(file) is None
        assert broken_file(file.parent, MODEL) == "model.safetensors"

    @pytest.mark.parametrize("content", [b"{}", b"\xff" * 100, b"\2" + bytes(7) + b"[]", b"\2" + bytes(7) + b"{}!"])
    def test_a_file_that_is_something_else_is_named(self, file: Path, content: bytes) -> None:
        file.write_bytes(content)
        assert broken_file(file.parent, MODEL) == "model.safetensors"

    def test_of_several_files_the_first_that_is_not_whole_is_named(self, file: Path) -> None:
        index = '{"weight_map": {"x": "1.safetensors", "y": "2.safetensors"}}'
        (file.parent / "model.safetensors.index.json").write_text(index)
        for number, content in ((1, file.read_bytes()), (2, file.read_bytes()[:-1])):
            (file.parent / f"{number}.safetensors").write_bytes(content)
        assert broken_file(file.parent, MODEL) == "2.safetensors"


class TestFetching:
    """The hub is asked where that is allowed, and never for another commit than the one a run began with."""

    def test_offline_nothing_is_asked(self, hub: Hub) -> None:
        assert settled_commit("owner/vlm", None, MODEL, online=False) is None
        cached(hub.cache, "owner/vlm", hub.has["owner/vlm"][FIRST])
        assert settled_commit("owner/vlm", None, MODEL, online=False) == FIRST
        assert not hub.asked

    def test_a_folder_has_no_commit(self, hub: Hub, tmp_path: Path) -> None:
        assert settled_commit(str(tmp_path), None, MODEL, online=True) is None
        assert not hub.asked

    def test_the_commit_is_settled_by_the_configuration_alone(self, hub: Hub) -> None:
        assert settled_commit("owner/vlm", None, MODEL, online=True) == SECOND
        assert hub.asked == [("owner/vlm", None, ("config.json",))]
        assert weights_folder("owner/vlm", None) is None

    def test_what_is_fetched_later_is_of_the_settled_commit_although_the_hub_moved_on(
        self, hub: Hub, tmp_path: Path
    ) -> None:
        settled = settled_commit("owner/vlm", None, MODEL, online=True)
        hub.has["owner/vlm"]["2" * 40] = saved(tmp_path / "third")
        folder = fetched("owner/vlm", None, MODEL)
        assert folder.name == settled == settled_commit("owner/vlm", None, MODEL, online=True)
        assert weights_folder("owner/vlm", None) == folder

    def test_the_hub_is_not_asked_where_all_is_here(self, hub: Hub) -> None:
        folder = fetched("owner/vlm", None, MODEL)
        hub.asked.clear()
        hub.fails = ConnectionError("no route")
        assert fetched("owner/vlm", None, MODEL) == folder
        assert not hub.asked

    @pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
    def test_a_file_that_lacks_is_fetched(self, hub: Hub, name: str) -> None:
        """Also one of the processor, which weights can do without."""
        file = fetched("owner/vlm", None, MODEL) / name
        file.unlink()
        fetched("owner/vlm", None, MODEL)
        assert file.is_file()

    @pytest.mark.parametrize("with_code", [False, True])
    def test_no_pickle_is_fetched_and_code_where_it_may_run(self, hub: Hub, with_code: bool) -> None:
        names = {path.name for path in fetched("owner/vlm", None, MODEL, with_code=with_code).iterdir()}
        assert names == {"config.json", "tokenizer.json", "model.safetensors", *(["own.py"] if with_code else [])}

    @pytest.mark.parametrize(
        ("error", "words", "hint"),
        [
            (ConnectionError("no route"), r"could not be fetched from the hub \(ConnectionError\)", "network"),
            (errors.LocalEntryNotFoundError("offline"), "could not be fetched", "hf download owner/vlm"),
            (OSError(errno.ENOSPC, "full"), "no room on the disk", "Free some"),
        ],
    )
    def test_why_nothing_came_is_said(self, hub: Hub, error: Exception, words: str, hint: str) -> None:
        hub.fails = error
        for fetch in (fetched, lambda *of: settled_commit(*of, online=True)):
            with pytest.raises(AppError, match=words) as caught:
                fetch("owner/vlm", None, MODEL)
            assert hint in caught.value.hint

    @pytest.mark.parametrize(
        ("kind", "words", "hint"),
        [
            (errors.GatedRepoError, "given only to those who accepted its terms", "hf auth login"),
            (errors.RepositoryNotFoundError, "The hub has no owner/vlm", "Check the id"),
            (errors.RevisionNotFoundError, "owner/vlm has no revision v9", "Check revision"),
        ],
    )
    def test_a_refusal_of_the_hub_is_put_in_words(self, hub: Hub, kind: Any, words: str, hint: str) -> None:
        hub.fails = kind("no", response=SimpleNamespace(headers={}, request=None))
        with pytest.raises(AppError, match=words) as caught:
            fetched("owner/vlm", "v9", MODEL)
        assert hint in caught.value.hint


def test_what_does_not_fit_is_named_up_to_three() -> None:
    refuse_misfits("Its weights", [])
    with pytest.raises(AppError, match=r"Its weights do not fit\. .*: a, b, c and 2 more\."):
        refuse_misfits("Its weights", ["e", "b", "a", "d", "c", "a"])
