"""A built-in data set in small: the first units of the shipped one, answered by rote instead of by the VLM.

Complex answers are the references. So are atomic ones, but for those about polyps' removal and
box artefacts, which are turned around: these units are right together and wrong on a part.
"""

import gzip
import json
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from backend.demo import files
from backend.domain.vlm import Decoding, Reply
from backend.services.demo import built_in, shipped
from backend.services.demo.shipped import (
    BLIND_DIRECT,
    BLIND_SURGICAL,
    DEMO,
    DIRECT,
    REVISION,
    RUNS,
    SURGICAL,
    VERIFICATION,
)
from backend.services.runs.manifest import read_manifest_plan
from backend.services.runs.plan import VlmIdentity
from backend.services.runs.runner import run_plan
from backend.vlm.blind import BLIND_VLM
from backend.vlm.replay import Replay, StoredAnswer

needs_answers = pytest.mark.skipif(
    not all(
        (RUNS / run / "run.json").is_file()
        for run in (DIRECT, REVISION, VERIFICATION, BLIND_DIRECT, SURGICAL, BLIND_SURGICAL)
    ),
    reason="the shipped answers (data/demo/runs) are absent",
)
"""Marks a test of the data set as it ships."""

FRAMES = ("synthetic-0001", "synthetic-0002")
N_UNITS, N_ATOMIC, N_APART = 12, 24, 6
"""Of these frames; the last are right together and wrong on a part."""

BOX = VlmIdentity("Box VLM", "demo", {"weights": "none, answers by rote"})
BLIND = VlmIdentity(BLIND_VLM, "blind", {})

TURNED = {"box_artifact_presence", "polyp_removal_status"}

Line = dict[str, Any]


def make_demo(folder: Path) -> Path:
    """Write manifest, frames and the two direct runs into a folder, as the built-in data set has them."""
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
    return folder


def ship(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder the built-in data set, for as long as the test runs; it holds no weights."""
    monkeypatch.setattr(built_in, "DEMO", folder)
    monkeypatch.setattr(built_in, "RUNS", folder / "runs")
    monkeypatch.setattr(built_in, "FRAMES", folder / files.ENDOSCOPY)
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
