"""A row of stored units to begin with: picture, button, question."""

__all__ = ["show_examples"]

from collections.abc import Sequence
from html import escape

import streamlit as st

from backend.services.live_units import Example
from pages.ui.image_routes import thumbnail_url
from pages.ui.live_start import go_to


def show_examples(examples: Sequence[Example], n: int) -> None:
    """Draw the first ``n``, each with a button that puts it into the link."""
    for column, example in zip(st.columns(n), examples, strict=False):
        with column:
            st.html(
                f'<img src="{escape(thumbnail_url(example.image_id))}" alt="" '
                'style="display:block;width:100%;max-width:160px;aspect-ratio:5/4;object-fit:contain">'
            )
            st.button("Ask this", key=f"example_{example.unit_id}", on_click=go_to, kwargs={"unit": example.unit_id})
            st.html(f'<p style="font-size:.85rem;margin:0;overflow-wrap:anywhere">{escape(example.question)}</p>')
