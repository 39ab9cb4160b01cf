"""A journey over verifications in a real browser: from the list, failures first, to the case, on by key, and back."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Picture
from PIL import ImageDraw

from backend.domain.images import check_image
from backend.store.store import Store
from tests.browser.harness import ROOT, click_cell, expect, running_server, screenshot, wait_for_app, wait_until
from tests.services.verification_store import ATLAS, BEACON, VQA_RAD, make_verification_store, unit_of

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]

SIZE = (640, 512)


@pytest.fixture(scope="module")
def address(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("verifications")
    with make_verification_store(folder / "store.duckdb") as store:
        attach_image(store, folder / "frames")
    with running_server(ROOT / "app.py", folder) as running:
        yield running


def attach_image(store: Store, folder: Path) -> None:
    """Draw the image of the first two questions and register its file."""
    folder.mkdir()
    frame = Picture.new("L", SIZE, 12)
    draw = ImageDraw.Draw(frame)
    draw.ellipse((110, 40, 530, 470), fill=70)
    draw.ellipse((180, 130, 300, 380), fill=25)
    draw.ellipse((340, 130, 460, 380), fill=25)
    frame.save(folder / "a.png")
    facts = check_image(folder / "a.png")
    with store.write() as cursor:
        cursor.execute("INSERT INTO image_roots VALUES (?)", [str(folder.resolve())])
        cursor.execute(
            "UPDATE images SET root = ?, path = 'a.png', sha256 = ?, width = ?, height = ?, format = ?, bytes = ? "
            "WHERE file = 'a.jpg'",
            [str(folder.resolve()), facts.sha256, facts.width, facts.height, facts.format, facts.bytes],
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_case_is_seen_whole(open_page: OpenPage, address: str, scheme: str) -> None:
    page = open_page(f"/case?unit={unit_of(VQA_RAD, '2')}", address=address, scheme=scheme, size=(1280, 2000))
    expect(page.locator(".verified")).to_have_count(2)
    expect(page.locator(".verified .verdicts tr.parts")).to_have_count(2)
    expect(page.locator(".verified .loop li.parts")).to_have_count(2)
    expect(page.get_by_text("Whoever relies on the verdict gives up a right answer.").first).to_be_visible()
    real = "image => [image.naturalWidth, image.naturalHeight]"
    wait_until(page, lambda: page.locator(".image").first.evaluate(real) == [*SIZE], "the image is drawn")
    screenshot(page, f"verification_{scheme}")


def test_from_false_acceptances_to_the_case_and_on_by_key(open_page: OpenPage, address: str) -> None:
    query = f"suites={VQA_RAD}&turns=0&verdict_outcomes=fp"
    page = open_page(f"/case?{query}", address=address)
    expect(page.get_by_text("1–8 of 8 verdicts", exact=False)).to_be_visible()
    screenshot(page, "verification_list")
    click_cell(page, across=0.04, row=0)
    page.wait_for_url("**unit=*")
    expect(page.get_by_text("1 of 6", exact=True)).to_be_visible()
    expect(page.locator(".verified").first).to_contain_text(BEACON)
    expect(page.locator("b", has_text="VLM")).to_have_count(0)
    page.keyboard.press("j")
    expect(page.get_by_text("2 of 6", exact=True)).to_be_visible()
    expect(page.locator(".case-questions .lead")).to_have_text("What is the plane?")
    wait_for_app(page)
    page.keyboard.press("Escape")
    page.wait_for_url("**/verimap?*#cases")
    expect(page.get_by_text("1–8 of 8 verdicts", exact=False)).to_be_visible()


def test_a_loop_and_the_account_unfold(open_page: OpenPage, address: str) -> None:
    page = open_page(f"/case?unit={unit_of(VQA_RAD, '4')}&generators={ATLAS}&turns=1", address=address)
    expect(page.locator(".loop .fates")).to_have_text("wrong → right → right")
    expect(page.get_by_text("turn 2", exact=True)).to_be_visible()
    page.get_by_text("How it was judged").first.click()
    expect(page.get_by_text("VERDICT: INCORRECT").first).to_be_visible()
    page.get_by_text("Reviewed turn by turn").click()
    expect(page.get_by_text("turn 2", exact=True)).to_be_hidden()


def test_a_question_without_an_image_says_so(open_page: OpenPage, address: str) -> None:
    page = open_page(f"/case?unit={unit_of(VQA_RAD, '8')}", address=address)
    expect(page.get_by_text("No image is named for this question.")).to_be_visible()
    expect(page.get_by_text("answer not judged").first).to_be_visible()
