"""A server in a process of its own and what a page of it is allowed to do.

Tests use the fixtures of ``conftest.py``; these are the plain functions below them.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
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
READY = "[data-testid=stApp][data-test-script-state=notRunning]"


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
    the server's first page. The store and the log lie in ``folder``.
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
    for _ in range(600):
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{log.read_text()}")


def wait_for_app(page: Any) -> None:
    """Wait until the script has run to its end and its page is drawn."""
    page.wait_for_selector(READY, timeout=60_000)
    page.wait_for_function(f"!document.querySelector('{READY} [data-stale=true]')")


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
