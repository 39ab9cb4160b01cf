"""What must be known beside a figure of the SurgCheck page, as quiet lines below it."""

__all__ = ["notes_html", "show_notes"]

from collections.abc import Sequence
from html import escape

import streamlit as st

from backend.services.surgcheck_notes import Figure, Note, notes
from backend.store.pair_filters import PairFilter
from pages.ui.resources import drawn_once, the_store
from pages.ui.surgcheck_tables import answers_of


def show_notes(suite: str, figure: Figure) -> None:
    """Draw the notes on a figure of a suite; nothing where there is none."""
    found = drawn_once(
        "surgcheck_notes",
        (suite, figure),
        lambda: notes(the_store(), suite, figure, answers_of(PairFilter(suite=suite))),
    )
    if found:
        st.html(notes_html(found))


def notes_html(notes: Sequence[Note]) -> str:
    """Return notes as HTML, each a quiet line of its own."""
    lines = "".join(f'<p style="font-size:inherit;margin:0 0 .3em">{escape(note.text)}</p>' for note in notes)
    return f'<div role="note" style="font-size:.875rem;opacity:.65;max-width:62rem">{lines}</div>'
