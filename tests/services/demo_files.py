"""A built-in data set in small: the first units of the shipped one, answered by rote instead of by the VLM.

Complex answers are the references. So are atomic ones, but for those about polyps' removal and
box artefacts, which are turned around: these units are right together and wrong on a part.
"""

import gzip
import json
import tempfile
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from backend.demo import files
from backend.domain.records import Stage
from backend.domain.vlm import Ask, Decoding, OnText, Reply, said_nothing
from backend.services.demo import built_in, shipped
from backend.services.demo.shipped import (
    BLIND_DIRECT,
    BLIND_SURGICAL,
    DEMO,
    DIRECT,
    MIRAGE_BLIND,
    MIRAGE_BY_BLIND,
    MIRAGE_CHAINS,
    MIRAGE_SALIENCY,
    MIRAGE_SELF,
    MIRAGE_SUITE,
    MIRAGE_SWAPPED,
    MIRAGE_WITHHELD,
    RECONCILED,
    RUNS,
    SURGICAL,
    SURGICAL_LOOKUP,
    SURGICAL_SUITE,
    SURGICAL_TEXT_ONLY,
    VERIFICATION,
)
from backend.services.demo.verification_examples import put_demo_examples
from backend.services.ingest.cue_pictures import draw_cue_pictures
from backend.services.ingest.files import SourceFile
from backend.services.ingest.images import attach_images
from backend.services.ingest.scene_graphs import import_scene_graphs
from backend.services.runs.direct_answers import folder_base
from backend.services.runs.import_run import import_run
from backend.services.runs.manifest import read_manifest_plan
from backend.services.runs.plan import VlmIdentity, read_plan
from backend.services.runs.reconciliation_run import run_reconciliation
from backend.services.runs.runner import run_plan
from backend.services.runs.saliency_choice import find_verification, sides_of
from backend.services.runs.saliency_plan import saliency_plan
from backend.services.runs.saliency_run import GENERATOR, VERIFIER, LookingVlm, Part, run_saliency
from backend.services.runs.verification_run import GENERATE, Chain, Participant, run_chain, verify_folder
from backend.store.store import Store
from backend.surgcheck.text_lookups import LOOKUP_VLM
from backend.verimap.conditions import Condition
from backend.verimap.feedback_loop import DECODINGS
from backend.vlm.blind import BLIND_VLM
from backend.vlm.replay import Replay, StoredAnswer
from backend.vlm.saliency.result import Saliency
from tests.services.live_fakes import look_at

needs_answers = pytest.mark.skipif(
    not all(
        (RUNS / run / "run.json").is_file()
        for run in (
            DIRECT,
            *chain.from_iterable(RECONCILED.values()),
            VERIFICATION,
            BLIND_DIRECT,
            SURGICAL,
            BLIND_SURGICAL,
            SURGICAL_LOOKUP,
            SURGICAL_TEXT_ONLY,
            *(f"{name}/{verify_folder(0)}" for name in MIRAGE_CHAINS),
            f"{MIRAGE_SALIENCY}/{VERIFIER}",
        )
    ),
    reason="the shipped answers (data/demo/runs) are absent",
)
"""Marks a test of the data set as it ships."""

FRAMES = ("synthetic-0001", "synthetic-0002")
N_UNITS, N_ATOMIC, N_APART = 12, 24, 6
"""Of these frames; the last are right together and wrong on a part."""

N_RUNS = 6
"""Direct answers of the VLM and of the blind baseline; Revise and Select with premises and without."""

SURGICAL_FRAMES = ("1_1.webp", "2_1.webp")
N_PAIRS = 17
"""About these frames."""
N_SURGICAL_RUNS = 4
"""The VLM, the blind baseline, the text look-ups, and the VLM with the image withheld."""
N_SURGICAL_ANSWERS = 7 * N_PAIRS
"""With the image withheld originals alone are asked."""

N_EXAMPLES = 10
"""Of VeriMap, about the endoscopy-like frames."""
N_MIRAGE_RUNS = 9
"""Answers, verdicts, answers and verdicts of a loop; two controls, and both ways between VLM and blind baseline."""
N_LOOKED_RUNS = 2
"""Of these, with looks at each of their answers."""

BOX = VlmIdentity("Box VLM", "demo", {"weights": "none, answers by rote"})
BLIND = VlmIdentity(BLIND_VLM, "blind", {})
LOOKUP = VlmIdentity(LOOKUP_VLM, "blind", {})

TURNED = {"box_artifact_presence", "polyp_removal_status"}

Line = dict[str, Any]


def make_demo(folder: Path) -> Path:
    """Write manifest, frames and the runs into a folder, as the built-in data set has them."""
    frames = folder / files.ENDOSCOPY
    frames.mkdir(parents=True)
    for name in FRAMES:
        copy(DEMO / files.ENDOSCOPY / f"{name}.webp", frames)
    with gzip.open(DEMO / files.MANIFEST, "rt", encoding="utf-8") as shipped_lines:
        lines = [line for line in map(json.loads, shipped_lines) if line["img_id"] in FRAMES]
    with gzip.open(folder / files.MANIFEST, "wt", encoding="utf-8") as manifest:
        manifest.writelines(f"{json.dumps(line)}\n" for line in lines)
    said = {line["probe_id"]: _said(line) for line in lines}
    for name, vlm, answers in ((DIRECT, BOX, said), (BLIND_DIRECT, BLIND, dict.fromkeys(said, "no"))):
        _answer(folder, name, vlm, answers)
    _reconcile(folder)
    _surgery(folder)
    _verify(folder)
    return folder


class Halting:
    """Revises every answer to "no" and gives it, but for the answers about two parts, which it cannot decide on."""

    name = BOX.name

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        if not prompt.startswith("Check"):
            return Reply("no")
        given = prompt.count("\n- ") != 2
        return Reply('{"answer": "no", "consistency": "consistent", "decision": "answer"}' if given else "Perhaps.")

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        return [self.answer(ask.image, ask.prompt, decoding, said_nothing) for ask in asks]


def ship(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder the built-in data set, for as long as the test runs; it holds no weights."""
    monkeypatch.setattr(built_in, "DEMO", folder)
    monkeypatch.setattr(built_in, "RUNS", folder / "runs")
    monkeypatch.setattr(built_in, "FRAMES", folder / files.ENDOSCOPY)
    monkeypatch.setattr(built_in, "SURGICAL_FRAMES", folder / files.LAPAROSCOPY)
    monkeypatch.setattr(shipped, "VLM", folder / "vlm")


def _said(line: Line) -> str:
    reference = str(line["gold_answer"])
    if line.get("gold_question_class") in TURNED:
        return "yes" if reference == "no" else "no"
    return reference


def _answer(folder: Path, name: str, vlm: VlmIdentity, said: dict[str, str]) -> None:
    plan = read_manifest_plan(folder / files.MANIFEST, folder / files.ENDOSCOPY, vlm, Decoding(max_new_tokens=80))
    answers = []
    for item in plan.items:
        assert item.image is not None
        answers.append(StoredAnswer(item.image.name, item.prompt, Reply(said[item.probe_id.partition(":")[2]])))
    run_plan(plan, Replay(vlm.name, answers), folder / "runs" / name)


def _reconcile(folder: Path) -> None:
    """Write the Revise and Select runs of both variants beside the direct one."""
    plan = read_manifest_plan(folder / files.MANIFEST, folder / files.ENDOSCOPY, BOX, Decoding(max_new_tokens=80))
    answers = folder_base(folder / "runs" / DIRECT, plan)
    for variant, (revise, select) in RECONCILED.items():
        run_reconciliation(plan, answers, Halting(), folder / "runs" / revise, folder / "runs" / select, variant)


class Knowing:
    """Answers every surgical question with one word."""

    def __init__(self, name: str, word: str) -> None:
        self.name = name
        self._word = word

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        return Reply(self._word)

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        return [self.answer(ask.image, ask.prompt, decoding, said_nothing) for ask in asks]


def _surgery(folder: Path) -> None:
    """Write the scene graphs of two frames, the frames, and the runs over their pairs."""
    frames = folder / files.LAPAROSCOPY
    frames.mkdir()
    for name in SURGICAL_FRAMES:
        copy(DEMO / files.LAPAROSCOPY / name, frames)
    with gzip.open(DEMO / files.SCENE_GRAPHS, "rt", encoding="utf-8") as shipped_scenes:
        coco = json.load(shipped_scenes)
    coco["images"] = [image for image in coco["images"] if image["file_name"] in SURGICAL_FRAMES]
    kept = {image["id"] for image in coco["images"]}
    coco["annotations"] = [row for row in coco["annotations"] if row["image_id"] in kept]
    with gzip.open(folder / files.SCENE_GRAPHS, "wt", encoding="utf-8") as scenes:
        json.dump(coco, scenes)
    with (
        tempfile.TemporaryDirectory() as aside,
        Store.create(Path(aside, "store.duckdb")) as store,
    ):
        import_scene_graphs(store, SourceFile.at(folder / files.SCENE_GRAPHS), SURGICAL_SUITE, with_balanced=False)
        attach_images(store, frames)
        draw_cue_pictures(store)
        for name, vlm, word, with_image in (
            (SURGICAL, BOX, "grasper", True),
            (BLIND_SURGICAL, BLIND, "No", True),
            (SURGICAL_LOOKUP, LOOKUP, "retract", True),
            (SURGICAL_TEXT_ONLY, BOX, "hook", False),
        ):
            plan = read_plan(store, SURGICAL_SUITE, vlm, Decoding(max_new_tokens=80), with_image=with_image)
            run_plan(plan, Knowing(vlm.name, word), folder / "runs" / name)


class Judging:
    """Says "no" to every question, finds every answer correct, and can be looked into."""

    def __init__(self, name: str) -> None:
        self.name = name

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        is_verdict = "VERDICT" in prompt
        return Reply("EXPLANATION: It is so.\nVERDICT: CORRECT" if is_verdict else "ANSWER: no")

    def saliency(self, image: Path, prompt: str, answer: str) -> Saliency:
        return look_at(answer)

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        return [self.answer(ask.image, ask.prompt, decoding, said_nothing) for ask in asks]


def _verify(folder: Path) -> None:
    """Write the answers to be verified about the two frames, and the chains over the examples made of them."""
    with gzip.open(DEMO / files.VERIFICATION, "rt", encoding="utf-8") as shipped_lines:
        lines = [line for line in shipped_lines if Path(json.loads(line)["image"]).stem in FRAMES]
    with gzip.open(folder / files.VERIFICATION, "wt", encoding="utf-8") as kept:
        kept.writelines(lines)
    box, blind = (Participant(identity, Judging(identity.name)) for identity in (BOX, BLIND))
    with (
        tempfile.TemporaryDirectory() as aside,
        Store.create(Path(aside, "store.duckdb")) as store,
    ):
        put_demo_examples(store, folder)
        attach_images(store, folder / files.ENDOSCOPY)
        first, of_blind = (read_plan(store, MIRAGE_SUITE, who, DECODINGS[Stage.DIRECT]) for who in (BOX, BLIND))
    runs = folder / "runs"
    run_chain(first, None, box, runs / MIRAGE_SELF, Chain(turns=1), generator=box)
    answers = folder_base(runs / MIRAGE_SELF / GENERATE, first)
    for name, condition in ((MIRAGE_WITHHELD, Condition.IMAGE_WITHHELD), (MIRAGE_SWAPPED, Condition.IMAGE_SWAPPED)):
        run_chain(first, answers, box, runs / name, Chain(condition), images=first.items)
    run_chain(first, answers, blind, runs / MIRAGE_BY_BLIND, Chain())
    run_chain(of_blind, None, box, runs / MIRAGE_BLIND, Chain(), generator=blind)
    _look(folder)


def _look(folder: Path) -> None:
    """Write looks at the VLM's first answers and at its verdicts on them."""
    with (
        tempfile.TemporaryDirectory() as aside,
        Store.create(Path(aside, "store.duckdb")) as store,
    ):
        put_demo_examples(store, folder)
        import_run(store, folder / "runs" / MIRAGE_SELF)
        attach_images(store, folder / files.ENDOSCOPY)
        sides = sides_of(store, find_verification(store, MIRAGE_SUITE, BOX.name, BOX.name))
        looking = LookingVlm(Judging(BOX.name))
        parts = {
            side: Part(saliency_plan(store, run_id, BOX), looking)
            for side, run_id in ((GENERATOR, sides.generator_run), (VERIFIER, sides.run_id))
            if run_id
        }
    run_saliency(parts, folder / "runs" / MIRAGE_SALIENCY)
