"""How the VLM in the box was trained: its learning curves and its record, as kept beside the weights."""

__all__ = ["BoxTraining", "box_training"]

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from backend.demo.curves import CURVES, CurvePoint, read_curves
from backend.errors import AppError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class BoxTraining:
    """One training, from its first step to its last."""

    command: str
    """What was called, from the project's root."""
    steps: int
    seconds: float
    """Spent on steps."""
    threads: int
    """Processor cores it used."""
    seed: int
    prompt_versions: tuple[str, ...]
    """Of the prompts it learned, one a system."""
    losses: "pd.DataFrame"
    """One row a point, in order: stage, step, loss (mean since the point before)."""
    accuracy: "pd.DataFrame"
    """One row a point and task, in order: stage, step, task, n_right (replies right word for word), n.
    Points at which nothing was asked have none."""


def box_training(folder: Path) -> BoxTraining | None:
    """Return how the VLM in a folder was trained; None where the folder holds no learning curves.

    Args:
        folder: Where the weights lie.

    Raises:
        AppError: What is kept there cannot be read, or is damaged.
    """
    if not (folder / CURVES).exists():
        return None
    from backend.demo.training_record import RECORD, read_record  # brings the drawing of frames with it

    try:
        points = read_curves(folder)
        record = read_record(folder)
        return BoxTraining(
            command=str(record["command"]),
            steps=sum(map(int, record["steps"].values())),
            seconds=float(record["seconds"]),
            threads=int(record["threads"]),
            seed=int(record["seed"]),
            prompt_versions=tuple(map(str, record["prompt_versions"])),
            losses=_losses(points),
            accuracy=_accuracy(points),
        )
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise AppError(
            f"How the VLM in the box was trained cannot be read: {CURVES} or {RECORD} in {folder} is damaged.",
            "Restore data/demo from the project.",
        ) from error


def _losses(points: list[CurvePoint]) -> "pd.DataFrame":
    import pandas as pd

    rows = [(str(point.stage), int(point.step), float(point.training_loss)) for point in points]
    if not rows or not all(isfinite(loss) for *_, loss in rows):
        raise ValueError("no curve")
    return pd.DataFrame(rows, columns=["stage", "step", "loss"])


def _accuracy(points: list[CurvePoint]) -> "pd.DataFrame":
    import pandas as pd

    rows = []
    for point in points:
        for task, kinds in point.accuracy.items():
            counts = list(kinds.values())
            n_right, n = sum(right for right, _ in counts), sum(n for _, n in counts)
            if not 0 <= n_right <= n or not n:
                raise ValueError("counts that cannot be")
            rows.append((str(point.stage), int(point.step), str(task), n_right, n))
    return pd.DataFrame(rows, columns=["stage", "step", "task", "n_right", "n"])
