"""What became of task labels in an import: in one line, and where annotators differ."""

__all__ = ["label_words", "show_labels"]

from typing import Any

import pandas as pd
import streamlit as st

from backend.services.ingest.report import LabelReport
from backend.verimap.vocabulary import Task


def label_words(labels: LabelReport) -> str:
    """Return what labels brought, as a part of a sentence; a suite's name is as in the store."""
    noun = "task label" if labels.n_changed == 1 else "task labels"
    return f"{labels.n_changed:,} new or changed {noun} in suite {labels.suite}"


def show_labels(labels: LabelReport) -> None:
    """Draw where annotators differ from each other, and the labels from those by hand; nothing where none does."""
    differing = [cell for cell in labels.confusion if cell["task_a"] != cell["task_b"]]
    if differing:
        st.caption("Where annotators differ")
        _show_cells([
            {"one": cell["a"], "says": _task(cell["task_a"]), "other": cell["b"], "says instead": _task(cell["task_b"]),
             "questions": cell["n"]}
            for cell in differing
        ])  # fmt: skip
    by_hand = [cell for cell in (labels.checked or {}).get("confusion", ()) if cell["by_hand"] != cell["labelled"]]
    if by_hand:
        st.caption("Where labels differ from those by hand")
        _show_cells([
            {"by hand": _task(cell["by_hand"]), "labelled": _task(cell["labelled"]), "questions": cell["n"]}
            for cell in by_hand
        ])  # fmt: skip


def _show_cells(rows: list[dict[str, Any]]) -> None:
    table = pd.DataFrame(rows).sort_values("questions", ascending=False, kind="stable")
    st.dataframe(table, hide_index=True, width="content", height=min(36 * len(rows) + 38, 260))


def _task(name: str) -> str:
    return Task(name).label if name in set(Task) else name
