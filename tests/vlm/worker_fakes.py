"""Fake VLMs for a worker's child process: a prompt is an order, its first word says which.

Loaded in the child by name; no torch.
"""

import fcntl
import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from backend.domain.progress import Cancelled
from backend.domain.vlm import Ask, Decoding, OnText, Reply, said_nothing
from backend.errors import AppError
from backend.vlm.loading import DeviceFacts, LocalSpec
from backend.vlm.saliency.faithfulness import Curves
from backend.vlm.saliency.result import Saliency, SaliencyError

FACTORY = "tests.vlm.worker_fakes:load"


def load(spec: LocalSpec) -> "FakeVlm":
    """Load, or fail to: ``spec.source`` says how."""
    how, _, rest = spec.source.partition(" ")
    if how == "refuse":
        raise AppError("The weights are not here.", "Fetch them.")
    if how == "break":
        raise ValueError("no such layer")
    if how == "die":
        os.abort()
    if how == "wait":
        wait_for(Path(rest))
    return FakeVlm(spec)


def wait_for(file: Path) -> None:
    """Return when a test has made the file."""
    while not file.exists():
        time.sleep(0.005)


class FakeVlm:
    """Does what its prompts say."""

    def __init__(self, spec: LocalSpec) -> None:
        self.name = spec.name
        self._stop = threading.Event()

    def cancel(self) -> None:
        self._stop.set()

    def device_facts(self) -> DeviceFacts:
        return DeviceFacts("abacus", 1000, 600)

    def facts(self) -> dict[str, str]:
        return {"dtype": "beads"}

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        self._stop.clear()
        order, _, rest = prompt.partition(" ")
        if order == "forever":  # stops at its next token; tells by a file that it has begun
            if rest:
                Path(rest).touch()
            while not self._stop.is_set():
                on_text("on ")
                time.sleep(0.005)
            raise Cancelled
        if order == "facts":
            return Reply(str(image), n_tokens=7, was_cut=True, seconds=2.5, probabilities={"yes": 0.25, "no": 0.75})
        if order == "say":
            pieces = rest.split("|")
            for piece in pieces:
                on_text(piece)
            return Reply("".join(pieces))
        return Reply(ORDERS[order](rest) or "")

    def saliency(self, image: Path, prompt: str, answer: str, randomised: int | None = None) -> Saliency:
        """Return maps as long as the answer says, of random numbers, which do not become small when packed."""
        self.answer(image, prompt, Decoding(), said_nothing)
        if answer == "refused":
            raise SaliencyError("This family tells nothing.", "Choose another.")
        maps = np.random.default_rng(randomised).random((2, 1, int(answer)), dtype=np.float32)
        shares = maps.sum(-1)[:, None]
        return Saliency((answer,), shares, shares[:, 0], maps, None, "Not here.", None, None, "Nor here.", -0.5, prompt)

    def faithfulness(self, image: Path, prompt: str, answer: str, heat: ArrayLike, steps: int = 10) -> Curves:
        shown = tuple(float(value) for value in np.ravel(heat))
        return Curves(shown, shown, shown, shown, (float(steps), len(answer)))

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        replies = [self.answer(ask.image, ask.prompt, decoding, said_nothing) for ask in asks]
        return [reply for reply in replies if reply.text != "forgotten"]


def deaf(file: str) -> None:
    """Never stop; start a process that does not either, and note its id."""
    helper = subprocess.Popen(["sleep", "1000"])
    Path(file).write_text(str(helper.pid))
    while True:
        time.sleep(1)


def gate(file: str) -> str:
    wait_for(Path(file))
    return "passed"


def print_all(_: str) -> str:
    print('{"is": "done"}')
    os.write(1, b'{"is": "done"}\n')
    subprocess.run(["echo", '{"is": "done"}'], check=True)
    return f"read {sys.stdin.read()!r} and {os.read(0, 1)!r}"


def garble(line: str) -> NoReturn:
    """Write a line of my own on the pipe of the messages, then wait."""
    for number in range(3, 32):
        try:
            is_pipe = stat.S_ISFIFO(os.fstat(number).st_mode)
        except OSError:
            continue
        if is_pipe and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
            os.write(number, (line.replace("LONG", "x" * 5_000_000)).encode() + b"\n")
    while True:
        time.sleep(1)


def complain(what: str) -> NoReturn:
    for number in range(60):
        print(f"line {number} {os.environ['WORKER_TEST_KEY']}", file=sys.stderr)
    raise AppError(f"Complained about {what}.", "Mend it.")


def fail(what: str) -> NoReturn:
    raise {"RuntimeError": RuntimeError, "MemoryError": MemoryError}[what.partition(" ")[0]](what.partition(" ")[2])


ORDERS: dict[str, Callable[[str], str | None]] = {
    "pid": lambda _: str(os.getpid()),
    "modules": lambda _: json.dumps(sorted(sys.modules)),
    "surrogate": lambda _: "\ud800 é",
    "forget": lambda _: "forgotten",
    "kill": lambda _: os.kill(os.getpid(), int(_)),
    "exit": lambda code: sys.exit(int(code)),
    "deaf": deaf,
    "gate": gate,
    "print": print_all,
    "garble": garble,
    "complain": complain,
    "fail": fail,
}
