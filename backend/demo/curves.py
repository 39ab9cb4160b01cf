"""The learning curves: what a training measured on its way."""

__all__ = ["CURVES", "Accuracy", "CurvePoint", "OnPoint", "as_json", "read_curves"]

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

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


def as_json(point: CurvePoint) -> str:
    """Return a point as a line of the curves' file."""
    return json.dumps(asdict(point))


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
    return [CurvePoint(**json.loads(line)) for line in lines]
