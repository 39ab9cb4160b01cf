"""What all pages share in this process: the open store, and small tables kept between reruns.

A kept table is found again by what was asked and by the store's data version, so a page never
shows figures from before an import.
"""

__all__ = ["the_store"]

import streamlit as st

from backend.services.opening import open_store
from backend.settings import store_path
from backend.store.store import Store


@st.cache_resource(show_spinner="Opening the store")
def the_store() -> Store:
    """Return the process's one open store, made where there is none.

    Raises:
        AppError: The file is locked, foreign, newer or damaged; the next call tries again.
    """
    return open_store(store_path())
