"""What tests of batch runs share: drawn images, a store over them, and a VLM that answers by rote."""

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from backend.domain.records import Origin, RunKey, Stage, System
from backend.domain.vlm import Ask, Decoding, OnText, Reply
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.images import attach_images
from backend.services.runs.plan import Item, Plan, VlmIdentity, read_plan, text_sha256
from backend.store.store import Store
from tests.services.endoca_files import Line, manifest_lines, write_jsonl

PARROT = VlmIdentity("Parrot", "general_open", {"weights": "none"})


class Parrot:
    """Answers with a hash of image and prompt, so that whose answer is whose can be told.

    Args:
        fails: Prompts that hold this text fail, while it is set.
        seconds: Each call of `answer_all` takes so long.
    """

    name = PARROT.name

    def __init__(self, *, fails: str = "", seconds: float = 0.0) -> None:
        self.fails = fails
        self.seconds = seconds
        self.batches: list[list[Ask]] = []

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        if self.fails and self.fails in prompt:
            return Reply("", error="The call timed out after 30 s. Try again.")
        return Reply(said(image, prompt), n_tokens=3, seconds=0.25, probabilities={"yes": 0.75, "no": 0.25})

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        self.batches.append(list(asks))
        time.sleep(self.seconds)
        return [self.answer(ask.image, ask.prompt, decoding, lambda piece: None) for ask in asks]

    @property
    def asked(self) -> list[str]:
        """Prompts of all calls, in order."""
        return [ask.prompt for batch in self.batches for ask in batch]


def said(image: Path | None, prompt: str) -> str:
    """Return what the parrot says."""
    name = image.name if image else "no image"
    return hashlib.sha256(f"{name}\x1f{prompt}".encode()).hexdigest()[:12]


def draw_images(folder: Path, names: Sequence[str] = ("frame-a", "frame-b")) -> Path:
    """Write small images of different content."""
    folder.mkdir(parents=True, exist_ok=True)
    for at, name in enumerate(names):
        Image.new("RGB", (8, 6), (at % 256, at // 256, 90)).save(folder / f"{name}.png")
    return folder


def drawn_store(folder: Path, lines: Sequence[Line] | None = None, images: Path | None = None) -> Store:
    """Return a store with the suite ``drawn`` of these lines, by default the nine probes of `manifest_lines`."""
    store = Store.create(folder / "store.duckdb")
    manifest = write_jsonl(folder / "endoca_drawn.jsonl", manifest_lines() if lines is None else lines)
    import_endoca(store, [SourceFile.at(manifest)])
    if images is not None:
        attach_images(store, images)
    return store


def drawn_plan(folder: Path, **options: int | str | None) -> Plan:
    """Return a plan over the nine probes of the suite ``drawn``, images at hand; the store is closed again."""
    folder.mkdir(exist_ok=True)
    with drawn_store(folder, images=draw_images(folder / "images")) as store:
        return read_plan(store, "drawn", PARROT, Decoding(), **options)  # type: ignore[arg-type]


def long_plan(folder: Path, per_image: int = 25) -> Plan:
    """Return a plan of so many questions about each image that lies in ``folder``, made without a store."""
    items = []
    for image in sorted(folder.glob("*.png")):
        sha256 = hashlib.sha256(image.read_bytes()).hexdigest()
        for at in range(per_image):
            probe = f"{image.stem}::{at}"
            items.append(Item(text_sha256(probe), probe, image.stem, probe, image.stem, image.name, image, sha256))
    key = RunKey(System.ENDOCA, "long", PARROT.name, Stage.DIRECT, Origin.PRECOMPUTED, decoding=Decoding().label)
    return Plan(key, PARROT, Decoding(), "0" * 64, tuple(items))
