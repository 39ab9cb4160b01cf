"""All runs at a glance, by system, suite, VLM and origin; a click on a row opens the run's contradictions."""

__all__ = ["show_run_overview"]

from typing import TYPE_CHECKING

import streamlit as st

from backend.endoca.outcomes import Outcome
from backend.figures.style import GROUP_LABELS, ORIGIN_GLYPHS
from backend.store.filters import UnitFilter
from pages.ui.clicks import clickable_table
from pages.ui.links import CASE
from pages.ui.store_tables import SYSTEMS

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
        complex=100 * runs["complex_accuracy"],
        system=[SYSTEMS.get(system, system) for system in runs["system"]],
        joint=100 * runs["joint_accuracy"],
        apart=100 * runs["gap"],
    )
    columns = ["suite", "label", "origin", "group", "n_units", "n_answers", "complex", "joint", "apart", "system"]
    clicked = clickable_table(
        shown[columns],
        column_config={
            "suite": "Suite",
            "label": "VLM",
            "origin": "Origin",
            "group": "Group",
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
        height=min(36 * len(runs) + 38, 560),
        key="runs",
    )
    if clicked is not None:
        run = runs.iloc[clicked[0]]
        apart = UnitFilter(str(run["suite"]), (str(run["run_id"]),), outcomes=(Outcome.INCONSISTENT,))
        st.switch_page(CASE, query_params=apart.to_query())
    st.caption("Intervals, and every other metric, are on Paired answers. A click on a row opens its contradictions.")
