"""A VLM of the registry is told by what decides its answers, and by no path, key or device."""

from pathlib import Path
from typing import Any

import pytest

from backend.services.runs.identity import identity_of, weights_fingerprint
from backend.services.runs.surroundings import code_facts, machine_facts, vlm_facts
from backend.vlm.entries import VlmEntry


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
        ({"transformers": {"source": "a/b", "device": "cuda", "online": True}}, {"weights": "a/b", "dtype": "auto"}),
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
                "temperature": "the service's own",
                "token limit": "max_completion_tokens",
            },
        ),
    ],
)
def test_an_identity_is_what_decides_the_answers(ways: dict[str, Any], details: dict[str, str]) -> None:
    identity = identity_of(entry(**ways))
    assert (identity.name, identity.group, identity.details) == ("Drawn", "general_open", details)


def test_a_folder_of_weights_may_be_moved_but_not_trained_anew(tmp_path: Path) -> None:
    first, moved = weights(tmp_path / "first", config_json=b"{}"), weights(tmp_path / "moved", config_json=b"{}")
    identity = identity_of(entry(transformers={"source": str(first)}))
    assert identity == identity_of(entry(transformers={"source": str(moved)}))
    assert str(tmp_path) not in str(identity)
    trained = weights(tmp_path / "trained", b"Weights", config_json=b"{}")
    assert identity.digest != identity_of(entry(transformers={"source": str(trained)})).digest


@pytest.mark.parametrize(
    ("others", "is_same"),
    [({}, True), ({"README_md": b"card"}, True), ({"config_json": b"{}"}, False), ({"template_jinja": b"x"}, False)],
)
def test_settings_count_and_a_model_card_does_not(tmp_path: Path, others: dict[str, bytes], is_same: bool) -> None:
    plain, other = weights(tmp_path / "a"), weights(tmp_path / "b", **others)
    assert (weights_fingerprint(plain) == weights_fingerprint(other)) is is_same


@pytest.mark.parametrize("at", [0, 20_000_000, 39_999_999])
def test_large_weights_that_differ_from_place_to_place_are_told_apart(tmp_path: Path, at: int) -> None:
    content = bytearray(40_000_000)
    plain = weights(tmp_path / "a", bytes(content))
    content[max(at - 2_000_000, 0) : at + 2_000_000] = b"\1" * (
        min(at + 2_000_000, 40_000_000) - max(at - 2_000_000, 0)
    )
    assert weights_fingerprint(plain) != weights_fingerprint(weights(tmp_path / "b", bytes(content)))


def test_absent_weights_have_the_fingerprint_of_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert weights_fingerprint(tmp_path / "absent") == weights_fingerprint(tmp_path / "empty")


def test_the_facts_of_a_session_name_code_and_machine_and_not_whose() -> None:
    assert {"parallax", "code_sha256", "python"} <= set(code_facts())
    assert code_facts() == code_facts()
    assert set(machine_facts({"device": "CPU"})) == {"system", "machine", "cores", "device"}
    assert vlm_facts(None) == {}
    assert vlm_facts(entry(transformers={"source": "nobody/has-this"}).spec) == {}
