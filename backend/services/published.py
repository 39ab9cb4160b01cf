"""Figures printed in the papers, shown beside runs and never mixed with them.

The tables lie in ``data/published/`` as printed; the store holds them as fractions.
"""

__all__ = ["ENDOCA_PAPER", "load_published"]

import csv
from typing import Any, NamedTuple

from backend.domain.records import System
from backend.settings import DATA
from backend.store.arrow import arrow_table
from backend.store.store import Store, insert

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


def load_published(store: Store) -> None:
    """Fill the table ``published`` from the shipped files where it is empty."""
    if store.value("SELECT count(*) FROM published"):
        return
    rows = [row for table in _ENDOCA_TABLES for row in _rows(table)]
    with store.write() as cursor:
        insert(cursor, "published", arrow_table({name: [row[name] for row in rows] for name in rows[0]}))


def _rows(table: _Table) -> list[dict[str, Any]]:
    with (DATA / "published" / table.file).open(encoding="utf-8", newline="") as file:
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
                "value": round(float(printed[column]) / 100, 6),
            }
            for printed in csv.DictReader(file)
            for column, metric in _METRICS.items()
        ]
