"""All runs at a glance, by system, suite, VLM and origin; a chosen row opens the run's contradictions."""

__all__ = ["show_run_overview"]

from typing import TYPE_CHECKING

import streamlit as st

from backend.endoca.outcomes import Outcome
from backend.figures.style import GROUP_LABELS, ORIGIN_GLYPHS
from backend.store.filters import UnitFilter
from pages.ui.links import CASE

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
        joint=100 * runs["joint_accuracy"],
        apart=100 * runs["gap"],
    )
    columns = ["suite", "label", "origin", "group", "n_units", "n_answers", "complex", "joint", "apart", "system"]
    share = {"format": "%.1f"}
    picked = st.dataframe(
        shown[columns],
        column_config={
            "suite": "Suite",
            "label": "VLM",
            "origin": "Origin",
            "group": "Group",
            "n_units": st.column_config.NumberColumn("Units", format="localized"),
            "n_answers": st.column_config.NumberColumn("Answers", format="localized"),
            "complex": st.column_config.NumberColumn("Complex, %", help="Complex questions answered right", **share),
            "joint": st.column_config.NumberColumn("Joint, %", help="Right, with every part right", **share),
            "apart": st.column_config.NumberColumn("Apart, points", help="Right answers on a wrong part", **share),
            "system": "System",
        },
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="runs",
    )
    if picked["selection"]["rows"]:
        run = runs.iloc[picked["selection"]["rows"][0]]
        apart = UnitFilter(str(run["suite"]), (str(run["run_id"]),), outcomes=(Outcome.INCONSISTENT,))
        st.switch_page(CASE, query_params=apart.to_query())
    st.caption("Intervals, and every other metric, are on Paired answers. Choose a row to open its contradictions.")
