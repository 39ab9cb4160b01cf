"""Journeys over the plane page in a real browser: from a point to its false acceptances to a case, in both themes."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from backend.figures.style import DARK, LIGHT, Theme
from tests.browser.harness import (
    ROOT,
    click_cell,
    css_color,
    expect,
    running_server,
    screenshot,
    steady_box,
    wait_for_app,
    wait_until,
)
from tests.services.verification_store import OWN, make_verification_store

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]


@pytest.fixture(scope="module")
def verdicts(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app over two data sets and two VLMs that verify themselves and each other."""
    folder = tmp_path_factory.mktemp("verimap")
    make_verification_store(folder / "store.duckdb").close()
    with running_server(ROOT / "app.py", folder) as address:
        yield address


def click_point(page: Any, chart: Any, trace: int) -> None:
    """Hover over the first point of a trace until it says what it is, then click it."""
    box = steady_box(chart.locator(".scatterlayer .trace").nth(trace).locator(".points path").first)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    chart.locator(".hoverlayer .hovertext").first.wait_for()
    page.mouse.click(x, y)


def test_a_point_leads_to_its_false_acceptances_and_on_to_the_case(open_page: OpenPage, verdicts: str) -> None:
    page = open_page(f"/verimap?suites={OWN}&tasks=spatial_localization", address=verdicts)
    expect(page.get_by_role("heading", level=1)).to_have_text("Where can a verifier be trusted?")
    click_point(page, page.locator(".st-key-plane_chart_0"), 0)
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("2 verdicts", exact=True).wait_for()
    expect(dialog.get_by_text("false acceptance 2")).to_be_visible()
    wait_for_app(page)
    screenshot(page, "verimap_false_acceptances")
    click_cell(dialog, across=0.03, row=0)
    page.wait_for_url("**/case?**verdict_outcomes=fp**")
    page.get_by_role("status").get_by_text("1 of 1", exact=True).wait_for()
    expect(page.get_by_text("On which side is it?").first).to_be_visible()
    page.go_back()
    page.wait_for_url("**/verimap?**")
    expect(page.get_by_role("heading", level=1)).to_have_text("Where can a verifier be trusted?")


def test_a_threshold_that_is_moved_stays_in_the_link(open_page: OpenPage, verdicts: str) -> None:
    page = open_page("/verimap", address=verdicts)
    page.get_by_role("button", name="Thresholds").click()
    page.get_by_role("slider", name="Verdicts a cell needs").focus()
    page.keyboard.press("Home")
    page.wait_for_url("**cut_min_n=1**")
    expect(page.get_by_text("lie in the verification mirage").first).to_be_visible()


def test_a_count_of_the_table_opens_its_verdicts(open_page: OpenPage, verdicts: str) -> None:
    page = open_page(f"/verimap?suites={OWN}&tasks=spatial_localization", address=verdicts)
    click_cell(page.locator(".st-key-cells"), across=0.49, row=0)
    page.get_by_text("spatial localization (own): False acc.").wait_for()
    wait_for_app(page)
    page.locator(".st-key-cells_open").get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("dialog").get_by_text("2 verdicts", exact=True).wait_for()


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_page_is_drawn_whole_in_both_themes(open_page: OpenPage, verdicts: str, scheme: Theme) -> None:
    page = open_page("/verimap?cut_min_n=3&pairing=both", address=verdicts, scheme=scheme.name, size=(1280, 3600))
    page.locator(".st-key-plane_chart_0 .js-plotly-plot").wait_for()
    tick = page.locator(".st-key-plane_chart_0 .js-plotly-plot text").first
    expect(tick).to_have_css("fill", css_color(scheme.quiet))
    wait_until(
        page,
        lambda: page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth"),
        "nothing lies beyond the window",
    )
    screenshot(page, f"verimap_{scheme.name}")
