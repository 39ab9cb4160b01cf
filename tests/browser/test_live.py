"""Journeys on the Live page: run, cancel and run again, leave and come back, links, own images, a killed worker."""

import io
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from PIL import Image, ImageDraw

from tests.browser.harness import ROOT, expect, running_server, screenshot, wait_for_app
from tests.pages.app_page import LISTED
from tests.services.live_fakes import orders
from tests.services.run_files import draw_images, drawn_store

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]

ASK = "/live?unit=drawn:22&vlm=Fake+VLM"


class Desk:
    """The server's address, and where its fake VLM finds its orders and notes its process."""

    def __init__(self, address: str, folder: Path) -> None:
        self.address = address
        self.folder = folder

    def order(self, **steps: str) -> None:
        (self.folder / "go").unlink(missing_ok=True)
        orders(self.folder, **steps)

    def go_on(self) -> None:
        (self.folder / "go").touch()

    def kill_worker(self) -> None:
        os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL)


@pytest.fixture(scope="module")
def desk(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("live")
    drawn_store(folder, images=draw_images(folder / "images")).close()
    vlm = folder / "vlm"
    vlm.mkdir()
    for name in ("config.json", "model.safetensors"):
        (vlm / name).write_text("{}")
    listed = folder / "mine.yaml"
    listed.write_text(LISTED.format(folder=vlm))
    with running_server(ROOT / "tests/browser/apps/live_app.py", folder, {"PARALLAX_MODELS": str(listed)}) as address:
        yield Desk(address, vlm)


def run_asr(page: Any) -> None:
    """Press the button and wait until the link holds the trace."""
    page.get_by_role("button", name="Run ASR").click()
    page.wait_for_url("**trace=*")


def step(page: Any, number: int) -> Any:
    return page.locator(".trace-card").nth(number - 1)


def trace_of(page: Any) -> str:
    return str(parse_qs(urlsplit(page.url).query)["trace"][0])


def test_from_an_example_to_the_verdict_in_the_keyboards_reach(open_page: OpenPage, desk: Desk) -> None:
    desk.order()
    page = open_page("/live?vlm=Fake+VLM", address=desk.address)
    examples = page.get_by_role("button", name="Ask this")
    expect(examples).to_have_count(2)
    heights = {round(example.bounding_box()["y"]) for example in examples.all()}
    assert len(heights) == 1, "the buttons of all examples stand in one line"
    screenshot(page, "live_examples")
    examples.first.click()
    expect(page.get_by_label("Complex question", exact=True)).not_to_be_empty()
    wait_for_app(page)
    page.get_by_role("button", name="Run ASR").press("Enter")
    expect(page.locator(".trace-verdict")).to_contain_text("Changed, because asked again with its parts")
    wait_for_app(page)
    prompt = step(page, 4).locator("summary", has_text="prompt")
    prompt.press("Enter")
    expect(step(page, 4).locator("pre")).to_contain_text("Premises:")
    screenshot(page, "live_done")


def test_steps_fill_in_order_and_an_opened_prompt_stays_open(open_page: OpenPage, desk: Desk) -> None:
    desk.order(revise="wait")
    page = open_page(ASK, address=desk.address, scheme="dark")
    run_asr(page)
    expect(step(page, 4)).to_contain_text("so far")
    expect(step(page, 4)).to_contain_text("answering")
    expect(step(page, 5)).to_contain_text("waiting")
    step(page, 1).locator("summary", has_text="prompt").click()
    expect(step(page, 1).locator("pre")).to_be_visible()
    page.wait_for_timeout(1500)
    expect(step(page, 1).locator("pre")).to_be_visible()
    screenshot(page, "live_running")
    desk.go_on()
    expect(page.locator(".trace-verdict")).to_be_visible()


def test_cancelled_midway_and_run_again(open_page: OpenPage, desk: Desk) -> None:
    desk.order(revise="wait")
    page = open_page(ASK, address=desk.address)
    run_asr(page)
    expect(step(page, 4)).to_contain_text("so far")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. What was answered until then is kept.")).to_be_visible()
    expect(step(page, 2)).to_contain_text("How many polyps are in the image?")
    first = trace_of(page)
    desk.order()
    page.get_by_role("button", name="Run ASR again").click()
    expect(page.locator(".trace-verdict")).to_be_visible()
    assert trace_of(page) != first
    expect(page.locator(".trace-beside")).to_be_visible()
    screenshot(page, "live_beside")


def test_left_and_come_back_to(open_page: OpenPage, desk: Desk) -> None:
    desk.order(direct="wait")
    page = open_page(ASK, address=desk.address)
    run_asr(page)
    trace = trace_of(page)
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.get_by_text("Where do these answers come from?")).to_be_visible()
    wait_for_app(page)
    page.get_by_role("link", name="Live", exact=True).click()
    expect(step(page, 1)).to_be_visible()
    assert trace_of(page) == trace
    desk.go_on()
    expect(page.locator(".trace-verdict")).to_be_visible()


def test_a_second_person_waits_and_sees_it(open_page: OpenPage, desk: Desk) -> None:
    desk.order(direct="wait")
    first, second = (open_page(ASK, address=desk.address) for _ in range(2))
    run_asr(first)
    expect(step(first, 1)).to_contain_text("so far")
    run_asr(second)
    expect(step(second, 1)).to_contain_text("waits for its turn: 1 before you")
    desk.go_on()
    for page in (first, second):
        expect(page.locator(".trace-verdict")).to_be_visible()


def test_a_stored_trace_opens_by_its_link_in_another_browser_and_from_its_case(open_page: OpenPage, desk: Desk) -> None:
    desk.order()
    page = open_page(ASK, address=desk.address)
    run_asr(page)
    expect(page.locator(".trace-verdict")).to_be_visible()
    trace = trace_of(page)
    other = open_page(f"/live?trace={trace}", address=desk.address)
    expect(other.locator(".trace-verdict")).to_contain_text("Changed")
    other.get_by_role("link", name="Open its case").click()
    expect(other.get_by_role("heading", name="ASR traces")).to_be_visible()
    screenshot(other, "live_case")


def test_an_own_image_goes_the_whole_way_and_a_broken_one_loses_nothing(open_page: OpenPage, desk: Desk) -> None:
    desk.order()
    picture = io.BytesIO()
    drawing = Image.new("RGB", (320, 240), "#7d3527")
    ImageDraw.Draw(drawing).ellipse((80, 60, 200, 180), fill="#c9774f")
    drawing.save(picture, "PNG")
    page = open_page("/live?vlm=Fake+VLM", address=desk.address)
    upload = page.locator("input[type=file]")
    upload.set_input_files({"name": "scan.png", "mimeType": "image/png", "buffer": b"no picture"})
    expect(page.get_by_text("This file is not an image that can be read here.")).to_be_visible()
    upload.set_input_files({"name": "scan.png", "mimeType": "image/png", "buffer": picture.getvalue()})
    page.wait_for_url("**image=live*")
    question = page.get_by_label("Complex question", exact=True)
    question.fill("Is there text, and how many polyps are visible?")
    question.press("Control+Enter")
    wait_for_app(page)
    page.get_by_role("button", name="Propose its parts").click()
    expect(page.get_by_label("Its parts, one question a line")).to_have_value(
        "Is there text?\nHow many polyps are in the image?"
    )
    page.get_by_text("Ask about another image").click()
    page.locator("input[type=file]").set_input_files(
        {"name": "other.png", "mimeType": "image/png", "buffer": picture.getvalue()[:60]}
    )
    expect(page.get_by_text("This file is", exact=False)).to_be_visible()
    expect(question).to_have_value("Is there text, and how many polyps are visible?")
    screenshot(page, "live_own")
    run_asr(page)
    expect(page.locator(".trace-verdict")).to_be_visible()
    page.get_by_role("link", name="Open its case").click()
    expect(page.get_by_text("Asked live; no batch run answers it.")).to_be_visible()


def test_a_killed_worker_leaves_what_was_answered_and_says_what_to_do(open_page: OpenPage, desk: Desk) -> None:
    desk.order(revise="wait")
    page = open_page(ASK, address=desk.address)
    run_asr(page)
    expect(step(page, 4)).to_contain_text("so far")
    desk.kill_worker()
    expect(page.get_by_text("The system ended the VLM's process")).to_be_visible()
    expect(page.get_by_text("What was answered until then is kept.")).to_be_visible()
    expect(step(page, 1)).to_contain_text("one polyp")
    screenshot(page, "live_killed")
    desk.order()
    page.get_by_role("button", name="Run ASR again").click()
    expect(page.locator(".trace-verdict")).to_be_visible()
