"""Promises of the image viewer, on a drawn image of 640 × 400 pixels in a frame 500 high."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.harness import screenshot, wait_for_app

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]


@pytest.fixture
def viewer(open_page: OpenPage, gallery: str) -> Any:
    page = open_page("/?show=viewer", address=gallery)
    page.locator(".image").evaluate("image => image.decode()")
    return page


def zoom(page: Any) -> str:
    text: str = page.locator(".zoom").inner_text()
    return text


def image_box(page: Any) -> dict[str, float]:
    box: dict[str, float] = page.locator(".image").bounding_box()
    return box


def frame_box(page: Any) -> dict[str, float]:
    box: dict[str, float] = page.locator(".frame").bounding_box()
    return box


def test_it_opens_with_the_whole_image_in_the_middle(viewer: Any) -> None:
    image, frame = image_box(viewer), frame_box(viewer)
    assert zoom(viewer) == "125 %"  # 500 / 400
    assert image["height"] == pytest.approx(500)
    assert image["width"] == pytest.approx(800)
    assert image["x"] - frame["x"] == pytest.approx((frame["width"] - 800) / 2)
    screenshot(viewer, "viewer_fit")


def test_it_shows_the_original_pixels(viewer: Any) -> None:
    size = viewer.locator(".image").evaluate("image => [image.naturalWidth, image.naturalHeight]")
    assert size == [640, 400]


@pytest.mark.parametrize("way", ["button", "key", "double click"])
def test_one_image_pixel_on_one_screen_pixel_is_one_step_away(viewer: Any, way: str) -> None:
    if way == "button":
        viewer.get_by_role("button", name="1:1").click()
    elif way == "key":
        viewer.locator(".frame").press("1")
    else:
        viewer.locator(".frame").dblclick()
    assert zoom(viewer) == "100 %"
    assert image_box(viewer)["width"] == pytest.approx(640)


def test_the_wheel_zooms_at_the_pointer(viewer: Any) -> None:
    before, frame = image_box(viewer), frame_box(viewer)
    x, y = frame["x"] + 400, frame["y"] + 250
    viewer.mouse.move(x, y)
    for _ in range(6):
        viewer.mouse.wheel(0, -120)
    after = image_box(viewer)
    assert after["width"] > 2 * before["width"]
    for axis, point, extent in (("x", x, "width"), ("y", y, "height")):
        share_before = (point - before[axis]) / before[extent]
        share_after = (point - after[axis]) / after[extent]
        assert share_after == pytest.approx(share_before, abs=0.005)


def test_pixels_stay_crisp_when_enlarged(viewer: Any) -> None:
    rendering = "image => getComputedStyle(image).imageRendering"
    image, frame = viewer.locator(".image"), viewer.locator(".frame")
    assert image.evaluate(rendering) == "auto"
    for _ in range(4):
        frame.press("+")
    assert zoom(viewer) == "305 %"  # 125 % · 1.25⁴
    assert image.evaluate(rendering) == "pixelated"
    frame.press("0")
    assert zoom(viewer) == "125 %"
    screenshot(viewer, "viewer_after_fit")


def test_dragging_moves_the_image_but_never_off_the_middle_of_the_frame(viewer: Any) -> None:
    frame = frame_box(viewer)
    for _ in range(4):
        viewer.locator(".frame").press("+")
    before = image_box(viewer)
    middle = (frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)
    viewer.mouse.move(*middle)
    viewer.mouse.down()
    viewer.mouse.move(middle[0] + 60, middle[1] + 30, steps=3)
    viewer.mouse.up()
    after = image_box(viewer)
    assert (after["x"] - before["x"], after["y"] - before["y"]) == pytest.approx((60, 30))

    viewer.mouse.move(*middle)
    viewer.mouse.down()
    viewer.mouse.move(middle[0] + 5000, middle[1] + 5000, steps=3)
    viewer.mouse.up()
    assert (image_box(viewer)["x"], image_box(viewer)["y"]) == pytest.approx(middle)


def test_marks_lie_in_image_pixels_and_their_labels_are_plain_text(viewer: Any) -> None:
    image = image_box(viewer)
    for _ in range(2):
        rectangle = viewer.locator("svg rect").bounding_box()
        scale = image["width"] / 640
        assert rectangle["x"] + rectangle["width"] / 2 == pytest.approx(image["x"] + 270 * scale, abs=1)
        assert rectangle["y"] + rectangle["height"] / 2 == pytest.approx(image["y"] + 150 * scale, abs=1)
        viewer.locator(".frame").press("+")
        image = image_box(viewer)
    assert viewer.locator("svg text").all_text_contents() == ["<b>polyp</b>", "here"]
    screenshot(viewer, "viewer_marks")


def test_the_map_covers_the_image_and_its_opacity_needs_no_rerun(viewer: Any) -> None:
    heatmap = viewer.locator(".map")
    assert heatmap.bounding_box() == image_box(viewer)
    viewer.get_by_label("Opacity of the map").fill("25")
    assert heatmap.evaluate("map => map.style.opacity") == "0.25"
    viewer.get_by_label("Marks").uncheck()
    assert not viewer.locator("svg rect").is_visible()


def test_a_rerun_keeps_what_the_person_set(viewer: Any) -> None:
    viewer.locator(".frame").press("1")
    viewer.get_by_label("Opacity of the map").fill("25")
    viewer.get_by_role("button", name="Run the script again").click()
    wait_for_app(viewer)
    assert zoom(viewer) == "100 %"
    assert viewer.locator(".map").evaluate("map => map.style.opacity") == "0.25"
    viewer.locator(".frame").press("+")
    assert zoom(viewer) == "125 %", "a key acts once, also after a rerun"


def test_it_can_be_used_by_keyboard_and_says_what_it_shows(viewer: Any) -> None:
    frame = viewer.get_by_role("group", name="Drawn frame")
    viewer.get_by_label("Opacity of the map").focus()
    viewer.keyboard.press("Tab")
    assert frame.evaluate("frame => frame.matches(':focus-visible')")
    assert frame.evaluate("frame => getComputedStyle(frame).outlineStyle") == "solid"


@pytest.mark.parametrize(
    ("show", "words"),
    [("missing", "could not be loaded"), ("other size", "640 × 400 pixels, the store expects 1280 × 800")],
)
def test_an_image_that_cannot_be_shown_says_why(open_page: OpenPage, gallery: str, show: str, words: str) -> None:
    page = open_page(f"/?show={show}", address=gallery, missing=("/img/missing",))
    message = page.locator(".message", has_text=words)
    message.wait_for()
    assert not page.locator(".image").is_visible()
    screenshot(page, f"viewer_{show.replace(' ', '_')}")
