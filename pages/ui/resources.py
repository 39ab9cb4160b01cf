"""What all pages share in this process: the open store, and small tables kept between reruns.

A kept table is found again by what was asked and by the store's data version, so a page never
shows figures from before an import.
"""

__all__ = ["kept", "the_store"]

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from backend.services.opening import open_store
from backend.settings import store_path
from backend.store.store import Store

Table = TypeVar("Table")

KEPT_TABLES = 200
"""Small tables kept; the oldest goes first."""


@st.cache_resource(show_spinner="Opening the store")
def the_store() -> Store:
    """Return the process's one open store, made where there is none.

    Raises:
        AppError: The file is locked, foreign, newer or damaged; the next call tries again.
    """
    return open_store(store_path())


def kept(question: Callable[..., Table], *asked: object) -> Table:
    """Return ``question(store, *asked)``, worked out once for each state of the store.

    Args:
        question: A function of a service that reads the store. What it returns is copied at each
            use, so it has to be small: sums and shares, never answers.
        asked: Its further arguments: text, numbers, tuples, filters.
    """
    store = the_store()
    name = f"{question.__module__}.{question.__qualname__}"
    table: Table = _kept(name, asked, str(store.path), store.data_version, _question=question, _store=store)
    return table


@st.cache_data(max_entries=KEPT_TABLES, show_spinner=False)
def _kept(
    name: str,
    asked: tuple[object, ...],
    path: str,
    data_version: int,
    *,
    _question: Callable[..., Table],
    _store: Store,
) -> Table:
    return _question(_store, *asked)
