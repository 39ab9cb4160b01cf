"""The held-out questions as records, and what the shipped runs answered to them."""

__all__ = ["Answered", "Question", "Verification", "answers_of", "samples", "surgical_pairs", "verifications"]

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from backend.demo.files import MANIFEST, SCENE_GRAPHS, VERIFICATION
from backend.domain.records import Unit
from backend.errors import AppError
from backend.services.demo.shipped import DEMO, DEMO_SUITE, RUNS
from backend.services.runs.folder import read_record, read_shards
from backend.surgcheck.question_pairs import Pair
from backend.surgcheck.question_sets import full_set
from backend.surgcheck.scene_graphs import read_scene_graphs


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the test split's EndoCA suite."""

    probe_id: str
    """As the store has it."""
    image: str
    """Path of its frame, inside the demo's folder."""
    question: str
    question_class: str
    """Empty for a complex question."""
    reference: str


@dataclass(frozen=True, slots=True)
class Verification:
    """An answer to be verified."""

    id: str
    image: str
    """Path of its frame, inside the demo's folder."""
    question_class: str
    question: str
    reference: str
    answer: str
    correct: bool
    """Whether the answer is the reference."""


class Answered(NamedTuple):
    """What a shipped run says about one probe."""

    answer: str
    error: str
    probabilities: Mapping[str, float]
    """Of the watched words; empty where there are none."""


def samples(folder: Path = DEMO) -> list[tuple[Question, ...]]:
    """Return the EndoCA samples in the order of the manifest: a complex question, then its atomic ones."""
    found: dict[int, list[Question]] = {}
    with gzip.open(folder / MANIFEST, "rt", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            question = Question(
                Unit.make_id(DEMO_SUITE, line["probe_id"]),
                line["image"],
                line["question"],
                line.get("gold_question_class", ""),
                line["gold_answer"],
            )
            found.setdefault(line["sample_id"], []).append(question)
    return [tuple(questions) for questions in found.values()]


def verifications(folder: Path = DEMO) -> list[Verification]:
    """Return the answers to be verified, in the order of the file."""
    with gzip.open(folder / VERIFICATION, "rt", encoding="utf-8") as lines:
        return [Verification(**json.loads(line)) for line in lines]


def surgical_pairs(folder: Path = DEMO) -> dict[str, tuple[Pair, str]]:
    """Return the held-out surgical questions by probe id, each with its text: every pair gives two."""
    with gzip.open(folder / SCENE_GRAPHS, "rt", encoding="utf-8") as file:
        scenes = read_scene_graphs(json.load(file))
    return {
        f"{number:05}::{variant}": (pair, getattr(pair, variant))
        for number, pair in enumerate(full_set(scenes).pairs, 1)
        for variant in ("original", "less_biased")
    }


def answers_of(run: str, folder: Path = RUNS) -> dict[str, Answered]:
    """Return the answers of a shipped run by probe id.

    Raises:
        AppError: The run is absent, damaged or not finished.
    """
    place = folder / run
    record = read_record(place)
    if record is None:
        raise AppError(f"The demo's run folder {run} is absent.", "Restore data/demo from the project.")
    shards = read_shards(place, record)
    if shards.lost or record.counts.missing:
        raise AppError(f"The demo's run folder {run} is not whole.", "Restore data/demo from the project.")
    names = ("probe_id", "answer", "error", "probabilities")
    columns = (shards.answers.column(name).to_pylist() for name in names)
    return {
        probe_id: Answered(answer, error, json.loads(said) if said else {})
        for probe_id, answer, error, said in zip(*columns, strict=True)
    }
