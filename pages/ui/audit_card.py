"""A finding as a card: claim, printed, recomputed, consequence, and the numbers behind it to take along."""

__all__ = ["show_finding"]

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from backend.figures.slope_change import slope_change
from backend.figures.style import Theme
from backend.services.audit import Finding
from pages.ui.audit_words import finding_html
from pages.ui.resources import drawn_once

if TYPE_CHECKING:
    import pandas as pd

STYLE = Path(__file__).resolve().parent / "static" / "audit.css"

SLOPES = {"verimap-2": "", "verimap-10": "FPR"}
"""Findings drawn as slopes → the metric to draw, where their table holds several."""


def show_finding(finding: Finding, theme: Theme) -> None:
    """Draw one card; its heading is the anchor that links name."""
    with st.container(border=True, key=f"finding_{finding.key}"):
        st.subheader(finding.title, anchor=finding.key)
        st.html(finding_html(finding))
        if finding.data is None:
            return
        if finding.key in SLOPES:
            _show_slopes(finding, finding.data, theme)
        st.download_button(
            "Numbers behind it (CSV)",
            finding.data.to_csv(index=False),
            f"{finding.key}.csv",
            "text/csv",
            key=f"numbers_{finding.key}",
            on_click="ignore",
        )


def _show_slopes(finding: Finding, table: "pd.DataFrame", theme: Theme) -> None:
    metric = SLOPES[finding.key]
    slopes = table[table["metric"] == metric] if metric else table
    st.plotly_chart(
        drawn_once(f"audit_{finding.key}", (theme.name,), lambda: slope_change(slopes, theme)),
        theme=None,
        key=f"slopes_{finding.key}",
        config={"displayModeBar": False},
        alt="Slopes with undefined rates taken as 0 and left out",
    )
