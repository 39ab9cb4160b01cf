"""Journeys over the SurgCheck page in a real browser: from a drop to the case, and the page in both themes."""

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
from tests.services.pair_store import HEIGHT, HINTED, SUITE, WIDTH, make_pair_store

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]

ACTION = 3
"""Place of the task Action among the points of a run."""


@pytest.fixture(scope="module")
def pairs(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app over pairs about two drawn frames and three VLMs with known faults."""
    folder = tmp_path_factory.mktemp("surgcheck")
    make_pair_store(folder / "store.duckdb").close()
    with running_server(ROOT / "app.py", folder) as address:
        yield address


def click_point(page: Any, chart: Any, place: int) -> None:
    """Hover over a point of a chart's first run until it says what it is, then click it."""
    box = steady_box(chart.locator(".scatterlayer .trace").first.locator(".points path").nth(place))
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    chart.locator(".hoverlayer .hovertext").first.wait_for()
    page.mouse.click(x, y)


def test_a_task_s_drop_leads_to_its_failures_and_on_to_the_case_with_both_views(
    open_page: OpenPage, pairs: str
) -> None:
    page = open_page(f"/surgcheck?suite={SUITE}", address=pairs)
    expect(page.get_by_role("heading", level=1)).to_have_text("Do the words do the looking?")
    click_point(page, page.locator(".st-key-task_chart_0"), ACTION)
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("8 pairs", exact=True).wait_for()
    expect(dialog.get_by_text("Action questions, “right with the hint, wrong without it” by Hinted")).to_be_visible()
    card = dialog.locator(".pair-card").nth(1)
    expect(card.locator("mark")).to_have_text(["grasper", "tool"])
    expect(card).to_contain_text("indicated by the red arrow")
    screenshot(page, "surgcheck_failures")
    dialog.get_by_role("button", name="Open", exact=True).nth(1).click()
    page.wait_for_url("**/case?**pair_outcomes=hint_only**")
    page.get_by_role("status").get_by_text("2 of 8", exact=True).wait_for()
    expect(page.get_by_text("As the VLM saw it", exact=True)).to_be_visible()
    expect(page.get_by_text("For people", exact=True)).to_be_visible()
    size = "image => [image.naturalWidth, image.naturalHeight]"
    picture = page.locator(".image").first
    wait_until(page, lambda: picture.evaluate(size) == [WIDTH, HEIGHT], "the picture with the arrow is drawn")
    expect(page.locator(".pair-answers").get_by_text(HINTED)).to_be_visible()


def test_a_failure_is_opened_from_its_card_and_back_returns_to_the_page(open_page: OpenPage, pairs: str) -> None:
    page = open_page(f"/surgcheck?suite={SUITE}", address=pairs)
    page.locator(".pair-card").first.wait_for()
    page.locator(f"[class*='st-key-failures_{SUITE}']").get_by_role("button", name="Open", exact=True).first.click()
    page.wait_for_url("**/case?**")
    page.get_by_role("status").get_by_text("1 of 8", exact=True).wait_for()
    page.go_back()
    page.wait_for_url("**/surgcheck?**")
    expect(page.get_by_role("heading", name="Where the hint did the looking")).to_be_visible()


def test_a_count_of_the_paired_table_opens_its_pairs(open_page: OpenPage, pairs: str) -> None:
    page = open_page(f"/surgcheck?suite={SUITE}", address=pairs)
    click_cell(page.locator(".st-key-drops_"), across=0.68, row=0)
    page.get_by_text("Only with hint").last.wait_for()
    wait_for_app(page)
    page.locator(".st-key-drops__open").get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("dialog").get_by_text("8 pairs", exact=True).wait_for()


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_page_is_drawn_whole_in_both_themes(open_page: OpenPage, pairs: str, scheme: Theme) -> None:
    page = open_page(f"/surgcheck?suite={SUITE}", address=pairs, scheme=scheme.name, size=(1280, 3600))
    expect(page.locator(".js-plotly-plot")).to_have_count(4)
    expect(page.locator(".js-plotly-plot text").first).to_have_css("fill", css_color(scheme.text))
    wait_until(
        page,
        lambda: page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth"),
        "nothing lies beyond the window",
    )
    screenshot(page, f"surgcheck_{scheme.name}")
