"""The seven tasks in figures: their colours, which stay the same on all pages, and their names on an axis.

Blue and green are perceptual, yellow is quantitative, warm and violet knowledge-intensive. Nothing rests on colour
alone: hover text names the task.
"""

__all__ = ["TASK_NAMES", "TASK_ORDER", "task_color"]

from collections.abc import Mapping
from types import MappingProxyType

from backend.figures.style import DARK, Theme
from backend.verimap.vocabulary import Task

_COLORS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        Task.MODALITY_RECOGNITION.value: ("#0072B2", "#1C86C7"),
        Task.ANATOMICAL_IDENTIFICATION.value: ("#3D9BD1", "#7CCBF2"),
        Task.SPATIAL_LOCALIZATION.value: ("#009E73", "#17B98A"),
        Task.QUANTITATIVE_MEASUREMENT.value: ("#C58500", "#E6B13C"),
        Task.DISEASE_CLASSIFICATION.value: ("#D55E00", "#F08A3C"),
        Task.DIFFERENTIAL_DIAGNOSIS.value: ("#CC79A7", "#E39BC3"),
        Task.CAUSAL_EXPLANATION.value: ("#7B4EA3", "#A47BCB"),
    }
)
"""Task → colour in the light and the dark theme, each with a contrast of 3 : 1 at least."""

TASK_NAMES: Mapping[str | None, str] = MappingProxyType(
    {
        Task.MODALITY_RECOGNITION.value: "Modality",
        Task.ANATOMICAL_IDENTIFICATION.value: "Anatomy",
        Task.SPATIAL_LOCALIZATION.value: "Spatial",
        Task.QUANTITATIVE_MEASUREMENT.value: "Quantitative",
        Task.DISEASE_CLASSIFICATION.value: "Disease",
        Task.DIFFERENTIAL_DIAGNOSIS.value: "Differential",
        Task.CAUSAL_EXPLANATION.value: "Causal",
        None: "Not labelled",
    }
)
"""Task → its name on an axis or in a legend; None is a question without a task."""

TASK_ORDER: tuple[str | None, ...] = tuple(TASK_NAMES)
"""In the order of the groups, questions without a task last."""


def task_color(task: str | None, theme: Theme) -> str:
    """Return a task's colour; a question without a task is grey.

    Raises:
        KeyError: There is no such task.
    """
    return theme.quiet if task is None else _COLORS[task][theme is DARK]
