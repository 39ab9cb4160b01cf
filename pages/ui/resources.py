"""What all pages share in this process: the open store, small tables and figures kept between reruns.

A kept table is found again by what was asked and by the store's data version, so a page never
shows figures from before an import.
"""

__all__ = ["drawn_once", "forget_drawings", "kept", "opened_store", "the_store"]

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from backend.errors import AppError
from backend.services.demo.built_in import demo_task, wants_demo
from backend.services.jobs import JOBS
from backend.services.opening import open_store
from backend.settings import store_path
from backend.store.store import Store

Table = TypeVar("Table")
Drawing = TypeVar("Drawing")

KEPT_TABLES = 200
"""Small tables kept; the oldest goes first."""

KEPT_DRAWINGS = 60
"""Figures and styled tables kept; the oldest goes first."""


def the_store() -> Store:
    """Return the process's one open store, made where there is none.

    Raises:
        AppError: The file is locked, foreign, newer or damaged, and the next call tries again; or it
            was taken away while it was open, and what is written now would be lost.
    """
    store = opened_store()
    if not store.path.exists():
        raise AppError(
            f"The store {store.path} was deleted or moved while Parallax runs.",
            "Put the file back, or start Parallax again to begin with an empty store.",
        )
    return store


@st.cache_resource(show_spinner="Opening the store")
def opened_store() -> Store:
    """Return the open store as it was opened; `the_store` also looks whether it is still there.

    An empty one is filled with the built-in data set, by a job that pages show.
    """
    store = open_store(store_path())
    if wants_demo(store):
        JOBS.start(store, demo_task(store))
    return store


def kept(question: Callable[..., Table], *asked: object, **named: object) -> Table:
    """Return ``question(store, *asked, **named)``, worked out once for each state of the store.

    Args:
        question: A function of a service that reads the store. What it returns is copied at each
            use, so it has to be small: sums and shares, never answers.
        asked: Its further arguments: text, numbers, tuples, filters.
        named: Such arguments by name.
    """
    store = the_store()
    name = f"{question.__module__}.{question.__qualname__}"
    table: Table = _kept(name, asked, named, str(store.path), store.data_version, _question=question, _store=store)
    return table


@st.cache_data(max_entries=KEPT_TABLES, show_spinner=False)
def _kept(
    name: str,
    asked: tuple[object, ...],
    named: dict[str, object],
    path: str,
    data_version: int,
    *,
    _question: Callable[..., Table],
    _store: Store,
) -> Table:
    return _question(_store, *asked, **named)


def drawn_once(name: str, made_of: tuple[object, ...], draw: Callable[[], Drawing]) -> Drawing:
    """Return what ``draw`` makes, drawn once for each state of the store and shared: never change it.

    To build a figure or a styled table takes far longer than to send it.

    Args:
        name: Of the figure.
        made_of: All that the drawing depends on besides the store: filters, keys, the theme's name.
        draw: Makes it.
    """
    store = the_store()
    drawing: Drawing = _drawn(name, made_of, str(store.path), store.data_version, _draw=draw)
    return drawing


@st.cache_resource(max_entries=KEPT_DRAWINGS, show_spinner=False)
def _drawn(
    name: str, made_of: tuple[object, ...], path: str, data_version: int, *, _draw: Callable[[], Drawing]
) -> Drawing:
    return _draw()


def forget_drawings() -> None:
    """Forget all figures and styled tables, as after a start; benchmarks need it."""
    _drawn.clear()
