"""The list of pairs a filter chooses: a page of rows from the store, each row with a button to its case."""

__all__ = ["show_pairs"]

from math import ceil
from typing import TYPE_CHECKING, Any

import streamlit as st

from backend.store.pair_filters import PairFilter, pair_count, pair_page
from backend.surgcheck.tasks import Cue, Task
from pages.ui.clicks import OPEN, clickable_table
from pages.ui.image_routes import thumbnail_url
from pages.ui.links import CASE, open_page
from pages.ui.pair_words import CUE_WORDS, TASK_WORDS
from pages.ui.resources import kept
from pages.ui.unit_table import PAGE_SIZE, page_of, show_paging

if TYPE_CHECKING:
    import pandas as pd


def show_pairs(chosen: PairFilter, *, key: str, height: int | None = None) -> None:
    """Draw the chosen pairs.

    Args:
        chosen: Which pairs.
        key: Unique on the page.
        height: Of the table in pixels; None fits its rows up to a screen.
    """
    total = kept(pair_count, chosen)
    if not total:
        st.text("No pair fits these filters. Take one of them away, or clear them all.")
        return
    page = page_of(total, chosen, key)
    first = page * PAGE_SIZE + 1
    st.caption(
        f"{first:,}–{min(total, page * PAGE_SIZE + PAGE_SIZE):,} of {total:,}. A column's header sorts this page."
    )
    pairs = kept(pair_page, chosen, offset=page * PAGE_SIZE, limit=PAGE_SIZE)
    columns = _columns(pairs)
    clicked = clickable_table(
        columns,
        key=f"{key}_table",
        words=lambda row, _: f"{pairs['source_id'].iloc[row]}: {pairs['original'].iloc[row]}",
        ask="Open, in a row, opens its case. So does this button, for a chosen row; by keyboard: Escape, Tab.",
        column_config=_config(columns),
        row_height=52 if "image" in columns else 34,
        height=height or ("content" if len(pairs) <= 9 else 520),
        placeholder="–",
    )
    show_paging(page, ceil(total / PAGE_SIZE), key)
    if clicked is not None:
        open_page(CASE, {"unit": str(pairs["unit_id"].iloc[clicked[0]]), **chosen.to_query()})


def _columns(pairs: "pd.DataFrame") -> "pd.DataFrame":
    """Return what the table shows, in its order."""
    import pandas as pd

    shown: dict[str, Any] = {OPEN: ["Open"] * len(pairs)}
    if pairs["image_at_hand"].any():
        at_hand = zip(pairs["image_id"], pairs["image_at_hand"], strict=True)
        shown["image"] = [thumbnail_url(image) if there else None for image, there in at_hand]
    shown["original"], shown["less_biased"] = pairs["original"], pairs["less_biased"]
    shown["reference"] = pairs["reference"]
    shown["hint_only"], shown["pointed_only"] = pairs["n_hint_only"], pairs["n_pointed_only"]
    shown["runs"] = pairs["n_runs"]
    shown["task"] = [TASK_WORDS[Task(task)] for task in pairs["task"]]
    shown["cue"] = [CUE_WORDS[Cue(cue)] for cue in pairs["cue"]]
    shown["source_id"] = pairs["source_id"]
    return pd.DataFrame(shown)


def _config(columns: "pd.DataFrame") -> dict[str, Any]:
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    known = {
        "image": st.column_config.ImageColumn("Frame", width=90),
        "original": text("Original question", width=275),
        "less_biased": text("Less-biased question", width=255),
        "reference": text("Reference", width=110),
        "task": text("Task", width=110),
        "cue": text("Cue", width=130),
        "hint_only": number("Only with hint", width=95, help="Runs right with the hint and wrong without it"),
        "pointed_only": number("Only without", width=90, help="Runs wrong with the hint and right without it"),
        "runs": number("VLMs", width=60, help="Runs that answered both questions"),
        "source_id": text("Pair", width=90),
    }
    return {name: config for name, config in known.items() if name in columns}
