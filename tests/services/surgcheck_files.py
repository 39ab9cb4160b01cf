"""Hand-made files of SurgCheck: two frames, one question of each kind, in the release's layout and in others.

All words are of the public templates; no row is taken from a data set.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from backend.services.ingest.report import ImportReport
from backend.services.ingest.surgcheck import Wanted, import_surgcheck
from backend.services.ingest.surgcheck_places import opened_places
from backend.store.store import Store

Row = dict[str, Any]

PREFIX = "You are an assistant with surgical expertise. Given a surgical scene, answer the question in 1-5 words. "

ASKED = (
    ("1_25.jpg", "Instrument_Count", "No_Cue", "How many tools are visible in this scene?", "", "one"),
    (
        "1_25_bbox_rt.jpg", "Action", "Box_Cue",
        "What action is hook in the red box performing?", "What action is the tool in the red box performing?",
        "dissect",
    ),
    (
        "1_25.jpg", "Instrument", "Word_Cue",
        "Which tool is used by the operator’s right hand, performing dissect on gallbladder?",
        "Which tool is used by the operator’s right hand?",
        "hook",
    ),
    (
        "2_50_arrow_lt.jpg", "Target", "Arrow_Cue",
        "Which anatomical structure is the grasper indicated by the red arrow interacting with?",
        "Which anatomical structure is the tool indicated by the red arrow interacting with?",
        "gallbladder",
    ),
    (
        "2_50.jpg", "anatomy", "Position_Cue",
        "Which anatomical structure is located at the top of the image?", "", "gallbladder",
    ),
)  # fmt: skip
"""Picture, task, cue, original and less-biased text (empty: the same), reference."""

N_PAIRS = len(ASKED)


def frame_of(picture: str) -> str:
    return "_".join(picture.removesuffix(".jpg").split("_")[:2]) + ".jpg"


def release_rows(variant: str, prefix: str = PREFIX) -> list[Row]:
    """Return the pairs as the release has them."""
    return [
        {
            "image": picture,
            "conversations": [
                {"from": "human", "value": f"<image>\n{prefix}{text(variant, original, less_biased)}"},
                {"from": "gpt", "value": reference},
            ],
            "ori_img_tag": frame_of(picture),
            "main_tag": "Visual_QA",
            "sub_sub_tag": task,
            "sub_tag": cue,
        }
        for picture, task, cue, original, less_biased, reference in ASKED
    ]


def text(variant: str, original: str, less_biased: str) -> str:
    return less_biased if variant == "less_biased" and less_biased else original


def prediction_rows(
    variant: str, said: Sequence[str | None] | None = None, more: dict[str, Any] | None = None
) -> list[Row]:
    """Return answers in the layout in which the authors publish theirs; by default the references."""
    answers = said if said is not None else [reference for *_, reference in ASKED]
    return [
        {
            "image": picture,
            "question": text(variant, original, less_biased),
            "pred": answer,
            "gt": reference,
            "ori_img_tag": frame_of(picture),
            "main_tag": "Visual_QA",
            "sub_tag": cue,
            "sub_sub_tag": task,
            **(more or {}),
        }
        for (picture, task, cue, original, less_biased, reference), answer in zip(ASKED, answers, strict=True)
    ]


def write_both(folder: Path, rows: Callable[[str], Iterable[Row]], name: str = "pred") -> Path:
    """Write a file for each variant, from what a function makes of its name; return the folder."""
    for variant, ending in (("original", ""), ("less_biased", "_less_bias")):
        write(folder / f"{name}{ending}.jsonl", rows(variant))
    return folder


def write(path: Path, rows: Iterable[Row]) -> Path:
    """Write JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_release(folder: Path, name: str = "full/test") -> list[Path]:
    """Write the two files of the pairs."""
    return [write(folder / f"{name}_{variant}.jsonl", release_rows(variant)) for variant in ("original", "less_biased")]


def write_answers(folder: Path, said: dict[str, list[str | None]] | None = None, name: str = "pred") -> list[Path]:
    """Write the two files of one VLM's answers."""
    told = said or {}
    return [
        write(folder / f"{name}{ending}.jsonl", prediction_rows(variant, told.get(variant)))
        for variant, ending in (("original", ""), ("less_biased", "_less_bias"))
    ]


def bring(store: Store, *paths: Path, **wanted: Any) -> ImportReport:
    """Import what lies at these paths."""
    with opened_places(paths) as placed:
        return import_surgcheck(store, placed, Wanted(**wanted))


def accuracy(store: Store, role: str) -> dict[str, float]:
    """Return the share of right answers by VLM."""
    rows = store.rows(
        "SELECT r.vlm, avg(s.correct::INT) FROM scores s JOIN runs r USING (run_id) WHERE s.role = ? GROUP BY ALL",
        [role],
    )
    return dict(rows)
