"""Figures printed in the papers, shown beside runs and never mixed with them.

The tables lie in ``data/published/`` as printed, in percent. Tables of paired answers are in the
store, as fractions; those of ASR hold differences and averages, so they are read where they are shown.
"""

__all__ = [
    "ABLATION_COLUMNS",
    "ABLATION_SOURCE",
    "ASR_COLUMNS",
    "ASR_SOURCE",
    "ASR_SUITE",
    "AVERAGE",
    "ENDOCA_PAPER",
    "load_published",
    "printed_ablation",
    "printed_asr",
]

import csv
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.records import System
from backend.settings import DATA
from backend.store.arrow import arrow_table
from backend.store.store import Store, insert

if TYPE_CHECKING:
    import pandas as pd

ENDOCA_PAPER = "Liu, Zhao, Yue 2026, EndoCA (arXiv:2607.17834v1)"

_METRICS = {
    "complex_accuracy": "complex_accuracy",
    "atomic_accuracy": "atomic_accuracy",
    "joint_accuracy": "joint_accuracy",
    "complex_atomic_inconsistency": "inconsistency",
}
"""Column of the printed table → key of the metric."""


class _Table(NamedTuple):
    file: str
    suite: str
    source: str


_ENDOCA_TABLES = (
    _Table("endoca_core.csv", "core", f"{ENDOCA_PAPER}, Table III, EndoCA-Core"),
    _Table("endoca_diagnostic.csv", "diagnostic", f"{ENDOCA_PAPER}, Table IV, EndoCA-Diagnostic"),
)


ASR_SUITE = "core"
"""The suite of both printed tables of ASR."""
ASR_SOURCE = f"{ENDOCA_PAPER}, Table V and Fig. 5, EndoCA-Core"
ABLATION_SOURCE = f"{ENDOCA_PAPER}, Table VI, EndoCA-Core"

AVERAGE = "average"
"""What the last row of Table V stands for, in place of a VLM."""

ASR_COLUMNS = {
    "direct_complex_accuracy": "direct_accuracy",
    "revise_complex_accuracy": "revised_accuracy",
    "joint_accuracy_delta": "joint_change",
    "complex_atomic_inconsistency_delta": "inconsistency_change",
    "coverage": "coverage",
    "selective_complex_accuracy": "selective_accuracy",
}
"""Column of Table V → what the pages call it."""

ABLATION_COLUMNS = {
    "complex_accuracy": "complex_accuracy",
    "joint_accuracy": "joint_accuracy",
    "complex_atomic_inconsistency": "inconsistency",
    "coverage": "coverage",
    "selective_complex_accuracy": "selective_accuracy",
}
"""Column of Table VI → key of the metric."""


def printed_asr() -> "pd.DataFrame":
    """Return Table V, whose figures on complex accuracy and coverage Fig. 5 draws.

    Returns:
        One row a VLM as printed, the printed average last: vlm (`AVERAGE` there), then the columns
        of `ASR_COLUMNS`: fractions, and differences of fractions to the direct answers.
    """
    return _printed("endoca_asr.csv", "model", "vlm", ASR_COLUMNS)


def printed_ablation() -> "pd.DataFrame":
    """Return Table VI, averages over the four VLMs of Table V.

    Returns:
        One row a method as printed: method (``direct``, ``without_atomic``, ``asr``), then the
        columns of `ABLATION_COLUMNS`, fractions.
    """
    return _printed("endoca_ablation.csv", "method", "method", ABLATION_COLUMNS)


def _printed(file: str, head: str, name: str, columns: dict[str, str]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(
        [
            {name: printed[head], **{key: _fraction(printed[column]) for column, key in columns.items()}}
            for printed in _lines(file)
        ]
    )


def load_published(store: Store) -> None:
    """Fill the table ``published`` from the shipped files where it is empty."""
    if store.value("SELECT count(*) FROM published"):
        return
    rows = [row for table in _ENDOCA_TABLES for row in _rows(table)]
    with store.write() as cursor:
        insert(cursor, "published", arrow_table({name: [row[name] for row in rows] for name in rows[0]}))


def _rows(table: _Table) -> list[dict[str, Any]]:
    return [
        {
            "system": System.ENDOCA,
            "source": table.source,
            "suite": table.suite,
            "vlm": printed["model"],
            "vlm_group": printed["group"],
            "parameters": printed["params"] or None,
            "n": int(printed["qa_count"]),
            "metric": metric,
            "value": _fraction(printed[column]),
        }
        for printed in _lines(table.file)
        for column, metric in _METRICS.items()
    ]


def _lines(file: str) -> Iterator[dict[str, str]]:
    with (DATA / "published" / file).open(encoding="utf-8", newline="") as opened:
        yield from csv.DictReader(opened)


def _fraction(printed: str) -> float:
    return round(float(printed) / 100, 6)
