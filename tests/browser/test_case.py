"""Journeys over the case page in a real browser: a deep link, the next case by key, the image at true pixels."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from backend.services.ingest.images import attach_images
from backend.store.store import Store
from tests.browser.harness import ROOT, running_server, screenshot, wait_for_app
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


def test_a_deep_link_to_a_case_works_as_the_very_first_request(
    chromium: Any, open_page: OpenPage, tmp_path: Path
) -> None:
    make_store(tmp_path / "store.duckdb")
    with running_server(ROOT / "app.py", tmp_path) as address:
        page = open_page("/case?unit=drawn:22&suite=drawn", address=address)
        assert page.get_by_text("2 of 3 runs answer the complex question right").is_visible()
        assert page.get_by_text("2 of 3", exact=True).is_visible()
        assert page.get_by_text("Right answer, wrong part: it says").is_visible()
        assert page.url == f"{address}/case?unit=drawn:22&suite=drawn"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_case_is_seen_whole(open_page: OpenPage, cases: str, scheme: str) -> None:
    page = open_page("/case?unit=drawn:22&suite=drawn", address=cases, scheme=scheme, size=(1280, 1500))
    assert page.locator("tbody.apart").get_by_text(PARTED).is_visible()
    page.locator("tbody.apart").get_by_text("How it was judged").click()
    assert page.locator("tbody.apart dd").first.is_visible()
    screenshot(page, f"case_{scheme}")


def test_keys_lead_to_the_next_and_the_previous_case_and_back_leads_back(open_page: OpenPage, cases: str) -> None:
    page = open_page("/case?unit=drawn:11&suite=drawn", address=cases)
    page.keyboard.press("j")
    page.get_by_text("2 of 3", exact=True).wait_for()
    page.wait_for_url("**/case?unit=drawn%3A22&suite=drawn")
    wait_for_app(page)
    page.keyboard.press("j")
    page.wait_for_url("**/case?unit=drawn%3A33&suite=drawn")
    wait_for_app(page)
    page.keyboard.press("k")
    page.wait_for_url("**/case?unit=drawn%3A22&suite=drawn")
    wait_for_app(page)
    page.go_back()
    page.get_by_text("3 of 3", exact=True).wait_for()
    page.keyboard.press("Escape")
    page.wait_for_url("**/endoca?suite=drawn#cases")


def test_no_press_of_a_key_is_lost_however_quickly_it_comes(open_page: OpenPage, cases: str) -> None:
    page = open_page("/case?unit=drawn:11&suite=drawn", address=cases)
    for keys, place in (("jj", "3 of 3"), ("kk", "1 of 3"), ("jkjj", "3 of 3")):
        for key in keys:
            page.keyboard.press(key)
        page.get_by_text(place, exact=True).wait_for()
        wait_for_app(page)
    page.wait_for_url("**unit=drawn%3A33&suite=drawn")


def test_from_case_to_list_is_one_step_of_the_browsers_history(open_page: OpenPage, cases: str) -> None:
    page = open_page("/case?unit=drawn:22&suite=drawn", address=cases)
    page.get_by_text("2 of 3", exact=True).wait_for()
    page.get_by_role("link", name="Back to the list").click()
    page.wait_for_url("**/endoca?suite=drawn#cases")
    wait_for_app(page)
    page.locator("#cases").wait_for()
    page.wait_for_function("document.getElementById('cases').getBoundingClientRect().top < 700")
    page.go_back()
    page.get_by_text("2 of 3", exact=True).wait_for()
    assert page.url.endswith("/case?unit=drawn:22&suite=drawn")


def test_the_link_that_is_copied_opens_the_same_case_in_the_same_list(open_page: OpenPage, cases: str) -> None:
    page = open_page("/case?unit=drawn:22&complexities=2~3", address=cases)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    page.goto(link)
    wait_for_app(page)
    assert page.get_by_text("1 of 2", exact=True).is_visible()
    assert page.get_by_text("List: complexity 2 or 3.").is_visible()


def test_an_attached_image_is_shown_at_its_own_pixels(open_page: OpenPage, cases: str) -> None:
    page = open_page("/case?unit=drawn:22", address=cases)
    image = page.locator(".image")
    image.wait_for()
    assert image.evaluate("image => [image.naturalWidth, image.naturalHeight]") == list(SIZE)
    page.get_by_role("button", name="1:1").click()
    box = image.bounding_box()
    assert (box["width"], box["height"]) == pytest.approx(SIZE)
    assert page.get_by_text("622 × 529").first.is_visible()
    assert len(page.locator(".case-identity code").get_attribute("title")) == 64


def test_a_missing_image_is_said_and_the_rest_of_the_case_is_there(open_page: OpenPage, cases: str) -> None:
    page = open_page("/case?unit=drawn:33", address=cases)
    assert page.get_by_text("No usable image file was found.").is_visible()
    assert page.get_by_text("Which instruments are present, is there text").first.is_visible()
    folded = page.locator(".verbatim details")
    folded.locator("summary").click()
    assert "<script>alert(1)</script>" in folded.inner_text()
    page.get_by_role("link", name="Attach images on the Data page").click()
    page.wait_for_url("**/data")


def test_a_button_in_the_list_opens_the_case_as_one_step_of_the_browsers_history(
    open_page: OpenPage, cases: str
) -> None:
    page = open_page("/case?suite=drawn", address=cases)
    box = page.get_by_test_id("stDataFrame").bounding_box()
    page.mouse.click(box["x"] + 36, box["y"] + 38 + 20)
    page.wait_for_url("**/case?unit=*")
    assert page.get_by_text("List: suite drawn.").is_visible()
    page.go_back()
    page.get_by_text("Choose one.").wait_for()
    assert page.url.endswith("/case?suite=drawn")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_overview_leads_to_the_cases(open_page: OpenPage, cases: str, scheme: str) -> None:
    page = open_page("/", address=cases, scheme=scheme, size=(1280, 1600))
    screenshot(page, f"overview_{scheme}")
    page.get_by_role("link", name="Look at single cases").click()
    page.wait_for_url("**/case")
    page.get_by_text("Choose one.").wait_for()
