"""How a page says that something went wrong: what happened, the next step, details to copy.

Pages let errors rise; the server hands each to ``show_error``. An ``AppError`` is shown
with its own words, anything else as a bug in Parallax. A traceback is never drawn: it
goes to the server's log, and into the details that can be copied.
"""

__all__ = ["describe", "show_error"]

import logging
import platform
import traceback

import streamlit as st

from backend import __version__
from backend.errors import AppError
from pages.ui.copy import copy_button

LOG = logging.getLogger(__name__)


def show_error(error: Exception) -> bool:
    """Draw an error in its place on the page.

    Returns:
        True: Streamlit need not draw it too.
    """
    with st.container(border=True, key="parallax_error"):
        if isinstance(error, AppError):
            st.text(error.message)
            st.text(error.hint)
        else:
            LOG.error("A page failed", exc_info=error)
            st.text("This page could not be drawn. That is a bug in Parallax, not something you did.")
            st.text("Reload the page. If it happens again, send the details to whoever looks after Parallax.")
        copy_button("Copy details", describe(error), key="error_details")
    return True


def describe(error: Exception) -> str:
    """Return what a person needs to find the cause: version, platform, and where it happened."""
    head = f"Parallax {__version__}, Streamlit {st.__version__}, Python {platform.python_version()}"
    if isinstance(error, AppError):
        return f"{head}\n{error.message}\n{error.hint}\n"
    return f"{head}\n{''.join(traceback.format_exception(error))}"
