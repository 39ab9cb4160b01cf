"""Small EndoCA files for tests, made here: three samples of complexity 1, 2 and 3 on two images."""

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

TEXT = ("text_presence", "Is there text?")
BOX = ("box_artifact_presence", "Is there a green/black box artefact?")
POLYPS = ("polyp_count", "How many polyps are in the image?")
TOOLS = ("instrument_presence", "Are there any instruments in the image? Check all that are present.")

SAMPLES = (
    ("11", "frame-a", "Is any lettering visible?", "No text can be seen.", ((*TEXT, "no"),)),
    (
        "22", "frame-a", "How many polyps are there, and is there a box artifact?",
        "Two polyps and a green box artifact.", ((*POLYPS, "2"), (*BOX, "yes")),
    ),
    (
        "33", "frame-b", "Which instruments are present, is there text, and how many polyps are seen?",
        "A tube is present, there is text, and no polyp is seen.",
        ((*TOOLS, "tube"), (*TEXT, "yes"), (*POLYPS, "0")),
    ),
)  # fmt: skip
"""sample, image, complex question, its reference, and (class, question, reference) of each part: 9 probes."""

N_COMPLEX, N_ATOMIC = 3, 6

Line = dict[str, Any]


def manifest_lines() -> list[Line]:
    """Return the manifest, a complex line before its atomic ones."""
    lines: list[Line] = []
    for sample, image, question, reference, atoms in SAMPLES:
        common = {
            "sample_id": int(sample),
            "image": f"images/{image}.jpg",
            "split": "test",
            "dataset": "Drawn",
            "img_id": image,
            "complexity": len(atoms),
            "question_class": [name for name, _, _ in atoms],
        }
        gold = [{"question_class": name, "raw_answer": answer, "parsed": answer} for name, _, answer in atoms]
        lines.append(
            {
                **common,
                "probe_id": f"{sample}::complex",
                "probe_kind": "complex_direct",
                "question": question,
                "gold_answer": reference,
                "gold_atoms": gold,
            }
        )
        lines.extend(
            {
                **common,
                "probe_id": f"{sample}::atomic::{index}",
                "probe_kind": "atomic_direct",
                "atomic_index": index,
                "question": asked,
                "gold_answer": answer,
                "gold_question_class": name,
                "gold_parsed": answer,
            }
            for index, (name, asked, answer) in enumerate(atoms)
        )
    return lines


def prediction_lines(vlm: str, answer: Callable[[Line], str] = lambda line: str(line["gold_answer"])) -> list[Line]:
    """Return one VLM's predictions; by default it answers with the references."""
    return [{**line, "model_id": vlm, "prediction": answer(line), "error": ""} for line in manifest_lines()]


def write_jsonl(path: Path, lines: Iterable[Line | str | bytes]) -> Path:
    """Write JSON lines, gzipped where the name ends in .gz; strings and bytes go in as they are."""
    parts = [
        line if isinstance(line, bytes) else (line if isinstance(line, str) else json.dumps(line)).encode()
        for line in lines
    ]
    content = b"".join(part + b"\n" for part in parts)
    path.write_bytes(gzip.compress(content) if path.name.endswith(".gz") else content)
    return path
