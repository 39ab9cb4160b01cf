"""What a click on a bar, point or cell of the loop page opens: the verifications behind it."""

__all__ = ["behind_fate", "behind_turn", "show_loop_cases"]

from collections.abc import Mapping

import streamlit as st

from backend.services.verimap_loop import ALL_TASKS
from backend.store.verification_filters import VerificationFilter, verification_count
from backend.verimap.fates import LoopRule
from pages.ui.links import LOOP
from pages.ui.opened_list import show_opened
from pages.ui.resources import kept
from pages.ui.verification_list import show_verifications
from pages.ui.verimap_filters import verifications_counted


def behind_fate(loop: str, suite: str, task: str, fates: tuple[str, ...], rule: LoopRule) -> VerificationFilter:
    """Return the last verification of each answer with such a fate.

    Args:
        loop: The loop's id.
        suite: Its data set.
        task: A task, or all or none of them, as the tables have it.
        fates: `FATES`.
        rule: When loops end.
    """
    return VerificationFilter(suites=(suite,), tasks=_tasks(task), loop=loop, fates=fates, loop_rule=rule.key)


def behind_turn(loop: str, suite: str, task: str, turn: int) -> VerificationFilter:
    """Return the verifications that were made in a turn of a loop."""
    return VerificationFilter(suites=(suite,), tasks=_tasks(task), loop=loop, turns=(turn,))


@st.dialog("Cases", width="large")
def show_loop_cases(behind: VerificationFilter, names: Mapping[str, str]) -> None:
    """Draw the list of verifications over the page.

    Args:
        behind: Which verifications.
        names: What to call a loop in the sentence, by its id.
    """
    show_opened(behind, names, verifications_counted(kept(verification_count, behind)), LOOP)
    st.caption("A case shows all turns as a conversation.")
    show_verifications(behind, key="behind", height=440)


def _tasks(task: str) -> tuple[str, ...]:
    return () if task == ALL_TASKS else (task,)
