"""Journeys of live verification: the VLM in the box judges its own answer; a cancelled one keeps what was answered."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from backend.services.demo.shipped import DEMO, VLM
from backend.services.demo.synthetic import SYNTHETIC
from backend.services.ingest.images import attach_images
from backend.services.ingest.verimap_suites import SuiteExample, put_examples
from backend.store.store import Store
from tests.browser.harness import ROOT, expect, running_server, screenshot, wait_for_app
from tests.browser.test_live import Desk
from tests.pages.app_page import LISTED
from tests.pages.test_verify_live import fill
from tests.services.run_files import draw_images, drawn_store

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]

FRAME, SUITE, QUESTION = "synthetic-0028.webp", "drawn", "How many polyps are in the image?"
ASK = "/live?system=verimap&unit=vqa-rad:1&vlm=Fake+VLM"


@pytest.fixture(scope="module")
def box(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app with the VLM in the box, over two examples about a drawn frame."""
    if not (VLM / "model.safetensors").exists():
        pytest.skip("the VLM in the box is not trained yet")
    folder = tmp_path_factory.mktemp("box")
    with Store.create(folder / "store.duckdb") as store:
        with store.write() as cursor:
            examples = [
                SuiteExample("1", (FRAME,), QUESTION, "1"),
                SuiteExample("2", (FRAME,), "Is there text?", "no"),
            ]
            put_examples(cursor, SUITE, examples, {}, "drawn", dataset=SYNTHETIC)
        attach_images(store, DEMO / "endoscopy")
    with running_server(ROOT / "app.py", folder, {"PARALLAX_DEMO": "off"}) as address:
        yield address


@pytest.fixture(scope="module")
def desk(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The app with a fake VLM that takes orders, over three examples."""
    folder = tmp_path_factory.mktemp("verify")
    with drawn_store(folder, images=draw_images(folder / "images", ["frame-a"])) as store:
        fill(store)
    vlm = folder / "vlm"
    vlm.mkdir()
    for name in ("config.json", "model.safetensors"):
        (vlm / name).write_text("{}")
    (folder / "mine.yaml").write_text(LISTED.format(folder=vlm))
    settings = {"PARALLAX_MODELS": str(folder / "mine.yaml")}
    with running_server(ROOT / "tests/browser/apps/live_app.py", folder, settings) as address:
        yield Desk(address, vlm)


def verify(page: Any) -> str:
    """Press the button, and return the trace that the link then holds."""
    page.get_by_role("button", name="Verify", exact=True).click()
    page.wait_for_url("**trace=*")
    return str(parse_qs(urlsplit(page.url).query)["trace"][0])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_vlm_in_the_box_answers_and_judges_itself_with_the_truth_beside_its_verdict(
    open_page: OpenPage, box: str, scheme: str
) -> None:
    page = open_page("/live", address=box, scheme=scheme)
    page.get_by_role("radio", name="Verdict (VeriMap)").click()
    page.get_by_role("button", name="Ask this").wait_for()
    wait_for_app(page)
    screenshot(page, f"verify_examples_{scheme}")
    page.get_by_role("button", name="Ask this").click()
    expect(page.get_by_label("Question", exact=True)).not_to_be_empty()
    page.get_by_text("once", exact=True).click()
    page.wait_for_url("**turns=1*")
    wait_for_app(page)
    page.get_by_role("button", name="Verify", exact=True).scroll_into_view_if_needed()
    screenshot(page, f"verify_setup_{scheme}")
    trace = verify(page)
    done = page.locator(".trace-verdict")
    expect(done).to_contain_text("Turn by turn:")
    first = page.locator(".trace-card.judges").first
    expect(first.locator(".verdict")).to_have_text(re.compile("CORRECT|UNCERTAIN"))
    expect(first.locator(".truth")).to_have_text(re.compile("right|wrong"))
    expect(first).to_contain_text("the reference is")
    wait_for_app(page)
    screenshot(page, f"verify_done_{scheme}")
    other = open_page(f"/live?system=verimap&trace={trace}", address=box, scheme=scheme)
    expect(other.locator(".trace-verdict")).to_have_text(done.inner_text(), use_inner_text=True)
    other.get_by_role("link", name="Open its case").click()
    expect(other.get_by_role("heading", name="Verified live")).to_be_visible()
    wait_for_app(other)
    other.get_by_role("heading", name="Verified live").scroll_into_view_if_needed()
    other.locator("summary", has_text="every step").last.click()
    expect(other.locator(".trace-card.judges").last).to_be_visible()
    screenshot(other, f"verify_case_{scheme}")


def test_steps_fill_in_order_and_a_cancelled_verification_keeps_its_answer(open_page: OpenPage, desk: Desk) -> None:
    desk.order(verify="wait")
    page = open_page(f"{ASK}&turns=1", address=desk.address, scheme="dark")
    verify(page)
    cards = page.locator(".trace-card")
    expect(cards).to_have_count(4)
    expect(cards.nth(1)).to_contain_text("so far")
    expect(cards.nth(1)).to_contain_text("answering")
    expect(cards.nth(2)).to_contain_text("waiting")
    screenshot(page, "verify_running")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. What was answered until then is kept.")).to_be_visible()
    expect(cards.first).to_contain_text("one polyp")
    expect(cards.first).to_contain_text("wrong")
    desk.order()
    page.get_by_role("button", name="Verify again").click()
    expect(page.locator(".trace-verdict")).to_contain_text("wrong, accepted → right, accepted")
    expect(page.locator(".trace-beside")).to_be_visible()
    wait_for_app(page)
    page.locator(".trace-beside").scroll_into_view_if_needed()
    screenshot(page, "verify_beside")


def test_a_failed_verdict_leaves_the_answer_and_says_why(open_page: OpenPage, desk: Desk) -> None:
    desk.order(verify="fail")
    page = open_page(ASK, address=desk.address)
    verify(page)
    expect(page.get_by_text("A call failed; its card says why.")).to_be_visible()
    expect(page.locator(".trace-card").nth(1)).to_contain_text("The call timed out after 30 s")
