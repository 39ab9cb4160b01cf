"""The list of verifications a filter chooses, failures first: each row has a button to its case."""

__all__ = ["show_verifications"]

from math import ceil
from typing import TYPE_CHECKING, Any

import streamlit as st

from backend.domain.records import AnswerStatus
from backend.figures.style import theme_of
from backend.services.endoca_series import records
from backend.services.verimap_lists import unverified_runs, verification_page
from backend.store.verification_filters import VerificationFilter, verification_count
from backend.verimap.conditions import Condition
from backend.verimap.outcomes import VerdictOutcome
from backend.verimap.verifier import Verdict
from pages.ui.clicks import OPEN, clickable_table
from pages.ui.image_routes import thumbnail_url
from pages.ui.links import CASE, open_page
from pages.ui.resources import kept
from pages.ui.unit_table import PAGE_SIZE, page_of, show_paging
from pages.ui.unverified import show_unverified
from pages.ui.verification_words import outcome_words, verdict_words
from pages.ui.verimap_filters import dataset_words, task_words

if TYPE_CHECKING:
    import pandas as pd

_PARTS = (VerdictOutcome.FALSE_ACCEPTANCE.label, VerdictOutcome.FALSE_REJECTION.label)


def show_verifications(chosen: VerificationFilter, *, key: str, height: int | None = None) -> None:
    """Draw the chosen verifications.

    Args:
        chosen: Which verifications.
        key: Unique on the page.
        height: Of the table in pixels; None fits its rows up to a screen.
    """
    total = kept(verification_count, chosen)
    if not total:
        if unverified := kept(unverified_runs, chosen.runs):
            show_unverified(unverified)
            return
        st.text("No verification fits these filters. Take one of them away, or clear them all.")
        return
    page = page_of(total, chosen, key)
    first = page * PAGE_SIZE + 1
    st.caption(
        f"{first:,}–{min(total, page * PAGE_SIZE + PAGE_SIZE):,} of {total:,} verdicts: false acceptances first, then "
        "false rejections, replies without a verdict, the rest. A column's header sorts this page."
    )
    verdicts = kept(verification_page, chosen, offset=page * PAGE_SIZE, limit=PAGE_SIZE)
    columns = _columns(verdicts, chosen)
    clicked = clickable_table(
        _colored(columns),
        key=f"{key}_table",
        words=lambda row, _: f"{verdicts['source_id'].iloc[row]}: {verdicts['question'].iloc[row]}",
        ask="Open, in a row, opens its case. So does this button, for a chosen row; by keyboard: Escape, Tab.",
        column_config=_config(columns),
        row_height=52 if "image" in columns else 34,
        height=height or ("content" if len(verdicts) <= 9 else 520),
        placeholder="–",
    )
    show_paging(page, ceil(total / PAGE_SIZE), key)
    if clicked is not None:
        open_page(CASE, {"unit": str(verdicts["unit_id"].iloc[clicked[0]]), **chosen.to_query()})


def _columns(verdicts: "pd.DataFrame", chosen: VerificationFilter) -> "pd.DataFrame":
    """Return what the table shows, in its order."""
    import pandas as pd

    rows = records(verdicts)
    shown: dict[str, Any] = {OPEN: ["Open"] * len(rows)}
    if verdicts["image_at_hand"].any():
        shown["image"] = [thumbnail_url(row["image_id"]) if row["image_at_hand"] else None for row in rows]
    shown["outcome"] = [_outcome(row) for row in rows]
    shown["question"], shown["answer"] = verdicts["question"], verdicts["answer"]
    shown["reference"] = verdicts["reference"]
    shown["verdict"] = [verdict_words(_verdict(row), AnswerStatus(row["status"])) for row in rows]
    shown["verifier"], shown["generator"] = verdicts["verifier"], verdicts["generator"]
    shown["task"] = [task_words(row["task"]) for row in rows]
    shown["turn"] = verdicts["turn"]
    if chosen.conditions:
        shown["condition"] = [Condition(row["condition"]).label for row in rows]
    if len(chosen.suites) != 1:
        shown["suite"] = [dataset_words(row["suite"]) for row in rows]
    shown["file"] = [row["image_file"] or None for row in rows]
    shown["source_id"], shown["origin"] = verdicts["source_id"], verdicts["origin"]
    return pd.DataFrame(shown)


def _outcome(row: dict[str, Any]) -> str:
    """Return what verdict and truth come to; a control, which counts in no rate, says that it is one."""
    outcome = VerdictOutcome(row["outcome"]) if row["outcome"] else None
    words = outcome_words(outcome, row["oracle_correct"], _verdict(row))
    return f"{words} (control)" if Condition(row["condition"]).is_control else words


def _verdict(row: dict[str, Any]) -> Verdict | None:
    return Verdict(row["verdict"]) if row["verdict"] else None


def _colored(columns: "pd.DataFrame") -> Any:
    """Return the table with the verdicts that part from the truth in orange."""
    ink = f"color: {theme_of(st.context.theme.type).contradiction_text}; font-weight: 600"
    return columns.style.map(lambda words: ink if words in _PARTS else "", subset=["outcome"])


def _config(columns: "pd.DataFrame") -> dict[str, Any]:
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    known = {
        "image": st.column_config.ImageColumn("Image", width=70),
        "outcome": text("Together", width=150, help="Whether the answer is right, and whether the verifier accepts it"),
        "question": text("Question", width=185),
        "answer": text("Answer", width=100),
        "reference": text("Reference", width=90),
        "verdict": text("Verdict", width=90),
        "verifier": text("Verifier", width=105),
        "generator": text("Answered by", width=105),
        "task": text("Task", width=150),
        "turn": number("Turn", width=50, help="Of the feedback loop; 0 is the first answer"),
        "condition": text("Shown", width=115, help="What the verifier was shown"),
        "suite": text("Data set", width=95),
        "file": text("Image file", width=120),
        "source_id": text("Example", width=90),
        "origin": text("From", width=90, help="Where the verdict comes from"),
    }
    return {name: config for name, config in known.items() if name in columns}
