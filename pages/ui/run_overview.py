"""All runs at a glance, by system, suite, VLM and origin; a row opens the run's contradictions.

Only runs of EndoCA have accuracies here; a store that holds none has no columns for them.
"""

__all__ = ["show_run_overview"]

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE
from backend.domain.records import System
from backend.endoca.outcomes import Outcome
from backend.figures.style import GROUP_LABELS, ORIGIN_GLYPHS
from backend.services.verimap_lists import verdicts_of_runs
from backend.store.filters import UnitFilter
from backend.store.pair_filters import PairFilter
from backend.surgcheck.outcomes import PairOutcome
from backend.verimap.outcomes import VerdictOutcome
from pages.ui.clicks import OPEN, clickable_table
from pages.ui.links import CASE, open_page
from pages.ui.resources import kept
from pages.ui.store_tables import SYSTEMS
from pages.ui.suite_names import suite_words
from pages.ui.system_links import PAGES

if TYPE_CHECKING:
    import pandas as pd


def show_run_overview(runs: "pd.DataFrame") -> None:
    """Draw the table.

    Args:
        runs: From `backend.services.headlines.run_overview`.
    """
    runs = runs.sort_values(["system", "suite", "label"], kind="stable", ignore_index=True)
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
    scored = [name for name in _SCORED if shown[name].notna().any()]
    columns = [OPEN, "suite", "label", "origin", *scored, "group", "n_answers", "system"]
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
            "n_units": st.column_config.NumberColumn("Units", help="Units scored; EndoCA only", format="localized"),
            "n_answers": st.column_config.NumberColumn(
                "Answers", help="Answers; of a verifier, its verdicts", format="localized"
            ),
            "complex": st.column_config.NumberColumn(
                "Complex, %", help="Complex questions answered right; EndoCA only", format="%.1f"
            ),
            "joint": st.column_config.NumberColumn(
                "Joint, %", help="Right, with every part right; EndoCA only", format="%.1f"
            ),
            "apart": st.column_config.NumberColumn(
                "Apart, points", help="Right answers on a wrong part; EndoCA only", format="%.1f"
            ),
            "system": "System",
        },
        height="content" if len(runs) <= 15 else 560,
        placeholder=NOT_AVAILABLE,
    )
    if clicked is not None:
        run = runs.iloc[clicked[0]]
        open_page(CASE, _contradictions_of(str(run["system"]), str(run["suite"]), str(run["run_id"])))
    pages = [name for system, (_, name) in PAGES.items() if system in set(runs["system"])]
    st.caption(f"Intervals, and every other metric: {', '.join(pages)}.")


_SCORED = ("complex", "joint", "apart", "n_units")


def _contradictions_of(system: str, suite: str, run_id: str) -> dict[str, str]:
    """Return the link's parameters of the cases in which a run contradicts itself, or the reference."""
    if system == System.SURGCHECK:
        return PairFilter(suite, (run_id,), pair_outcomes=(PairOutcome.HINT_ONLY,)).to_query()
    if system == System.VERIMAP:
        behind = kept(verdicts_of_runs, (suite,), (run_id,))
        return replace(behind, verdict_outcomes=(VerdictOutcome.FALSE_ACCEPTANCE,)).to_query()
    return UnitFilter(suite, (run_id,), outcomes=(Outcome.INCONSISTENT,)).to_query()


def _contradiction(runs: "pd.DataFrame", row: int) -> str:
    words = {System.SURGCHECK: "right with the hint, wrong without it", System.VERIMAP: "wrong answers accepted"}
    return words.get(System(runs["system"].iloc[row]), "right answers on a wrong part")
