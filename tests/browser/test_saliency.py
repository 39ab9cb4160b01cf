"""Journeys over the Saliency page in a real browser: from a point to its two looks, from a row to a case and back."""

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
from tests.browser.test_verification_case import SIZE, attach_image
from tests.services.looked_store import make_looked_store

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]


@pytest.fixture(scope="module")
def looked(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app over five verifications whose looks are known; two of them have their image at hand."""
    folder = tmp_path_factory.mktemp("looked")
    with make_looked_store(folder / "store.duckdb") as store:
        attach_image(store, folder / "frames")
    with running_server(ROOT / "app.py", folder) as address:
        yield address


def click_point(page: Any, chart: Any, saying: str) -> None:
    """Hover over a chart's points until one says what is looked for, then click it."""
    steady_box(chart)
    said = chart.locator(".hoverlayer .hovertext", has_text=saying)
    for point in chart.locator(".scatterlayer .points path").all():
        box = point.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.wait_for_timeout(150)
        if said.count():
            page.mouse.click(x, y)
            return
    raise AssertionError(f"no point says {saying!r}")


def test_a_point_opens_two_looks_that_can_be_played_with_and_lead_to_the_case(open_page: OpenPage, looked: str) -> None:
    page = open_page("/saliency?text=How was this image taken", address=looked, size=(1280, 1000))
    expect(page.get_by_role("heading", level=1)).to_have_text("Did the verifier look?")
    expect(page.get_by_text("In 1 of 1 verification the verifier gave the image a smaller share")).to_be_visible()
    click_point(page, page.locator(".st-key-boxes_chart_0"), "on its own answer")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("When judging, the VLM gave the image 50.0 % of its attention")).to_be_visible()
    expect(dialog.locator(".frame canvas")).to_have_count(3)
    wait_until(
        page,
        lambda: (
            dialog.locator(".frame img").first.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [*SIZE]
        ),
        "the image is drawn",
    )

    verifier = dialog.locator(".frame.right canvas")
    dialog.get_by_role("slider", name="Opacity of the map").fill("20")
    expect(verifier).to_have_css("opacity", "0.2")
    before = verifier.evaluate("canvas => canvas.toDataURL()")
    piece = dialog.locator(".head.right .pieces button").last
    piece.click()
    expect(piece).to_have_attribute("aria-pressed", "true")
    assert verifier.evaluate("canvas => canvas.toDataURL()") != before
    screenshot(page, "saliency_looks")

    dialog.get_by_role("link", name="Open its case").click()
    page.wait_for_url("**/case?unit=vqa-rad**2**")
    page.get_by_role("status").get_by_text("1 of 1", exact=True).wait_for()


def test_a_row_opens_its_verifications_and_the_case_leads_back_to_them(open_page: OpenPage, looked: str) -> None:
    page = open_page("/saliency?proxy=Times+even+share", address=looked, size=(1280, 1000))
    table = page.locator(".st-key-tests")
    click_cell(table, across=0.5, row=1)
    page.get_by_text("Modality: 4 pairs", exact=True).wait_for()
    page.locator(".st-key-tests_open").get_by_role("button").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("4 verdicts", exact=True).wait_for()
    expect(dialog.get_by_text("with saliency of both generator and verifier")).to_be_visible()
    dialog.get_by_role("button", name="Keep as filter").click()
    page.wait_for_url("**/saliency?**looked=both**proxy=Times+even+share**")
    dialog.wait_for(state="detached")
    wait_for_app(page)
    click_cell(page.locator(".st-key-cases_table"), across=0.03, row=0)
    page.wait_for_url("**/case?**looked=both**")
    page.get_by_role("status").get_by_text("1 of 4", exact=True).wait_for()
    wait_for_app(page)
    page.keyboard.press("Escape")
    page.wait_for_url("**/saliency?**looked=both**")
    expect(page.get_by_role("heading", name="Cases", exact=True)).to_be_visible()


def test_the_proxy_is_kept_in_the_link_and_back_undoes_it(open_page: OpenPage, looked: str) -> None:
    page = open_page("/saliency", address=looked)
    page.get_by_text("Mean gradient activation", exact=True).click()
    page.wait_for_url("**proxy=Mean+gradient+activation**")
    page.get_by_text("N/A for all 5 pairs", exact=False).wait_for()
    page.go_back()
    expect(page.locator(".js-plotly-plot")).to_have_count(2)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_page_is_drawn_whole_in_both_themes(open_page: OpenPage, looked: str, scheme: Theme) -> None:
    page = open_page("/saliency", address=looked, scheme=scheme.name, size=(1280, 2600))
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    expect(page.locator(".js-plotly-plot .ytick text").first).to_have_css("fill", css_color(scheme.quiet))
    wait_until(
        page,
        lambda: page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth"),
        "nothing lies beyond the window",
    )
    screenshot(page, f"saliency_{scheme.name}")
