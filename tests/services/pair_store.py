"""A small store of SurgCheck pairs for tests: two drawn frames, their scene graphs, and runs with known faults.

Frame 7_100 shows a grasper in the left hand that retracts the gallbladder, a hook in the right hand that dissects
the cystic duct, and both structures. "Steady VLM" is right throughout. "Hinted <b>VLM</b>" is right with the hint
and wrong without it on every question about an action. "Silent VLM" answers no less-biased question about an
action, and its call for one original failed. "Steady VLM" was asked without the image, too.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from PIL import Image as Picture
from PIL import ImageDraw

from backend.domain.images import check_image
from backend.domain.records import AnswerStatus, Image, Origin, Role, RunKey, Stage, System, Unit
from backend.store.store import Store
from backend.surgcheck.boxes import Box
from backend.surgcheck.question_pairs import Pair, all_pairs
from backend.surgcheck.scene_graphs import Anatomy, Cvs, Hand, SceneGraph, Tool, Triplet
from backend.surgcheck.scoring import SCORER, SCORER_VERSION, exact_match
from backend.surgcheck.stored_scenes import dump_box, dump_drawing, dump_scene
from backend.surgcheck.tasks import Cue, Task

SUITE = "pairs"
STEADY, HINTED, SILENT = "Steady VLM", "Hinted <b>VLM</b>", "Silent VLM"
REASON = "It names <i>another</i> action."
WIDTH, HEIGHT = 854, 480

SCENE = SceneGraph(
    "7_100.png",
    WIDTH,
    HEIGHT,
    "7",
    (
        Tool(1, "grasper", Box(60, 250, 220, 140), Hand.LEFT, Triplet("grasper", "retract", "gallbladder")),
        Tool(2, "hook", Box(520, 60, 160, 120), Hand.RIGHT, Triplet("hook", "dissect", "cystic_duct")),
    ),
    (
        Anatomy(3, "gallbladder", Box(150, 180, 260, 180)),
        Anatomy(4, "cystic_duct", Box(560, 200, 120, 60)),
    ),
    Cvs(True, False, False),
)
OTHER = SceneGraph("7_200.png", WIDTH, HEIGHT, "7", (), (Anatomy(9, "gallbladder", Box(300, 100, 200, 200)),), None)
"""A frame without tools, whose file is not at hand."""


def draw_frame(path: Path, scene: SceneGraph = SCENE) -> None:
    """Draw a frame: each annotated thing as a flat shape of its own."""
    frame = Picture.new("RGB", (scene.width, scene.height), "#4a1b16")
    draw = ImageDraw.Draw(frame)
    for at, anatomy in enumerate(scene.anatomies):
        draw.ellipse(_corners(anatomy.box), fill=("#8a5a3c", "#c9a24f")[at % 2])
    for tool in scene.tools:
        draw.rounded_rectangle(_corners(tool.box), 30, fill="#9aa3ad")
    frame.save(path)


def _corners(box: Box) -> tuple[float, float, float, float]:
    return box.x, box.y, box.right, box.bottom


PAIRS: Mapping[str, Pair] = {
    Unit.make_id(SUITE, f"{at:03}"): pair
    for at, pair in enumerate((*all_pairs(SCENE).pairs, *all_pairs(OTHER).pairs), 1)
}


def unit_of(task: Task, cue: Cue, annotation_id: int | None = None) -> str:
    """Return the first pair of a task and cue, about a thing where it is named."""
    return next(
        unit
        for unit, pair in PAIRS.items()
        if pair.task is task and pair.cue is cue and annotation_id in (None, pair.annotation_id)
    )


ARROW_ACTION = unit_of(Task.ACTION, Cue.ARROW, 1)
"""What action is the grasper indicated by the red arrow performing?"""


def make_pair_store(path: Path) -> Store:
    """Write the store, with the first frame's file beside it, and return it open."""
    store = Store.create(path)
    folder = path.parent / "frames"
    folder.mkdir(exist_ok=True)
    draw_frame(folder / "7_100.png")
    facts = check_image(folder / "7_100.png")
    with store.write() as cursor:
        cursor.execute("INSERT INTO suites (suite, system, source) VALUES (?, ?, 'by hand')", [SUITE, System.SURGCHECK])
        cursor.execute("INSERT INTO image_roots VALUES (?)", [str(folder.resolve())])
        for scene in (SCENE, OTHER):
            cursor.execute(
                "INSERT INTO frames VALUES (?, ?, ?)", [_image_id(scene.file_name), SUITE, dump_scene(scene)]
            )
        pictures = {pair.frame for pair in PAIRS.values()} | {pair.image for pair in PAIRS.values()}
        for name in sorted(pictures):
            here = name == "7_100.png"
            file = (
                [str(folder.resolve()), name, facts.sha256, facts.width, facts.height, facts.format, facts.bytes]
                if here
                else [None] * 7
            )
            cursor.execute(
                "INSERT INTO images VALUES (?, 'drawn', ?, ?, ?, ?, ?, ?, ?, ?)", [_image_id(name), name, *file]
            )
        for unit, pair in PAIRS.items():
            _put_pair(cursor, unit, pair)
        for vlm in (STEADY, HINTED, SILENT):
            _put_run(cursor, vlm, Stage.DIRECT)
        _put_run(cursor, STEADY, Stage.TEXT_ONLY)
    return store


def run_id(vlm: str, stage: Stage = Stage.DIRECT) -> str:
    return _key(vlm, stage).run_id


def _key(vlm: str, stage: Stage) -> RunKey:
    return RunKey(System.SURGCHECK, SUITE, vlm, stage, Origin.IMPORTED, "fine-tuned")


def _image_id(name: str) -> str:
    return Image.make_id("drawn", name)


def _put_pair(cursor, unit: str, pair: Pair) -> None:  # type: ignore[no-untyped-def]
    source = unit.partition(":")[2]
    cursor.execute(
        "INSERT INTO units VALUES (?, ?, ?, ?, 'test', 0, ?)", [unit, SUITE, source, _image_id(pair.frame), [pair.task]]
    )
    for role, text in ((Role.ORIGINAL, pair.original), (Role.LESS_BIASED, pair.less_biased)):
        cursor.execute(
            "INSERT INTO probes VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?)",
            [f"{unit}::{role}", unit, SUITE, f"{source}::{role}", role, text, pair.reference, pair.task],
        )
    cursor.execute(
        "INSERT INTO pairs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            unit, SUITE, pair.task, pair.level, pair.cue, _image_id(pair.image), pair.slot, pair.annotation_id,
            dump_box(pair.target_box) if pair.target_box else None,
            dump_drawing(pair.drawing) if pair.drawing else None,
        ],
    )  # fmt: skip


def _put_run(cursor, vlm: str, stage: Stage) -> None:  # type: ignore[no-untyped-def]
    key = _key(vlm, stage)
    cursor.execute(
        "INSERT INTO runs (run_id, system, suite, vlm, vlm_group, setting, stage, prompt_version, decoding, origin, "
        "source, scorer, scorer_version) VALUES (?, ?, ?, ?, 'general_open', ?, ?, ?, ?, ?, 'by hand', ?, ?)",
        [
            key.run_id, key.system, SUITE, vlm, key.setting, stage, key.prompt_version, key.decoding, key.origin,
            SCORER, SCORER_VERSION,
        ],
    )  # fmt: skip
    for unit, pair in PAIRS.items():
        for role in (Role.ORIGINAL, Role.LESS_BIASED)[: 1 if stage is Stage.TEXT_ONLY else 2]:
            text, error, status = _said(vlm, unit, pair, role)
            if status is not AnswerStatus.MISSING:
                cursor.execute("INSERT INTO answers VALUES (?, ?, ?, ?)", [key.run_id, f"{unit}::{role}", text, error])
            correct = exact_match(text, pair.reference)
            part = {
                "expected": pair.reference, "parsed": text, "correct": correct, "rule": "exact match",
                "reason": "it is the reference" if correct else "it is another text",
            }  # fmt: skip
            cursor.execute(
                "INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    key.run_id, f"{unit}::{role}", unit, _image_id(pair.frame), role, pair.task, SCORER,
                    SCORER_VERSION, status, correct, json.dumps([part] if status is AnswerStatus.READ else []),
                ],
            )  # fmt: skip
    if vlm == HINTED:
        cursor.execute(
            "INSERT INTO judgements VALUES (?, ?, 'Judge', 1, ?, '')",
            [key.run_id, f"{ARROW_ACTION}::{Role.LESS_BIASED}", REASON],
        )
        cursor.execute(
            "INSERT INTO judgements VALUES (?, ?, 'Judge', NULL, '', 'the reply was no JSON')",
            [key.run_id, f"{ARROW_ACTION}::{Role.ORIGINAL}"],
        )


def _said(vlm: str, unit: str, pair: Pair, role: Role) -> tuple[str, str, AnswerStatus]:
    if vlm == SILENT and role is Role.LESS_BIASED and pair.task is Task.ACTION:
        return "", "", AnswerStatus.MISSING
    if vlm == SILENT and unit == ARROW_ACTION:
        return "", "timeout after 60 s", AnswerStatus.FAILED
    if vlm == HINTED and role is Role.LESS_BIASED and pair.task is Task.ACTION:
        return "clip", "", AnswerStatus.READ
    return pair.reference, "", AnswerStatus.READ
