"""The child process a local VLM lives in: it loads the VLM once and answers one request at a time.

Requests come as JSON lines on stdin, messages go back as JSON lines on stdout. Everything
libraries print goes to stderr, and nothing but this module can read the requests. The process
ends at once when stdin closes or its parent is gone, also while it generates, and it never
opens the store. `backend.vlm.worker_child` is the other end of the line.
"""

__all__ = ["Do", "LocalVlm", "Said", "hide_environment"]

import argparse
import contextlib
import importlib
import json
import logging
import os
import signal
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from backend.domain.progress import Cancelled
from backend.domain.vlm import Ask, Decoding, Reply, Vlm
from backend.errors import AppError
from backend.vlm.failures import MEMORY_HINT, first_line, is_of_device, is_out_of_memory
from backend.vlm.loading import DeviceFacts, LocalSpec
from backend.vlm.saliency.faithfulness import Curves
from backend.vlm.saliency.result import Saliency, SaliencyError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

SECRET_LENGTH = 8
"""Values of the environment this long are hidden in texts; shorter ones are words like "1" or "C"."""

PART_BYTES = 2**21
"""Of a result that is no reply, so many bytes go into a message."""

PARENT_SECONDS = 1.0
"""So often the process looks whether its parent is still there."""


class Do(StrEnum):
    """What a request asks for."""

    LOAD = "load"
    """Once, first: ``spec``, the fields of a `LocalSpec`."""
    ANSWER = "answer"
    """``image`` (a path or null), ``prompt``, ``decoding``; says texts, a reply, done."""
    ANSWER_ALL = "answer_all"
    """``asks`` (image and prompt each), ``decoding``; says the replies in their order, done."""
    SALIENCY = "saliency"
    """``image``, ``prompt``, ``answer``, ``randomised`` (a seed or null); says a `Saliency` in parts, done."""
    FAITHFULNESS = "faithfulness"
    """``image``, ``prompt``, ``answer``, ``heat`` (rows of numbers), ``steps``; says `Curves` in parts, done."""


class Said(StrEnum):
    """What a message tells; the last four end a request."""

    TAKEN = "taken"
    """The request has come; said first. A process that ends without it had ended before."""
    LOADING = "loading"
    """The libraries are there; the weights come next."""
    TEXT = "text"
    """``text``, a new piece of the reply."""
    REPLY = "reply"
    """``reply``, the fields of a `Reply`."""
    PART = "part"
    """``base64``, a part of a result that is no reply; the parts, each decoded, add up to its bytes."""
    DONE = "done"
    """``process_bytes``, and of the VLM's device: ``device``, ``total_bytes``, ``free_bytes``; null where unknown.

    And ``facts``, as `LocalVlm.facts` has them.
    """
    CANCELLED = "cancelled"
    """The VLM was stopped and can go on."""
    REFUSED = "refused"
    """``message`` and ``hint``: this was not possible; the VLM can go on."""
    ERROR = "error"
    """``message`` and ``hint``: the VLM as a whole cannot go on; the process ends itself."""


class LocalVlm(Vlm, Protocol):
    """A VLM in this process, as a factory makes it."""

    def cancel(self) -> None:
        """Make the running call raise `Cancelled` at its next token."""

    def saliency(self, image: Path, prompt: str, answer: str, randomised: int | None = None) -> Saliency:
        """Return what an answer attended to and depended on; `SaliencyError` where it cannot."""

    def faithfulness(self, image: Path, prompt: str, answer: str, heat: "ArrayLike", steps: int = 10) -> Curves:
        """Return how an answer's probability follows a map; `SaliencyError` where it cannot."""

    def device_facts(self) -> DeviceFacts:
        """Return where it runs."""

    def facts(self) -> Mapping[str, str]:
        """Return what a record says of it beside its device; each by its name, for people."""


Say = Callable[..., None]
"""Sends a message: what it is, and its fields."""


def main() -> None:
    """Serve the process that started this one until it ends or closes the line."""
    parser = argparse.ArgumentParser(prog="python -m backend.vlm.worker_process")
    parser.add_argument("--factory", required=True, help="module:function that makes a VLM from a LocalSpec")
    parser.add_argument("--import", dest="imports", action="append", default=[], help="module to import first")
    options = parser.parse_args()
    requests_pipe, messages_pipe = _keep_pipes()
    requests: SimpleQueue[dict[str, Any]] = SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests_pipe, requests), daemon=True).start()
    threading.Thread(target=_watch_parent, args=(os.getppid(),), daemon=True).start()

    def say(what: Said, **told: object) -> None:
        line = json.dumps({"is": what, **told}, allow_nan=False)
        messages_pipe.write(line.encode() + b"\n")
        messages_pipe.flush()

    server = _Server(options.factory, options.imports, say)
    signal.signal(signal.SIGUSR1, lambda _number, _frame: server.stop())
    try:
        while server.is_useful:
            server.serve(requests.get())
    except BaseException:
        logging.getLogger(__name__).exception("The process of the VLM ends")
        os._exit(1)  # Python's own way out can hang, or abort, over the thread that reads
    os._exit(0)


class _Server:
    """The VLM and the request it is at."""

    def __init__(self, factory: str, imports: list[str], say: Say) -> None:
        self._factory = factory
        self._imports = imports
        self._say = say
        self._vlm: LocalVlm | None = None
        self._is_answering = False
        self.is_useful = True

    def stop(self) -> None:
        """Stop the answer that is being generated; called by the signal's handler.

        The handler runs in the main thread, between two of its steps, so that a stop that
        comes too late finds nothing to stop and never meets the next request.
        """
        if self._vlm is not None and self._is_answering:
            self._vlm.cancel()

    def serve(self, request: dict[str, Any]) -> None:
        """Do what is asked and say how it ended."""
        self._say(Said.TAKEN)
        try:
            if request["do"] == Do.LOAD:
                self._vlm = self._load(request["spec"])
            elif self._vlm is not None and request["do"] in _LOOKS:
                self._look(self._vlm, request)
            elif self._vlm is not None:
                self._answer(self._vlm, request)
            self._say(Said.DONE, **_whereabouts(self._vlm))
        except Cancelled:
            self._say(Said.CANCELLED)
        except SaliencyError as refusal:
            self._say(Said.REFUSED, message=refusal.message, hint=refusal.hint)
        except AppError as error:
            self._say(Said.ERROR, message=error.message, hint=error.hint)
            self.is_useful = False

    def _load(self, spec: dict[str, Any]) -> LocalVlm:
        for name in self._imports:
            with contextlib.suppress(ImportError):  # the factory says what is missing, and what to do
                importlib.import_module(name)
        self._say(Said.LOADING)
        module, _, function = self._factory.partition(":")
        try:
            vlm: LocalVlm = getattr(importlib.import_module(module), function)(LocalSpec(**spec))
        except AppError:
            raise
        except Exception as error:
            logging.getLogger(__name__).exception("The VLM could not be loaded")
            raise _explain(error) from error
        return vlm

    def _answer(self, vlm: LocalVlm, request: dict[str, Any]) -> None:
        """Say the replies.

        An exception that is no `AppError` fails the asks of this request and no others, each
        with a reply that says so; but after an error of the GPU all later calls would fail, too.
        """
        decoding = Decoding(**{**request["decoding"], "watched": tuple(request["decoding"]["watched"])})
        asks = [Ask(_path(ask["image"]), ask["prompt"]) for ask in request.get("asks", [request])]
        self._is_answering = True
        try:
            if request["do"] == Do.ANSWER_ALL:
                replies = vlm.answer_all(asks, decoding)
            else:
                replies = [vlm.answer(asks[0].image, asks[0].prompt, decoding, self._say_text)]
        except AppError:
            raise
        except Exception as error:
            logging.getLogger(__name__).exception("A request failed")
            if is_of_device(error):
                raise _explain(error) from error
            replies = [Reply("", str(_explain(error)))] * len(asks)
        finally:
            self._is_answering = False
        for reply in replies:
            told = {field.name: getattr(reply, field.name) for field in fields(reply)}
            self._say(Said.REPLY, reply={**told, "probabilities": dict(reply.probabilities)})

    def _look(self, vlm: LocalVlm, request: dict[str, Any]) -> None:
        """Say what a look into the VLM found; one that fails is refused, but for an error of the GPU."""
        do = request.pop("do")
        image, prompt, answer = Path(request.pop("image")), request.pop("prompt"), request.pop("answer")
        self._is_answering = True
        try:
            found = _LOOKS[do](vlm, image, prompt, answer, **request)
        except AppError:
            raise
        except Exception as error:
            logging.getLogger(__name__).exception("A request failed")
            explained = _explain(error)
            if is_of_device(error):
                raise explained from error
            raise SaliencyError(explained.message, explained.hint) from error
        finally:
            self._is_answering = False
        for start in range(0, len(found), PART_BYTES):
            self._say(Said.PART, base64=b64encode(found[start : start + PART_BYTES]).decode("ascii"))

    def _say_text(self, text: str) -> None:
        self._say(Said.TEXT, text=text)


def _saliency(vlm: LocalVlm, image: Path, prompt: str, answer: str, randomised: int | None) -> bytes:
    return vlm.saliency(image, prompt, answer, randomised).to_npz()


def _faithfulness(vlm: LocalVlm, image: Path, prompt: str, answer: str, heat: list[list[float]], steps: int) -> bytes:
    return vlm.faithfulness(image, prompt, answer, heat, steps).to_bytes()


_LOOKS: dict[str, Callable[..., bytes]] = {Do.SALIENCY: _saliency, Do.FAITHFULNESS: _faithfulness}


def _explain(error: Exception) -> AppError:
    """Put an exception of a library into words."""
    if is_out_of_memory(error):
        return AppError("There was not enough memory for the VLM.", MEMORY_HINT)
    what = f"{type(error).__name__}: {hide_environment(first_line(error)) or 'no reason given'}"
    return AppError(f"The VLM failed ({what}).", "Ask again; if it fails again, copy the details.")


def hide_environment(text: str) -> str:
    """Return the text with the values of environment variables replaced by ``$NAME``."""
    for name, value in sorted(os.environ.items(), key=lambda item: -len(item[1])):
        if len(value) >= SECRET_LENGTH:
            text = text.replace(value, f"${name}")
    return text


def _keep_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Take stdin and stdout for the messages; what prints goes to stderr, what reads finds nothing."""
    requests, messages = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return requests, messages


def _read_requests(pipe: BinaryIO, requests: SimpleQueue[dict[str, Any]]) -> None:
    """Hand on requests as they come; end the process, whatever it is at, when there will be no more."""
    try:
        for line in pipe:
            requests.put(json.loads(line))
    finally:
        _end()


def _watch_parent(parent: int) -> None:
    """End the process when its parent is gone, should something else still hold the pipe open.

    Linux could send a signal instead, but it does so when the parent's starting *thread* ends.
    """
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    _end()


def _end() -> None:
    """End this process at once, and what it started, where it leads a group of its own as it does under the app."""
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(0)


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _whereabouts(vlm: LocalVlm | None) -> dict[str, object]:
    if vlm is None:
        return {}
    facts = vlm.device_facts()
    return {
        "process_bytes": _process_bytes(),
        "device": facts.name,
        "total_bytes": facts.total,
        "free_bytes": facts.free,
        "facts": dict(vlm.facts()),
    }


def _process_bytes() -> int | None:
    """Return the memory this process holds; None where the system does not tell in this way."""
    try:
        resident_pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return None
    return resident_pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
