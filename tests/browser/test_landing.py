"""A link with ``#cases`` lands at the list on Paired answers, however late the page is drawn above it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.harness import ROOT, expect, running_server, wait_for_app, wait_until
from tests.pages.paired_store import SUITE, make_store

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]

LINK = f"/endoca?suite={SUITE}#cases"
HEADING = "#cases"


@pytest.fixture(scope="module")
def paired(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app over three samples and three VLMs."""
    folder = tmp_path_factory.mktemp("landing")
    make_store(folder / "store.duckdb")
    with running_server(ROOT / "app.py", folder) as address:
        yield address


def hold_charts(page: Any) -> Callable[[], None]:
    """Keep the code that draws charts from the page until the returned function is called."""
    held: list[Any] = []
    free: list[bool] = []

    def on_request(route: Any) -> None:
        if free:
            route.continue_()
        else:
            held.append(route)

    page.route("**/PlotlyChart*.js", on_request)

    def release() -> None:
        wait_until(page, lambda: bool(held), "the page asks for the code of its charts")
        free.append(True)
        for route in held:
            route.continue_()

    return release


def hold_script(page: Any, message: bytes) -> Callable[[], None]:
    """Keep what the server says, from a message that holds these bytes on, until the returned function is called."""
    held: list[Any] = []
    free: list[bool] = []

    def connect(to_page: Any) -> None:
        to_server = to_page.connect_to_server()

        def pass_on(said: Any) -> None:
            if not free and (held or message in said):
                held.append((to_page, said))
            else:
                to_page.send(said)

        to_server.on_message(pass_on)

    page.route_web_socket("**/_stcore/stream", connect)

    def release() -> None:
        wait_until(page, lambda: bool(held), "the server says what is held back")
        free.append(True)
        for to_page, said in held:
            to_page.send(said)

    return release


def scrolled_by(page: Any) -> float:
    top: float = page.get_by_test_id("stMain").evaluate("main => main.scrollTop")
    return top


def wait_for_hold(page: Any) -> None:
    """Wait until the page keeps to the place its address names, and so listens to the person."""
    page.locator("i[data-holds=cases]").wait_for(state="attached")


def scroll_up(page: Any) -> None:
    """Turn the wheel until the page is at its top."""
    page.mouse.move(640, 300)

    def turned_to_the_top() -> bool:
        page.mouse.wheel(0, -10_000)
        return scrolled_by(page) == 0

    wait_until(page, turned_to_the_top, "the page follows the wheel")


@pytest.mark.parametrize("way", ["pasted link", "reload", "back to the list", "back in the history"])
def test_a_link_lands_at_the_list_and_stays_there_while_the_charts_come_late(
    open_page: OpenPage, paired: str, way: str
) -> None:
    page = open_page("/case?unit=drawn:22&suite=drawn", address=paired)
    release = hold_charts(page)
    if way == "back to the list":
        page.get_by_role("link", name="Back to the list").click()
    else:
        page.goto(paired + LINK)
    expect(page.locator(HEADING)).to_be_in_viewport()
    release()
    wait_for_app(page)
    if way == "reload":
        page.reload()
    elif way == "back in the history":
        page.get_by_test_id("stSidebarNav").get_by_role("link", name="Data").click()
        page.get_by_role("heading", name="Licences").wait_for()
        page.go_back()
    expect(page).to_have_url(paired + LINK)
    wait_for_app(page)
    expect(page.locator(HEADING)).to_be_in_viewport()


def test_who_has_scrolled_is_left_in_peace_when_the_charts_come(open_page: OpenPage, paired: str) -> None:
    page = open_page("/data", address=paired)
    release = hold_charts(page)
    page.goto(paired + LINK)
    wait_for_hold(page)
    expect(page.locator(HEADING)).to_be_in_viewport()
    scroll_up(page)
    release()
    wait_for_app(page)
    assert scrolled_by(page) == 0


def test_who_scrolls_before_the_list_is_drawn_stays_there_when_it_is(open_page: OpenPage, paired: str) -> None:
    page = open_page("/data", address=paired)
    release = hold_script(page, b"\x05Cases")  # the heading's words, as protobuf writes a text of five letters
    page.goto(paired + LINK)
    wait_for_hold(page)
    page.get_by_role("heading", name="All scores").wait_for()
    page.mouse.move(640, 300)
    page.mouse.wheel(0, 200)
    wait_until(page, lambda: scrolled_by(page) > 0, "the page follows the wheel")
    scroll_up(page)
    release()
    page.locator(HEADING).wait_for()
    wait_for_app(page)
    assert scrolled_by(page) == 0
    expect(page).to_have_url(paired + LINK.removesuffix("#cases"))
