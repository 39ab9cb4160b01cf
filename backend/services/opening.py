"""Opening the store for use: made where absent, brought to the newest shape, with the printed tables in it."""

__all__ = ["open_store"]

from pathlib import Path

from backend.services.published import load_published
from backend.store.store import Store


def open_store(path: Path) -> Store:
    """Open the store at ``path``, making it where there is none.

    Raises:
        AppError: The file is locked, foreign, newer or damaged, or the folder cannot be made.
    """
    store = Store.create(path)
    load_published(store)
    return store
