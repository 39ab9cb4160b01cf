"""Where a training stands, on disk: weights and optimizer in safetensors, the rest in JSON.

Written to a new folder that then takes the old one's place. The old one goes last of all, so
that a training killed at any moment goes on from its last checkpoint.
"""

__all__ = ["Standing", "load_checkpoint", "save_checkpoint"]

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a training is."""

    step: int
    """Steps done, over all stages."""
    seconds: float
    """Spent on them."""


def save_checkpoint(folder: Path, standing: Standing, modules: Any, optimizer: Any) -> None:
    """Write a checkpoint, replacing the last one.

    Args:
        folder: The work folder.
        standing: How far the training is.
        modules: The torch module that holds everything trained.
        optimizer: Its AdamW.
    """
    from safetensors.torch import save_file

    current, fresh, old = _places(folder)
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    save_file(
        {name: tensor.detach().clone() for name, tensor in modules.named_parameters()}, fresh / "weights.safetensors"
    )
    moments = {
        f"{index}.{name}": value
        for index, state in optimizer.state_dict()["state"].items()
        for name, value in state.items()
    }
    save_file(moments, fresh / "optimizer.safetensors")
    (fresh / "standing.json").write_text(json.dumps(asdict(standing)), encoding="utf-8")
    if current.exists():
        shutil.rmtree(old, ignore_errors=True)
        current.replace(old)
    fresh.replace(current)
    shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(folder: Path, modules: Any, optimizer: Any) -> Standing | None:
    """Load the last whole checkpoint into modules and optimizer.

    Args:
        folder: The work folder.
        modules: The torch module that `save_checkpoint` was given, built anew.
        optimizer: Its AdamW.

    Returns:
        How far the training was; None where there is no checkpoint.
    """
    from safetensors.torch import load_file

    current, _, old = _places(folder)
    found = next((place for place in (current, old) if place.exists()), None)
    if found is None:
        return None
    weights = load_file(found / "weights.safetensors")
    parameters = dict(modules.named_parameters())
    for name, tensor in weights.items():
        parameters[name].data.copy_(tensor)
    state: dict[int, dict[str, Any]] = {}
    for key, value in load_file(found / "optimizer.safetensors").items():
        index, _, name = key.partition(".")
        state.setdefault(int(index), {})[name] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    return Standing(**json.loads((found / "standing.json").read_text(encoding="utf-8")))


def _places(folder: Path) -> tuple[Path, Path, Path]:
    """Return where the last checkpoint lies, where the next is written, and where the last waits meanwhile."""
    return folder / "checkpoint", folder / "checkpoint.new", folder / "checkpoint.old"
