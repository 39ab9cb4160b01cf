"""The Data page under test: its store, and how to press, read and wait."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from backend.services.jobs import JOBS
from backend.store.store import Store
from pages.ui.resources import opened_store, the_store
from tests.conftest import ROOT
from tests.services.test_jobs import finished


def app_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Yield the app's store, empty; the page may read ``tmp_path``."""
    monkeypatch.setenv("PARALLAX_STORE", str(tmp_path / "store.duckdb"))
    monkeypatch.setenv("PARALLAX_ROOTS", str(tmp_path))
    opened_store.clear()
    with the_store() as opened:
        yield opened
        for job in JOBS.of(opened):
            JOBS.cancel(job)
            finished(job)
            JOBS.dismiss(job)
    opened_store.clear()


def data_page(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages/ui/main.py"), default_timeout=20)
    app.session_state["acknowledged"] = True
    app.run()
    for name, value in query.items():
        app.query_params[name] = value
    app.switch_page(str(ROOT / "pages/data.py")).run()
    assert not app.exception
    return app


def words(app: AppTest) -> str:
    """Return all text that the page shows outside of tables."""
    shown = [*app.markdown, *app.caption, *app.text, *app.info, *app.get("html")]
    return "\n".join(str(getattr(element, "value", None) or element.proto.body) for element in shown)


def table(app: AppTest, column: str) -> Any:
    """Return the first table that has a column."""
    return next(element.value for element in app.dataframe if column in element.value.columns)


def press(app: AppTest, key: str) -> AppTest:
    """Press a button, and wait until the job that it starts is over."""
    app.button(key=key).click().run()
    assert not app.exception
    for job in JOBS.of(the_store())[:1]:
        finished(job)
    app.run()
    assert not app.exception
    return app


def jsonl(lines: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()
