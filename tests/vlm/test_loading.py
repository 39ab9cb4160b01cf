"""What is loaded, from where, and what is said where it cannot be."""

import json
import logging
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from backend.domain.vlm import Ask, Decoding, said_nothing
from backend.errors import AppError
from backend.settings import DATA
from backend.vlm.loading import Dtype, LocalSpec, device_facts, load
from backend.vlm.transformers_local import load_vlm
from tests.vlm.conftest import Vlms
from tests.vlm.hub import FIRST, SECOND, Hub, cached
from tests.vlm.tiny_models import hf, tiny_lora

DECODING = Decoding(max_new_tokens=12)
Folders = Callable[[str], Path]


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Refuse every connection and list the tries."""
    tries: list[object] = []

    def refuse(_: object, address: object) -> None:
        tries.append(address)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *address, **_: refuse(None, address))
    yield tries


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A hub of which nothing is cached."""
    hub = Hub(tmp_path / "hub")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(hub.cache))
    monkeypatch.setattr("huggingface_hub.snapshot_download", hub.snapshot_download)
    return hub


@pytest.fixture(scope="session")
def tuned(folders: Folders, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A LoRA adapter for the tiny LLaVA, and the LLaVA with it merged in."""
    pytest.importorskip("peft")
    folder = tmp_path_factory.mktemp("tuned")
    tiny_lora(folders("llava"), folder / "adapter", folder / "merged")
    return folder / "adapter", folder / "merged"


def copy(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to)
    return to


def rewrite(file: Path, change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> None:
    """Change the tensors of a safetensors file."""
    save_file({name: one.contiguous() for name, one in change(load_file(file)).items()}, file, {"format": "pt"})


class TestFromTheHub:
    """A hub id is a folder of the cache, and the hub is asked only where the list says so."""

    def test_a_cached_vlm_with_a_cached_adapter_loads_without_a_word_to_the_hub(
        self, hub: Hub, folders: Folders, tuned: tuple[Path, Path], offline: list[object]
    ) -> None:
        cached(hub.cache, "owner/vlm", folders("llava"))
        cached(hub.cache, "owner/lora", tuned[0])
        said = load_vlm(LocalSpec("owner/vlm", "Tuned", adapter="owner/lora")).answer(
            None, "Why?", DECODING, said_nothing
        )
        assert not offline
        assert not hub.asked
        merged = load_vlm(LocalSpec(str(tuned[1]), "merged"))
        assert said.text == merged.answer(None, "Why?", DECODING, said_nothing).text

    def test_a_revision_is_the_cached_one_or_none(self, hub: Hub, folders: Folders, offline: list[object]) -> None:
        cached(hub.cache, "owner/vlm", folders("llava"))
        assert load(LocalSpec("owner/vlm", "x", revision=FIRST)).model
        with pytest.raises(AppError, match="are not all on this machine") as caught:
            load(LocalSpec("owner/vlm", "x", revision="v2"))
        assert "hf download owner/vlm --revision v2" in caught.value.hint
        assert not offline

    @pytest.mark.parametrize(("there", "named"), [("owner/vlm", "owner/lora"), ("owner/lora", "owner/vlm")])
    def test_of_vlm_and_adapter_the_one_that_lacks_is_named(
        self, hub: Hub, folders: Folders, tuned: tuple[Path, Path], there: str, named: str
    ) -> None:
        cached(hub.cache, there, {"owner/vlm": folders("llava"), "owner/lora": tuned[0]}[there])
        with pytest.raises(AppError) as caught:
            load(LocalSpec("owner/vlm", "Tuned", adapter="owner/lora"))
        assert f"({named}) are not all" in caught.value.message
        assert f"hf download {named}" in caught.value.hint
        assert there not in str(caught.value)

    def test_what_lacks_is_fetched_where_that_is_allowed(self, hub: Hub, folders: Folders) -> None:
        hub.has["owner/vlm"] = {FIRST: folders("llava")}
        assert load(LocalSpec("owner/vlm", "x", online=True)).model
        hub.has["owner/vlm"][SECOND] = folders("gemma3")
        assert load(LocalSpec("owner/vlm", "x", online=True)).model.config.model_type == "llava"

    def test_where_the_hub_cannot_be_reached_the_network_is_named(self, hub: Hub) -> None:
        hub.fails = ConnectionError("no route")
        with pytest.raises(AppError, match="could not be fetched") as caught:
            load(LocalSpec("owner/vlm", "x", online=True))
        assert "Check the network" in caught.value.hint

    @pytest.mark.parametrize("source", ["lost", "a/b/c"])
    def test_what_is_neither_folder_nor_hub_id_is_said(self, source: str, offline: list[object]) -> None:
        with pytest.raises(AppError, match="is not there") as caught:
            load(LocalSpec(source, "Lost", online=True))
        assert "a folder begins with ./" in caught.value.hint
        assert not offline


class TestWhatDoesNotFit:
    """Weights that lack a part, or belong to something else, are refused and never made up."""

    @pytest.fixture
    def vlm(self, folders: Folders, tmp_path: Path) -> Path:
        return copy(folders("llava"), tmp_path / "vlm")

    @pytest.fixture
    def adapter(self, tuned: tuple[Path, Path], tmp_path: Path) -> Path:
        return copy(tuned[0], tmp_path / "adapter")

    def test_weights_that_are_missing_are_named(self, vlm: Path) -> None:
        gone = "language_model.model.layers.1.self_attn.q_proj.weight"
        rewrite(vlm / "model.safetensors", lambda all_: {name: one for name, one in all_.items() if name != gone})
        with pytest.raises(AppError, match=r"The weights of x do not fit.*layers\.1\.self_attn\.q_proj\.weight\."):
            load(LocalSpec(str(vlm), "x"))

    def test_weights_of_another_shape_are_named(self, vlm: Path) -> None:
        config = json.loads((vlm / "config.json").read_text())
        config["text_config"]["intermediate_size"] *= 2
        (vlm / "config.json").write_text(json.dumps(config))
        with pytest.raises(AppError, match=r"The weights of x do not fit.*mlp\.down_proj\.weight"):
            load(LocalSpec(str(vlm), "x"))

    def test_weights_that_are_tied_to_others_are_not_missing(self, tmp_path: Path) -> None:
        box = copy(DATA / "demo" / "vlm", tmp_path / "box")
        assert json.loads((box / "config.json").read_text())["text_config"]["tie_word_embeddings"]
        whole = load(LocalSpec(str(box), "Box")).model.state_dict()
        tied = "language_model.lm_head.weight"
        rewrite(box / "model.safetensors", lambda all_: {name: one for name, one in all_.items() if name != tied})
        part = load(LocalSpec(str(box), "Box")).model.state_dict()
        assert all(torch.equal(part[name], one) for name, one in whole.items())

    @pytest.mark.parametrize("which", ["layers", "layers.1"])
    def test_an_adapter_of_foreign_layers_is_refused(self, folders: Folders, adapter: Path, which: str) -> None:
        """Also where only some are foreign."""
        rewrite(
            adapter / "adapter_model.safetensors",
            lambda all_: {name.replace(which, f"blocks{which[6:]}"): one for name, one in all_.items()},
        )
        with pytest.raises(AppError, match=r"The adapter's weights of x do not fit.*lora_"):
            load(LocalSpec(str(folders("llava")), "x", adapter=str(adapter)))

    def test_an_adapter_that_lacks_a_layer_is_refused(self, folders: Folders, adapter: Path) -> None:
        rewrite(
            adapter / "adapter_model.safetensors",
            lambda all_: {name: one for name, one in all_.items() if "layers.1.self_attn.v_proj.lora_B" not in name},
        )
        with pytest.raises(AppError, match=r"The adapter's weights of x do not fit.*lora_B"):
            load(LocalSpec(str(folders("llava")), "x", adapter=str(adapter)))

    @pytest.mark.parametrize(
        "change",
        [{"target_modules": ["no_such_layer"]}, {"r": 3}],
        ids=["layers of no such name", "another rank than its weights have"],
    )
    def test_an_adapter_made_for_something_else_is_refused(
        self, folders: Folders, adapter: Path, change: dict[str, object]
    ) -> None:
        config = json.loads((adapter / "adapter_config.json").read_text())
        (adapter / "adapter_config.json").write_text(json.dumps({**config, **change}))
        with pytest.raises(AppError, match="The adapter of x does not fit it") as caught:
            load(LocalSpec(str(folders("llava")), "x", adapter=str(adapter)))
        assert "made for the VLM that source names" in caught.value.hint

    def test_a_pickle_beside_safetensors_of_another_name_is_not_opened(self, folders: Folders, adapter: Path) -> None:
        weights = load_file(adapter / "adapter_model.safetensors")
        (adapter / "adapter_model.safetensors").rename(adapter / "adapter_extra.safetensors")
        torch.save(weights, adapter / "adapter_model.bin")
        with pytest.raises(AppError, match=r"no adapter_model\.safetensors; adapter_model\.bin is a pickle"):
            load(LocalSpec(str(folders("llava")), "x", adapter=str(adapter)))

    @pytest.mark.parametrize("named", [False, True])
    def test_an_adapter_that_lies_beside_weights_is_refused_whether_named_or_not(
        self, vlm: Path, adapter: Path, named: bool
    ) -> None:
        """Transformers would lay it over them unasked."""
        for path in adapter.iterdir():
            shutil.copy(path, vlm)
        with pytest.raises(AppError, match=r"holds adapter_config\.json") as caught:
            load(LocalSpec(str(vlm), "x", adapter=str(adapter) if named else None))
        assert "a folder of its own" in caught.value.hint

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("model.safetensors", None),
            ("model.safetensors", b""),
            ("model.safetensors", b"\xff" * 100),
            ("tokenizer.json", None),
            ("tokenizer.json", b'{"version": "1.0"}'),
            ("config.json", None),
            ("config.json", b"[]"),
            ("config.json", b'{"model_type": "llama"}'),
        ],
    )
    def test_a_damaged_file_is_a_message(self, vlm: Path, name: str, content: bytes | None) -> None:
        """None cuts it in half."""
        whole = (vlm / name).read_bytes()
        (vlm / name).write_bytes(whole[: len(whole) // 2] if content is None else content)
        with pytest.raises(AppError) as caught:
            load_vlm(LocalSpec(str(vlm), "Damaged"))
        assert "Damaged" in caught.value.message
        assert caught.value.hint

    def test_a_damaged_adapter_is_a_message(self, folders: Folders, adapter: Path) -> None:
        file = adapter / "adapter_model.safetensors"
        file.write_bytes(file.read_bytes()[:-1])
        with pytest.raises(AppError, match=r"the adapter of x holds adapter_model\.safetensors cut short"):
            load(LocalSpec(str(folders("llava")), "x", adapter=str(adapter)))

    @pytest.mark.parametrize(
        "error",
        [
            MemoryError(),
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
            torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB"),
        ],
    )
    def test_memory_that_does_not_hold_it_is_said(
        self, vlm: Path, error: Exception, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(hf.AutoModelForImageTextToText, "from_pretrained", full)
        with pytest.raises(AppError, match="does not hold Large") as caught:
            load(LocalSpec(str(vlm), "Large"))
        assert "smaller" in caught.value.hint


class TestLoading:
    """What is loaded, and what is said where it cannot be."""

    def test_nothing_is_fetched_and_nothing_is_warned_of(
        self, folders: Folders, offline: list[object], frames: list[Path], tmp_path: Path,
        caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        """Also where the VLM's own settings would sample."""
        folder = tmp_path / "sampling"
        model = hf.AutoModelForImageTextToText.from_pretrained(folders("llava"))
        model.generation_config.update(do_sample=True, temperature=0.1, top_p=0.001, top_k=1)
        model.save_pretrained(folder)
        hf.AutoProcessor.from_pretrained(folders("llava")).save_pretrained(folder)
        monkeypatch.setattr(logging.getLogger("transformers"), "propagate", True)
        caplog.clear()
        vlm = load_vlm(LocalSpec(str(folder), "sampling"))
        reply = vlm.answer(frames[0], "Why?", DECODING, said_nothing)
        assert reply.text == load_vlm(LocalSpec(str(folders("llava")), "x")).answer(
            frames[0], "Why?", DECODING, said_nothing
        ).text  # fmt: skip
        assert not caplog.records
        assert not offline

    def test_weights_that_are_not_here_are_said_to_be_missing(self, offline: list[object]) -> None:
        with pytest.raises(AppError) as caught:
            load_vlm(LocalSpec("nobody/no-such-vlm", "Far away"))
        assert "Far away (nobody/no-such-vlm) are not all on this machine" in caught.value.message
        assert "model.safetensors" in caught.value.message
        assert "hf download nobody/no-such-vlm" in caught.value.hint
        assert "online: true" in caught.value.hint
        assert not offline

    def test_an_adapter_that_is_not_here_is_said_to_be_missing(self, folders: Folders, offline: list[object]) -> None:
        pytest.importorskip("peft")
        with pytest.raises(AppError) as caught:
            load_vlm(LocalSpec(str(folders("llava")), "Tuned", adapter="nobody/no-such-adapter"))
        assert "the adapter of Tuned (nobody/no-such-adapter) are not all on this machine" in caught.value.message
        assert "hf download nobody/no-such-adapter" in caught.value.hint
        assert not offline

    @pytest.mark.parametrize(
        ("files", "words"),
        [
            pytest.param([], "holds no config.json", id="an empty folder"),
            pytest.param(["config.json"], "holds no model.safetensors", id="no weights"),
            pytest.param(["config.json", "pytorch_model.bin"], "pytorch_model.bin is a pickle", id="pickled weights"),
            pytest.param(["config.json", "model.safetensors"], "no safetensors file", id="files that are none"),
        ],
    )
    def test_a_folder_that_is_not_complete_is_named_with_what_it_lacks(
        self, tmp_path: Path, files: list[str], words: str
    ) -> None:
        for name in files:
            (tmp_path / name).write_bytes(b"{}")
        with pytest.raises(AppError) as caught:
            load_vlm(LocalSpec(str(tmp_path), "Half"))
        assert words in caught.value.message
        assert caught.value.hint

    def test_a_folder_that_is_not_there_is_not_looked_for_on_the_hub(self, offline: list[object]) -> None:
        with pytest.raises(AppError, match="folder of Lost is not there"):
            load_vlm(LocalSpec("./models/lost", "Lost", online=True))
        assert not offline

    @pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"device": "cuda"}, "is to run on cuda, which this machine does not offer"),
            ({"quantization": "4bit"}, "needs a CUDA GPU"),
        ],
    )
    def test_a_gpu_that_is_not_there_is_said_to_be_missing(
        self, folders: Folders, options: dict[str, Any], words: str
    ) -> None:
        with pytest.raises(AppError) as caught:
            load_vlm(LocalSpec(str(folders("llava")), "Large", **options))
        assert words in caught.value.message

    def test_code_beside_the_weights_is_not_run_unasked(self, folders: Folders, tmp_path: Path) -> None:
        ran = tmp_path / "ran"
        (tmp_path / "own.py").write_text(f"open({str(ran)!r}, 'w')\n")
        (tmp_path / "config.json").write_text(
            '{"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModelForImageTextToText": "own.Own"}}'
        )
        (tmp_path / "model.safetensors").write_bytes((folders("llava") / "model.safetensors").read_bytes())
        with pytest.raises(AppError) as caught:
            load_vlm(LocalSpec(str(tmp_path), "Own"))
        assert "trust_remote_code" in caught.value.hint
        assert not ran.exists()

    def test_the_cpu_is_told_with_its_memory(self, vlms: Vlms) -> None:
        facts = vlms("llava").device_facts()
        assert facts.name == device_facts("cpu").name == "CPU" or torch.cuda.is_available()
        assert 0 < facts.free < facts.total

    def test_on_a_cpu_weights_are_of_32_bits_unless_asked_otherwise(self, folders: Folders) -> None:
        source = str(folders("llava"))
        if torch.cuda.is_available() or torch.backends.mps.is_available():
            pytest.skip("auto takes the GPU here")
        asked: Dtype
        for asked, came in (("auto", torch.float32), ("bfloat16", torch.bfloat16)):
            loaded = load(LocalSpec(source, "x", dtype=asked))
            assert loaded.model.dtype is came
            assert loaded.dtype == str(came).removeprefix("torch.")

    def test_a_device_map_and_an_attention_implementation_are_passed_on(
        self, folders: Folders, frames: list[Path]
    ) -> None:
        pytest.importorskip("accelerate")
        vlm = load_vlm(LocalSpec(str(folders("llava")), "x", device_map="cpu", attn_implementation="eager"))
        assert vlm._model.config._attn_implementation == "eager"
        assert vlm.answer(frames[0], "Why?", DECODING, said_nothing).n_tokens


def test_an_adapter_changes_answers_as_its_merged_weights_do(
    folders: Folders, vlms: Vlms, asks: list[Ask], tuned: tuple[Path, Path]
) -> None:
    adapted = load_vlm(LocalSpec(str(folders("llava")), "tuned", adapter=str(tuned[0])))
    merged = load_vlm(LocalSpec(str(tuned[1]), "merged"))
    said = [reply.text for reply in adapted.answer_all(asks, DECODING)]
    assert said == [reply.text for reply in merged.answer_all(asks, DECODING)]
    assert said != [reply.text for reply in vlms("llava").answer_all(asks, DECODING)]
    assert said == [adapted.answer(ask.image, ask.prompt, DECODING, said_nothing).text for ask in asks]


def test_an_adapter_saved_as_a_pickle_is_not_opened(folders: Folders, tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    (tmp_path / "adapter_model.bin").write_bytes(b"")
    with pytest.raises(AppError, match=r"adapter_model\.bin is a pickle"):
        load_vlm(LocalSpec(str(folders("llava")), "x", adapter=str(tmp_path)))
