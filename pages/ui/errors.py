"""How a page says that something went wrong: what happened, the next step, details to copy.

Pages let errors rise; the server hands each to ``show_error``. An ``AppError`` is shown
with its own words, anything else as a bug in Parallax. A traceback is never drawn: it
goes to the server's log (Streamlit writes it there), and into the details to copy.
"""

__all__ = ["describe", "show_error"]

import platform
import traceback
from html import escape

import streamlit as st

from backend import __version__
from backend.errors import AppError
from pages.ui.copy import copy_button

BUG = (
    "This page could not be drawn. That is a bug in Parallax, not something you did.",
    "Reload the page. If it happens again, send the details to whoever looks after Parallax.",
)
"""Message and hint for every error that is not an ``AppError``."""


def show_error(error: Exception) -> bool:
    """Draw an error where the page stopped.

    Its words can hold text of a data set, so they are drawn as plain text: ``st.error``
    would read them as Markdown, and Markdown can fetch images.

    Returns:
        True: Streamlit need not draw it too.
    """
    message, hint = (error.message, error.hint) if isinstance(error, AppError) else BUG
    with st.container(border=True):
        st.html(
            f'<div class="parallax-error" role="alert"><strong>{escape(message)}</strong>'
            f"<span>{escape(hint)}</span></div>"
        )
        copy_button("Copy details", describe(error), key=f"error_{id(error)}")
    return True


def describe(error: Exception) -> str:
    """Return what a person needs to find the cause: version, platform, and where it happened."""
    head = f"Parallax {__version__}, Streamlit {st.__version__}, Python {platform.python_version()}"
    if isinstance(error, AppError):
        return f"{head}\n{error.message}\n{error.hint}\n"
    return f"{head}\n{''.join(traceback.format_exception(error))}"
