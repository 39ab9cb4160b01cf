"""The charts of the loop page, each drawn once for each state of the store, with what it says below it."""

__all__ = ["show_fate_chart", "show_lean_charts", "show_right_chart"]

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from backend.figures.style import Theme
from backend.figures.verimap_loop import fate_bars, lean_ends, turn_lines
from backend.services.verimap_loop import LoopChoice
from backend.verimap.metrics import METRICS
from pages.ui.clicks import clickable_chart
from pages.ui.loop_words import fate_legend, task_legend
from pages.ui.resources import drawn_once

Row = Mapping[str, Any]
Point = Sequence[Any]
"""Loop and task, then the fate or the turn."""


def show_fate_chart(
    rows: Sequence[Row],
    loops: Mapping[str, str],
    kinds: Mapping[str, str],
    n_of: str,
    made_of: tuple[object, ...],
    theme: Theme,
) -> Point | None:
    """Draw what became of first answers; return the piece just clicked, else None.

    Args:
        rows: Of `fate_table`.
        loops: Loop → what to call it.
        kinds: Fates that add up → their words.
        n_of: ``n_wrong`` or ``n_right``.
        made_of: What the rows depend on.
        theme: Light or dark.
    """
    first = n_of.removeprefix("n_")
    if not any(row[n_of] for row in rows):
        st.text(f"No first answer that is {first} was followed to its end and judged.")
        return None
    st.html(fate_legend(kinds, theme))
    point = clickable_chart(
        drawn_once(f"loop_{n_of}", (made_of, theme.name), lambda: fate_bars(rows, loops, kinds, n_of, theme)),
        key=f"{n_of}_chart",
        alt=f"What became of answers {first} at first, by loop and task, in percent",
    )
    st.caption("A piece of a bar opens its cases; the number behind a bar is how many answers it stands for.")
    return point


def show_lean_charts(
    rows: Sequence[Row],
    loops: Mapping[str, str],
    choice: LoopChoice,
    metric: str,
    made_of: tuple[object, ...],
    theme: Theme,
) -> Point | None:
    """Draw bias, or FPR, at both ends and turn by turn; return the point just clicked, else None.

    Args:
        rows: Of `turn_table`.
        loops: Loop → what to call it.
        choice: Which verdicts count at a turn, and how.
        metric: ``bias`` or ``fpr``.
        made_of: What the rows depend on.
        theme: Light or dark.
    """
    drawn_of = (made_of, choice.how, metric, theme.name)
    label = METRICS[metric].label
    at_ends = clickable_chart(
        drawn_once("loop_ends", drawn_of, lambda: lean_ends(rows, loops, metric, theme)),
        key="ends_chart",
        alt=f"{label} at turn 0 and at the last turn, by loop and task",
    )
    st.caption("Filled: turn 0. Open: the last turn. The number is the change in points.")
    st.html(task_legend([row["task"] for row in rows], theme))
    by_turn = clickable_chart(
        drawn_once("loop_lean", drawn_of, lambda: turn_lines(rows, loops, metric, theme)),
        key="lean_chart",
        alt=f"{label} turn by turn, by loop and task",
    )
    st.caption(f"{choice.how.plain}. {choice.policy.sentence} A point opens the verdicts of its turn.")
    return at_ends or by_turn


def show_right_chart(
    rows: Sequence[Row], loops: Mapping[str, str], made_of: tuple[object, ...], theme: Theme
) -> Point | None:
    """Draw the share of right answers turn by turn; return the point just clicked, else None."""
    point = clickable_chart(
        drawn_once("loop_right", (made_of, theme.name), lambda: turn_lines(rows, loops, "right", theme)),
        key="right_chart",
        alt="Share of right answers turn by turn, by loop and task",
    )
    st.caption("A loop that has ended keeps its last answer. Answers in between that nobody judged are left out.")
    return point
