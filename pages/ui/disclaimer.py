"""Research use only: acknowledged once at the first visit, and said at the bottom of every page.

Acknowledging is remembered by the browser session, and by the browser itself in a cookie
that holds nothing else. The page that was asked for appears as soon as it is given.
"""

__all__ = ["ABOUT", "COOKIE", "LINE", "ask", "is_acknowledged", "show_line"]

from html import escape

import streamlit as st

from backend import __version__

LINE = "Research use only, not for clinical decisions"
"""The sentence that is always in sight."""

LICENCES = "Data sets keep their own licences"

ABOUT = f"""Parallax {__version__}

{LINE}. Parallax shows where two answers of a medical vision-language model (VLM) about the
same image part. Images and answers stay where Parallax runs, unless you ask a remote VLM.

{LICENCES}: they are named on the Data page."""

COOKIE = "parallax_acknowledged"
"""Set to "1" in the browser, for a year."""

SESSION_KEY = "acknowledged"

remember = st.components.v2.component(
    "parallax_acknowledgement",
    js=f"""
export default () => {{
  document.cookie = "{COOKIE}=1; path=/; max-age=31536000; samesite=strict"
}}
""",
)


def is_acknowledged() -> bool:
    """Whether this session or this browser has acknowledged what Parallax is for."""
    if st.session_state.get(SESSION_KEY):
        if st.context.cookies.get(COOKIE) != "1":
            remember(key="acknowledgement", height=1)
        return True
    return st.context.cookies.get(COOKIE) == "1"


def ask() -> None:
    """Draw the first visit's panel in the place of the page."""
    with st.container(key="acknowledgement_panel", width=560):
        st.header("Before you start")
        st.markdown(
            "Parallax is a research tool. It shows how vision-language models (VLMs) contradict "
            "themselves on medical images."
        )
        st.markdown(
            "Answers, scores and maps on these pages can be wrong, and are often shown **because** they "
            "are wrong. They must not be used to diagnose or treat anyone."
        )
        st.markdown(
            "Images and answers stay where Parallax runs, unless you ask a remote VLM. Each data set "
            "keeps its own licence, named on the Data page."
        )
        st.button("I understand: research use only", type="primary", on_click=acknowledge)


def acknowledge() -> None:
    """Remember the acknowledgement for this session."""
    st.session_state[SESSION_KEY] = True


def show_line() -> None:
    """Draw the line at the bottom of every page."""
    parts = "".join(f"<span>{escape(part)}</span>" for part in (LINE, f"Parallax {__version__}", LICENCES))
    st.bottom.html(f'<div class="parallax-line" role="note">{parts}</div>')
