"""A training killed at any moment goes on from a whole checkpoint."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from backend.demo.checkpoint import Standing, load_checkpoint, save_checkpoint


class Killed(BaseException):
    """The process ends here."""


def made(seed: int) -> tuple[torch.nn.Module, torch.optim.AdamW]:
    torch.manual_seed(seed)
    modules = torch.nn.ModuleDict({"a": torch.nn.Linear(3, 2), "b": torch.nn.Linear(2, 1)})
    return modules, torch.optim.AdamW(modules.parameters(), lr=0.05)


def train(modules: Any, optimizer: Any, steps: int) -> None:
    for step in range(steps):
        modules["b"](modules["a"](torch.arange(3.0) + step)).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def weights(modules: torch.nn.Module) -> dict[str, list[float]]:
    return {name: tensor.flatten().tolist() for name, tensor in modules.named_parameters()}


def test_without_a_checkpoint_nothing_is_loaded(tmp_path: Path) -> None:
    modules, optimizer = made(0)
    before = weights(modules)
    assert load_checkpoint(tmp_path / "nowhere", modules, optimizer) is None
    assert weights(modules) == before


def test_a_training_goes_on_as_if_it_had_not_been_stopped(tmp_path: Path) -> None:
    modules, optimizer = made(0)
    train(modules, optimizer, 3)
    save_checkpoint(tmp_path, Standing(3, 1.5), modules, optimizer)
    train(modules, optimizer, 4)
    again, its_optimizer = made(1)
    assert load_checkpoint(tmp_path, again, its_optimizer) == Standing(3, 1.5)
    train(again, its_optimizer, 4)
    assert weights(again) == weights(modules)


def test_a_checkpoint_is_safetensors_and_json_and_nothing_else(tmp_path: Path) -> None:
    modules, optimizer = made(0)
    train(modules, optimizer, 1)
    for step in (1, 2):
        save_checkpoint(tmp_path, Standing(step, 0.5), modules, optimizer)
    [folder] = tmp_path.iterdir()
    assert sorted(path.name for path in folder.iterdir()) == [
        "optimizer.safetensors", "standing.json", "weights.safetensors"
    ]  # fmt: skip
    assert json.loads((folder / "standing.json").read_text()) == {"step": 2, "seconds": 0.5}
    assert set(safetensors.torch.load_file(folder / "weights.safetensors")) == set(weights(modules))


FILE_OPERATIONS = (
    (shutil, "rmtree"),
    (Path, "mkdir"),
    (Path, "write_text"),
    (Path, "replace"),
    (safetensors.torch, "save_file"),
)


def save_and_die(patch: pytest.MonkeyPatch, operation: int, save: Callable[[], None]) -> bool:
    """Save, and be killed just before the file operation of this number; return whether that came about."""
    done = 0

    def counted(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal done
            if done == operation:
                raise Killed
            done += 1
            return original(*args, **kwargs)

        return call

    with patch.context() as inside:
        for owner, name in FILE_OPERATIONS:
            inside.setattr(owner, name, counted(getattr(owner, name)))
        try:
            save()
        except Killed:
            return True
    return False


@pytest.mark.parametrize("first", range(9))
@pytest.mark.parametrize("second", range(9))
def test_killed_twice_at_any_two_moments_the_last_whole_checkpoint_is_loaded(
    first: int, second: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules, optimizer = made(0)
    known = {}
    for step, operation in ((1, 99), (2, first), (3, second)):
        train(modules, optimizer, 1)
        known[step] = weights(modules)
        save = partial(save_checkpoint, tmp_path, Standing(step, 0.0), modules, optimizer)
        was_killed = save_and_die(monkeypatch, operation, save)
        found, its_optimizer = made(5)
        standing = load_checkpoint(tmp_path, found, its_optimizer)
        assert standing is not None
        assert weights(found) == known[standing.step]
        assert was_killed or standing.step == step


def test_a_save_has_no_more_moments_than_were_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules, optimizer = made(0)
    train(modules, optimizer, 1)
    save_checkpoint(tmp_path, Standing(1, 0.0), modules, optimizer)
    save = partial(save_checkpoint, tmp_path, Standing(2, 0.0), modules, optimizer)
    assert not save_and_die(monkeypatch, 9, save)
    assert save_and_die(monkeypatch, 8, save)
