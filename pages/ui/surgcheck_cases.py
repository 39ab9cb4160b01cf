"""What a click on a point, bar or cell of the SurgCheck page opens: the pairs behind it, or why there are none."""

__all__ = ["flips_of", "pairs_behind", "show_pairs_behind"]

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from backend.services.surgcheck_answers import of_questions
from backend.store.pair_filters import PairFilter, pair_count
from backend.surgcheck.outcomes import PairOutcome
from pages.ui.links import SURGCHECK
from pages.ui.opened_list import show_opened
from pages.ui.pair_list import show_pairs
from pages.ui.resources import kept
from pages.ui.surgcheck_cards import show_cards
from pages.ui.surgcheck_words import pairs_counted

ALL = "all"

FIELDS = {"task": "tasks", "level": "levels", "cue": "cues"}
"""Group of a table → the filter's field."""


def pairs_behind(
    run_id: str, chosen: PairFilter, group: Mapping[str, Any] | None = None, outcome: PairOutcome | None = None
) -> PairFilter:
    """Return the pairs behind a number of one run.

    Args:
        run_id: Whose number it is.
        chosen: The page's filter; conditions on answers are put aside.
        group: Task, level or cue of the number, where it is of one.
        outcome: Only the pairs that the run answered so.
    """
    own = {FIELDS[name]: (str(value),) for name, value in (group or {}).items()}
    outcomes = () if outcome is None else (outcome.value,)
    return replace(of_questions(chosen), runs=(run_id,), pair_outcomes=outcomes, **own)  # type: ignore[arg-type]


def flips_of(row: Mapping[str, Any]) -> PairOutcome | None:
    """Return which pairs make up a drop, or a gain; None, all, where the metric does not count pairs right or wrong.

    Args:
        row: Of `drop_table`.
    """
    if row["metric"] == "judge_accuracy":
        return None
    return PairOutcome.POINTED_ONLY if row["gap"] < 0 else PairOutcome.HINT_ONLY


@st.dialog("Cases", width="large")
def show_pairs_behind(behind: PairFilter, names: Mapping[str, str], *, by_outcome: bool = True) -> None:
    """Draw the list of pairs over the page, with a switch between what became of them.

    Args:
        behind: Which pairs.
        names: What to call a run, by run id.
        by_outcome: Whether the run was asked in both ways, so that its pairs have outcomes.
    """
    if by_outcome:
        behind = _choose_outcome(behind)
    total = kept(pair_count, behind)
    show_opened(behind, names, pairs_counted(total), SURGCHECK)
    if not by_outcome or not total:
        show_pairs(behind, key="behind", height=420)
        return
    st.caption("Right and wrong by exact match.")
    with st.container(height=440, border=False):
        show_cards(behind, total, key="behind")


def _choose_outcome(behind: PairFilter) -> PairFilter:
    options: Sequence[str] = (*PairOutcome, ALL)
    picked = st.segmented_control(
        "What became of the pair",
        options,
        default=behind.pair_outcomes[0] if behind.pair_outcomes else ALL,
        format_func=lambda key: "all" if key == ALL else PairOutcome(key).plain,
        required=True,
        key=f"outcome_{'_'.join(behind.to_query().values())}",
        label_visibility="collapsed",
    )
    return replace(behind, pair_outcomes=() if picked == ALL else (str(picked),))
