"""What a click on the plane page opens: the verdicts behind a cell, failures first; or the cells of a printed point."""

__all__ = ["cases_behind", "show_printed_point", "show_verdicts_behind"]

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from backend.services.verimap_plane import PLANE_SOURCE, cells_behind
from backend.store.verification_filters import APART, BOTH, UNLABELLED, VerificationFilter, verification_count
from backend.verimap.conditions import Condition
from backend.verimap.outcomes import VerdictOutcome
from pages.ui.links import DATA, VERIMAP
from pages.ui.opened_list import show_opened
from pages.ui.resources import kept
from pages.ui.verification_list import show_verifications
from pages.ui.verimap_filters import dataset_words, task_words, verifications_counted

Row = Mapping[str, Any]

ALL = "all"

_SWITCH: Mapping[str, str] = {
    **{outcome.value: outcome.label for outcome in (VerdictOutcome.FALSE_ACCEPTANCE, VerdictOutcome.FALSE_REJECTION)},
    "unparsed": APART["unparsed"],
    **{outcome.value: outcome.label for outcome in (VerdictOutcome.TRUE_REJECTION, VerdictOutcome.TRUE_ACCEPTANCE)},
    "unjudged": APART["unjudged"],
    ALL: "all",
}
"""What a list can be narrowed to, failures first → in words."""


def cases_behind(row: Row, chosen: VerificationFilter, rows: Sequence[Row]) -> VerificationFilter:
    """Return the verdicts of a cell.

    Args:
        row: Of `cell_table`.
        chosen: The page's filter, for how undecided verdicts are counted.
        rows: All cells; where two runs measured the same, the cell's run is named.
    """
    same = ("suite", "task", "generator", "verifier", "condition", "turn")
    several = sum(all(one[name] == row[name] for name in same) for one in rows) > 1
    return VerificationFilter(
        suites=(row["suite"],),
        tasks=(row["task"] or UNLABELLED,),
        generators=(row["generator"],),
        verifiers=(row["verifier"],),
        pairing=BOTH,
        conditions=() if row["condition"] == Condition.PLAIN else (row["condition"],),
        turns=(int(row["turn"]),),
        runs=(row["run_id"],) if several else (),
        uncertain=chosen.uncertain,
        unparsed=chosen.unparsed,
    )


@st.dialog("Cases", width="large")
def show_verdicts_behind(behind: VerificationFilter, names: Mapping[str, str], outcome: str = "") -> None:
    """Draw the list of verdicts over the page, with a switch between what became of them.

    Args:
        behind: Which verdicts.
        names: What to call a run, by run id.
        outcome: What the list begins with; empty: false acceptances, where there are any.
    """
    behind = _choose_outcome(behind, outcome)
    show_opened(behind, names, verifications_counted(kept(verification_count, behind)), VERIMAP)
    show_verifications(behind, key="behind", height=420)


def _choose_outcome(behind: VerificationFilter, outcome: str) -> VerificationFilter:
    there = {
        key: kept(verification_count, replace(behind, verdict_outcomes=() if key == ALL else (key,))) for key in _SWITCH
    }
    options = [key for key, n in there.items() if n or key == ALL]
    first = outcome if outcome in options else options[0]
    picked = st.segmented_control(
        "What became of the verdict",
        options,
        default=first,
        format_func=lambda key: f"{_SWITCH[key]} {there[key]:,}",
        required=True,
        key=f"outcome_{outcome}_{'_'.join(behind.to_query().values())}",
        label_visibility="collapsed",
    )
    return replace(behind, verdict_outcomes=() if picked == ALL else (str(picked),))


@st.dialog("Printed in the paper", width="large")
def show_printed_point(row: Row) -> None:
    """Say which printed cells a point is the mean of, and how to see verdicts instead."""
    cells = cells_behind(row["task"], row["verifier"])
    st.text(f"{row['verifier']} verifying its own answers, {task_words(row['task'])}: {PLANE_SOURCE}.")
    number = st.column_config.NumberColumn
    st.dataframe(
        cells.assign(dataset=cells["dataset"].map(dataset_words)),
        hide_index=True,
        column_order=["dataset", "generator_accuracy", "verifier_accuracy", "fpr", "fnr"],
        column_config={
            "dataset": st.column_config.TextColumn("Data set"),
            "generator_accuracy": number("Generator accuracy, %", format="%.1f"),
            "verifier_accuracy": number("Verifier accuracy, %", format="%.1f"),
            "fpr": number("FPR, %", format="%.1f"),
            "fnr": number("FNR, %", format="%.1f"),
        },
    )
    st.text(
        "The paper prints these rates without counts and without the verdicts behind them, so there is no case to "
        "open. With a VLM's verification records its own points and cases stand beside the printed ones."
    )
    st.page_link(DATA, label="Import records on the Data page")
