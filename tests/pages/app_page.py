"""A page under test: the app over a store, how a page of it is opened and pressed, and what it then shows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from backend.services.live_calls import LiveRegistry, Watched
from pages.ui.resources import opened_store, the_store
from tests.conftest import ROOT

FAKE = "Fake VLM"
LISTED = """
- name: Fake VLM
  group: general_open
  family: any
  licence: own weights
  answers: yes
  attention: yes
  gradients: yes
  transformers: {{source: {folder}}}
"""
"""A list of VLMs with the fake one alone; ``folder`` takes its orders."""


def app_over(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """Yield the app over a store, acknowledged and not yet run; an absent store is made."""
    monkeypatch.setenv("PARALLAX_STORE", str(path))
    opened_store.clear()
    app = AppTest.from_file(str(ROOT / "pages/ui/main.py"), default_timeout=60)
    app.session_state["acknowledged"] = True
    yield app
    the_store().close()
    opened_store.clear()


def open_page(page: str, app: AppTest, **query: str) -> AppTest:
    """Turn to a page of the app, with parameters of its link."""
    app.run()
    app.switch_page(f"../{page}.py")
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def pressed(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def over_of(registry: LiveRegistry[Watched], app: AppTest) -> str:
    """Wait until the live calls in the link are over; return their trace's id."""
    trace_id = asked(app, "trace")
    calls = registry.known(trace_id)
    assert calls is not None
    assert calls.wait(60)
    app.run()
    assert not app.exception
    return trace_id


def link(app: AppTest) -> dict[str, str]:
    return {name: value if isinstance(value, str) else value[0] for name, value in app.query_params.items()}


def asked(app: AppTest, name: str) -> str:
    """Return a parameter of the link."""
    return link(app)[name]


def html_of(app: AppTest) -> str:
    """Return the HTML of the page, without that of a list opened over it."""
    return "\n".join(block.proto.body for block in app.main.get("html"))


def html_of_all(app: AppTest) -> str:
    return "\n".join(block.proto.body for block in app.get("html"))


def texts_of(app: AppTest) -> list[str]:
    return [text.value for text in app.main.text]


def headings(app: AppTest) -> list[str]:
    return [heading.value for heading in app.main.subheader]


def captions(app: AppTest) -> str:
    return "\n".join(caption.value for caption in app.main.caption)


def table(app: AppTest, column: str) -> list[dict[str, Any]]:
    """Return the rows of the first table that has a column."""
    frame = next(frame.value for frame in app.dataframe if column in frame.value)
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def told(app: AppTest, name: str) -> list[dict[str, Any]]:
    """Return what the components are told that have a datum of this name."""
    data = [json.loads(block.proto.json) for block in app.main.get("bidi_component") if block.proto.json]
    return [one for one in data if name in one]


def place_of(app: AppTest) -> dict[str, Any]:
    """Return what the row that leads through a list is told."""
    return told(app, "position")[0]


def told_of(app: AppTest, count: str) -> str:
    """Return the sentence over the list that was just opened."""
    return next(block for block in html_of_all(app).split("\n") if f"<strong>{count}</strong>" in block)


def chosen_cell(row: int, column: str) -> dict[str, dict[str, list[object]]]:
    """Return a table's state once one of its cells is chosen, by click, header, Tab or arrow key."""
    return {"selection": {"rows": [], "columns": [], "cells": [(row, column)]}}
