"""The plane page of a store without verifications: the printed plane alone, and how to get more."""

__all__ = ["show_printed_plane"]

import streamlit as st

from backend.figures.style import Theme
from backend.services.audit import AuditedFigure
from backend.services.endoca_series import records
from backend.services.verimap_cells import placed
from backend.services.verimap_plane import PLANE_SOURCE, printed_points, printed_vlms
from backend.store.verification_filters import VerificationFilter
from backend.verimap.quadrants import PlaneThresholds
from pages.ui.audit_note import show_audit_note
from pages.ui.links import DATA
from pages.ui.run_command import PROGRAM
from pages.ui.verimap_cases import show_printed_point
from pages.ui.verimap_coupling import show_coupling
from pages.ui.verimap_plane import show_panels
from pages.ui.verimap_thresholds import show_thresholds
from pages.ui.verimap_words import mean_words, printed_headline


def show_printed_plane(thresholds: PlaneThresholds, theme: Theme) -> None:
    """Draw the page."""
    printed = placed(printed_points(), thresholds)
    rows = records(printed)
    st.text(printed_headline(rows, thresholds))
    with st.container(border=True):
        st.text(
            "The store holds no verification, so only the paper's printed plane is shown. For points with cases behind "
            "them, import verification records, let a VLM verify answers, or bring in the built-in data:"
        )
        for command in ("import verimap --records FILE", "verify run --help", "demo"):
            st.code(f"{PROGRAM} {command}", language="bash", wrap_lines=True)
        st.caption("Only one process can have the store open, so stop the app first.")
        st.page_link(DATA, label="Open the Data page")
    st.subheader("The plane as printed")
    show_thresholds(thresholds)
    places = {vlm: place for place, vlm in enumerate(printed_vlms())}
    point = show_panels(printed.iloc[:0], printed, thresholds, places, theme, by="", made_of=())
    st.caption(f"{PLANE_SOURCE}. {mean_words(rows)} A point says which cells it is the mean of.")
    show_audit_note(AuditedFigure.VERIMAP_PLANE)
    if point is not None:
        show_printed_point(next(row for row in rows if row["key"] == point[0]))
    show_coupling(VerificationFilter(), theme)
