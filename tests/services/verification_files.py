"""A data set of drawn images, VLMs that generate and verify by rote, and the run folders they leave."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from backend.domain.records import Image, Probe, Role, Stage, System, Unit
from backend.domain.vlm import Ask, Decoding, OnText, Reply
from backend.services.ingest.images import attach_images
from backend.services.ingest.suites import put_suite
from backend.services.runs.plan import Plan, VlmIdentity, read_plan
from backend.services.runs.record import RunRecord
from backend.services.runs.verification_run import Chain, Participant, run_chain
from backend.store.store import Store
from backend.verimap.feedback_loop import DECODINGS
from tests.services.run_files import draw_images

SUITE = "vqa-rad"
ATLAS, BEACON = VlmIdentity("Atlas", "general_open", {"weights": "a"}), VlmIdentity("Beacon", None, {"weights": "b"})


class Asked(NamedTuple):
    """One question of the data set."""

    image: str
    """Stem of the image's name; "" where none is named."""
    question: str
    reference: str
    options: Mapping[str, str] = {}
    images: int = 1


QUESTIONS: Mapping[str, Asked] = {
    "1": Asked("frame-a", "Is this a CT?", "Yes"),
    "2": Asked("frame-a", "What is abnormal in the chest?", "zz-reference-mass"),
    "3": Asked("frame-b", "Is the liver enlarged?", "No"),
    "4": Asked("frame-c", "How many nodules are seen?", "3"),
    "5": Asked("frame-c", "What is the likely cause?", "zz-reference-trauma"),
}
"""Three closed questions, and two open ones whose references are words that nobody else says."""

FIRST = {"1": "Yes", "2": "an opacity", "3": "Yes", "4": "several", "5": ""}
"""What Atlas answers first: right, open, wrong, closed and not readable, nothing."""
AGAIN = {"1": "Yes", "2": "a mass", "3": "No", "4": "3", "5": "a fall"}
"""What it answers when a review comes back."""
ACCEPTED = ("Yes", "an opacity", "a mass")
"""Answers that every verifier takes for right; it is not sure of one of no words, and rejects the others."""


class Rote:
    """A VLM that generates and verifies by rote, and keeps all it was asked.

    Args:
        identity: Its name.
        fails: Calls whose prompt this holds of fail.
        says: What it replies to a prompt.
    """

    def __init__(
        self,
        identity: VlmIdentity = ATLAS,
        fails: Callable[[str], bool] = lambda prompt: False,
        says: Callable[[str], str] | None = None,
    ) -> None:
        self.identity = identity
        self.name = identity.name
        self.fails = fails
        self.says = says or said
        self.asked: list[Ask] = []

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        self.asked.append(Ask(image, prompt))
        if self.fails(prompt):
            return Reply("", error="The call timed out after 30 s. Try again.")
        return Reply(self.says(prompt))

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        return [self.answer(ask.image, ask.prompt, decoding, lambda piece: None) for ask in asks]

    @property
    def prompts(self) -> list[str]:
        """All it was asked, in order."""
        return [ask.prompt for ask in self.asked]


def said(prompt: str) -> str:
    """Return what any of these VLMs says."""
    [name] = [name for name, one in QUESTIONS.items() if f"Question: {one.question}" in prompt]
    if prompt.startswith("Answer the question"):
        return FIRST[name]
    if prompt.startswith("You answered"):
        return f"ANSWER: {AGAIN[name]}"
    if prompt.startswith("Look at"):
        return f"I see what {name} asks for."
    answer = prompt.partition("\nAnswer: ")[2].partition("\nReply in two lines.")[0]
    verdict = "CORRECT" if answer in ACCEPTED else "INCORRECT" if answer else "UNCERTAIN"
    return f"EXPLANATION: The image shows {name}.\nVERDICT: {verdict}"


def asked_store(folder: Path, questions: Mapping[str, Asked] = QUESTIONS, suite: str = SUITE) -> Store:
    """Return a store with a data set whose images are at hand."""
    store = Store.create(folder / "store.duckdb")
    put_questions(store, questions, suite)
    names = sorted({one.image for one in questions.values() if one.image})
    attach_images(store, draw_images(folder / "images", names))
    return store


def put_questions(store: Store, questions: Mapping[str, Asked], suite: str = SUITE) -> None:
    """Write a data set."""
    units = []
    for name, one in questions.items():
        unit_id = Unit.make_id(suite, name)
        file = f"{one.image}.png" if one.image else ""
        image = Image(Image.make_id(suite, one.image or f"none-{name}"), suite, file)
        probe = Probe(unit_id, name, Role.GENERATE, 0, one.question, one.reference, "")
        units.append(Unit(unit_id, name, suite, image, "", 0, (), (probe,)))
    with store.write() as cursor:
        put_suite(cursor, suite, units, "a test", extend=False, system=System.VERIMAP)
        for unit, one in zip(units, questions.values(), strict=True):
            options = [{"letter": letter, "text": text} for letter, text in one.options.items()]
            letter = next((letter for letter, text in one.options.items() if text == one.reference), "")
            images = [unit.image.file] * one.images if one.image else []
            cursor.execute(
                "INSERT INTO examples VALUES (?, ?, NULL, NULL, ?, ?, ?, NULL, [])",
                [unit.unit_id, suite, images, json.dumps(options), letter],
            )


def first_plan(store: Store, vlm: VlmIdentity = ATLAS, limit: int | None = None) -> Plan:
    """Return the plan of a generator's first answers."""
    return read_plan(store, SUITE, vlm, DECODINGS[Stage.DIRECT], limit=limit)


def chain_into(
    folder: Path,
    first: Plan,
    chain: Chain,
    generator: Rote,
    verifier: Rote | None = None,
    *,
    resume: bool = False,
    batch: int | None = None,
) -> dict[str, RunRecord]:
    """Run a whole chain, the generator asked first; it verifies itself where no verifier is named."""
    judge = verifier or generator
    return run_chain(
        first,
        None,
        Participant(judge.identity, judge),
        folder,
        chain,
        generator=Participant(generator.identity, generator),
        images=first.items,
        resume=resume,
        batch=batch,
    )
