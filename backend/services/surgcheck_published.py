"""Figures printed in the SurgCheck paper, read where they are shown and never mixed with runs.

The tables lie in ``data/published/`` as printed, in percent. They are of the full test set, so
they stand beside runs over that set alone.
"""

__all__ = ["ABLATION_SOURCE", "PRINTED_PAIRS", "SURGCHECK_PAPER", "TABLES", "printed_ablation", "printed_table"]

import csv
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.records import VlmGroup
from backend.settings import DATA

if TYPE_CHECKING:
    import pandas as pd

SURGCHECK_PAPER = "Shin, Kim, Cho, Kim, Oh 2026, SurgCheck (IPCAI 2026)"

PRINTED_PAIRS = 3860
"""Pairs of the full test set, on which the printed accuracies rest."""


class PrintedTable(NamedTuple):
    """One printed table of accuracies by VLM."""

    file: str
    setting: str
    metric: str
    """Key of the metric in `backend.surgcheck.metrics.METRICS`."""
    source: str


TABLES = MappingProxyType(
    {
        "accuracy": PrintedTable(
            "surgcheck_fine_tuned.csv", "fine-tuned", "accuracy", f"{SURGCHECK_PAPER}, Table 2, fine-tuned"
        ),
        "judge_accuracy": PrintedTable(
            "surgcheck_zero_shot.csv", "zero-shot", "judge_accuracy", f"{SURGCHECK_PAPER}, Table 1, zero-shot"
        ),
    }
)
"""The printed tables by the metric that they print."""

ABLATION_SOURCE = f"{SURGCHECK_PAPER}, Fig. 5 and its section"

_GROUPS = {"general": VlmGroup.GENERAL_OPEN, "surgical": VlmGroup.ENDOSCOPY_ADAPTED}


def printed_table(metric: str) -> "pd.DataFrame":
    """Return a printed table of accuracies.

    Args:
        metric: A key of `TABLES`.

    Returns:
        One row a VLM as printed: vlm, vlm_group, setting, original, less_biased, gap (fractions; None where
        the paper prints none), source.
    """
    import pandas as pd

    table = TABLES[metric]
    rows = [
        {
            "vlm": printed["model"],
            "vlm_group": _GROUPS[printed["model_type"]].value,
            "setting": table.setting,
            "original": _fraction(printed["original_accuracy"]),
            "less_biased": _fraction(printed["less_biased_accuracy"]),
            "gap": _fraction(printed["drop"]),
            "source": table.source,
        }
        for printed in _lines(table.file)
    ]
    return pd.DataFrame(rows, dtype=object)


def printed_ablation() -> "pd.DataFrame":
    """Return the printed figures of the text-only ablation.

    Returns:
        One row a task as printed: vlm, setting, task (the release's tag), original, less_biased, text_only
        (fractions; None where the paper prints none), source.
    """
    import pandas as pd

    rows = []
    for printed in _lines("surgcheck_text_only_ablation.csv"):
        vlm, _, setting = printed["model"].partition(" (")
        rows.append(
            {
                "vlm": vlm,
                "setting": setting.rstrip(")"),
                "task": _TAGS.get(printed["task"], printed["task"]),
                **{name: _fraction(printed[f"{name}_accuracy"]) for name in ("original", "less_biased", "text_only")},
                "source": ABLATION_SOURCE,
            }
        )
    return pd.DataFrame(rows, dtype=object)


_TAGS = {"action": "Action", "target": "Target", "triplet": "Triplet"}
"""A task's word in the printed file → the release's tag, where they differ."""


def _lines(file: str) -> list[dict[str, Any]]:
    with (DATA / "published" / file).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def _fraction(printed: str) -> float | None:
    return round(float(printed) / 100, 6) if printed else None
