"""Pairs that one run answered, as cards: the frame, the two questions with what differs marked, the two answers."""

__all__ = ["card_html", "show_cards"]

from collections.abc import Mapping
from html import escape
from math import ceil
from pathlib import Path
from typing import Any

import streamlit as st

from backend.domain.records import AnswerStatus
from backend.services.endoca_series import records
from backend.services.surgcheck_lists import answered_pairs
from backend.store.pair_filters import PairFilter
from backend.surgcheck.differing_words import differing_words
from backend.surgcheck.tasks import Cue, Task
from pages.ui.image_routes import thumbnail_url
from pages.ui.links import CASE, open_page
from pages.ui.pair_table import question_html
from pages.ui.pair_words import CUE_WORDS, TASK_WORDS
from pages.ui.resources import kept
from pages.ui.unit_table import show_paging

STYLE = Path(__file__).resolve().parent / "static" / "surgcheck.css"

CARDS = 6
"""Cards a page."""

QUOTED = 160
"""Letters of an answer on a card; the whole stands on the case page."""

_STATUS_WORDS = {
    AnswerStatus.MISSING: "no answer on file",
    AnswerStatus.FAILED: "call failed",
    AnswerStatus.EMPTY: "empty answer",
}

Row = Mapping[str, Any]


def show_cards(listed: PairFilter, total: int, *, key: str) -> None:
    """Draw a page of cards, each with a button to its case, and the ways to the other pages.

    Args:
        listed: Which pairs, of one run.
        total: How many these are, at least one.
        key: Unique on the page.
    """
    st.html(STYLE)
    page = _page_of(total, listed, key)
    [run_id] = listed.runs
    for row in records(kept(answered_pairs, listed, run_id, offset=page * CARDS, limit=CARDS)):
        with st.container(border=True):
            card, button = st.columns([11, 1], vertical_alignment="center")
            card.html(card_html(row))
            if button.button("Open", key=f"{key}_{row['unit_id']}"):
                open_page(CASE, {"unit": row["unit_id"], **listed.to_query()})
    show_paging(page, ceil(total / CARDS), key)


def card_html(row: Row) -> str:
    """Return one pair and what a run said to both its questions, as HTML.

    Args:
        row: Of `answered_pairs`.
    """
    original, less_biased = differing_words(row["original"], row["less_biased"])
    frame = f'<img src="{escape(thumbnail_url(row["image_id"]))}" alt="">' if row["image_at_hand"] else ""
    about = f"{TASK_WORDS[Task(row['task'])]}, {CUE_WORDS[Cue(row['cue'])]}; reference: "
    differ = row["original"] != row["less_biased"]
    ways = ("with the hint", "without it") if differ else ("asked first", "asked again")
    lines = "".join(
        f'<tr><th scope="row">{name}</th><td>{question_html(words)}</td>{_said(row, side)}</tr>'
        for name, side, words in (
            (ways[0], "original", original),
            (ways[1], "less_biased", less_biased),
        )
    )
    return (
        f'<div class="pair-card{"" if frame else " without-frame"}">{frame}<div>'
        f'<p class="about">{escape(about)}<b>{escape(row["reference"])}</b></p><table>{lines}</table></div></div>'
    )


def _said(row: Row, side: str) -> str:
    if row[f"{side}_status"] is None:
        return '<td><span class="status">not asked</span></td>'
    status = AnswerStatus(row[f"{side}_status"])
    if status in _STATUS_WORDS:
        return f'<td><span class="status">✗ {_STATUS_WORDS[status]}</span></td>'
    kind = "right" if row[f"{side}_correct"] else "wrong"
    return (
        f'<td class="{kind}">{"✓" if kind == "right" else "✗"} <span class="said">{_beginning(row[f"{side}_answer"])}'
        f'</span> <span class="status">{kind}</span></td>'
    )


def _beginning(text: str | None) -> str:
    plain = " ".join((text or "").split())
    return escape(plain if len(plain) <= QUOTED else f"{plain[:QUOTED].rstrip()} …")


def _page_of(total: int, listed: PairFilter, key: str) -> int:
    """Return the page shown, from 0. Another list begins at 0."""
    if st.session_state.get(f"{key}_list") != listed:
        st.session_state[f"{key}_list"], st.session_state[f"{key}_page"] = listed, 0
    return min(int(st.session_state[f"{key}_page"]), ceil(total / CARDS) - 1)
