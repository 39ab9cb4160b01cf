"""Promises of the saliency view, on looks whose every cell is known (apps/made_looks.py)."""

from collections.abc import Callable
from typing import Any

import pytest

from backend.figures.style import scale_color
from pages.ui.saliency_view import DIVERGING
from tests.browser.harness import expect, screenshot, wait_until

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]

PIXELS = "canvas => [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data]"
SET = "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')) }"


@pytest.fixture
def view(open_page: OpenPage, gallery: str) -> Any:
    return opened(open_page, gallery)


def opened(open_page: OpenPage, gallery: str, panes: str = "two", **more: Any) -> Any:
    page = open_page(f"/?show=saliency&panes={panes}", address=gallery, **more)
    image = page.locator(".frame.left img")
    wait_until(page, lambda: image.evaluate("image => image.naturalWidth") == 640, "the image itself is shown")
    return page


def cells(page: Any, side: str) -> list[tuple[int, ...]]:
    """Return red, green, blue and alpha of each cell of a map."""
    flat = page.locator(f".frame.{side} canvas").evaluate(PIXELS)
    return [tuple(flat[place : place + 4]) for place in range(0, len(flat), 4)]


def color(share: float) -> tuple[int, ...]:
    """Return what the figures draw a share in."""
    return (*bytes.fromhex(scale_color(share)[1:]), 255)


def near(share: float) -> Any:
    """Return the same, a rounding aside."""
    return pytest.approx(color(share), abs=1)


def same_run(page: Any) -> None:
    """Fail where the script has run again."""
    expect(page.get_by_text("Run 1", exact=True)).to_be_visible()


def test_both_maps_share_one_scale_so_that_one_value_has_one_colour(view: Any) -> None:
    left, right = cells(view, "left"), cells(view, "right")
    assert left[0] == left[7] == right[7] == color(1)
    assert right[0] == near(0.5)
    assert left[1] == right[1] == color(0)
    expect(view.locator(".scale.shared .ends span")).to_have_text(["0", "10.0 %", "20.0 %"])
    expect(view.locator(".scale.shared .tick.above")).to_have_text("Generator (Atlas), if even: 10.0 %")
    expect(view.locator(".scale.shared .tick.under")).to_have_text("Verifier (Beacon), if even: 5.00 %")
    screenshot(view, "saliency_view")


def test_the_difference_has_a_colour_a_side_and_leaves_the_image_clear_where_there_is_none(view: Any) -> None:
    apart = cells(view, "apart")
    assert apart[0] == (*bytes.fromhex(DIVERGING[1][1:]), 255)
    assert apart[7][3] == apart[1][3] == 0
    expect(view.locator(".scale.apart .ends span")).to_have_text(["−10.0", "0", "+10.0"])
    view.locator(".head.left .pieces button").first.click()
    expect(view.locator(".scale.apart .ends span")).to_have_text(["−30.0", "0", "+30.0"])
    right_has_more = cells(view, "apart")[7]
    assert right_has_more[:3] == pytest.approx(tuple(bytes.fromhex(DIVERGING[0][1:])), abs=1)
    assert right_has_more[3] == round(255 * 0.2 / 0.3)


def test_the_maps_cover_the_image_with_hard_edges(view: Any) -> None:
    for side in ("left", "right", "apart"):
        canvas, image = view.locator(f".frame.{side} canvas"), view.locator(f".frame.{side} img")
        assert canvas.bounding_box() == image.bounding_box()
        expect(canvas).to_have_css("image-rendering", "pixelated")


def test_sliders_change_the_map_without_a_rerun(view: Any) -> None:
    view.get_by_label("Opacity of the map").evaluate(SET, 25)
    expect(view.locator(".frame.right canvas")).to_have_css("opacity", "0.25")
    view.get_by_label("Hide cells below").evaluate(SET, 60)
    assert [cell[3] for cell in cells(view, "right")] == [0] * 7 + [255]
    assert [cell[3] for cell in cells(view, "left")] == [255, *[0] * 6, 255]
    view.get_by_label("Layer", exact=True).evaluate(SET, 1)
    expect(view.locator(".layer-name")).to_have_text("1 of 2")
    assert cells(view, "left")[0] == color(1)
    assert cells(view, "left")[7][3] == 0
    same_run(view)


@pytest.mark.parametrize("way", ["box", "key"])
def test_the_map_can_be_switched_off_and_on(view: Any, way: str) -> None:
    def switch() -> None:
        if way == "box":
            view.get_by_label("Map", exact=True).click()
        else:
            view.locator(".frame.right").press("m")

    switch()
    expect(view.locator("canvas:visible")).to_have_count(0)
    expect(view.locator(".frame.left img")).to_be_visible()
    switch()
    expect(view.locator("canvas:visible")).to_have_count(3)
    same_run(view)


def test_a_piece_shows_its_own_map_and_again_the_whole_answer(view: Any) -> None:
    pieces = view.locator(".head.left .pieces button")
    expect(pieces).to_have_text(["é", "<b>yes</b>", "↵"])
    expect(pieces.first).to_have_attribute("data-count", "2 tokens")
    view.get_by_label("Layer", exact=True).evaluate(SET, 2)
    pieces.first.click()
    expect(pieces.first).to_have_attribute("aria-pressed", "true")
    expect(view.locator(".layer-name")).to_have_text("all layers")
    expect(view.locator(".scale.shared .ends span").last).to_have_text("40.0 %")
    assert cells(view, "left")[7] == color(0)
    assert cells(view, "right")[7] == near(0.5)
    expect(view.locator(".head.left .what")).to_have_text(
        "“é”, all layers: 40.0 % of attention on the image, 80.0 % if even"
    )
    pieces.first.click()
    expect(view.locator(".scale.shared .ends span").last).to_have_text("20.0 %")
    same_run(view)


def test_a_piece_that_cannot_be_seen_has_a_sign_and_one_from_right_to_left_turns_nothing_else(
    open_page: OpenPage, gallery: str
) -> None:
    page = opened(open_page, gallery, "odd")
    pieces = page.locator(".head.left .pieces button")
    expect(pieces).to_have_text(["␣", "\u2068\u202e\u05d0\u2069", "b"])
    pieces.nth(1).click()
    expect(page.locator(".head.left .what")).to_contain_text("“\u2068\u202e\u05d0\u2069”, all layers: 20.0")


def test_pieces_are_reached_and_chosen_by_keyboard(view: Any) -> None:
    pieces = view.locator(".head.left .pieces button")
    pieces.first.focus()
    view.keyboard.press("ArrowRight")
    expect(pieces.nth(1)).to_be_focused()
    view.keyboard.press("End")
    expect(pieces.nth(2)).to_be_focused()
    view.keyboard.press("ArrowLeft")
    view.keyboard.press("Enter")
    expect(pieces.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(view.locator(".scale.shared .ends span").last).to_have_text("80.0 %")
    same_run(view)


def test_the_gradient_has_a_scale_of_its_own(view: Any) -> None:
    view.get_by_label("Gradient").click()
    assert cells(view, "left")[3] == near(0.5)
    assert cells(view, "right")[3] == color(1)
    expect(view.locator(".scale.shared .ends span")).to_have_text(["0", "0.00100", "0.00200"])
    expect(view.get_by_label("Layer", exact=True)).to_be_disabled()
    expect(view.locator(".head.left .pieces button").first).to_be_disabled()
    expect(view.locator(".scale.shared .tick span")).to_have_count(0)


def test_a_cell_is_read_in_both_by_pointer_and_by_key(view: Any) -> None:
    words = "Row 1 of 2, column 1 of 4: Generator (Atlas) 20.0 %; Verifier (Beacon) 10.0 %; difference +10.0 points."
    box = view.locator(".frame.right").bounding_box()
    view.mouse.move(box["x"] + 8, box["y"] + 8)
    expect(view.locator(".reading")).to_have_text(words)
    expect(view.locator(".cell:visible")).to_have_count(3)
    view.mouse.move(box["x"] + 8, box["y"] - 60)
    expect(view.locator(".cell:visible")).to_have_count(0)
    view.locator(".frame.left").press("ArrowRight")
    expect(view.locator(".reading")).to_have_text(words)
    view.locator(".frame.left").press("ArrowRight")
    expect(view.locator(".reading")).to_contain_text("column 2 of 4")


def test_zoom_and_pan_move_all_pictures_together(view: Any) -> None:
    view.locator(".frame.right").press("1")
    expect(view.locator(".zoom")).to_have_text("100 %")
    view.locator(".frame.left").press("Shift+ArrowRight")
    for side in ("left", "right", "apart"):
        image, frame = (view.locator(f".frame.{side}{part}").bounding_box() for part in (" img", ""))
        assert image["width"] == pytest.approx(640)
        assert image["x"] - frame["x"] == pytest.approx((frame["width"] - 640) / 2 - 40, abs=0.1)


def test_a_long_thin_image_lies_in_the_middle_of_room_to_zoom_into_it(open_page: OpenPage, gallery: str) -> None:
    page = opened(open_page, gallery, "two&image=long")
    frame, image, canvas = (page.locator(f".frame.left{part}").bounding_box() for part in ("", " img", " canvas"))
    assert frame["width"] / frame["height"] == pytest.approx(2.5, rel=0.02)
    assert image["width"] == pytest.approx(frame["width"], abs=1)
    assert image["y"] - frame["y"] == pytest.approx((frame["height"] - image["height"]) / 2, abs=1)
    assert canvas == image
    page.mouse.move(frame["x"] + 8, image["y"] + 2)
    expect(page.locator(".reading")).to_contain_text("Row 1 of 2, column 1 of 4")
    page.mouse.move(frame["x"] + 8, frame["y"] + 2)
    expect(page.locator(".cell:visible")).to_have_count(0)


def test_it_says_in_words_where_the_brightest_cell_lies(view: Any) -> None:
    said = view.locator(".frame.right canvas").get_attribute("aria-label")
    assert said == (
        "Verifier (Beacon): the brightest cell lies at the lower right, with 20.0\u00a0%. The image got 30.0\u00a0% of "
        "attention; an even spread would give it 40.0\u00a0%."
    )
    assert "upper left, where Generator (Atlas) has more: +10.0 points" in str(
        view.locator(".frame.apart canvas").get_attribute("aria-label")
    )
    expect(view.locator(".sentence")).to_have_text(
        "The brighter a region, the more the answer depended on it. This does not say why."
    )


def test_a_rerun_keeps_what_the_person_set(view: Any) -> None:
    view.get_by_label("Opacity of the map").evaluate(SET, 25)
    view.locator(".head.left .pieces button").nth(1).click()
    view.get_by_role("button", name="Run the script again").click()
    expect(view.get_by_text("Run 2", exact=True)).to_be_visible()
    expect(view.locator(".frame.left canvas")).to_have_css("opacity", "0.25")
    expect(view.locator(".head.left .pieces button").nth(1)).to_have_attribute("aria-pressed", "true")
    expect(view.locator(".scale.shared .ends span").last).to_have_text("80.0 %")


def test_maps_of_other_grids_are_compared_on_the_coarser_one_by_area(open_page: OpenPage, gallery: str) -> None:
    page = opened(open_page, gallery, "fine")
    assert cells(page, "right")[0] == near(0.5)
    assert cells(page, "right")[7] == cells(page, "left")[7] == color(1)
    expect(page.locator(".grids")).to_have_text(
        "The maps have 2 × 4 and 4 × 8 cells; both are shown on 2 × 4, by area."
    )
    page.get_by_label("Gradient").click()
    expect(page.locator(".frame.right .message")).to_have_text("No map: this VLM runs elsewhere")
    expect(page.locator(".frame.apart .message")).to_have_text(
        "No difference: there is no such map of Verifier (Beacon)."
    )
    expect(page.locator(".scale.apart")).to_be_hidden()


def test_a_layer_that_one_vlm_lacks_is_not_made_up(open_page: OpenPage, gallery: str) -> None:
    page = opened(open_page, gallery, "layers")
    page.get_by_label("Layer", exact=True).evaluate(SET, 2)
    expect(page.locator(".frame.right .message")).to_have_text("No map: this VLM has 1 layer.")
    expect(page.locator(".frame.right canvas")).to_be_hidden()
    assert cells(page, "left")[7] == color(1)


def test_one_look_stands_alone(open_page: OpenPage, gallery: str) -> None:
    page = opened(open_page, gallery, "one")
    expect(page.locator(".frame:visible")).to_have_count(1)
    assert cells(page, "left")[0] == color(1)
    screenshot(page, "saliency_view_one")


def test_where_no_place_is_known_the_pieces_and_shares_stay(open_page: OpenPage, gallery: str) -> None:
    page = opened(open_page, gallery, "nowhere")
    expect(page.locator(".frame.right .message")).to_have_text("No map: nobody knows where its tokens lie")
    expect(page.locator(".frame.right .message")).not_to_have_css("padding-left", "0px")
    expect(page.locator(".scale.shared .unit")).to_have_text("Share of attention in a cell")
    page.locator(".head.right .pieces button").click()
    expect(page.locator(".head.right .what")).to_have_text(
        "“no”, all layers: 30.0 % of attention on the image, 40.0 % if even"
    )
    expect(page.locator(".facts.right dd").first).to_have_text("30.0 %")


def test_without_the_image_the_pieces_and_shares_stay_and_nothing_is_said_of_brightness(
    open_page: OpenPage, gallery: str
) -> None:
    page = open_page("/?show=saliency&image=none", address=gallery)
    expect(page.locator(".absent")).to_contain_text("The image file is not at hand, so no map is drawn.")
    expect(page.locator(".absent")).not_to_have_css("padding-top", "0px")
    expect(page.locator(".frame:visible, .scale:visible, .sentence:visible")).to_have_count(0)
    expect(page.locator(".facts.left dd").first).to_have_text("40.0 %")
    page.locator(".head.right .pieces button").click()
    expect(page.locator(".head.right .what")).to_contain_text("“no”, all layers: 30.0 %")


def test_a_look_without_any_map_still_shows_the_image_and_its_numbers(open_page: OpenPage, gallery: str) -> None:
    page = opened(open_page, gallery, "none")
    expect(page.locator(".frame.left .message")).to_have_text("No map: nobody knows where its tokens lie")
    expect(page.locator(".scale:visible")).to_have_count(0)
    expect(page.locator(".facts.left dd").first).to_have_text("30.0 %")
    expect(page.get_by_label("Gradient")).to_be_disabled()


@pytest.mark.parametrize(("width", "columns"), [(1280, 3), (800, 1)])
def test_the_pictures_stand_side_by_side_where_there_is_room(
    open_page: OpenPage, gallery: str, width: int, columns: int
) -> None:
    page = opened(open_page, gallery, size=(width, 900))
    lefts = {round(page.locator(f".frame.{side}").bounding_box()["x"]) for side in ("left", "right", "apart")}
    assert len(lefts) == columns
