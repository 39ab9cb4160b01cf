"""Real pages in Debian's Chromium: every test also promises that no page leaves its server."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.browser.harness import CHROMIUM, CHROMIUM_FLAGS, ROOT, TIMEOUT_MS, Watch, running_server, wait_for_app


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: starts a server and a browser")


@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    """One browser for all tests; each page has a context, and so its cookies, to itself."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no browser at {CHROMIUM}")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(CHROMIUM_FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def server(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app with a store of its own, shared by the tests."""
    with running_server(ROOT / "app.py", tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture
def cold_server(chromium: Any, tmp_path: Path) -> Iterator[str]:
    """The app just started: no page of it has been asked for yet."""
    with running_server(ROOT / "app.py", tmp_path) as address:
        yield address


@pytest.fixture(scope="package")
def gallery(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A test-only app that mounts one shared part a page, chosen by ``?show=``."""
    with running_server(ROOT / "tests/browser/apps/gallery.py", tmp_path_factory.mktemp("gallery")) as address:
        yield address


@pytest.fixture
def open_page(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Return a function that opens a path and waits for the app.

    When the test ends, it fails if any of its pages asked another host for anything or
    logged an error, a breach of the content security policy among them.
    """
    contexts: list[Any] = []
    watches: list[Watch] = []

    def open_(
        path: str,
        *,
        address: str | None = None,
        scheme: str = "light",
        acknowledged: bool = True,
        missing: Sequence[str] = (),
        size: tuple[int, int] = (1280, 800),
    ) -> Any:
        address = address or request.getfixturevalue("server")
        context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, locale="en-GB"
        )
        context.set_default_timeout(TIMEOUT_MS)
        contexts.append(context)
        if acknowledged:
            context.add_cookies([{"name": "parallax_acknowledged", "value": "1", "url": address}])
        page = context.new_page()
        watch = Watch(address, missing)
        watch.follow(page)
        watches.append(watch)
        page.goto(address + path)
        wait_for_app(page)
        return page

    yield open_
    for context in contexts:
        context.close()
    problems = [problem for watch in watches for problem in watch.problems]
    assert not problems, "\n".join(problems)
