"""The parent's end of the line to a VLM's child process: start it, talk with it, end it.

A conversation is one request and the messages up to the one that ends it. A child that left
one in the middle (it died, it was killed, it said something that is no message) is not
`is_free` any more: whoever holds it ends it and starts another. How it ended is told in plain
words, with the last lines of its stderr, from which values of the environment are hidden.
"""

__all__ = ["GRACE", "ChildProcess", "WorkerError"]

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from base64 import b64decode
from collections import deque
from collections.abc import Iterator
from typing import Any

from backend.domain.progress import Cancelled
from backend.domain.vlm import Reply
from backend.errors import AppError
from backend.settings import ROOT
from backend.vlm.failures import MEMORY_HINT
from backend.vlm.saliency.result import SaliencyError
from backend.vlm.worker_process import Said, hide_environment

GRACE = 0.3
"""Seconds a VLM has to stop at its next token before its process is killed."""

END_SECONDS = 10
"""Seconds given to a process that closed its end of the line to end, and to what it wrote to be read."""

MAX_LINE = 4 * 2**20
"""Bytes of a message; a longer one is taken for a fault of the child."""

TAIL_LINES = 50
"""So many lines of stderr are kept."""

TAIL_WIDTH = 2_000
"""Bytes of a line of stderr; longer ones are kept in pieces."""

AGAIN_HINT = "Ask again: the VLM is then loaded anew. If it happens again, copy the details."


class WorkerError(AppError):
    """A local VLM, or its process, cannot go on.

    Args:
        message: What happened.
        hint: What to do next.
        details: The last lines of its process's stderr, for whoever looks into it.
    """

    def __init__(self, message: str, hint: str, details: str) -> None:
        super().__init__(message, hint)
        self.details = details


class ChildProcess:
    """A running `backend.vlm.worker_process`, in a process group of its own.

    One thread converses; any thread may `interrupt` or `kill`.

    Raises:
        AppError: The system refuses to start another process.
    """

    def __init__(self, factory: str, imports: tuple[str, ...]) -> None:
        command = [sys.executable, "-P", "-X", "faulthandler", "-m", "backend.vlm.worker_process"]
        command += ["--factory", factory, *(part for name in imports for part in ("--import", name))]
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"}
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(  # noqa: S603 -- our own module, no shell
                command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
            )
        except OSError as error:
            raise AppError(
                f"No process could be started for the VLM ({error.strerror}).", "Close other programs and ask again."
            ) from error
        assert self._process.stdin and self._process.stdout and self._process.stderr  # pipes were asked for
        self._requests, self._messages = self._process.stdin, self._process.stdout
        self._stderr = self._process.stderr
        self.is_free = True
        """Whether a conversation may begin."""
        self.took_request = False
        """Whether the child took the last request; one that was gone by then did not."""
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._listener = threading.Thread(target=self._listen, name="stderr of a VLM", daemon=True)
        self._listener.start()

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process's id, which is its group's too."""
        return self._process.pid

    def converse(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Send a request and yield the messages, the one that ends it included.

        Raises:
            AppError: What the child said in its place (as a `WorkerError`).
            Cancelled: The VLM was interrupted and can go on.
            SaliencyError: What was asked is not possible; the VLM can go on.
            WorkerError: The process ended, or said something that is no message.
        """
        self.is_free = self.took_request = False
        with contextlib.suppress(OSError):  # a child that is gone is found out by reading
            self._requests.write(json.dumps(request, allow_nan=False).encode() + b"\n")
            self._requests.flush()
        while True:
            message = self._receive()
            what = message["is"]
            self.took_request = True
            if what == Said.TAKEN:
                continue
            if what == Said.ERROR:
                raise WorkerError(str(message.get("message")), str(message.get("hint")), self._last_words())
            self.is_free = what in (Said.DONE, Said.CANCELLED, Said.REFUSED)
            if what == Said.CANCELLED:
                raise Cancelled
            if what == Said.REFUSED:
                raise SaliencyError(str(message.get("message")), str(message.get("hint")))
            if what == Said.PART:
                message["bytes"] = self._bytes(message)
            if what == Said.REPLY:
                message["reply"] = self._reply(message)
            yield message
            if what == Said.DONE:
                return

    def give_up(self, conversation: Iterator[dict[str, Any]]) -> None:
        """End a conversation early: softly where the VLM stops within `GRACE`, else by `kill`."""
        if self.is_free:
            return
        self.interrupt()
        deadline = threading.Timer(GRACE, self.kill)
        deadline.start()
        with contextlib.suppress(AppError):
            for _ in conversation:
                pass
        deadline.cancel()

    def interrupt(self) -> None:
        """Ask the VLM to stop at its next token."""
        self._process.send_signal(signal.SIGUSR1)

    def kill(self) -> None:
        """End the process and all it started, at once."""
        if self.is_alive:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill the process, wait until its memory is free again, and let go of its pipes."""
        self.is_free = False
        self.kill()
        self._process.wait()
        self._listener.join(timeout=END_SECONDS)
        for pipe in (self._requests, self._messages):
            with contextlib.suppress(OSError):
                pipe.close()

    def unreadable(self) -> WorkerError:
        """Return the error for a message that is none; the process is killed."""
        return WorkerError("The VLM's process said something that cannot be read.", AGAIN_HINT, self._last_words())

    def _receive(self) -> dict[str, Any]:
        line = self._messages.readline(MAX_LINE + 1)
        if not line.endswith(b"\n") and len(line) <= MAX_LINE:
            raise self._how_it_ended()
        try:
            message = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            message = None
        if not isinstance(message, dict) or message.get("is") not in set(Said):
            raise self.unreadable()
        return message

    def _reply(self, message: dict[str, Any]) -> Reply:
        try:
            return Reply(**message["reply"])
        except (KeyError, TypeError):
            raise self.unreadable() from None

    def _bytes(self, message: dict[str, Any]) -> bytes:
        try:
            return b64decode(message["base64"], validate=True)
        except (KeyError, TypeError, ValueError):
            raise self.unreadable() from None

    def _how_it_ended(self) -> WorkerError:
        try:
            code = self._process.wait(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            return WorkerError("The VLM's process stopped talking.", AGAIN_HINT, self._last_words())
        if code == -signal.SIGKILL:
            return WorkerError(
                "The system ended the VLM's process, most likely because memory ran out.",
                MEMORY_HINT,
                self._last_words(),
            )
        how = f"crashed ({signal.Signals(-code).name})" if code < 0 else f"ended (exit code {code})"
        return WorkerError(f"The VLM's process {how}.", AGAIN_HINT, self._last_words())

    def _last_words(self) -> str:
        """Kill the process, and return the last lines of its stderr without values of the environment."""
        self.kill()
        self._listener.join(timeout=END_SECONDS)
        return hide_environment("\n".join(list(self._tail)))

    def _listen(self) -> None:
        with self._stderr:
            while line := self._stderr.readline(TAIL_WIDTH):
                self._tail.append(line.decode("utf-8", "replace").rstrip())
