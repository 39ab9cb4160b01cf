"""Does the verifier look at the image: verdicts with the image withheld or swapped, and the two-step verifier.

A control that the paper lacks: a verdict that stays the same without the image was not given for what it shows.
"""

__all__ = ["show_controls", "unchanged_sentence"]

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from backend.domain.metric import percent
from backend.figures.style import Theme
from backend.figures.verimap_verifiers import unchanged_shares
from backend.services.endoca_series import records
from backend.store.verification_filters import BOTH, VerificationFilter
from backend.verimap.conditions import Condition
from pages.ui.clicks import clickable_chart
from pages.ui.endoca_words import quiet_line
from pages.ui.resources import drawn_once
from pages.ui.verimap_compared import show_compared
from pages.ui.verimap_tables import conditions_of, of_figures
from pages.ui.verimap_words import pair_words

Row = Mapping[str, Any]

_CONTROLS = {"image withheld": Condition.IMAGE_WITHHELD, "image swapped": Condition.IMAGE_SWAPPED}
_UNCHANGED = {
    "unchanged": (
        "Unchanged, %",
        "Verdicts that are the same with and without, of answers with a verdict under both; intervals by images",
    )
}
_ABOUT = {"Verifier": pair_words}


def show_controls(chosen: VerificationFilter, conditions: Sequence[str], theme: Theme) -> VerificationFilter | None:
    """Draw the controls and the two-step verifier, where the store has them; return what was just opened, else None.

    Args:
        chosen: The page's filter.
        conditions: The store's.
        theme: Light or dark.
    """
    opened: VerificationFilter | None = None
    tables = {
        name: conditions_of(chosen, condition) for name, condition in _CONTROLS.items() if condition in conditions
    }
    tables = {name: table for name, table in tables.items() if len(table)}
    if tables:
        st.subheader(
            "Does the verifier look?", help="The same answers, verified again without the image, or with another"
        )
        rows = [{**row, "control": name} for name, table in tables.items() for row in records(table)]
        st.html(quiet_line(unchanged_sentence(rows)))
        point = clickable_chart(
            drawn_once("verimap_unchanged", (of_figures(chosen), theme.name), lambda: unchanged_shares(tables, theme)),
            key="unchanged_chart",
            alt="Share of verdicts that stay the same with the image withheld or swapped",
        )
        cell = show_compared(
            rows,
            {**_ABOUT, "Control": lambda row: str(row["control"])},
            ("plain", "control"),
            key="controls",
            metrics=("error", "fpr"),
            more=_UNCHANGED,
        )
        st.caption(
            "A verdict that is given for what the image shows should change without it. The paper has no such control."
        )
        if point is not None:
            opened = _behind(chosen, {"generator": point[0], "verifier": point[1]}, _CONTROLS[point[2]])
        if cell is not None:
            opened = _behind(chosen, cell[0], Condition.PLAIN if cell[1] == "a" else _CONTROLS[cell[0]["control"]])
    if Condition.TWO_STEP in conditions:
        table = conditions_of(chosen, Condition.TWO_STEP)
        if len(table):
            st.subheader("Looking first", help="The verifier says what the image shows before it sees the answer")
            cell = show_compared(records(table), _ABOUT, ("plain", "two-step"), key="two_step")
            if cell is not None:
                opened = _behind(chosen, cell[0], Condition.PLAIN if cell[1] == "a" else Condition.TWO_STEP)
    return opened


def _behind(chosen: VerificationFilter, row: Row, condition: Condition) -> VerificationFilter:
    return replace(
        of_figures(chosen),
        pairing=BOTH,
        generators=(row["generator"],),
        verifiers=(row["verifier"],),
        conditions=() if condition is Condition.PLAIN else (condition.value,),
    )


def unchanged_sentence(rows: Sequence[Row]) -> str:
    """Return the verifier whose verdicts depend least on the image, then those that gave none to compare."""
    known = [row for row in rows if row["unchanged"] is not None]
    silent = [
        f"{pair_words(row)}: with the {row['control']}, none of {row['n_without']:,} answers has a verdict on both "
        "sides to compare."
        for row in rows
        if row["unchanged"] is None
    ]
    if not known:
        return " ".join(silent)
    most = max(known, key=lambda row: float(row["unchanged"]))
    interval = (
        ""
        if most["unchanged_low"] is None
        else (f"; {100 * most['unchanged_low']:.1f}–{100 * most['unchanged_high']:.1f}")
    )
    told = (
        f"{pair_words(most)}: with the {most['control']}, {percent(most['unchanged'])} of its verdicts stay the same "
        f"({most['unchanged_k']:,}/{most['unchanged_n']:,}{interval})."
    )
    return " ".join([told, *silent])
