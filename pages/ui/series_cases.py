"""What a click on a point, bar or cell opens: the cases behind it, or why there are none."""

__all__ = ["STATUS_OF", "cases_behind", "open_series"]

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from backend.endoca.outcomes import Outcome
from backend.services.endoca_series import of_questions
from backend.store.filters import UNREAD, UnitFilter
from backend.store.unit_lists import unit_count
from pages.ui.endoca_words import counted
from pages.ui.links import DATA, ENDOCA
from pages.ui.opened_list import show_opened
from pages.ui.resources import kept
from pages.ui.unit_table import show_units

STATUS_OF = {"missing": "missing", **{f"{status}_rate": status for status in UNREAD}}
"""Column that counts answers apart → their status."""


def cases_behind(chosen: UnitFilter, run_id: str, what: str, level: int | None = None) -> UnitFilter:
    """Return the cases behind a number of one run.

    Consistency and inconsistency open the contradictions, an outcome its units, a rate of missing, failed, empty or
    unreadable answers the units with such an answer, any other metric all units it is a share of.

    Args:
        chosen: The page's filter.
        run_id: Whose number it is.
        what: Key of a metric or an outcome.
        level: Complexity of the point, where it has one.
    """
    behind = replace(of_questions(chosen), runs=(run_id,), groups=(), origins=())
    if level is not None:
        behind = replace(behind, complexities=(level,))
    if what in ("consistency", "inconsistency"):
        return replace(behind, outcomes=(Outcome.INCONSISTENT.value,))
    if what in STATUS_OF:
        return replace(behind, statuses=(STATUS_OF[what],))
    if what in set(Outcome):
        return replace(behind, outcomes=(what,))
    return behind


def open_series(row: Mapping[str, Any], chosen: UnitFilter, what: str, level: int | None = None) -> None:
    """Open what lies behind a number of a series.

    Args:
        row: The series' row of `series_table`.
        chosen: The page's filter.
        what: Key of a metric or an outcome.
        level: Complexity of the point, where it has one.
    """
    if row["run_id"] is None:
        show_printed(row)
    else:
        show_cases(cases_behind(chosen, row["run_id"], what, level), {row["run_id"]: str(row["label"])})


@st.dialog("Cases", width="large")
def show_cases(behind: UnitFilter, names: Mapping[str, str]) -> None:
    """Draw the list of cases over the page.

    Args:
        behind: Which cases.
        names: What to call a run, by run id.
    """
    show_opened(behind, names, counted(kept(unit_count, behind)), ENDOCA)
    show_units(behind, key="behind", height=420)


@st.dialog("Printed in the paper")
def show_printed(row: Mapping[str, Any]) -> None:
    """Say where a printed number comes from, and how to see answers instead."""
    st.text(f"{row['vlm']}: {row['source']}.")
    st.text(
        "The paper prints these figures without the answers behind them, so there is no case to open. "
        "Import this VLM's prediction file, and its own row, points and cases stand beside the printed ones."
    )
    st.page_link(DATA, label="Import answers on the Data page")
