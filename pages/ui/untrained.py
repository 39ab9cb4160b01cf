"""Which questions the VLM in the box never learned to answer."""

__all__ = ["BOX_GROUP", "note_untrained"]

from collections.abc import Sequence
from html import escape

import streamlit as st

from backend.demo.question_wordings import is_trained_question
from backend.vlm.entries import VlmEntry

BOX_GROUP = "demo"
"""Group of the VLM in the box."""


def note_untrained(asked: Sequence[VlmEntry], questions: Sequence[str]) -> None:
    """Say of which questions the answers mean nothing; nothing where the VLM in the box is not among those asked."""
    if not any(entry.group == BOX_GROUP for entry in asked):
        return
    unknown = [text for text in questions if text and not is_trained_question(text)]
    if unknown:
        items = "".join(f"<li>{escape(text)}</li>" for text in unknown)
        these, them = ("this question", "it") if len(unknown) == 1 else ("these questions", "them")
        st.html(
            f'<div class="case-note" role="note">The VLM in the box was not trained for {these}, so what it says to '
            f"{them} means nothing:<ul>{items}</ul></div>"
        )
