"""What page tests share: the app over a module's own ``store_file`` or over an empty store, and a fake VLM."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from backend.vlm.worker import WORKERS
from tests.pages.app_page import LISTED, app_over
from tests.services import live_fakes


@pytest.fixture
def page(store_file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The app over the module's store."""
    yield from app_over(store_file, monkeypatch)


@pytest.fixture
def page_of_empty_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The app over a store with the printed tables and nothing else."""
    yield from app_over(tmp_path / "empty.duckdb", monkeypatch)


@pytest.fixture
def vlm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A fake VLM in the list, behind the app's own workers; its folder takes orders."""
    folder = tmp_path / "vlm"
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        (folder / name).write_text("{}")
    listed = tmp_path / "mine.yaml"
    listed.write_text(LISTED.format(folder=folder))
    monkeypatch.setenv("PARALLAX_MODELS", str(listed))
    monkeypatch.setattr(WORKERS, "_factory", live_fakes.FACTORY)
    monkeypatch.setattr(WORKERS, "_imports", ())
    for key in ("OPENAI_API_KEY", "XAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    st.cache_data.clear()
    yield folder
    WORKERS.stop_all()
    st.cache_data.clear()
