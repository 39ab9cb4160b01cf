"""What the benchmarks work on: a manifest of EndoCA-Core's size, and predictions of several VLMs.

The manifest is drawn here from a few wordings, or is a real one named with ``--manifest``
(which makes the texts as varied as they really are). Predictions are seeded: a VLM answers
with the reference, or with the reference of another sample of the same question class.
"""

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

N_UNITS, N_IMAGES, SHARE_OF_PAIRS = 12_000, 4_629, 3_736 / 12_000
"""As in EndoCA-Core."""


class Wording(NamedTuple):
    """How one question class is asked and answered."""

    question: str
    told: dict[str, tuple[str, ...]]
    """Value of the reference → ways to say it."""
    asked: tuple[str, ...]


WORDINGS = {
    "text_presence": Wording(
        "Is there text?",
        {"yes": ("text is visible", "Visible text present"), "no": ("no text is visible", "No visible text")},
        ("is any text visible", "can text be seen"),
    ),
    "box_artifact_presence": Wording(
        "Is there a green/black box artefact?",
        {"yes": ("a green box artifact is present",), "no": ("no box artifact is present", "No green or black box")},
        ("is a box artifact present", "are there green or black box artifacts"),
    ),
    "polyp_count": Wording(
        "How many polyps are in the image?",
        {
            "0": ("no polyp is seen", "No polyps identified"),
            "1": ("one polyp is seen", "A single polyp"),
            "2": ("two polyps are seen",),
        },
        ("how many polyps are seen", "how many polyps are present"),
    ),
    "instrument_presence": Wording(
        "Are there any instruments in the image? Check all that are present.",
        {
            "none": ("no instrument is present", "No instruments visible"),
            "tube": ("a tube is present",),
            "polyp snare": ("a polyp snare is present",),
        },
        ("which instruments are present", "what instruments are visible"),
    ),
}  # fmt: skip

Line = dict[str, Any]


def manifest(source: Path | None) -> list[Line]:
    """Return the lines of a real manifest, or of a drawn one where ``source`` is None."""
    if source is None:
        return list(_drawn(random.Random(0)))
    with gzip.open(source, "rt", encoding="utf-8") if source.suffix == ".gz" else source.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write(path: Path, lines: Iterator[Line] | list[Line]) -> Path:
    """Write JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return path


def predictions(lines: list[Line], vlm: str, seed: int) -> Iterator[Line]:
    """Yield a VLM's predictions; two thirds of them, more or less by VLM, are the references."""
    chance = random.Random(f"{vlm}{seed}")
    share = 0.5 + 0.3 * chance.random()
    pool: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for line in lines:
        pool[_kind(line)].append(line["gold_answer"])
    for line in lines:
        right = chance.random() < share
        answer = line["gold_answer"] if right else chance.choice(pool[_kind(line)])
        yield {**line, "model_id": vlm, "prediction": answer, "error": ""}


def _kind(line: Line) -> tuple[str, ...]:
    if line["probe_kind"] == "complex_direct":
        return ("complex", *line["question_class"])
    return ("atomic", line["gold_question_class"])


def _drawn(chance: random.Random) -> Iterator[Line]:
    for sample in range(N_UNITS):
        image = f"image{chance.randrange(N_IMAGES):04d}"
        classes = chance.sample(sorted(WORDINGS), 2 if chance.random() < SHARE_OF_PAIRS else 1)
        values = [chance.choice(sorted(WORDINGS[name].told)) for name in classes]
        asked = " and ".join(chance.choice(WORDINGS[name].asked) for name in classes)
        told = " and ".join(
            chance.choice(WORDINGS[name].told[value]) for name, value in zip(classes, values, strict=True)
        )
        common = {
            "sample_id": sample,
            "image": f"images/{image}.jpg",
            "split": "test",
            "dataset": "Drawn",
            "img_id": image,
            "complexity": len(classes),
            "question_class": classes,
        }
        gold = [{"question_class": n, "raw_answer": v, "parsed": v} for n, v in zip(classes, values, strict=True)]
        yield {
            **common,
            "probe_id": f"{sample}::complex",
            "probe_kind": "complex_direct",
            "question": f"{asked[0].upper()}{asked[1:]}?",
            "gold_answer": f"{told[0].upper()}{told[1:]}.",
            "gold_atoms": gold,
        }
        for index, (name, value) in enumerate(zip(classes, values, strict=True)):
            yield {
                **common,
                "probe_id": f"{sample}::atomic::{index}",
                "probe_kind": "atomic_direct",
                "atomic_index": index,
                "question": WORDINGS[name].question,
                "gold_answer": value,
                "gold_question_class": name,
                "gold_parsed": value,
            }
