"""Journeys over the Loop page in a real browser: from a piece of a bar to the case's conversation, in both themes."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from backend.figures.style import DARK, LIGHT, Theme
from tests.browser.harness import (
    ROOT,
    css_color,
    expect,
    running_server,
    screenshot,
    steady_box,
    wait_until,
)
from tests.services.verification_store import make_verification_store

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]


@pytest.fixture(scope="module")
def loops(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app over one loop of two turns whose fates are known."""
    folder = tmp_path_factory.mktemp("loops")
    make_verification_store(folder / "store.duckdb").close()
    with running_server(ROOT / "app.py", folder) as address:
        yield address


def click_bar(page: Any, chart: Any, place: int) -> None:
    """Hover over a piece of a chart's bars until it says what it is, then click it."""
    box = steady_box(chart.locator(".barlayer .point path").nth(place))
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    chart.locator(".hoverlayer .hovertext").first.wait_for()
    page.mouse.click(x, y)


def test_locked_answers_lead_to_their_list_and_on_to_the_conversation(open_page: OpenPage, loops: str) -> None:
    page = open_page("/loop", address=loops)
    expect(page.get_by_role("heading", level=1)).to_have_text("Does being reviewed make answers better?")
    click_bar(page, page.locator(".st-key-n_wrong_chart_0"), 0)
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("2 verdicts", exact=True).wait_for()
    expect(dialog.get_by_text("“wrong in the end, and accepted as correct”")).to_be_visible()
    screenshot(page, "loop_cases")
    dialog.get_by_role("button", name="Keep as filter").click()
    page.wait_for_url("**/loop?**fates=locked**")
    expect(page.get_by_role("heading", name="Cases", exact=True)).to_be_visible()
    dialog.wait_for(state="detached")


def test_a_link_to_a_case_of_a_fate_shows_its_turns_as_a_conversation(open_page: OpenPage, loops: str) -> None:
    page = open_page("/case?unit=vqa-rad:3&fates=locked", address=loops)
    page.get_by_role("status").get_by_text("1 of 2", exact=True).wait_for()
    expect(page.get_by_text("Reviewed turn by turn by itself").first).to_be_visible()


def test_the_rule_is_kept_in_the_link_and_back_undoes_it(open_page: OpenPage, loops: str) -> None:
    page = open_page("/loop", address=loops)
    page.get_by_text("Ends at the first acceptance", exact=True).click()
    page.wait_for_url("**end=Ends+at+the+first+acceptance**")
    page.get_by_text("A loop ends at the first acceptance", exact=False).wait_for()
    page.go_back()
    page.get_by_text("A loop ends where its records end", exact=False).wait_for()


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_page_is_drawn_whole_in_both_themes(open_page: OpenPage, loops: str, scheme: Theme) -> None:
    page = open_page("/loop", address=loops, scheme=scheme.name, size=(1280, 2900))
    expect(page.locator(".js-plotly-plot")).to_have_count(5)
    expect(page.locator(".js-plotly-plot .ytick text").first).to_have_css("fill", css_color(scheme.text))
    wait_until(
        page,
        lambda: page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth"),
        "nothing lies beyond the window",
    )
    screenshot(page, f"loop_{scheme.name}")
