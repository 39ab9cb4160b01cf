"""What the audit found about a figure, as one quiet line beside it; each entry opens its finding."""

__all__ = ["show_audit_note"]

from pathlib import Path

import streamlit as st

from backend.services.audit import AuditedFigure, Verdict, findings_about
from pages.ui.audit_words import SHORT_VERDICTS
from pages.ui.links import AUDIT, open_page
from pages.ui.resources import kept

STYLE = Path(__file__).resolve().parent / "static" / "audit_note.css"


def show_audit_note(figure: AuditedFigure) -> None:
    """Draw the findings about a figure; nothing where none was recomputed."""
    found = [finding for finding in kept(findings_about, figure) if finding.verdict is not Verdict.OPEN]
    if not found:
        return
    st.html(STYLE)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"audit_note_{figure}"):
        st.caption("The paper on this, checked:", width="content")
        for finding in found:
            words = f"{finding.title}: {SHORT_VERDICTS[finding.verdict]}"
            if st.button(words, key=f"audit_{figure}_{finding.key}", type="tertiary", help=finding.claim):
                open_page(AUDIT, {}, finding.key)
