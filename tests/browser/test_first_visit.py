"""The first visit in a real browser: an absent store, the built-in data set, and two clicks to a contradiction."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.services.demo.shipped import VLM
from tests.browser.harness import ROOT, expect, running_server, screenshot, wait_for_app, wait_until
from tests.services.demo_files import needs_answers

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]

SIDE = 512
"""Pixels of a drawn frame, both ways."""


@pytest.fixture
def first_start(chromium: Any, tmp_path: Path) -> Iterator[str]:
    """The app as it starts for the first time: there is no store yet."""
    with running_server(ROOT / "app.py", tmp_path, {"PARALLAX_DEMO": "on"}) as address:
        yield address


@needs_answers
def test_the_first_visit_fills_itself_and_leads_to_a_contradiction_in_two_clicks(
    first_start: str, open_page: OpenPage
) -> None:
    page = open_page("/", address=first_start)
    expect(page.get_by_role("heading", level=1)).to_have_text("Where do a VLM's two answers part?")

    main = page.get_by_test_id("stMain")
    one = main.get_by_role("link", name="See one: right answer, wrong part")
    one.first.wait_for()
    wait_for_app(page)
    card = main.locator(".headline").filter(has_text="Box VLM").filter(has_text="right on right parts")
    expect(card).to_contain_text("demo")
    expect(card.get_by_text("synthetic", exact=True)).to_be_visible()
    assert page.get_by_text("Bring in the built-in data set").count() == 0
    screenshot(page, "first_visit_overview")

    one.first.click()
    page.wait_for_url("**/case?*unit=demo*")
    wait_for_app(page)
    expect(page.get_by_text("This frame was drawn by a program; it shows no patient.")).to_be_visible()
    expect(page.get_by_text("right answer, wrong part").first).to_be_visible()
    image = page.locator(".image")
    expect(image).to_have_js_property("naturalWidth", SIDE)
    page.get_by_role("button", name="1:1").click()

    def drawn_size() -> tuple[float, float]:
        box = image.bounding_box()
        return box["width"], box["height"]

    wait_until(page, lambda: drawn_size() == pytest.approx((SIDE, SIDE)), "one image pixel on one screen pixel")
    screenshot(page, "first_visit_case")


@pytest.mark.skipif(not VLM.is_dir(), reason="the VLM in the box (data/demo/vlm) is absent")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_overview_shows_how_the_vlm_in_the_box_was_trained(
    first_start: str, open_page: OpenPage, scheme: str
) -> None:
    page = open_page("/", address=first_start, scheme=scheme)
    page.get_by_test_id("stMain").get_by_role("link", name="See one: right answer, wrong part").first.wait_for()
    wait_for_app(page)
    heading = page.get_by_role("heading", name="The VLM in the box")
    heading.scroll_into_view_if_needed()
    expect(page.get_by_text("it answers nonsense")).to_be_visible()
    expect(page.get_by_text("python -m backend demo train")).to_be_visible()
    screenshot(page, f"box_vlm_{scheme}")
