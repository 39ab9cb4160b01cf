"""Tests by ranks below the plane: self- against cross-verification, and cells between tasks."""

__all__ = ["show_rank_tests"]

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE, points
from backend.figures.verimap_coupling import METRIC_LABELS
from backend.services.endoca_series import records
from backend.services.verimap_coupling import CellSource, CouplingCells, self_cross_tests, task_tests
from backend.store.verification_filters import VerificationFilter
from backend.verimap.metrics import METRICS
from backend.verimap.undefined_rates import Undefined
from pages.ui.import_report import plural
from pages.ui.number_cell import p_words
from pages.ui.resources import drawn_once, kept


def show_rank_tests(asked: VerificationFilter, cells: CouplingCells, source: CellSource, undefined: Undefined) -> None:
    """Draw both tables, each where there is something to test.

    Args:
        asked: The section's filter.
        cells: Of `coupling_cells`.
        source: Whose cells.
        undefined: What was made of rates over nothing.
    """
    if source is CellSource.STORE:
        _show_self_cross(asked)
    _show_tasks(asked, cells, source, undefined)


def _show_self_cross(asked: VerificationFilter) -> None:
    import pandas as pd

    rows = records(kept(self_cross_tests, asked))
    if not rows:
        return
    st.markdown("**Self- against cross-verification, cell by cell**")
    table = [
        {
            "metric": METRICS[row["metric"]].label,
            "pairs": row["n_pairs"],
            "equal": row["n_equal"],
            "undefined": row["n_undefined"],
            "mean": points(row["mean"]),
            "p": p_words(row["p"]),
            "kind": "exact" if row["exact"] else "normal approximation",
            "d_paired": _effect(row["d_paired"]),
            "d_pooled": _effect(row["d_pooled"]),
        }
        for row in rows
    ]
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    st.dataframe(
        pd.DataFrame(table),
        hide_index=True,
        width="content",
        column_config={
            "metric": text("Metric", width=120),
            "pairs": number("Pairs", width=60),
            "equal": number("Equal", width=60, help="Pairs without a difference, which the test leaves out"),
            "undefined": number("Undefined", width=80, help="Pairs left out because a value is undefined"),
            "mean": text("Self − cross", width=110),
            "p": text("p", width=70),
            "kind": text("Distribution", width=150),
            "d_paired": text("Cohen's d, paired", width=130, help="Mean over the deviation of the differences"),
            "d_pooled": text("Cohen's d, pooled", width=130, help="Mean over the pooled deviation of both"),
        },
    )
    st.caption(
        f"Wilcoxon's signed-rank test, {rows[0]['hypothesis']}. A pair is one VLM's answers to one task of one data "
        "set: its own cell, and the mean of the cells of all other verifiers of those answers."
    )


def _show_tasks(asked: VerificationFilter, cells: CouplingCells, source: CellSource, undefined: Undefined) -> None:
    import pandas as pd

    rows = drawn_once(
        "coupling_tasks", (asked, source, undefined), lambda: records(task_tests(cells, undefined))
    )  # fmt: skip
    if not rows:
        return
    st.markdown("**Do cells differ between tasks?**")
    table = [
        {
            "metric": METRIC_LABELS[row["metric"]],
            "n": row["n"],
            "tasks": row["n_tasks"],
            "statistic": f"{row['statistic']:.2f}",
            "df": row["df"],
            "p": p_words(row["p"]),
        }
        for row in rows
    ]
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    st.dataframe(
        pd.DataFrame(table),
        hide_index=True,
        width="content",
        column_config={
            "metric": text("Metric", width=120),
            "n": number("Cells", width=60),
            "tasks": number("Tasks", width=60),
            "statistic": text("H", width=70),
            "df": number("df", width=45),
            "p": text("p", width=70),
        },
    )
    most = max(row["n_tasks"] for row in rows)
    st.caption(
        f"Kruskal and Wallis' test over {plural(most, 'task')}, H1: not all tasks have the same distribution of cells. "
        "Cells of one VLM or data set are not independent, which this test takes no account of."
    )


def _effect(value: float | None) -> str:
    return NOT_AVAILABLE if value is None else f"{value:.2f}".replace("-", "−")
