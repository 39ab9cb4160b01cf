"""What stands below the navigation: the store's name and what is in it."""

__all__ = ["show_store"]

from html import escape

import streamlit as st


def show_store(name: str, contents: str) -> None:
    """Draw two quiet lines below the navigation.

    Args:
        name: The store's name, such as its file name.
        contents: What is in it, such as "2 suites, 6,612 units, 4 runs, 26,448 answers".
    """
    st.sidebar.html(f'<div class="parallax-store"><strong>{escape(name)}</strong><br>{escape(contents)}</div>')
