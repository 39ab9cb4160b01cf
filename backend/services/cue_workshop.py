"""The cue workshop: one thing in a frame, the four ways to point at it, and the two texts of each question about it.

The thing is annotated in the frame's scene graph, or it is a box that somebody draws and says what it shows.
"""

__all__ = [
    "OWN",
    "CueChoice",
    "Question",
    "WorkshopFrame",
    "cue_choices",
    "empty_scene",
    "questions_about",
    "with_own",
    "workshop_frames",
]

from collections import Counter
from dataclasses import dataclass, replace
from typing import NamedTuple

from backend.services.demo.shipped import SURGICAL_SUITE
from backend.store.store import Store
from backend.surgcheck.exclusions import Reason
from backend.surgcheck.question_pairs import Pair, all_pairs
from backend.surgcheck.scene_graphs import Anatomy, SceneGraph, Tool
from backend.surgcheck.tasks import CUES_OF, Cue, Task

OWN = -1
"""Annotation id of a box of somebody's own."""


class WorkshopFrame(NamedTuple):
    """A frame to begin with."""

    image_id: str
    file: str
    suite: str


class Question(NamedTuple):
    """What is asked of a thing, whatever points at it."""

    task: Task
    number: int
    """Place among the task's questions about the thing, from 0; above 0 for a second hop."""


@dataclass(frozen=True, slots=True)
class CueChoice:
    """One cue, and the pair that asks with it."""

    cue: Cue
    pair: Pair | None
    """None where the cue does not apply."""
    reasons: tuple[Reason, ...]
    """Why it does not; empty where it does."""


def workshop_frames(store: Store, n: int) -> list[WorkshopFrame]:
    """Return frames whose scene graph and file are at hand, those of the built-in data set first; at most ``n``."""
    rows = store.rows(
        """
        SELECT i.image_id, i.file, min(f.suite) FROM frames f JOIN images i USING (image_id)
        WHERE i.path IS NOT NULL AND json_array_length(f.scene, '$.tools') > 0
        GROUP BY i.image_id, i.file ORDER BY min(f.suite) <> ?, max(json_array_length(f.scene, '$.tools')) DESC, 1
        LIMIT ?
        """,
        [SURGICAL_SUITE, n],
    )
    return [WorkshopFrame(*row) for row in rows]


def empty_scene(file: str, width: int, height: int) -> SceneGraph:
    """Return the scene graph of a frame in which nothing is annotated."""
    return SceneGraph(file, width, height, "", (), (), None)


def with_own(scene: SceneGraph, thing: Tool | Anatomy) -> SceneGraph:
    """Return a scene graph with one more thing in it, of id `OWN`."""
    own = replace(thing, annotation_id=OWN)
    if isinstance(own, Tool):
        return replace(scene, tools=(*scene.tools, own))
    return replace(scene, anatomies=(*scene.anatomies, own))


def questions_about(scene: SceneGraph, annotation_id: int) -> list[Question]:
    """Return what can be asked of a thing with at least one cue, in the order of the tasks."""
    found: Counter[tuple[Task, Cue]] = Counter()
    for pair in all_pairs(scene).pairs:
        if pair.annotation_id == annotation_id:
            found[pair.task, pair.cue] += 1
    most = {task: max((n for (of, _), n in found.items() if of is task), default=0) for task in Task}
    return [Question(task, number) for task, n in most.items() for number in range(n)]


def cue_choices(scene: SceneGraph, annotation_id: int, question: Question) -> list[CueChoice]:
    """Return each cue of a question's task with the pair that asks with it, or why there is none."""
    found = all_pairs(scene)
    choices = []
    for cue in CUES_OF[question.task]:
        pairs = [
            pair
            for pair in found.pairs
            if pair.annotation_id == annotation_id and pair.task is question.task and pair.cue is cue
        ]
        reasons = dict.fromkeys(
            excluded.reason
            for excluded in found.exclusions
            if excluded.annotation_id == annotation_id
            and excluded.task is question.task
            and excluded.cue in (cue, None)
        )
        pair = pairs[question.number] if question.number < len(pairs) else None
        choices.append(CueChoice(cue, pair, () if pair else tuple(reasons)))
    return choices
