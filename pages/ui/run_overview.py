"""All runs at a glance, by system, suite, VLM and origin; a row opens the run's contradictions."""

__all__ = ["show_run_overview"]

from typing import TYPE_CHECKING

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE
from backend.domain.records import System
from backend.endoca.outcomes import Outcome
from backend.figures.style import GROUP_LABELS, ORIGIN_GLYPHS
from backend.store.filters import UnitFilter
from backend.store.pair_filters import PairFilter
from backend.surgcheck.outcomes import PairOutcome
from pages.ui.clicks import OPEN, clickable_table
from pages.ui.links import CASE, open_page
from pages.ui.store_tables import SYSTEMS
from pages.ui.suite_names import suite_words

if TYPE_CHECKING:
    import pandas as pd


def show_run_overview(runs: "pd.DataFrame") -> None:
    """Draw the table.

    Args:
        runs: From `backend.services.headlines.run_overview`.
    """
    shown = runs.assign(
        origin=[ORIGIN_GLYPHS[origin] for origin in runs["origin"]],
        group=[
            GROUP_LABELS.get(group, group) if isinstance(group, str) else "not known" for group in runs["vlm_group"]
        ],
        suite=runs["suite"].map(suite_words),
        complex=100 * runs["complex_accuracy"],
        system=[SYSTEMS.get(system, system) for system in runs["system"]],
        joint=100 * runs["joint_accuracy"],
        apart=100 * runs["gap"],
    )
    shown[OPEN] = "Open"
    columns = [OPEN, "suite", "label", "origin", "complex", "joint", "apart", "group", "n_units", "n_answers", "system"]
    clicked = clickable_table(
        shown[columns],
        key="runs",
        words=lambda row, _: f"{runs['label'].iloc[row]} on {runs['suite'].iloc[row]}: {_contradiction(runs, row)}",
        ask="Open, in a row, opens the run's contradictions. So does this button for a chosen row.",
        column_config={
            "suite": st.column_config.TextColumn("Suite", width=165),
            "label": st.column_config.TextColumn("VLM", width=170),
            "origin": st.column_config.TextColumn("Origin", width=105),
            "group": st.column_config.TextColumn("Group", width=110),
            "n_units": st.column_config.NumberColumn("Units", format="localized"),
            "n_answers": st.column_config.NumberColumn("Answers", format="localized"),
            "complex": st.column_config.NumberColumn(
                "Complex, %", help="Complex questions answered right", format="%.1f"
            ),
            "joint": st.column_config.NumberColumn("Joint, %", help="Right, with every part right", format="%.1f"),
            "apart": st.column_config.NumberColumn(
                "Apart, points", help="Right answers on a wrong part", format="%.1f"
            ),
            "system": "System",
        },
        height="content" if len(runs) <= 15 else 560,
        placeholder=NOT_AVAILABLE,
    )
    if clicked is not None:
        run = runs.iloc[clicked[0]]
        chosen = str(run["suite"]), (str(run["run_id"]),)
        if run["system"] == System.SURGCHECK:
            open_page(CASE, PairFilter(*chosen, pair_outcomes=(PairOutcome.HINT_ONLY,)).to_query())
        else:
            open_page(CASE, UnitFilter(*chosen, outcomes=(Outcome.INCONSISTENT,)).to_query())
    st.caption("Intervals, and every other metric, are on Paired answers and Shortcuts.")


def _contradiction(runs: "pd.DataFrame", row: int) -> str:
    is_pair = runs["system"].iloc[row] == System.SURGCHECK
    return "right with the hint, wrong without it" if is_pair else "right answers on a wrong part"
