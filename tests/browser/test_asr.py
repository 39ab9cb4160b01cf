"""A journey over the ASR page in a real browser: from a count of repairs to the case."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from backend.figures.style import DARK, LIGHT, Theme
from tests.browser.harness import ROOT, click_cell, css_color, expect, running_server, screenshot, wait_for_app
from tests.services.reconciled_store import SUITE, make_store

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]


@pytest.fixture(scope="module")
def reconciled(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app over three samples that one VLM answered, revised and selected, in both variants."""
    folder = tmp_path_factory.mktemp("asr")
    make_store(folder / "store.duckdb")
    with running_server(ROOT / "app.py", folder) as address:
        yield address


def test_a_count_of_repairs_leads_to_the_case(open_page: OpenPage, reconciled: str) -> None:
    page = open_page(f"/asr?suite={SUITE}", address=reconciled)
    expect(page.get_by_role("heading", level=1)).to_have_text("Do a VLM's own parts mend its answer?")
    changes = page.locator(".st-key-changes")
    click_cell(changes, across=0.33, row=0)
    page.get_by_text("ASR: Became right").wait_for()
    wait_for_app(page)
    page.locator(".st-key-changes_open").get_by_role("button", name="Open", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("1 unit", exact=True).wait_for()
    click_cell(dialog, across=0.04, row=0)
    page.wait_for_url("**/case?**")
    assert f"unit={SUITE}%3A11" in page.url and "right=" in page.url
    page.get_by_role("status").get_by_text("1 of 1", exact=True).wait_for()


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_page_is_drawn_whole_in_both_themes(open_page: OpenPage, reconciled: str, scheme: Theme) -> None:
    page = open_page(f"/asr?suite={SUITE}", address=reconciled, scheme=scheme.name, size=(1280, 3600))
    expect(page.locator(".js-plotly-plot")).to_have_count(4)
    expect(page.locator(".js-plotly-plot text").first).to_have_css("fill", css_color(scheme.text))
    expect(page.get_by_role("heading", name="Noise floor")).to_be_visible()
    screenshot(page, f"asr_{scheme.name}")
