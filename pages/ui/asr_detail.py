"""One VLM's answers, with its parts as premises and without: what changed where, and how far to trust it."""

__all__ = ["pick_base", "show_decisions", "show_groups", "show_moves"]

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE, percent
from backend.endoca.asr import Variant
from backend.endoca.decision import Verdict
from backend.endoca.reconciliation import Move, Tracking
from backend.figures.asr import change_bars
from backend.figures.style import Theme
from backend.services.endoca_series import of_questions, records
from backend.services.reconciliation import Reconciliation, change_table, decision_tracking, move_table
from backend.store.filters import UnitFilter
from pages.ui.asr_cases import behind_decision, behind_flips, behind_move
from pages.ui.asr_words import VARIANT_WORDS, decision_notes, tracking_sentence
from pages.ui.clicks import clickable_chart, clickable_table
from pages.ui.endoca_words import quiet_line
from pages.ui.resources import drawn_once, kept

Row = Mapping[str, Any]


def pick_base(bases: Mapping[str, str]) -> str:
    """Draw the choice of a direct run, kept in the link as ``base``, and return it.

    Args:
        bases: Direct runs and what to call them, at least one.
    """
    asked = st.query_params.get("base", "")
    st.session_state["asr_base"] = asked if asked in bases else next(iter(bases))
    picked = st.selectbox(
        "Direct answers of",
        list(bases),
        key="asr_base",
        format_func=lambda run: bases.get(run, run),
        on_change=_write_base,
        width=360,
    )
    return str(picked)


def _write_base() -> None:
    st.query_params["base"] = st.session_state["asr_base"]


def show_groups(rows: Sequence[Row], chosen: UnitFilter, theme: Theme) -> UnitFilter | None:
    """Draw repairs and harms by complexity and class, a chart a variant; return the cases of the bar just clicked.

    Args:
        rows: Of `reconciled_table`, one VLM's.
        chosen: The page's filter.
        theme: Light or dark.
    """
    questions = of_questions(chosen)
    changes = records(kept(change_table, questions))
    asked: UnitFilter | None = None
    for column, row in zip(st.columns(max(2, len(rows)), gap="medium"), rows, strict=False):
        own = [change for change in changes if change["revised"] == row["revised"]]
        with column:
            st.markdown(f"**{VARIANT_WORDS[Variant(row['variant'])]}**")
            point = clickable_chart(
                drawn_once("asr_groups", (questions, row["revised"], theme.name), partial(change_bars, own, theme)),
                key=f"groups_{row['revised']}",
                alt="Answers that became right or wrong, by number of parts and question class",
            )
            if point is not None:
                _, kind, by, group = point
                asked = behind_flips(row, kind, chosen, by, group)
    return asked


def show_moves(rows: Sequence[Row], ones: Mapping[str, Reconciliation], chosen: UnitFilter) -> UnitFilter | None:
    """Draw which parts moved by class, a table a variant; return the cases of the cell just opened, else None.

    Args:
        rows: Of `reconciled_table`, one VLM's.
        ones: The reconciliations by the id of their revised run.
        chosen: The page's filter.
    """
    asked: UnitFilter | None = None
    for column, row in zip(st.columns(max(2, len(rows)), gap="medium"), rows, strict=False):
        with column:
            st.markdown(f"**{VARIANT_WORDS[Variant(row['variant'])]}**")
            moves = records(kept(move_table, ones[row["revised"]], of_questions(chosen)))
            asked = _show_moves(row, moves, chosen) or asked
    return asked


def _show_moves(row: Row, moves: Sequence[Row], chosen: UnitFilter) -> UnitFilter | None:
    import pandas as pd

    classes = sorted({move["question_class"] for move in moves})
    if not classes:
        st.text("No unit has both a direct and a revised answer here.")
        return None
    cells = {(move["question_class"], move["move"]): move for move in moves}
    table = pd.DataFrame(
        {
            "class": [name.replace("_", " ") for name in classes],
            "n": [sum(move["n_parts"] for move in moves if move["question_class"] == name) for name in classes],
            **{kind.value: [_move_words(cells.get((name, kind))) for name in classes] for kind in _MOVED},
        }
    )

    def words(at: int, column: str) -> str | None:
        if column not in set(_MOVED):
            return None
        return f"{table['class'][at]}: {Move(column).plain}"

    text = st.column_config.TextColumn
    clicked = clickable_table(
        table,
        key=f"moves_{row['revised']}",
        words=words,
        ask="Choose a cell to open the cases in which such a part moved.",
        column_config={
            "class": text("Question class", pinned=True, width=130),
            "n": st.column_config.NumberColumn("Parts", width=50, format="localized"),
            **{kind.value: text(head, help=told, width=104) for kind, (head, told) in _MOVED.items()},
        },
    )
    if clicked is None or clicked[1] not in set(_MOVED):
        return None
    return behind_move(row, clicked[1], classes[clicked[0]], chosen)


_MOVED = {
    Move.TO_PREMISE: (
        "To its premise",
        "The revised answer has another value here than the direct one, and agrees with the VLM's own atomic answer, "
        "which the direct one did not. In brackets: right before and after",
    ),
    Move.FROM_PREMISE: (
        "Away from it",
        "The direct answer agreed with the VLM's own atomic answer, the revised one not",
    ),
    Move.ELSEWHERE: ("Elsewhere", "Another value, or one that can no longer be read, with no such change"),
}
"""A move → head and explanation of its column."""


def _move_words(cell: Row | None) -> str:
    if cell is None:
        return "0"
    return f"{cell['n_parts']:,} ({cell['n_right_before']:,} → {cell['n_right_after']:,} right)"


def show_decisions(rows: Sequence[Row], ones: Mapping[str, Reconciliation], chosen: UnitFilter) -> UnitFilter | None:
    """Draw decisions against correctness, a table a variant; return the cases of the cell just opened, else None.

    Args:
        rows: Of `reconciled_table`, one VLM's.
        ones: The reconciliations by the id of their revised run.
        chosen: The page's filter.
    """
    asked: UnitFilter | None = None
    for column, row in zip(st.columns(max(2, len(rows)), gap="medium"), rows, strict=False):
        with column:
            st.markdown(f"**{VARIANT_WORDS[Variant(row['variant'])]}**")
            found = kept(decision_tracking, ones[row["revised"]], of_questions(chosen))
            if found is None:
                st.text("The store has no Select run of this variant, so nothing was decided.")
                continue
            asked = _show_tracking(row, found, chosen) or asked
            st.text(tracking_sentence(found))
            if decision_notes(row):
                st.html(quiet_line(decision_notes(row)))
    return asked


def _show_tracking(row: Row, found: Tracking, chosen: UnitFilter) -> UnitFilter | None:
    import pandas as pd

    counts = {
        Verdict.ANSWER: (found.n_answer_right, found.n_answer_wrong),
        Verdict.ABSTAIN: (found.n_abstain_right, found.n_abstain_wrong),
    }
    verdicts = list(counts)
    table = pd.DataFrame(
        {
            "decision": ["answered", "withheld"],
            "right": [right for right, _ in counts.values()],
            "wrong": [wrong for _, wrong in counts.values()],
            "share": [
                percent(right / (right + wrong)) if right + wrong else NOT_AVAILABLE for right, wrong in counts.values()
            ],
        }
    )

    def words(at: int, column: str) -> str | None:
        return f"{table['decision'][at]}, revised answer {column}" if column in ("right", "wrong") else None

    number = st.column_config.NumberColumn
    clicked = clickable_table(
        table,
        key=f"tracking_{row['revised']}",
        words=words,
        ask="Choose a count to open its cases.",
        column_config={
            "decision": st.column_config.TextColumn("Decision", width=90),
            "right": number("Revised answer right", width=130, format="localized"),
            "wrong": number("Revised answer wrong", width=130, format="localized"),
            "share": st.column_config.TextColumn("Share right", width=90),
        },
    )
    if clicked is None or clicked[1] not in ("right", "wrong"):
        return None
    return behind_decision(row, chosen, decision=verdicts[clicked[0]], right=clicked[1] == "right")
