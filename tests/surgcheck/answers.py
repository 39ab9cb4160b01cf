"""Answers to pairs as a frame, for tests of the metrics and of the figures' tables."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from backend.surgcheck.scoring import exact_match

FULL_TEST = {
    "LLaVA-OV-1.5": (
        "llava/llava-onevision-lora-inference-pred",
        "llava/llava-onevision-lora-inference-pred_less_bias",
    ),
    "Qwen2.5-VL": ("qwen/qwen-vl-lora-inference-pred", "qwen/qwen-vl-lora-inference-pred-less-bias"),
    "PaliGemma2": ("pali/paligemma-2-mix-lora-inference-pred", "pali/paligemma-2-mix-lora-inference-pred_less_bias"),
}
"""The fine-tuned VLMs' files over the full test, original and less-biased, by the name the golden numbers have."""


def an_answer(unit: str, variant: str, reference: str, answer: str | None, **about: Any) -> dict[str, Any]:
    """Return one row of `ANSWER_COLUMNS`; without an answer it is missing."""
    return {
        "unit_id": unit,
        "image_id": f"frame of {unit}",
        "variant": variant,
        "reference": reference,
        "answer": answer,
        "status": "missing" if answer is None else "read" if answer else "empty",
        "correct": answer is not None and exact_match(answer, reference),
        "judge_score": None,
        "judged": False,
        **about,
    }


def pairs(*rows: tuple[str, str, str, str | None, str | None], **about: Any) -> pd.DataFrame:
    """Return both answers of pairs given as (unit, frame, reference, original answer, less-biased answer)."""
    return pd.DataFrame(
        [
            an_answer(unit, variant, reference, answer, image_id=frame, **about)
            for unit, frame, reference, *answers in rows
            for variant, answer in zip(("original", "less_biased"), answers, strict=True)
        ]
    )


def judged(scores: Sequence[int | None], variant: str = "original", **about: Any) -> list[dict[str, Any]]:
    """Return answers that a judge was given, each about a frame of its own."""
    return [
        an_answer(f"u{place}", variant, "grasper", "hook", judge_score=score, judged=True, **about)
        for place, score in enumerate(scores)
    ]


def read_predictions(path: Path, variant: str) -> pd.DataFrame:
    """Return a prediction file of the SurgCheck authors as answers with task and cue, line by line a unit."""
    rows = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for place, line in enumerate(file):
            read = json.loads(line)
            said = read.get("pred_extracted") or read["pred"].rpartition("\nassistant\n")[2]
            about = {"image_id": read["ori_img_tag"], "task": read["sub_sub_tag"], "cue": read["sub_tag"]}
            if "judge" in read:
                about |= {"judge_score": read["judge"]["score"], "judged": True}
            rows.append(an_answer(f"line {place}", variant, read["gt"], said, **about))
    return pd.DataFrame(rows)
