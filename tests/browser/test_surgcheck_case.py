"""Journeys over pairs of SurgCheck in a real browser: from a list of failures to the case; through the cue workshop."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.harness import ROOT, click_cell, expect, running_server, screenshot, wait_for_app, wait_until
from tests.browser.test_live import Desk
from tests.pages.app_page import LISTED
from tests.services.pair_store import ARROW_ACTION, HEIGHT, HINTED, WIDTH, draw_frame, make_pair_store

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]

WORKSHOP = "/cue_workshop?image=drawn:7_100.png&vlm=Fake+VLM"


@pytest.fixture(scope="module")
def desk(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("pairs")
    make_pair_store(folder / "store.duckdb").close()
    vlm = folder / "vlm"
    vlm.mkdir()
    for name in ("config.json", "model.safetensors"):
        (vlm / name).write_text("{}")
    listed = folder / "mine.yaml"
    listed.write_text(LISTED.format(folder=vlm))
    app = ROOT / "tests/browser/apps/workshop_app.py"
    with running_server(app, folder, {"PARALLAX_MODELS": str(listed)}) as address:
        yield Desk(address, vlm)


def trace_of(page: Any) -> str:
    return str(parse_qs(urlsplit(page.url).query)["trace"][0])


def layer(page: Any, name: str) -> Any:
    return page.get_by_role("checkbox", name=name, exact=True)


def drawings(page: Any) -> list[bool]:
    """Whether each drawing over the frame for people is there to be seen."""
    shown: list[bool] = (
        page.locator(".drawings")
        .nth(1)
        .locator("img")
        .evaluate_all("drawings => drawings.map(one => one.complete && one.naturalWidth > 0 && !one.hidden)")
    )
    return shown


def ask(page: Any, cue: str) -> None:
    """Press a cue's button and wait until the link holds the trace."""
    page.locator(f".st-key-cue_{cue}").get_by_role("button", name="Ask both").click()
    page.wait_for_url("**trace=*")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_pair_is_seen_whole(open_page: OpenPage, desk: Desk, scheme: str) -> None:
    page = open_page(f"/case?unit={ARROW_ACTION}&suite=pairs", address=desk.address, scheme=scheme, size=(1280, 1250))
    expect(page.locator("mark")).to_have_text(["grasper", "tool"])
    expect(page.locator(".pair-answers .parts")).to_have_count(2)
    expect(page.get_by_text("right with the hint, wrong without it")).to_be_visible()
    picture = page.locator(".image").first
    real = "image => [image.naturalWidth, image.naturalHeight]"
    wait_until(page, lambda: picture.evaluate(real) == [WIDTH, HEIGHT], "the picture with the arrow is drawn")
    page.get_by_text("was judged").first.click()
    screenshot(page, f"pair_{scheme}")


def test_each_drawing_is_switched_by_itself_and_the_vlms_picture_never_changes(open_page: OpenPage, desk: Desk) -> None:
    page = open_page(f"/case?unit={ARROW_ACTION}", address=desk.address)
    expect(layer(page, "Red arrow")).to_be_checked()
    wait_until(page, lambda: drawings(page) == [True, False, False, False, False], "the arrow alone is drawn")
    layer(page, "Scene graph").click()
    layer(page, "Red arrow").click()
    wait_until(page, lambda: drawings(page) == [False, False, False, False, True], "the scene graph alone is drawn")
    expect(page.locator(".drawings").first.locator("img")).to_have_count(0)
    expect(page.get_by_text("Not seen by the VLM:")).to_be_visible()


def test_from_a_list_of_failures_to_the_case_and_on_by_key(open_page: OpenPage, desk: Desk) -> None:
    page = open_page("/case?suite=pairs&pair_outcomes=hint_only", address=desk.address)
    click_cell(page, across=0.04, row=0)
    page.wait_for_url("**unit=*")
    expect(page.get_by_text("1 of 8", exact=True)).to_be_visible()
    expect(page.locator(".pair-answers").get_by_text(HINTED)).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_text("2 of 8", exact=True)).to_be_visible()
    wait_for_app(page)
    page.keyboard.press("Escape")
    page.wait_for_url("**/case?suite=pairs&pair_outcomes=hint_only")
    expect(page.get_by_text("1–8 of 8", exact=False)).to_be_visible()


def test_the_shortcut_is_shown_live_and_the_trace_opens_elsewhere(open_page: OpenPage, desk: Desk) -> None:
    desk.order()
    page = open_page("/cue_workshop?vlm=Fake+VLM", address=desk.address)
    page.get_by_role("button", name="Take this").first.click()
    expect(page.locator(".cue-card mark").first).to_be_visible()
    page.get_by_label("What is asked").click()
    page.get_by_role("option", name="Action").click()
    expect(page.locator(".cue-card mark").first).to_have_text("grasper")
    screenshot(page, "workshop")
    ask(page, "arrow")
    expect(page.locator(".pair-verdict")).to_contain_text("Right with the hint, wrong without it.")
    wait_for_app(page)
    screenshot(page, "workshop_done")
    other = open_page(f"/cue_workshop?trace={trace_of(page)}", address=desk.address)
    expect(other.locator(".pair-verdict")).to_contain_text("Right with the hint, wrong without it.")
    other.get_by_role("link", name="Open its case").click()
    expect(other.get_by_text("What was asked, and what was answered?")).to_be_visible()
    expect(other.locator(".pair-answers").get_by_text("Fake VLM").first).to_be_visible()


def test_cancelled_midway_and_asked_again(open_page: OpenPage, desk: Desk) -> None:
    desk.order(less_biased="wait")
    page = open_page(f"/cue_workshop?unit={ARROW_ACTION}&vlm=Fake+VLM", address=desk.address)
    page.get_by_role("button", name="Ask both").click()
    expect(page.locator(".pair-answers")).to_contain_text("so far")
    expect(page.locator(".pair-answers")).to_contain_text("answering")
    screenshot(page, "workshop_running")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. What was answered until then is kept.")).to_be_visible()
    expect(page.locator(".pair-verdict")).to_contain_text("Right with the hint, no answer without it.")
    wait_for_app(page)
    first = trace_of(page)
    desk.order()
    page.get_by_role("button", name="Ask both").click()
    expect(page.locator(".pair-verdict")).to_contain_text("Right with the hint, wrong without it.")
    assert trace_of(page) != first


def test_left_and_come_back_to(open_page: OpenPage, desk: Desk) -> None:
    desk.order(original="wait")
    page = open_page(f"/cue_workshop?unit={ARROW_ACTION}&vlm=Fake+VLM", address=desk.address)
    page.get_by_role("button", name="Ask both").click()
    page.wait_for_url("**trace=*")
    trace = trace_of(page)
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.get_by_text("Where do these answers come from?")).to_be_visible()
    wait_for_app(page)
    page.get_by_role("link", name="Cue workshop", exact=True).click()
    expect(page.locator(".pair-answers")).to_contain_text("so far")
    assert trace_of(page) == trace
    desk.go_on()
    expect(page.locator(".pair-verdict")).to_be_visible()


def test_a_box_drawn_on_an_own_image_gets_its_cues_and_is_asked_about(
    open_page: OpenPage, desk: Desk, tmp_path: Path
) -> None:
    desk.order()
    draw_frame(tmp_path / "mine.png")
    page = open_page("/cue_workshop?vlm=Fake+VLM", address=desk.address)
    page.locator("input[type=file]").set_input_files(tmp_path / "mine.png")
    page.wait_for_url("**image=live*")
    expect(page.get_by_role("button", name="Draw a box")).to_be_visible()
    wait_for_app(page)
    page.get_by_role("button", name="Draw a box").click()
    frame = page.locator(".frame").bounding_box()
    page.mouse.move(frame["x"] + 40, frame["y"] + 40)
    page.mouse.down()
    page.mouse.move(frame["x"] + 140, frame["y"] + 110, steps=4)
    page.mouse.up()
    page.wait_for_url("**thing=-1*")
    expect(page.locator(".cue-card").get_by_text("located at the top-left of the image").first).to_be_visible()
    wait_for_app(page)
    ask(page, "box")
    expect(page.locator(".pair-verdict")).to_be_visible()
    expect(layer(page, "Red box")).to_be_checked()
    screenshot(page, "workshop_own")


def test_a_killed_worker_says_what_to_do(open_page: OpenPage, desk: Desk) -> None:
    desk.order(less_biased="wait")
    page = open_page(f"/cue_workshop?unit={ARROW_ACTION}&vlm=Fake+VLM", address=desk.address)
    page.get_by_role("button", name="Ask both").click()
    expect(page.locator(".pair-answers")).to_contain_text("so far")
    desk.kill_worker()
    expect(page.get_by_text("The system ended the VLM's process")).to_be_visible()
    expect(page.get_by_text("What was answered until then is kept.")).to_be_visible()


def test_the_workshop_is_whole_at_1280_pixels(open_page: OpenPage, desk: Desk) -> None:
    page = open_page(WORKSHOP, address=desk.address, scheme="dark", size=(1280, 1400))
    expect(page.locator(".cue-picture")).to_have_count(4)
    wait_until(
        page,
        lambda: page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth"),
        "nothing lies beyond the window",
    )
    screenshot(page, "workshop_dark")
