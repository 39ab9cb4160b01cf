"""A small store of pairs, written row by row, with runs put in as every import puts them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from backend.domain.records import Origin, RunKey, Stage, System
from backend.services.ingest.answers import Answer, put_answers
from backend.store.arrow import arrow_table
from backend.store.store import Store, insert
from backend.surgcheck.tasks import Task


class APair(NamedTuple):
    """One pair as a test writes it."""

    name: str
    frame: str
    task: str
    cue: str
    original: str
    less_biased: str
    reference: str


SUITE = "small"

HOOK = "Which tool, operated by the operator’s right hand, is in the red box?"
TOOL = "Which tool is in the red box?"

PAIRS = (
    APair("1", "a", "Instrument", "box", HOOK, TOOL, "hook"),
    APair("2", "a", "Action", "position", "What action is the hook located at the left of the image performing?",
          "What action is the tool located at the left of the image performing?", "dissect"),
    APair("3", "b", "Action", "box", "What action is grasper in the red box performing?",
          "What action is the tool in the red box performing?", "retract"),
    APair("4", "b", "Instrument_Count", "none", "How many tools are visible in this scene?",
          "How many tools are visible in this scene?", "two"),
    APair("5", "c", "Triplet", "box", "Which tool in the red box is being used by the assistant’s hand, what action "
          "is it performing, and which anatomical structure is it interacting with?",
          "Which tool is in the red box, what action is it performing, and which anatomical structure is it "
          "interacting with?", "grasper, retract, gallbladder"),
)  # fmt: skip
"""Five pairs about three frames: levels observation (4) and composition (1), cues box (3), position and none."""


def put_pairs(store: Store, pairs: Sequence[APair] = PAIRS, suite: str = SUITE, dataset: str = "drawn") -> None:
    """Write a suite."""
    frames = sorted({pair.frame for pair in pairs})
    ids = [f"{suite}:{pair.name}" for pair in pairs]
    with store.write() as cursor:
        cursor.execute("INSERT INTO suites (suite, system, source) VALUES (?, 'surgcheck', 'a test')", [suite])
        known = {row[0] for row in cursor.execute("SELECT image_id FROM images").fetchall()}
        new = [frame for frame in frames if f"{dataset}:{frame}" not in known]
        images = {"image_id": [f"{dataset}:{f}" for f in new], "dataset": [dataset] * len(new), "file": new}
        insert(cursor, "images", arrow_table(images))
        for unit_id, pair in zip(ids, pairs, strict=True):
            image = f"{dataset}:{pair.frame}"
            cursor.execute(
                "INSERT INTO units VALUES (?, ?, ?, ?, 'test', 0, ?)", [unit_id, suite, pair.name, image, [pair.task]]
            )
            cursor.execute(
                "INSERT INTO pairs (unit_id, suite, task, level, cue, picture_id) VALUES (?, ?, ?, ?, ?, ?)",
                [unit_id, suite, pair.task, Task(pair.task).level, pair.cue, image],
            )
            for role, question in (("original", pair.original), ("less_biased", pair.less_biased)):
                cursor.execute(
                    "INSERT INTO probes VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?)",
                    [
                        f"{unit_id}:{role}",
                        unit_id,
                        suite,
                        f"{pair.name}:{role}",
                        role,
                        question,
                        pair.reference,
                        pair.task,
                    ],
                )


def put_answered(
    store: Store,
    vlm: str,
    said: Mapping[str, str],
    *,
    suite: str = SUITE,
    setting: str = "fine-tuned",
    stage: str = Stage.DIRECT,
    group: str | None = "general_open",
    origin: Origin = Origin.IMPORTED,
) -> str:
    """Write a run, given its answers by ``name:role``, and return its id."""
    key = RunKey(System.SURGCHECK, suite, vlm, stage, origin, setting)
    answers = [Answer(f"{suite}:{probe}", text, "") for probe, text in said.items()]
    with store.write() as cursor:
        put_answers(cursor, key, answers, "a test", group)
    return key.run_id


def put_judgements(
    store: Store, run_id: str, scores: Mapping[str, int | None], judge: str = "judge", suite: str = SUITE
) -> None:
    """Write a judge's scores, given by ``name:role``; None is unscored."""
    with store.write() as cursor:
        for probe, score in scores.items():
            error = "" if score else "no score can be read"
            cursor.execute(
                "INSERT INTO judgements VALUES (?, ?, ?, ?, 'because', ?)",
                [run_id, f"{suite}:{probe}", judge, score, error],
            )


def references(pairs: Sequence[APair] = PAIRS) -> dict[str, str]:
    """Return the right answer to every question, by ``name:role``."""
    return {f"{pair.name}:{role}": pair.reference for pair in pairs for role in ("original", "less_biased")}
