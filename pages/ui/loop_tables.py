"""Tables of the loop page: fates by loop and task with their counts, and whether bias rises over all loops."""

__all__ = ["show_fates", "show_rises"]

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE, points
from backend.figures.style import ORIGIN_GLYPHS, Theme
from backend.figures.tasks import TASK_NAMES
from backend.services.verimap_loop import ALL_TASKS
from backend.store.verification_filters import UNLABELLED
from backend.verimap.fates import Fate, NoFate
from pages.ui.clicks import clickable_table
from pages.ui.number_cell import NumberCell, change_interval, p_words

Row = Mapping[str, Any]

_ORDER = (Fate.LOCKED, Fate.STILL_WRONG, Fate.CORRECTED, Fate.SPOILED, Fate.KEPT)
_HEADS = {
    Fate.LOCKED: "Accepted as correct, %",
    Fate.STILL_WRONG: "Still wrong, %",
    Fate.CORRECTED: "Corrected, %",
    Fate.SPOILED: "Spoiled, %",
    Fate.KEPT: "Kept right, %",
}


def show_fates(
    rows: Sequence[Row], loops: Mapping[str, Row], labels: Mapping[str, str], theme: Theme
) -> tuple[Row, tuple[str, ...]] | None:
    """Draw a row a loop and task; return the row and the fates of the cell just opened, else None.

    Args:
        rows: Of `fate_table`.
        loops: Rows of `loop_table` by loop.
        labels: Loop → what to call it.
        theme: Light or dark.
    """
    import pandas as pd

    table = pd.DataFrame(
        [
            {
                "loop": labels[row["loop_id"]],
                "origin": ORIGIN_GLYPHS[loops[row["loop_id"]]["origin"]],
                "task": _task_name(row["task"]),
                "n_wrong": row["n_wrong"],
                **{fate.value: _share(row, fate) for fate in _ORDER if fate.of_wrong},
                "n_right": row["n_right"],
                **{fate.value: _share(row, fate) for fate in _ORDER if not fate.of_wrong},
                "change": NumberCell.of(row["change"], points(row["change"])),
                "interval": change_interval(row["change_low"], row["change_high"]),
                "p": p_words(row["p"]),
                **{f"n_{reason}": row[f"n_{reason}"] for reason in NoFate},
            }
            for row in rows
        ],
        dtype=object,
    )
    styled = table.style.format(str, subset=[*_HEADS, "change"], na_rep=NOT_AVAILABLE).map(
        lambda share: f"color: {theme.contradiction_text}" if share else "", subset=[Fate.LOCKED.value]
    )

    def behind(at: int, column: str) -> tuple[str, ...]:
        row = rows[at]
        fates = {
            "n_wrong": tuple(fate.value for fate in Fate if fate.of_wrong),
            "n_right": tuple(fate.value for fate in Fate if not fate.of_wrong),
            **{fate.value: (fate.value,) for fate in Fate},
            **{f"n_{reason}": (reason.value,) for reason in NoFate},
        }.get(column, ())
        return fates if sum(row[f"n_{fate}"] for fate in fates) else ()

    def words(at: int, column: str) -> str | None:
        fates = behind(at, column)
        n = sum(rows[at][f"n_{fate}"] for fate in fates)
        return f"{table['loop'][at]}, {table['task'][at].lower()}: {n:,}" if fates else None

    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    clicked = clickable_table(
        styled,
        key="fates",
        words=words,
        ask="Choose a cell to open its cases.",
        column_config={
            "loop": text("Loop", pinned=True, width=270),
            "origin": text("Origin", width=105),
            "task": text("Task", width=95),
            "n_wrong": number("Wrong at first", width=95, format="localized"),
            "n_right": number("Right at first", width=90, format="localized"),
            **{fate.value: number(head, help=fate.plain.capitalize(), width=130) for fate, head in _HEADS.items()},
            "change": number("Right answers", width=105, help="Share of right answers: at the end minus at first"),
            "interval": text("95 % interval", width=150, help="Images resampled"),
            "p": text("p", width=65, help="Exact McNemar test, two-sided, over answers that became right or wrong"),
            "n_unfinished": number("Unfinished", width=85, help="Not followed to the end; in no other column"),
            "n_unjudged": number("Unjudged", width=80, help="First or last answer not judged; in no other column"),
        },
        height="content" if len(rows) <= 15 else 530,
        placeholder=NOT_AVAILABLE,
    )
    return (rows[clicked[0]], behind(*clicked)) if clicked is not None and behind(*clicked) else None


def show_rises(rows: Sequence[Row]) -> None:
    """Draw Wilcoxon's test of bias at both ends, a row a task.

    Args:
        rows: Of `rise_table`; at least one.
    """
    import pandas as pd

    table = [
        {
            "task": _task_name(row["task"]),
            "pairs": row["n_pairs"],
            "rise": points(row["mean_rise"]),
            "p": p_words(row["p"]),
            "kind": "exact" if row["exact"] else "normal approximation",
        }
        for row in rows
    ]
    text = st.column_config.TextColumn
    st.dataframe(
        pd.DataFrame(table),
        hide_index=True,
        column_config={
            "task": text("Task", width=110),
            "pairs": st.column_config.NumberColumn("Loops (pairs)", width=100),
            "rise": text("Mean change of bias", width=150),
            "p": text("p", width=80),
            "kind": text("Distribution", width=160),
        },
        width="content",
    )


def _share(row: Row, fate: Fate) -> NumberCell | None:
    value = row[fate]
    if value is None:
        return None
    return NumberCell.of(
        100 * value, f"{100 * value:.1f} ({100 * row[f'{fate}_low']:.1f}–{100 * row[f'{fate}_high']:.1f})"
    )


def _task_name(task: str) -> str:
    return "All" if task == ALL_TASKS else TASK_NAMES[None if task == UNLABELLED else task]
