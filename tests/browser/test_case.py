"""Journeys over the case page in a real browser: a deep link, the next case by key, the image at true pixels."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from backend.services.ingest.images import attach_images
from backend.store.store import Store
from tests.browser.harness import ROOT, click_cell, copied, expect, running_server, screenshot, wait_for_app, wait_until
from tests.pages.paired_store import PARTED, make_store

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]

SIZE = (622, 529)


def draw_frame(path: Path) -> None:
    """Draw a dark frame with a bright disc and one white pixel in its middle."""
    image = Image.new("RGB", SIZE, "#0b0909")
    draw = ImageDraw.Draw(image)
    draw.ellipse((60, 10, 590, 520), fill="#7d3527")
    draw.ellipse((260, 200, 380, 320), fill="#c9774f", outline="#e8b08a", width=4)
    image.putpixel((311, 264), (255, 255, 255))
    image.save(path)


@pytest.fixture(scope="module")
def cases(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app over a store in which frame-a has its file and frame-b has none."""
    folder = tmp_path_factory.mktemp("cases")
    make_store(folder / "store.duckdb")
    images = folder / "images"
    images.mkdir()
    draw_frame(images / "frame-a.png")
    with Store.open(folder / "store.duckdb") as store:
        attach_images(store, images)
    with running_server(ROOT / "app.py", folder) as address:
        yield address


def wait_for_place(page: Any, place: str) -> None:
    """Wait until the case at a place of the list, such as ``2 of 3``, is drawn and not only asked for."""
    page.locator("[role=status]:not(.asked)").get_by_text(place, exact=True).wait_for()
    wait_for_app(page)


def test_a_deep_link_to_a_case_works_as_the_very_first_request(
    chromium: Any, open_page: OpenPage, tmp_path: Path
) -> None:
    make_store(tmp_path / "store.duckdb")
    with running_server(ROOT / "app.py", tmp_path) as address:
        page = open_page("/case?unit=drawn:22&suite=drawn", address=address)
        expect(page.get_by_text("2 of 3 runs answer the complex question right")).to_be_visible()
        wait_for_place(page, "2 of 3")
        expect(page.get_by_text("Right answer, wrong part: it says")).to_be_visible()
        expect(page).to_have_url(f"{address}/case?unit=drawn:22&suite=drawn")
        page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_case_is_seen_whole(open_page: OpenPage, cases: str, scheme: str) -> None:
    page = open_page("/case?unit=drawn:22&suite=drawn", address=cases, scheme=scheme, size=(1280, 1500))
    expect(page.locator("tbody.apart").get_by_text(PARTED)).to_be_visible()
    page.locator("tbody.apart").get_by_text("How it was judged").click()
    expect(page.locator("tbody.apart dd").first).to_be_visible()
    screenshot(page, f"case_{scheme}")


def test_keys_lead_to_the_next_and_the_previous_case_and_back_leads_back(open_page: OpenPage, cases: str) -> None:
    page = open_page("/case?unit=drawn:11&suite=drawn", address=cases)
    wait_for_place(page, "1 of 3")
    for key, place, unit in (("j", "2 of 3", 22), ("j", "3 of 3", 33), ("k", "2 of 3", 22)):
        page.keyboard.press(key)
        wait_for_place(page, place)
        page.wait_for_url(f"**/case?unit=drawn%3A{unit}&suite=drawn")
    page.go_back()
    wait_for_place(page, "3 of 3")
    page.keyboard.press("Escape")
    page.wait_for_url("**/endoca?suite=drawn#cases")


def test_no_press_of_a_key_is_lost_however_quickly_it_comes(open_page: OpenPage, cases: str) -> None:
    page = open_page("/case?unit=drawn:11&suite=drawn", address=cases)
    wait_for_place(page, "1 of 3")
    for keys, place in (("jj", "3 of 3"), ("kk", "1 of 3"), ("jkjj", "3 of 3")):
        for key in keys:
            page.keyboard.press(key)
        wait_for_place(page, place)
    page.wait_for_url("**unit=drawn%3A33&suite=drawn")


def test_presses_that_end_where_they_began_leave_the_case_that_is_shown(open_page: OpenPage, cases: str) -> None:
    page = open_page("/case?unit=drawn:22&suite=drawn", address=cases)
    wait_for_place(page, "2 of 3")
    for keys in ("kj", "jk", "jkkj"):
        for key in keys:
            page.keyboard.press(key)
        wait_for_place(page, "2 of 3")
    page.wait_for_url("**unit=drawn%3A22&suite=drawn")


def test_from_case_to_list_is_one_step_of_the_browsers_history(open_page: OpenPage, cases: str) -> None:
    page = open_page("/case?unit=drawn:22&suite=drawn", address=cases)
    wait_for_place(page, "2 of 3")
    page.get_by_role("link", name="Back to the list").click()
    page.wait_for_url("**/endoca?suite=drawn#cases")
    expect(page.locator("#cases")).to_be_in_viewport()
    wait_for_app(page)
    page.go_back()
    wait_for_place(page, "2 of 3")
    expect(page).to_have_url(f"{cases}/case?unit=drawn:22&suite=drawn")


def test_the_link_that_is_copied_opens_the_same_case_in_the_same_list(open_page: OpenPage, cases: str) -> None:
    page = open_page("/case?unit=drawn:22&complexities=2~3", address=cases)
    page.goto(copied(page, "Copy link"))
    wait_for_place(page, "1 of 2")
    expect(page.get_by_text("List: complexity 2 or 3.")).to_be_visible()


def test_an_attached_image_is_shown_at_its_own_pixels(open_page: OpenPage, cases: str) -> None:
    page = open_page("/case?unit=drawn:22", address=cases)
    image = page.locator(".image")
    real = "image => [image.naturalWidth, image.naturalHeight]"
    wait_until(page, lambda: image.evaluate(real) == list(SIZE), "the image itself is shown")
    page.get_by_role("button", name="1:1").click()

    def drawn_size() -> tuple[float, float]:
        box = image.bounding_box()
        return box["width"], box["height"]

    wait_until(page, lambda: drawn_size() == pytest.approx(SIZE), "one image pixel on one screen pixel")
    expect(page.get_by_text("622 × 529").first).to_be_visible()
    expect(page.locator(".case-identity code")).to_have_attribute("title", re.compile("^[0-9a-f]{64}$"))


def test_a_missing_image_is_said_and_the_rest_of_the_case_is_there(open_page: OpenPage, cases: str) -> None:
    page = open_page("/case?unit=drawn:33", address=cases)
    expect(page.get_by_text("No usable image file was found.")).to_be_visible()
    expect(page.get_by_text("Which instruments are present, is there text").first).to_be_visible()
    folded = page.locator(".verbatim details")
    folded.locator("summary").click()
    expect(folded).to_contain_text("<script>alert(1)</script>", use_inner_text=True)
    page.get_by_role("link", name="Attach images on the Data page").click()
    page.wait_for_url("**/data")


def test_a_button_in_the_list_opens_the_case_as_one_step_of_the_browsers_history(
    open_page: OpenPage, cases: str
) -> None:
    page = open_page("/case?suite=drawn", address=cases)
    click_cell(page, across=0.04, row=0)
    page.wait_for_url("**/case?unit=*")
    wait_for_place(page, "1 of 3")
    expect(page.get_by_text("List: suite drawn.")).to_be_visible()
    page.go_back()
    page.get_by_text("Choose one.").wait_for()
    expect(page).to_have_url(f"{cases}/case?suite=drawn")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_overview_leads_to_the_cases(open_page: OpenPage, cases: str, scheme: str) -> None:
    page = open_page("/", address=cases, scheme=scheme, size=(1280, 1600))
    screenshot(page, f"overview_{scheme}")
    page.get_by_role("link", name="Look at single cases").click()
    page.wait_for_url("**/case")
    page.get_by_text("Choose one.").wait_for()
