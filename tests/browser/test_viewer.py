"""Promises of the image viewer, on a drawn image of 640 × 400 pixels in a frame 500 high."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.harness import expect, screenshot, wait_until

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]


@pytest.fixture
def viewer(open_page: OpenPage, gallery: str) -> Any:
    page = open_page("/?show=viewer", address=gallery)
    wait_until(page, lambda: natural_size(page) == [640, 400], "the image itself is shown")
    wait_for_zoom(page, "125 %")  # 500 / 400
    return page


def natural_size(page: Any) -> list[int]:
    size: list[int] = page.locator(".image").evaluate("image => [image.naturalWidth, image.naturalHeight]")
    return size


def wait_for_zoom(page: Any, percent: str) -> None:
    expect(page.locator(".zoom")).to_have_text(percent)


def image_box(page: Any) -> dict[str, float]:
    box: dict[str, float] = page.locator(".image").bounding_box()
    return box


def frame_box(page: Any) -> dict[str, float]:
    box: dict[str, float] = page.locator(".frame").bounding_box()
    return box


def test_it_opens_with_the_whole_image_in_the_middle(viewer: Any) -> None:
    image, frame = image_box(viewer), frame_box(viewer)
    assert image["height"] == pytest.approx(500)
    assert image["width"] == pytest.approx(800)
    assert image["x"] - frame["x"] == pytest.approx((frame["width"] - 800) / 2)
    screenshot(viewer, "viewer_fit")


def test_it_shows_the_original_pixels(viewer: Any) -> None:
    assert natural_size(viewer) == [640, 400]


@pytest.mark.parametrize("way", ["button", "key", "double click"])
def test_one_image_pixel_on_one_screen_pixel_is_one_step_away(viewer: Any, way: str) -> None:
    if way == "button":
        viewer.get_by_role("button", name="1:1").click()
    elif way == "key":
        viewer.locator(".frame").press("1")
    else:
        viewer.locator(".frame").dblclick()
    wait_for_zoom(viewer, "100 %")
    assert image_box(viewer)["width"] == pytest.approx(640)


def test_the_wheel_zooms_at_the_pointer(viewer: Any) -> None:
    before, frame = image_box(viewer), frame_box(viewer)
    x, y = frame["x"] + 400, frame["y"] + 250
    viewer.mouse.move(x, y)
    for _ in range(6):
        viewer.mouse.wheel(0, -120)
    wait_for_zoom(viewer, "756 %")  # 125 % · e^(6 · 120 / 400)
    after = image_box(viewer)
    assert after["width"] > 2 * before["width"]
    for axis, point, extent in (("x", x, "width"), ("y", y, "height")):
        share_before = (point - before[axis]) / before[extent]
        share_after = (point - after[axis]) / after[extent]
        assert share_after == pytest.approx(share_before, abs=0.005)


def test_pixels_stay_crisp_when_enlarged(viewer: Any) -> None:
    image, frame = viewer.locator(".image"), viewer.locator(".frame")
    expect(image).to_have_css("image-rendering", "auto")
    for _ in range(4):
        frame.press("+")
    wait_for_zoom(viewer, "305 %")  # 125 % · 1.25⁴
    expect(image).to_have_css("image-rendering", "pixelated")
    frame.press("0")
    wait_for_zoom(viewer, "125 %")
    screenshot(viewer, "viewer_after_fit")


def test_dragging_moves_the_image_but_never_off_the_middle_of_the_frame(viewer: Any) -> None:
    frame = frame_box(viewer)
    for _ in range(4):
        viewer.locator(".frame").press("+")
    wait_for_zoom(viewer, "305 %")
    before = image_box(viewer)
    middle = (frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)
    viewer.mouse.move(*middle)
    viewer.mouse.down()
    viewer.mouse.move(middle[0] + 60, middle[1] + 30, steps=3)
    viewer.mouse.up()

    def corner() -> tuple[float, float]:
        image = image_box(viewer)
        return image["x"], image["y"]

    dragged = (before["x"] + 60, before["y"] + 30)
    wait_until(viewer, lambda: corner() == pytest.approx(dragged), "it moves as far as the pointer")

    viewer.mouse.move(*middle)
    viewer.mouse.down()
    viewer.mouse.move(middle[0] + 5000, middle[1] + 5000, steps=3)
    viewer.mouse.up()
    wait_until(viewer, lambda: corner() == pytest.approx(middle), "its corner stops at the middle of the frame")


def test_marks_lie_in_image_pixels_and_their_labels_are_plain_text(viewer: Any) -> None:
    for percent in ("125 %", "156 %"):
        wait_for_zoom(viewer, percent)
        image = image_box(viewer)
        rectangle = viewer.locator("svg rect").bounding_box()
        scale = image["width"] / 640
        assert rectangle["x"] + rectangle["width"] / 2 == pytest.approx(image["x"] + 270 * scale, abs=1)
        assert rectangle["y"] + rectangle["height"] / 2 == pytest.approx(image["y"] + 150 * scale, abs=1)
        viewer.locator(".frame").press("+")
    expect(viewer.locator("svg text")).to_have_text(["<b>polyp</b>", "here"])
    screenshot(viewer, "viewer_marks")


def test_the_map_covers_the_image_and_its_opacity_needs_no_rerun(viewer: Any) -> None:
    heatmap = viewer.locator(".map")
    wait_until(viewer, lambda: heatmap.bounding_box() == image_box(viewer), "the map covers the image")
    viewer.get_by_label("Opacity of the map").fill("25")
    expect(heatmap).to_have_css("opacity", "0.25")
    viewer.get_by_label("Marks").uncheck()
    expect(viewer.locator("svg rect")).to_be_hidden()


def test_a_rerun_keeps_what_the_person_set(viewer: Any) -> None:
    viewer.locator(".frame").press("1")
    viewer.get_by_label("Opacity of the map").fill("25")
    viewer.get_by_role("button", name="Run the script again").click()
    viewer.get_by_text("The script has run again.").wait_for()
    wait_for_zoom(viewer, "100 %")
    expect(viewer.locator(".map")).to_have_css("opacity", "0.25")
    viewer.locator(".frame").press("+")
    wait_for_zoom(viewer, "125 %")  # a key acts once, also after a rerun


def test_it_can_be_used_by_keyboard_and_says_what_it_shows(viewer: Any) -> None:
    frame = viewer.get_by_role("group", name="Drawn frame")
    viewer.get_by_label("Opacity of the map").focus()
    viewer.keyboard.press("Tab")
    expect(frame).to_be_focused()
    expect(frame).to_have_css("outline-style", "solid")


@pytest.mark.parametrize(
    ("show", "words"),
    [("missing", "could not be loaded"), ("other size", "640 × 400 pixels, the store expects 1280 × 800")],
)
def test_an_image_that_cannot_be_shown_says_why(open_page: OpenPage, gallery: str, show: str, words: str) -> None:
    page = open_page(f"/?show={show}", address=gallery, missing=("/img/missing",))
    message = page.locator(".message", has_text=words)
    message.wait_for()
    expect(page.locator(".image")).to_be_hidden()
    screenshot(page, f"viewer_{show.replace(' ', '_')}")
