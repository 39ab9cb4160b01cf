"""A fake VLM in a worker's child process that answers all steps of ASR and of VeriMap, and does what it is ordered to.

Its ``source`` is a folder. ``orders.json`` there says what to do at a step instead of answering at once;
``go`` lets every step that waits go on. A look into it is a step ``saliency``. Loaded in the child by name; no torch.
"""

import json
import os
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from backend.domain.progress import Cancelled
from backend.domain.vlm import Ask, Decoding, OnText, Reply, said_nothing
from backend.vlm.loading import DeviceFacts, LocalSpec
from backend.vlm.saliency.geometry import View, regions_of
from backend.vlm.saliency.result import Saliency, SaliencyError

FACTORY = "tests.services.live_fakes:load"

SELECTED = '{"answer": "two polyps", "consistency": "consistent", "decision": "answer"}'

ACCEPTS = "EXPLANATION: There is one polyp.\nVERDICT: CORRECT"

ANSWERS = {
    "direct": "one polyp",
    "revise": "two polyps",
    "select": SELECTED,
    "look": "A wall, and something on it.",
    "verify": ACCEPTS,
    "loop": "ANSWER: two polyps",
}

_BEGINNINGS = {
    "Answer the question": "direct",
    "Look at the medical image. You will be shown": "look",
    "Look at": "revise",
    "Check whether": "select",
    "You check an answer": "verify",
    "You answered a question": "loop",
}
"""How the prompt of a step begins; the first that fits tells the step."""


def orders(folder: Path, **steps: str) -> None:
    """Say what shall happen at a step: ``wait``, ``fail`` or ``die``."""
    (folder / "orders.json").write_text(json.dumps(steps))


def look_at(answer: str) -> Saliency:
    """Return the saliency of an answer in one layer with one head: 2 × 3 patches, a token a word, by its length."""
    tokens = tuple(f"{word} " for word in answer.split())
    share = np.float32(1 / (1 + len(tokens)))
    falling = (np.arange(6, 0, -1) / 21).astype(np.float32)
    return Saliency(
        tokens=tokens,
        shares=np.full((1, 1, len(tokens)), share),
        uniform=np.full((1, len(tokens)), np.float32(0.6)),
        maps=np.tile(falling * share, (1, len(tokens), 1)),
        gradient=falling,
        why_no_gradient="",
        regions=regions_of([View(0, 0, 1, 1, 2, 3)]),
        grid=(2, 3),
        why_no_regions="",
        log_likelihood=-1.0,
    )


def load(spec: LocalSpec) -> "ScriptedVlm":
    """Make it, and note whose process it is."""
    Path(spec.source, "pid").write_text(str(os.getpid()))
    return ScriptedVlm(spec.name, Path(spec.source))


class ScriptedVlm:
    """Says the same to everybody; a part is answered with "2"."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._folder = folder
        self._stop = threading.Event()

    def cancel(self) -> None:
        self._stop.set()

    def device_facts(self) -> DeviceFacts:
        return DeviceFacts("abacus", 1000, 600)

    def facts(self) -> dict[str, str]:
        return {"dtype": "beads"}

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        self._stop.clear()
        step = next(name for beginning, name in _BEGINNINGS.items() if prompt.startswith(beginning))
        return self._step(step, ANSWERS[step], on_text)

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        self._stop.clear()
        return [self._step("atomic", "2", said_nothing) for _ in asks]

    def saliency(self, image: Path, prompt: str, answer: str, randomised: int | None = None) -> Saliency:
        self._stop.clear()
        if self._step("saliency", answer, said_nothing).error or not answer:
            raise SaliencyError("The answer holds a control word of this VLM.", "Choose an answer of plain text.")
        return look_at(answer)

    def _step(self, step: str, text: str, on_text: OnText) -> Reply:
        file = self._folder / "orders.json"
        order = json.loads(file.read_text()).get(step, "") if file.exists() else ""
        if order == "fail":
            return Reply("", error="The call timed out after 30 s. Ask again.")
        if order == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if order == "wait":
            on_text("so far ")
            while not (self._folder / "go").exists():
                if self._stop.is_set():
                    raise Cancelled
                time.sleep(0.005)
        for piece in text.split(" "):
            on_text(f"{piece} ")
        return Reply(text, n_tokens=3, seconds=0.25)
