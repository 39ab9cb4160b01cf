"""Journeys of the click that shows where the VLM looked: after a verification on the Live page, and in the workshop."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.harness import expect, screenshot, steady_box, wait_for_app, wait_until
from tests.browser.test_live import Desk
from tests.browser.test_surgcheck_case import desk
from tests.browser.test_verify_live import box, verify
from tests.services.pair_store import ARROW_ACTION, HEIGHT, WIDTH

__all__ = ["box", "desk"]

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]

DRAWN = """frames => frames.filter(frame => {
  const image = frame.querySelector("img"), map = frame.querySelector("canvas")
  if (!image.complete || !image.naturalWidth || !map.width) return false
  if (frame.matches(".apart")) return true
  return map.getContext("2d").getImageData(0, 0, map.width, map.height).data.some(one => one)
}).length"""
"""How many pictures have their image and a map over it; where there is no difference, its map is clear."""


def look(page: Any) -> None:
    """Press the button, and wait until three pictures are drawn."""
    page.get_by_role("button", name="Show where it looked").click()
    expect(page.locator(".looks .frame.apart")).to_be_visible()
    pictures = page.locator(".looks .frame")
    wait_until(page, lambda: pictures.evaluate_all(DRAWN) == 3, "left, right and their difference are drawn")
    wait_for_app(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_after_a_run_one_click_shows_where_the_vlm_in_the_box_looked_and_the_link_keeps_it(
    open_page: OpenPage, box: str, scheme: str
) -> None:
    page = open_page("/live?system=verimap", address=box, scheme=scheme, size=(1280, 1100))
    page.get_by_role("button", name="Ask this").click()
    expect(page.get_by_label("Question", exact=True)).not_to_be_empty()
    wait_for_app(page)
    trace = verify(page)
    button = page.get_by_role("button", name="Show where it looked")
    steady_box(button)
    screenshot(page, f"live_offer_{scheme}")
    look(page)
    heads = page.locator(".looks .head h4")
    expect(heads.nth(0)).to_contain_text("Generator")
    expect(heads.nth(1)).to_contain_text("Verifier")
    expect(page.get_by_text("When answering, the VLM gave the image")).to_be_visible()
    expect(button).to_have_count(0)
    steady_box(page.locator(".looks"))
    screenshot(page, f"live_looks_{scheme}")
    other = open_page(f"/live?system=verimap&trace={trace}", address=box, scheme=scheme)
    wait_until(other, lambda: other.locator(".looks .frame").evaluate_all(DRAWN) == 3, "the link shows them again")


def test_in_the_workshop_both_questions_are_looked_into_over_the_picture_with_the_cue(
    open_page: OpenPage, desk: Desk
) -> None:
    desk.order()
    page = open_page(f"/cue_workshop?unit={ARROW_ACTION}&vlm=Fake+VLM", address=desk.address, size=(1280, 1100))
    page.get_by_role("button", name="Ask both").click()
    page.wait_for_url("**trace=*")
    desk.order(saliency="wait")
    page.get_by_role("button", name="Show where it looked").click()
    steady_box(page.get_by_text("0 of 2 answers looked into"))
    screenshot(page, "live_running")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. What was looked into until then is kept.")).to_be_visible()
    wait_for_app(page)
    desk.order()
    look(page)
    expect(page.locator(".looks .head h4").nth(1)).to_contain_text("Less-biased question")
    real = "image => [image.naturalWidth, image.naturalHeight]"
    assert page.locator(".looks .frame.right img").evaluate(real) == [WIDTH, HEIGHT]
    looked_at, seen = (
        page.request.get(f"{desk.address}{page.locator(image).first.get_attribute('src')}").body()
        for image in (".looks .frame.right img", ".image")
    )
    assert looked_at == seen, "it is the picture that the VLM saw"
    steady_box(page.locator(".looks"))
    screenshot(page, "live_workshop")


def test_a_vlm_that_is_killed_while_it_looks_is_told_of_in_every_tab_and_the_next_click_looks_again(
    open_page: OpenPage, desk: Desk
) -> None:
    desk.order()
    page = open_page(f"/cue_workshop?unit={ARROW_ACTION}&vlm=Fake+VLM", address=desk.address)
    page.get_by_role("button", name="Ask both").click()
    page.wait_for_url("**trace=*")
    desk.order(saliency="wait")
    page.get_by_role("button", name="Show where it looked").click()
    running = "0 of 2 answers looked into"
    expect(page.get_by_text(running)).to_be_visible()
    other = open_page(page.url.removeprefix(desk.address), address=desk.address)
    expect(other.get_by_text(running)).to_be_visible()
    page.goto(f"{desk.address}/data")
    wait_for_app(page)
    page.go_back()
    expect(page.get_by_text(running)).to_be_visible()
    desk.kill_worker()
    for tab in (page, other):
        expect(tab.get_by_text("Original question: The system ended the VLM's process")).to_be_visible()
    desk.order()
    look(page)
