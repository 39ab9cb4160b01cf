"""A VLM of the registry is told by what decides its answers, and by no path, key or device."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from backend.services.runs.identity import identity_of, weights_fingerprint
from backend.services.runs.surroundings import code_facts, machine_facts, vlm_facts
from backend.vlm.entries import VlmEntry
from backend.vlm.weights import MODEL, fetched
from backend.vlm.worker import WORKERS, Phase, WorkerStatus
from tests.vlm.hub import FIRST, SECOND, Hub, cached


def entry(**ways: Any) -> VlmEntry:
    """Return a VLM with one way in."""
    said = {"answers": True, "attention": "none", "gradients": "none"}
    fixed = {"name": "Drawn", "group": "general_open", "family": "llava", "licence": "none"}
    return VlmEntry.model_validate({**fixed, **said, **ways}, context={"folder": Path("/")})


def weights(folder: Path, content: bytes = b"weights", **others: bytes) -> Path:
    """Write a folder of weights."""
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(content)
    for name, text in others.items():
        (folder / name.replace("_", ".")).write_bytes(text)
    return folder


@pytest.mark.parametrize(
    ("ways", "details"),
    [
        ({"transformers": {"source": "a/b"}}, {"weights": "a/b", "dtype": "auto"}),
        (
            {"transformers": {"source": "a/b", "revision": "main", "adapter": "c/d", "quantization": "4bit"}},
            {"weights": "a/b", "revision": "main", "adapter": "c/d", "quantization": "4bit", "dtype": "auto"},
        ),
        ({"transformers": {"source": "a/b", "device": "cuda"}}, {"weights": "a/b", "dtype": "auto"}),
        (
            {"transformers": {"source": "a/b", "trust_remote_code": True, "attn_implementation": "eager"}},
            {"weights": "a/b", "dtype": "auto", "own code": "may run", "attention": "eager"},
        ),
        (
            {"openai": {"base_url": "https://vlm.example/v1", "model": "m-1", "key_variable": "SECRET"}},
            {"service": "vlm.example", "model": "m-1", "temperature": "0", "token limit": "max_tokens"},
        ),
        (
            {
                "openai": {
                    "base_url": "https://vlm.example/v1",
                    "model": "m-2",
                    "sends_temperature": False,
                    "limit_field": "max_completion_tokens",
                }
            },
            {
                "service": "vlm.example",
                "model": "m-2",
                "temperature": "not sent, the service's own",
                "token limit": "max_completion_tokens",
            },
        ),
    ],
)
def test_an_identity_is_what_decides_the_answers(ways: dict[str, Any], details: dict[str, str]) -> None:
    identity = identity_of(entry(**ways))
    assert (identity.name, identity.group, identity.details) == ("Drawn", "general_open", details)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A hub with a VLM and an adapter, of which nothing is cached."""
    hub = Hub(tmp_path / "hub")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(hub.cache))
    monkeypatch.setattr("huggingface_hub.snapshot_download", hub.snapshot_download)
    hub.has["a/b"] = {FIRST: weights(tmp_path / "vlm", config_json=b"{}")}
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text("{}")
    hub.has["c/d"] = {SECOND: adapter}
    return hub


def test_a_run_begun_before_the_weights_were_fetched_is_the_one_resumed_after(hub: Hub) -> None:
    """Also when the hub has moved on meanwhile."""
    one = entry(transformers={"source": "a/b", "adapter": "c/d", "online": True})
    begun = identity_of(one)
    assert (begun.details["weights commit"], begun.details["adapter commit"]) == (FIRST, SECOND)
    hub.has["a/b"]["2" * 40] = hub.has["a/b"][FIRST]
    fetched("a/b", None, MODEL)
    assert identity_of(one).digest == begun.digest
    offline = {**one.model_dump()["transformers"], "online": False}
    assert identity_of(entry(transformers=offline)).digest == begun.digest


def test_another_commit_of_the_weights_or_of_the_adapter_is_another_vlm(hub: Hub) -> None:
    one = entry(transformers={"source": "a/b", "adapter": "c/d"})
    digests = {identity_of(one).digest}
    for source in ("a/b", "c/d"):
        for commit in (FIRST, SECOND):
            cached(hub.cache, source, next(iter(hub.has[source].values())), commit)
            digests.add(identity_of(one).digest)
    assert len(digests) == 5
    assert not hub.asked


def test_a_folder_of_weights_may_be_moved_but_not_trained_anew(tmp_path: Path) -> None:
    first, moved = weights(tmp_path / "first", config_json=b"{}"), weights(tmp_path / "moved", config_json=b"{}")
    identity = identity_of(entry(transformers={"source": str(first)}))
    assert identity == identity_of(entry(transformers={"source": str(moved)}))
    assert str(tmp_path) not in str(identity)
    trained = weights(tmp_path / "trained", b"Weights", config_json=b"{}")
    assert identity.digest != identity_of(entry(transformers={"source": str(trained)})).digest


@pytest.mark.parametrize(
    ("name", "decides"),
    [
        ("config.json", True),
        ("generation_config.json", True),
        ("preprocessor_config.json", True),
        ("processor_config.json", True),
        ("video_preprocessor_config.json", True),
        ("tokenizer.json", True),
        ("tokenizer.model", True),
        ("tokenizer_config.json", True),
        ("special_tokens_map.json", True),
        ("added_tokens.json", True),
        ("vocab.json", True),
        ("merges.txt", True),
        ("chat_template.jinja", True),
        ("chat_template.json", True),
        ("adapter_config.json", True),
        ("adapter_model.safetensors", True),
        ("model.safetensors.index.json", True),
        ("modeling_drawn.py", True),
        ("training.json", False),
        ("curves.jsonl", False),
        ("README.md", False),
        ("LICENSE.txt", False),
        ("trainer_state.json", False),
    ],
)
def test_every_file_that_decides_answers_counts_and_no_other(tmp_path: Path, name: str, decides: bool) -> None:
    folder = weights(tmp_path / "vlm")
    seen = [weights_fingerprint(folder)]
    for content in (b"{}", b"[]"):
        (folder / name).write_bytes(content)
        seen.append(weights_fingerprint(folder))
    assert len(set(seen)) == (3 if decides else 1)


def tensors(folder: Path, **of: np.ndarray[Any, Any]) -> Path:
    """Write a safetensors file of these tensors."""
    folder.mkdir(exist_ok=True)
    save_file(of, folder / "model.safetensors")
    return folder


MIB = 1 << 20


@pytest.mark.parametrize("at", [0, 2 * MIB, 7_654_321, 31 * MIB + 1, 62 * MIB])
def test_a_changed_stretch_of_large_weights_is_seen_wherever_it_lies(tmp_path: Path, at: int) -> None:
    content = np.zeros(64 * MIB, dtype=np.uint8)
    plain = weights_fingerprint(tensors(tmp_path, w=content))
    content[at : at + MIB] = 255
    assert weights_fingerprint(tensors(tmp_path, w=content)) != plain


def test_every_tensor_counts_wherever_it_changed(tmp_path: Path) -> None:
    shapes = {"large": 3 * MIB + 5, "norm": 7, "bias": 40, "middling": MIB}
    plain = {name: np.zeros(size, dtype=np.uint8) for name, size in shapes.items()}
    seen = {weights_fingerprint(tensors(tmp_path, **plain))}
    for name, tensor in plain.items():
        for place in (0, tensor.size - 1) if name == "large" else (0, tensor.size // 2, tensor.size - 1):
            changed = tensor.copy()
            changed[place] = 1
            seen.add(weights_fingerprint(tensors(tmp_path, **{**plain, name: changed})))
    assert len(seen) == 1 + 2 + 3 * 3


def test_tensors_of_other_names_or_types_are_other_weights(tmp_path: Path) -> None:
    zeros = np.zeros(8, dtype=np.uint8)
    ways: list[dict[str, Any]] = [{"a": zeros}, {"b": zeros}, {"a": zeros.view(np.uint16)}, {"a": zeros.reshape(2, 4)}]
    assert len({weights_fingerprint(tensors(tmp_path, **way)) for way in ways}) == 4


HUGE = (28).to_bytes(8, "little") + b'{"a":{"data_offsets":[0,9]}}'
"""A header that names more than the file holds."""


@pytest.mark.parametrize("content", [b"", b"weights", b"\xff" * 100, bytes(8), HUGE])
def test_a_file_that_is_no_safetensors_counts_whole(tmp_path: Path, content: bytes) -> None:
    odd, longer = weights(tmp_path / "a", content), weights(tmp_path / "b", content + b"x")
    assert weights_fingerprint(odd) != weights_fingerprint(longer)
    assert weights_fingerprint(odd) == weights_fingerprint(weights(tmp_path / "c", content))


def test_absent_weights_have_the_fingerprint_of_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert weights_fingerprint(tmp_path / "absent") == weights_fingerprint(tmp_path / "empty")


def test_the_facts_of_a_session_name_code_and_machine_and_not_whose() -> None:
    assert {"parallax", "code_sha256", "python"} <= set(code_facts())
    assert code_facts() == code_facts()
    assert set(machine_facts({"device": "CPU"})) == {"system", "machine", "cores", "device"}
    assert vlm_facts(None) == {}
    assert vlm_facts(entry(transformers={"source": "nobody/has-this"}).spec) == {}


def test_the_facts_of_a_loaded_vlm_are_its_device_and_what_it_says_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of this VLM, and only once it is loaded."""
    spec = entry(transformers={"source": "nobody/has-this"}).spec
    status = partial(WorkerStatus, phase=Phase.READY, since=None, process_bytes=None, total_bytes=None, free_bytes=None)
    status = partial(status, n_calls=0, n_replies=0, n_asks=0)
    warm = [
        status(name="Drawn", device=None),
        status(name="Other", device="GPU", facts={"dtype": "float16"}),
        status(name="Drawn", device="CPU", facts={"dtype": "float32"}),
    ]
    for n_seen, facts in ((2, {}), (3, {"device": "CPU", "dtype": "float32"})):
        monkeypatch.setattr(WORKERS, "status", lambda n_seen=n_seen: warm[:n_seen])
        assert vlm_facts(spec) == facts
