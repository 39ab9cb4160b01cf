"""A server in a process of its own and what a page of it is allowed to do.

Tests use the fixtures of ``conftest.py``; these are the plain functions below them. A machine
may be slow, so nothing here or in a test sleeps and hopes: what a page will come to show is
waited for, up to `TIMEOUT_MS`, and only then read.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = Path("/usr/bin/chromium")
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
TIMEOUT_MS = 60_000

DRAWN = """() => {
  const app = document.querySelector("[data-testid=stApp]")
  if (app?.dataset.testScriptState !== "notRunning" || app.dataset.testConnectionState !== "CONNECTED") return false
  const late = ["stPlotlyChart]:not(:has(.main-svg))", "stDataFrame]:not(:has(canvas))", "stSkeleton]"]
  return !app.querySelector(["[data-stale=true]", ...late.map(part => "[data-testid=" + part)].join())
}"""
"""Whether the script has run to its end and its page is there, with the charts and tables that load later."""

STEADY = """(mark, [frames, patience]) => new Promise((resolve, reject) => {
  const end = performance.now() + patience
  let before = "", same = 0
  function look() {
    const box = mark.getBoundingClientRect()
    const now = [box.x, box.y, box.width, box.height].join()
    same = box.width && now === before ? same + 1 : 0
    before = now
    if (same >= frames) resolve({ x: box.x, y: box.y, width: box.width, height: box.height })
    else if (mark.isConnected && performance.now() < end) requestAnimationFrame(look)
    else reject(new Error("it never came to rest"))
  }
  look()
})"""
"""Where an element is, once it has stood there for so many frames."""

HEADER_PX, ROW_PX = 36, 34
"""Heights in a table."""


def free_port() -> int:
    """Return a TCP port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def running_server(script: Path, folder: Path, environment: dict[str, str] | None = None) -> Iterator[str]:
    """Run ``streamlit run script`` and yield its address once it is healthy.

    Nothing but the health route has been asked for by then, so the caller's first page is
    the server's first page. The store and the log lie in ``folder``. Close the pages before
    the server goes: they would complain that it no longer answers.
    """
    port = free_port()
    log = folder / "server.log"
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    settings = {"PARALLAX_STORE": str(folder / "store.duckdb"), "PYTHONPATH": str(ROOT)}
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, "--server.headless", "true"],
            cwd=ROOT,
            env=os.environ | settings | (environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_healthy(address, process, log)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_healthy(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the health route answers; raise with the server's log when it never does."""
    end = time.monotonic() + 2 * TIMEOUT_MS / 1000
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{log.read_text()}")


def expect(target: Any) -> Any:
    """Return Playwright's assertions about a page or a locator; they wait until they hold."""
    from playwright.sync_api import expect as assertions

    assertions.set_options(timeout=TIMEOUT_MS)
    return assertions(target)


def wait_until(page: Any, holds: Callable[[], bool], what: str) -> None:
    """Wait for what no locator can say; fail with ``what`` where it never comes to hold."""
    end = time.monotonic() + TIMEOUT_MS / 1000
    while not holds():
        assert time.monotonic() < end, what
        page.wait_for_timeout(50)


def css_color(color: str) -> str:
    """Return a colour ``#rrggbb`` as a browser's computed style writes it."""
    return f"rgb{tuple(bytes.fromhex(color[1:]))}"


def wait_for_app(page: Any) -> None:
    """Wait until the page is drawn.

    After an action wait first for what it does: until the server has heard of it, the page is
    still drawn.
    """
    page.wait_for_function(DRAWN)


def steady_box(target: Any) -> dict[str, float]:
    """Bring an element into the middle of the window and return its box, in pixels, once it stands still."""
    target.evaluate("target => target.scrollIntoView({ block: 'center' })")
    box: dict[str, float] = target.evaluate(STEADY, [12, TIMEOUT_MS])
    return box


def press_header(within: Any, *, across: float) -> None:
    """Click the header of the only table within an element, at a share of its width."""
    click_table(within, across=across, y=HEADER_PX / 2)


def click_cell(within: Any, *, across: float, row: int) -> None:
    """Click a row, from 0, of the only table within an element, at a share of its width."""
    within.locator(f"[role=gridcell][id$='-{row}']").first.wait_for(state="attached")
    click_table(within, across=across, y=HEADER_PX + ROW_PX * (row + 0.5))


def click_table(within: Any, *, across: float, y: float) -> None:
    """Click the only table within an element, at a share of its width and so many pixels down."""
    table = within.get_by_test_id("stDataFrame")
    box = steady_box(table)
    table.click(position={"x": across * box["width"], "y": y})


def copied(page: Any, button: str) -> str:
    """Press a copy button and return what it put on the clipboard, once it has said so.

    It says so for two seconds, which a slow browser shows us too late: its words are noted as they change.
    """
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name=button).evaluate(
        """button => {
          window.said = []
          new MutationObserver(() => window.said.push(button.textContent)).observe(button, { childList: true })
        }"""
    )
    page.get_by_role("button", name=button).click()
    page.wait_for_function("window.said.includes('Copied')")
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def screenshot(page: Any, name: str) -> Path:
    """Write ``name.png`` into PARALLAX_SCREENSHOTS, or a folder for temporary files."""
    folder = Path(os.environ.get("PARALLAX_SCREENSHOTS") or Path(tempfile.gettempdir()) / "parallax-screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    page.screenshot(path=path)
    return path


@dataclass
class Watch:
    """Notes what a page must never do: ask another host, or log an error."""

    address: str
    missing: Sequence[str] = ()
    """Paths whose 404 the test expects."""
    problems: list[str] = field(default_factory=list)

    def follow(self, page: Any) -> None:
        """Listen to a page from now on."""
        page.on("request", lambda request: self.check_host(request.url))
        page.on("websocket", lambda channel: self.check_host(channel.url))
        page.on("console", self.check_console)
        page.on("pageerror", lambda error: self.problems.append(f"JavaScript error: {error}"))

    def check_host(self, url: str) -> None:
        """Note a request that leaves the server."""
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.netloc != urlsplit(self.address).netloc:
            self.problems.append(f"asked another host: {url}")

    def check_console(self, message: Any) -> None:
        """Note a console error.

        After a deep link Streamlit's page first looks for its server below the page's own
        path (``/case/_stcore/health``); the browser logs that 404 and all is well.
        """
        if message.type != "error":
            return
        path = urlsplit(message.location.get("url", "")).path
        if path in self.missing or ("/_stcore/" in path and not path.startswith("/_stcore/")):
            return
        self.problems.append(f"console: {message.text} ({path})")
