"""The three linked panels, with their legend and the choices of what is drawn."""

__all__ = ["PRINTED_ALONE", "STORE_ALONE", "facet_names", "show_pairing", "show_panels", "show_plane_choices"]

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from backend.figures.style import Theme
from backend.figures.tasks import TASK_ORDER
from backend.figures.verimap import plane
from backend.services.endoca_series import records
from backend.store.verification_filters import BOTH, VerificationFilter
from backend.verimap.quadrants import PlaneThresholds
from backend.verimap.vocabulary import TaskGroup
from pages.ui.clicks import clickable_chart
from pages.ui.filters import link_choice
from pages.ui.resources import drawn_once
from pages.ui.verimap_filters import dataset_words, set_verification_filter, task_words
from pages.ui.verimap_legend import plane_legend

if TYPE_CHECKING:
    import pandas as pd

PAIRINGS = {"self": "Self", "cross": "Cross", BOTH: "Both"}
"""Who verifies whom → what the switch says."""

STORE_ALONE, PRINTED_ALONE, TOGETHER = "This store", "Printed", "Together"

ROWS = {"One plane": "", "By data set": "suite", "By task": "task", "By group": "group", "By verifier": "verifier"}
"""What a row of panels is → column of the cells."""

MARKED = "verimap_marked"
"""Where the key of the point last opened is kept, to ring it."""


def show_plane_choices(chosen: VerificationFilter, *, crossed: bool) -> tuple[str, str]:
    """Draw who verifies whom, what is drawn, and into which rows it is taken apart.

    Args:
        chosen: The page's filter, its pairing filled in.
        crossed: Whether the store has self- and cross-verification, so that there is a choice.

    Returns:
        What is drawn (`STORE_ALONE`, `PRINTED_ALONE`, `TOGETHER`), and the column that makes rows of panels.
    """
    if crossed:
        show_pairing(
            chosen.pairing,
            "plane_pairing",
            "Self: a VLM verifies its own answers. Cross: it verifies another's. Never pooled.",
        )
    shown = link_choice("points", "Points", (STORE_ALONE, PRINTED_ALONE, TOGETHER))
    return shown, ROWS[link_choice("rows", "Rows", tuple(ROWS))]


def show_panels(
    cells: "pd.DataFrame",
    printed: "pd.DataFrame",
    thresholds: PlaneThresholds,
    places: Mapping[str, int],
    theme: Theme,
    *,
    by: str,
    made_of: tuple[object, ...],
) -> list[Any] | None:
    """Draw the panels; return key and axis of the point just clicked, else None.

    Args:
        cells: Rows of `placed`.
        printed: Printed points, likewise.
        thresholds: Where the corners begin.
        places: Place of each VLM.
        theme: Light or dark.
        by: Column that makes rows; empty for one.
        made_of: What cells and printed points depend on.
    """
    rows, points = records(cells), records(printed)
    clicked = st.session_state.get("plane_chart_clicked")
    if clicked:
        st.session_state[MARKED] = clicked[0]
    marked = st.session_state.get(MARKED, "")
    if rows or points:
        st.html(plane_legend(rows, points, places, thresholds))
    return clickable_chart(
        drawn_once(
            "verimap_plane",
            (*made_of, thresholds, by, marked, theme.name),
            lambda: plane(
                cells,
                printed,
                thresholds,
                theme,
                by=by,
                names=facet_names(by, rows, points, places),
                places=places,
                marked=marked,
            ),
        ),
        key="plane_chart",
        alt="Verifier error against FPR, Bias and dSkew, a point a task, verifier and data set",
    )


def facet_names(
    by: str, rows: Sequence[Mapping[str, Any]], printed: Sequence[Mapping[str, Any]], places: Mapping[str, int]
) -> dict[Any, str]:
    """Return the rows of panels in their order, and what each is called."""
    match by:
        case "suite":
            return {row["suite"]: dataset_words(row["suite"]) for row in rows}
        case "task":
            return {task: task_words(task) for task in TASK_ORDER}
        case "group":
            return {group.value: group.value for group in TaskGroup} | {None: task_words(None)}
        case "verifier":
            vlms = {row["verifier"] for row in [*rows, *printed]}
            return {vlm: vlm for vlm in sorted(vlms, key=lambda vlm: (places.get(vlm, len(places)), vlm))}
        case _:
            return {}


def show_pairing(pairing: str, key: str, meaning: str) -> None:
    """Draw whose answers are verified, as the link has it.

    Args:
        pairing: A key of `PAIRINGS`.
        key: Of the control.
        meaning: Its help.
    """

    def write() -> None:
        chosen = VerificationFilter.from_query(st.query_params.to_dict())
        set_verification_filter(replace(chosen, pairing=str(st.session_state[key])))

    st.session_state[key] = pairing
    st.segmented_control(
        "Self- or cross-verification",
        list(PAIRINGS),
        key=key,
        format_func=lambda one: PAIRINGS[one],
        required=True,
        on_change=write,
        label_visibility="collapsed",
        help=meaning,
    )
