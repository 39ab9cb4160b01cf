"""Promises of the frame around every page, seen in a real browser."""

import hashlib
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backend.figures.style import DARK, LIGHT, Theme, contrast
from backend.store.store import Store
from pages.ui.image_routes import image_url, thumbnail_url
from tests.browser.harness import ROOT, css_color, expect, running_server, screenshot, wait_for_app, wait_until

pytestmark = pytest.mark.browser

PAGES = {
    "/": "Overview",
    "/endoca": "Paired answers",
    "/asr": "ASR",
    "/surgcheck": "Shortcuts",
    "/cue_workshop": "Cue workshop",
    "/verimap": "Mirage plane",
    "/loop": "Feedback loop",
    "/saliency": "Saliency",
    "/case": "Case",
    "/live": "Live",
    "/runs": "Runs",
    "/data": "Data",
    "/audit": "Audit",
}
LINE = "Research use only, not for clinical decisions"
ACKNOWLEDGE = "I understand: research use only"

OpenPage = Callable[..., Any]


def navigation(page: Any) -> Any:
    return page.get_by_test_id("stSidebarNav")


def test_a_deep_link_as_the_very_first_request_shows_the_frame(cold_server: str, open_page: OpenPage) -> None:
    page = open_page("/case?unit=x", address=cold_server)
    expect(page).to_have_title("Case · Parallax")
    expect(navigation(page).get_by_role("link", name="Paired answers")).to_be_visible()
    expect(page.get_by_text(LINE)).to_be_visible()
    expect(page).to_have_url(f"{cold_server}/case?unit=x")


def test_the_first_visit_asks_before_it_shows_the_page_that_was_asked_for(open_page: OpenPage) -> None:
    page = open_page("/case?unit=x", acknowledged=False)
    title = page.get_by_role("heading", level=1)
    expect(page.get_by_role("button", name=ACKNOWLEDGE)).to_be_visible()
    assert not title.is_visible()
    screenshot(page, "first_visit")

    page.get_by_role("button", name=ACKNOWLEDGE).click()
    title.wait_for()
    expect(page).to_have_title("Case · Parallax")
    expect(page).to_have_url(re.compile(r"/case\?unit=x$"))


def test_an_acknowledgement_is_remembered_by_the_browser(open_page: OpenPage) -> None:
    page = open_page("/", acknowledged=False)
    page.get_by_role("button", name=ACKNOWLEDGE).click()
    page.get_by_role("heading", level=1).wait_for()
    page.wait_for_function("document.cookie.includes('parallax_acknowledged=1')")

    page.goto(page.url.rstrip("/") + "/data")
    wait_for_app(page)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.get_by_role("button", name=ACKNOWLEDGE).count() == 0
    expect(page).to_have_title("Data · Parallax")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_every_page_says_that_it_is_for_research_only(open_page: OpenPage, path: str, scheme: str) -> None:
    page = open_page(path, scheme=scheme)
    expect(page.get_by_text(LINE)).to_be_in_viewport(ratio=1)
    expect(page).to_have_title(f"{PAGES[path]} · Parallax")
    screenshot(page, f"frame_{path.strip('/') or 'overview'}_{scheme}")


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_theme_follows_the_system(open_page: OpenPage, theme: Theme) -> None:
    page = open_page("/", scheme=theme.name)
    expect(page.locator(".stApp")).to_have_css("background-color", css_color(theme.ground))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_captions_can_be_read(open_page: OpenPage, theme: Theme) -> None:
    caption = open_page("/data", scheme=theme.name).get_by_test_id("stCaptionContainer").first
    expect(caption).to_have_css("opacity", "1")

    def caption_contrast() -> float:
        color = caption.evaluate("caption => getComputedStyle(caption).color")
        red, green, blue = (int(part) for part in re.findall(r"\d+", color))
        return contrast(f"#{red:02x}{green:02x}{blue:02x}", theme.ground)

    wait_until(caption.page, lambda: caption_contrast() >= 4.5, "a contrast of 4.5 to 1")


def test_every_page_is_reached_by_keyboard_alone(open_page: OpenPage) -> None:
    page = open_page("/")
    expect(navigation(page).get_by_role("link")).to_have_text(list(PAGES.values()))
    reached = []
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText"))
        if reached[-1] == "Audit":
            break
    assert [name for name in reached if name in PAGES.values()] == list(PAGES.values())

    page.keyboard.press("Enter")
    page.wait_for_url("**/audit")
    expect(page).to_have_title("Audit · Parallax")


def test_the_chrome_of_streamlit_stays_away(open_page: OpenPage) -> None:
    page = open_page("/")
    for name in ("Deploy", "Made with Streamlit", "Rerun"):
        assert page.get_by_text(name).count() == 0


@pytest.mark.parametrize("path", ["/", "/img/any", "/_stcore/health", "/_stcore/stream"])
def test_a_foreign_host_name_is_refused(server: str, path: str) -> None:
    request = urllib.request.Request(server + path, headers={"Host": "attacker.example"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    assert refused.value.code == 400


@pytest.mark.parametrize("image_id", ["unknown", "..%2F..%2Fetc%2Fpasswd", "/etc/passwd", ""])
@pytest.mark.parametrize("route", ["img", "thumb"])
def test_only_known_image_ids_are_answered(server: str, route: str, image_id: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{server}/{route}/{image_id}")
    assert refused.value.code in (400, 404)
    assert "<html" not in refused.value.read().decode()


def test_a_broken_store_is_an_error_in_the_frame_that_says_what_to_do(
    open_page: OpenPage, chromium: Any, tmp_path: Path
) -> None:
    (tmp_path / "store.duckdb").write_bytes(b"this is no store" * 100)
    with running_server(ROOT / "app.py", tmp_path) as address:
        page = open_page("/data", address=address)
        expect(page.get_by_role("alert")).to_contain_text("store.duckdb")
        expect(navigation(page)).to_be_visible()
        expect(page.get_by_text(LINE)).to_be_visible()
        screenshot(page, "broken_store")
        page.close()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{address}/img/any")
        assert refused.value.code == 503


def test_a_stored_image_arrives_byte_for_byte_and_its_preview_small(chromium: Any, tmp_path: Path) -> None:
    file = tmp_path / "images" / "frame.png"
    file.parent.mkdir()
    Image.new("RGB", (640, 320), "#803020").save(file)
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    with Store.create(tmp_path / "store.duckdb") as store, store.write() as cursor:
        cursor.execute("INSERT INTO image_roots (root) VALUES (?)", [str(file.parent)])
        cursor.execute(
            "INSERT INTO images (image_id, dataset, file, root, path, sha256, width, height, format, bytes) "
            "VALUES ('drawn/frame', 'drawn', 'frame', ?, 'frame.png', ?, 640, 320, 'PNG', ?)",
            [str(file.parent), sha256, file.stat().st_size],
        )
    with running_server(ROOT / "app.py", tmp_path) as address:
        with urllib.request.urlopen(address + image_url("drawn/frame")) as answer:
            assert answer.read() == file.read_bytes()
            assert answer.headers["Content-Type"] == "image/png"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Content-Encoding"] is None
        again = urllib.request.Request(address + image_url("drawn/frame"), headers={"If-None-Match": f'"{sha256}"'})
        with pytest.raises(urllib.error.HTTPError) as unchanged:
            urllib.request.urlopen(again)
        assert unchanged.value.code == 304
        with urllib.request.urlopen(address + thumbnail_url("drawn/frame")) as answer:
            (tmp_path / "small.jpg").write_bytes(answer.read())
    with Image.open(tmp_path / "small.jpg") as small:
        assert small.size == (160, 80)
