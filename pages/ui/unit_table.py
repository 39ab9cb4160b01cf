"""The list of cases a filter chooses: a page of rows from the store, each row with a button to its case."""

__all__ = ["PAGE_SIZE", "page_of", "show_paging", "show_units"]

from math import ceil
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import streamlit as st

from backend.endoca.outcomes import Outcome
from backend.figures.style import theme_of
from backend.store.filters import UnitFilter
from backend.store.unit_lists import unit_answers, unit_count, unit_page
from pages.ui.clicks import OPEN, clickable_table
from pages.ui.image_routes import thumbnail_url
from pages.ui.links import CASE, case_query, open_page
from pages.ui.resources import kept
from pages.ui.suite_names import suite_words

if TYPE_CHECKING:
    import pandas as pd

PAGE_SIZE = 50


def show_units(chosen: UnitFilter, *, key: str, height: int | None = None) -> None:
    """Draw the chosen units. Where one run is chosen its answers stand beside the questions.

    Args:
        chosen: Which units of which runs.
        key: Unique on the page.
        height: Of the table in pixels; None fits its rows up to a screen.
    """
    total = kept(unit_count, chosen)
    if not total:
        st.text("No case fits these filters. Take one of them away, or clear them all.")
        return
    page = page_of(total, chosen, key)
    first = page * PAGE_SIZE + 1
    st.caption(
        f"{first:,}–{min(total, page * PAGE_SIZE + PAGE_SIZE):,} of {total:,}. A column's header sorts this page."
    )
    units = kept(unit_page, chosen, offset=page * PAGE_SIZE, limit=PAGE_SIZE)
    columns = _columns(units, chosen)
    clicked = clickable_table(
        _colored(columns),
        key=f"{key}_table",
        words=lambda row, _: f"Sample {units['source_id'].iloc[row]}: {units['question'].iloc[row]}",
        ask="Open, in a row, opens its case. So does this button, for a chosen row; by keyboard: Escape, Tab.",
        column_config=_config(columns),
        row_height=52 if "image" in columns else 34,
        height=height or ("content" if len(units) <= 9 else 520),
        placeholder="–",
    )
    show_paging(page, ceil(total / PAGE_SIZE), key)
    if clicked is not None:
        open_page(CASE, case_query(str(units["unit_id"].iloc[clicked[0]]), chosen))


def page_of(total: int, chosen: object, key: str) -> int:
    """Return the page shown, from 0. Another filter begins at 0."""
    if st.session_state.get(f"{key}_of") != chosen:
        st.session_state[f"{key}_of"], st.session_state[f"{key}_page"] = chosen, 0
    return min(int(st.session_state[f"{key}_page"]), ceil(total / PAGE_SIZE) - 1)


def show_paging(page: int, n_pages: int, key: str) -> None:
    """Draw the way to other pages; nothing where there is one."""
    if n_pages == 1:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(f"Page {page + 1:,} of {n_pages:,}", width="content")
        for label, target in (("First", 0), ("Earlier", page - 1), ("Later", page + 1)):
            st.button(
                label,
                key=f"{key}_{label}",
                type="tertiary",
                disabled=target == page or not 0 <= target < n_pages,
                on_click=_set_page,
                args=(f"{key}_page", target),
            )


def _set_page(state: str, target: int) -> None:
    st.session_state[state] = target


def _columns(units: "pd.DataFrame", chosen: UnitFilter) -> "pd.DataFrame":
    """Return what the table shows, in its order."""
    import pandas as pd

    shown: dict[str, Any] = {OPEN: ["Open"] * len(units)}
    if units["image_at_hand"].any():
        at_hand = zip(units["image_id"], units["image_at_hand"], strict=True)
        shown["image"] = [thumbnail_url(image) if there else None for image, there in at_hand]
    shown["source_id"] = _sortable(units["source_id"])
    if len(chosen.runs) == 1:
        answers = kept(unit_answers, chosen.runs[0], list(units["unit_id"])).set_index("unit_id")
        answers = answers.reindex(units["unit_id"])
        shown["outcome"] = [Outcome(o).plain if isinstance(o, str) else None for o in answers["outcome"]]
        pairs = zip(answers["n_atoms_correct"], answers["n_atoms"], strict=True)
        shown["parts"] = [None if part != part else f"{int(part)} of {int(parts)}" for part, parts in pairs]
        shown["question"], shown["answer"] = units["question"], answers["answer"].to_list()
    else:
        if chosen.outcomes or chosen.part_wrong:
            shown["fitting"] = units["n_runs"]
        else:
            counts = zip(units["n_right"], units["n_runs"], strict=True)
            shown["right"] = [f"{right} of {runs}" for right, runs in counts]
            shown["contradictions"] = units["n_inconsistent"]
        shown["question"] = units["question"]
    shown["reference"] = units["reference"]
    shown["complexity"] = units["complexity"]
    shown["classes"] = [", ".join(key.replace("_", " ") for key in keys) for keys in units["question_classes"]]
    if not chosen.suite:
        shown["suite"] = units["suite"].map(suite_words)
    shown["link"] = [f"/case?{urlencode(case_query(unit, chosen))}" for unit in units["unit_id"]]
    return pd.DataFrame(shown)


def _sortable(source_ids: "pd.Series") -> "pd.Series":
    """Return the samples' names as numbers where all are whole ones, written plainly and exact in a browser."""
    plain = source_ids.str.fullmatch(r"0|[1-9][0-9]{0,14}").all()
    return source_ids.astype("int64") if plain else source_ids


def _colored(columns: "pd.DataFrame") -> Any:
    """Return the table with the contradiction in orange, where it has a column of outcomes."""
    if "outcome" not in columns:
        return columns
    ink = f"color: {theme_of(st.context.theme.type).contradiction_text}; font-weight: 600"
    return columns.style.map(lambda words: ink if words == Outcome.INCONSISTENT.plain else "", subset=["outcome"])


def _config(columns: "pd.DataFrame") -> dict[str, Any]:
    import pandas as pd

    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    known = {
        "image": st.column_config.ImageColumn("Image", width=70),
        "source_id": (number if pd.api.types.is_integer_dtype(columns["source_id"]) else text)("Sample", width=75),
        "question": text("Complex question", width=300),
        "reference": text("Reference", width=220),
        "answer": text("Answer", width=220),
        "parts": text("Parts right", width=80),
        "outcome": text("Outcome", width=190),
        "fitting": number("VLMs", width=65, help="So many of the chosen runs answered it as the filter says"),
        "right": text("VLMs right", width=80, help="Complex answer right, of the chosen VLMs' runs"),
        "contradictions": number("Right on a wrong part", width=140, help="So many chosen runs contradict themselves"),
        "complexity": number("Parts", width=55, help="Complexity: the number of atomic questions"),
        "classes": text("Question classes", width=200),
        "suite": text("Suite", width=125),
        "link": st.column_config.LinkColumn("Link", display_text="new tab", width=70),
    }
    return {name: config for name, config in known.items() if name in columns}
