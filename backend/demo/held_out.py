"""The test split as files: frames, questions about them, and their references.

The frames are drawn once and kept, since another build of the drawing library may set a pixel
otherwise; everything measured on the VLM in the box is measured on these files. Their
questions are an EndoCA manifest and a COCO file of scene graphs, as researchers exchange them.
"""

__all__ = ["FRAMES", "PER_COMPLEXITY", "draw_test_split", "manifest_lines", "verification_lines"]

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from backend.demo.endoscopy import draw_endoscopy
from backend.demo.endoscopy_questions import DEMO_CLASSES, Facts, complex_answer, complex_questions, facts_of
from backend.demo.files import ENDOSCOPY, LAPAROSCOPY, MANIFEST, SCENE_GRAPHS, VERIFICATION
from backend.demo.laparoscopy import draw_laparoscopy
from backend.demo.laparoscopy.coco import as_coco
from backend.demo.scenes import Split, seed_of
from backend.domain.progress import Report
from backend.endoca.vocabulary import BY_NAME, canonical_reference
from backend.errors import AppError

FRAMES = {ENDOSCOPY: 480, LAPAROSCOPY: 120}
"""Frames of the test split."""

PER_COMPLEXITY = (2, 2, 2)
"""Complex questions of complexity 1, 2 and 3 about each endoscopy-like frame."""

VERIFIED = 5
"""Atomic questions about each endoscopy-like frame whose answer, right or wrong, is to be verified."""

_QUALITY = 90
"""Of the WebP files."""


def draw_test_split(folder: Path, report: Report) -> None:
    """Draw the test split into the demo's folder.

    Args:
        folder: The demo's folder.
        report: Told of frames drawn.

    Raises:
        AppError: Frames lie there already: answers to them would no longer fit.
    """
    for kind in (ENDOSCOPY, LAPAROSCOPY):
        if any((folder / kind).glob("*")):
            raise AppError(f"{folder / kind} holds frames already.", "Remove them, and all answers to them, first.")
        (folder / kind).mkdir(parents=True, exist_ok=True)
    facts = {}
    for number in range(FRAMES[ENDOSCOPY]):
        report("drawing endoscopy-like frames", number, FRAMES[ENDOSCOPY])
        frame = draw_endoscopy(Split.TEST, number)
        name = f"synthetic-{number + 1:04}"
        _save(frame.pixels, folder / ENDOSCOPY / f"{name}.webp")
        facts[name] = facts_of(frame)
    manifest = (line for number, name in enumerate(facts) for line in manifest_lines(name, number, facts[name]))
    _write_lines(folder / MANIFEST, manifest)
    _write_lines(folder / VERIFICATION, verification_lines(facts))
    surgical = []
    for number in range(FRAMES[LAPAROSCOPY]):
        report("drawing laparoscopy-like frames", number, FRAMES[LAPAROSCOPY])
        drawn = draw_laparoscopy(Split.TEST, number)
        name = f"{number + 1}_1.webp"
        _save(drawn.frame.pixels, folder / LAPAROSCOPY / name)
        surgical.append((name, drawn))
    _write_lines(folder / SCENE_GRAPHS, [as_coco(surgical)])


def manifest_lines(name: str, number: int, facts: Facts) -> Iterator[dict[str, Any]]:
    """Yield the EndoCA manifest lines of one frame: each complex question before its atomic ones.

    Args:
        name: The frame's, without ending.
        number: The frame's, from 0; the samples' ids follow from it.
        facts: Its references.
    """
    rng = np.random.default_rng(seed_of("questions", Split.TEST, number))
    for place, asked in enumerate(complex_questions(facts, rng, PER_COMPLEXITY)):
        sample = number * 10 + place + 1
        classes = asked.question_classes
        common = {
            "sample_id": sample,
            "image": f"{ENDOSCOPY}/{name}.webp",
            "source_image": f"{ENDOSCOPY}/{name}.webp",
            "split": str(Split.TEST),
            "dataset": "Synthetic endoscopy",
            "img_id": name,
            "complexity": len(classes),
            "trace_consistency_label": "trace_consistent",
            "question_class": list(classes),
        }
        yield common | {
            "probe_id": f"{sample}::complex",
            "probe_kind": "complex_direct",
            "question": asked.question,
            "gold_answer": complex_answer(facts, classes),
            "gold_atoms": [
                {"question_class": of, "raw_answer": facts[of], "parsed": canonical_reference(of, facts[of])}
                for of in classes
            ],
        }
        for index, of in enumerate(classes):
            yield common | {
                "probe_id": f"{sample}::atomic::{index}",
                "probe_kind": "atomic_direct",
                "atomic_index": index,
                "question": BY_NAME[of].question,
                "gold_answer": facts[of],
                "gold_question_class": of,
                "gold_parsed": canonical_reference(of, facts[of]),
            }


def verification_lines(facts: Mapping[str, Facts]) -> Iterator[dict[str, Any]]:
    """Yield answers to atomic questions, half of them wrong, for a verifier to judge.

    A wrong answer is another frame's reference of the same question class.

    Args:
        facts: Of all frames, by name; of each question class at least two frames differ.
    """
    others = list(facts.values())
    for number, (name, own) in enumerate(facts.items()):
        rng = np.random.default_rng(seed_of("verification", Split.TEST, number))
        for of in rng.permutation(DEMO_CLASSES)[:VERIFIED]:
            is_right = bool(rng.random() < 0.5)
            wrong = [other[of] for other in others if other[of] != own[of]]
            yield {
                "id": f"{name}::{of}",
                "image": f"{ENDOSCOPY}/{name}.webp",
                "question_class": str(of),
                "question": BY_NAME[of].question,
                "reference": own[of],
                "answer": own[of] if is_right else wrong[rng.integers(len(wrong))],
                "correct": is_right,
            }


def _write_lines(path: Path, lines: Iterable[Any]) -> None:
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        for line in lines:
            file.write((json.dumps(line) + "\n").encode())


def _save(pixels: NDArray[np.uint8], path: Path) -> None:
    Image.fromarray(pixels).save(path, "WEBP", quality=_QUALITY, method=6)
