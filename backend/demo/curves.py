"""The learning curves: what a training measured on its way, kept point by point."""

__all__ = ["CURVES", "Accuracy", "CurvePoint", "OnPoint", "begin_curves", "keep_point", "read_curves"]

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from backend.errors import AppError

CURVES = "curves.jsonl"
"""File of the curves, a point a line: in the work folder, and beside the weights."""

Accuracy = Mapping[str, Mapping[str, tuple[int, int]]]
"""Task → question class, complexity or surgical task → (replies right to the last token, n)."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of the learning curves, measured on validation frames."""

    stage: str
    step: int
    """Over all stages."""
    seconds: float
    """Spent on training so far."""
    training_loss: float
    """Mean over the steps since the last point, or since the training was taken up again."""
    accuracy: Accuracy = field(default_factory=dict)
    """Empty where nothing was asked yet."""


OnPoint = Callable[[CurvePoint], None]


def begin_curves(folder: Path, step: int) -> None:
    """Take up the curves of a training that goes on from a checkpoint: later points will be measured again.

    Args:
        folder: The work folder; it may hold no curves yet.
        step: The checkpoint's.
    """
    path = folder / CURVES
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    kept = [line for line in lines if json.loads(line)["step"] <= step]
    path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def keep_point(folder: Path, point: CurvePoint) -> None:
    """Write a point behind those of a folder."""
    with (folder / CURVES).open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(point)) + "\n")


def read_curves(folder: Path) -> list[CurvePoint]:
    """Return the learning curves kept in a folder, in order.

    Raises:
        AppError: There are none.
    """
    path = folder / CURVES
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise AppError(f"{path} cannot be read ({error.strerror}).", "Restore data/demo from the project.") from error
    return [_point(**json.loads(line)) for line in lines]


def _point(accuracy: Mapping[str, Mapping[str, list[int]]], **measured: Any) -> CurvePoint:
    found = {task: {kind: (right, n) for kind, (right, n) in kinds.items()} for task, kinds in accuracy.items()}
    return CurvePoint(**measured, accuracy=found)
