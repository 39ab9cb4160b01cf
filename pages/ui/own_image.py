"""An image of a person's own, brought from the browser: kept beside the store, and what to do where it cannot be."""

__all__ = ["bring_image"]

from collections.abc import Callable

import streamlit as st

from backend.errors import AppError
from backend.services.live_units import keep_image
from backend.store.store import Store
from pages.ui.errors import show_error

MAX_MB = 50
"""Of an image that a person sends."""


def bring_image(store: Store, key: str, brought: Callable[[str], None]) -> None:
    """Draw the field that takes an image, and why the one that stands in it cannot be used.

    Args:
        store: Where it goes.
        key: Unique on the page.
        brought: Told of the id of an image that was kept, before the page is drawn: no press is lost.
    """
    state = st.session_state
    field = f"{key}_{state.get(f'{key}_n', 0)}"
    sent = st.file_uploader(
        "An image of your own", max_upload_size=MAX_MB, key=field, on_change=_keep, args=(store, key, field, brought)
    )
    st.caption(
        "It is kept beside the store on the machine that Parallax runs on, without its name. A VLM behind a service "
        "is sent it; the choice of VLMs says which are."
    )
    refused = state.get(f"{key}_refused")
    if sent is not None and refused is not None:
        show_error(refused)


def _keep(store: Store, key: str, field: str, brought: Callable[[str], None]) -> None:
    state = st.session_state
    state[f"{key}_refused"] = None
    if state[field] is None:
        return
    try:
        brought(keep_image(store, state[field].getvalue()))
        state[f"{key}_n"] = state.get(f"{key}_n", 0) + 1
    except AppError as error:
        state[f"{key}_refused"] = error
