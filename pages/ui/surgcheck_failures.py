"""Failure cases of one run, both ways round (Fig. 6): what is right with the hint alone, and what without it alone.

A card a pair: the frame, the two questions with the words that differ marked, what was said to each.
"""

__all__ = ["failure_html", "show_failures"]

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from math import ceil
from pathlib import Path
from typing import Any

import streamlit as st

from backend.domain.records import AnswerStatus
from backend.services.endoca_series import records
from backend.services.surgcheck_answers import of_questions
from backend.services.surgcheck_lists import answered_pairs
from backend.store.pair_filters import PairFilter, pair_count
from backend.surgcheck.differing_words import Words, differing_words
from backend.surgcheck.outcomes import PairOutcome
from backend.surgcheck.tasks import Cue, Task
from pages.ui.image_routes import thumbnail_url
from pages.ui.links import CASE, open_page
from pages.ui.pair_words import CUE_WORDS, TASK_WORDS
from pages.ui.resources import kept
from pages.ui.surgcheck_words import pairs_counted
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


def show_failures(runs: Sequence[Row], chosen: PairFilter) -> None:
    """Draw the choice of a run and a direction, both kept in the link, and the cards.

    Args:
        runs: Rows of `drop_table` by accuracy, asked in both ways; the first is shown where the link names none.
        chosen: The page's filter; conditions on answers are put aside.
    """
    st.html(STYLE)
    by_run = {row["run_id"]: row for row in runs}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        run_id = _choose_run({run: str(row["label"]) for run, row in by_run.items()})
        outcome = _choose_outcome(by_run[run_id])
    listed = replace(of_questions(chosen), runs=(run_id,), pair_outcomes=(outcome.value,))
    total = kept(pair_count, listed)
    if not total:
        st.text("There is no such pair.")
        return
    page = _page_of(total, listed)
    for row in records(kept(answered_pairs, listed, run_id, offset=page * CARDS, limit=CARDS)):
        with st.container(border=True):
            card, button = st.columns([11, 1], vertical_alignment="center")
            card.html(failure_html(row))
            if button.button("Open", key=f"failure_{row['unit_id']}"):
                open_page(CASE, {"unit": row["unit_id"], **listed.to_query()})
    show_paging(page, ceil(total / CARDS), "failures")
    st.page_link(CASE, label=f"All {pairs_counted(total)} as a table", query_params=listed.to_query())


def failure_html(row: Row) -> str:
    """Return one pair and what a run said to both its questions, as HTML.

    Args:
        row: Of `answered_pairs`.
    """
    original, less_biased = differing_words(row["original"], row["less_biased"])
    frame = f'<img src="{escape(thumbnail_url(row["image_id"]))}" alt="">' if row["image_at_hand"] else ""
    about = f"{TASK_WORDS[Task(row['task'])]}, {CUE_WORDS[Cue(row['cue'])]}; reference: "
    lines = "".join(
        f'<tr><th scope="row">{name}</th><td>{_marked(words)}</td>{_said(row, side)}</tr>'
        for name, side, words in (
            ("with the hint", "original", original),
            ("without it", "less_biased", less_biased),
        )
    )
    return (
        f'<div class="failure{"" if frame else " without-frame"}">{frame}<div>'
        f'<p class="about">{escape(about)}<b>{escape(row["reference"])}</b></p><table>{lines}</table></div></div>'
    )


def _marked(words: Sequence[Words]) -> str:
    return " ".join(f"<mark>{escape(one.text)}</mark>" if one.differ else escape(one.text) for one in words)


def _said(row: Row, side: str) -> str:
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


def _choose_run(labels: Mapping[str, str]) -> str:
    asked = st.query_params.get("of", "")
    st.session_state["failures_of"] = asked if asked in labels else next(iter(labels))
    picked = st.selectbox(
        "Answers of",
        list(labels),
        key="failures_of",
        format_func=lambda run: labels.get(run, run),
        on_change=_write,
        args=("of", "failures_of"),
        label_visibility="collapsed",
        width=260,
    )
    return str(picked)


def _choose_outcome(row: Row) -> PairOutcome:
    counts = {PairOutcome.HINT_ONLY: row["n_hint_only"], PairOutcome.POINTED_ONLY: row["n_pointed_only"]}
    asked = st.query_params.get("failures", "")
    st.session_state["failures_way"] = asked if asked in counts else PairOutcome.HINT_ONLY.value
    picked = st.segmented_control(
        "What became of the pair",
        [outcome.value for outcome in counts],
        key="failures_way",
        format_func=lambda way: f"{PairOutcome(way).plain}: {counts[PairOutcome(way)]:,}",
        required=True,
        on_change=_write,
        args=("failures", "failures_way"),
        label_visibility="collapsed",
    )
    return PairOutcome(str(picked))


def _write(name: str, state: str) -> None:
    st.query_params[name] = st.session_state[state]


def _page_of(total: int, listed: PairFilter) -> int:
    """Return the page shown, from 0. Another list begins at 0."""
    if st.session_state.get("failures_list") != listed:
        st.session_state["failures_list"], st.session_state["failures_page"] = listed, 0
    return min(int(st.session_state["failures_page"]), ceil(total / CARDS) - 1)
