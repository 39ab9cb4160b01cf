"""Boxes for pairs that came without: from scene graphs of the same frames that the store holds.

The release's rows say which hand's tool or which structure they point at, and not where it is. Where a
scene graph of the frame has exactly one such thing, the pair gets its box, and with a box or an arrow as
its cue what is drawn for it.
"""

__all__ = ["point_pairs"]

from collections.abc import Sequence
from typing import TYPE_CHECKING

from backend.store.arrow import arrow_array, arrow_table
from backend.surgcheck.exclusions import Reason
from backend.surgcheck.grounding_cues import Arrow, Outline, arrow_cue, box_cue, position_word
from backend.surgcheck.scene_graphs import Anatomy, Hand, SceneGraph, Tool
from backend.surgcheck.stored_scenes import dump_box, dump_drawing, load_scene
from backend.surgcheck.tasks import Cue, Task

if TYPE_CHECKING:
    import duckdb

_UNPOINTED = """
    SELECT p.unit_id, u.image_id, p.task, p.cue, p.hand, q.question, q.reference
    FROM pairs p JOIN units u USING (unit_id) JOIN probes q ON q.unit_id = p.unit_id AND q.role = 'original'
    WHERE p.box IS NULL AND p.cue <> 'none' AND u.image_id IN (SELECT image_id FROM frames)
    ORDER BY u.image_id
"""


def point_pairs(cursor: "duckdb.DuckDBPyConnection") -> int:
    """Give pairs the boxes that scene graphs know, inside the caller's transaction; return how many got one."""
    rows = cursor.execute(_UNPOINTED).fetchall()
    scenes: dict[str, SceneGraph] = {}
    if rows:
        held = cursor.execute("SELECT image_id, min_by(scene, suite) FROM frames GROUP BY image_id").fetchall()
        scenes = {image_id: load_scene(text) for image_id, text in held}
    found: list[tuple[str, Tool | Anatomy, Outline | Arrow | None]] = []
    for unit_id, image_id, task, cue, hand, question, reference in rows:
        thing = _pointed_at(scenes[image_id], Task(task), Cue(cue), hand, question, reference)
        if thing is not None:
            found.append((unit_id, thing, _drawing(scenes[image_id], thing, Cue(cue))))
    if found:
        _write(cursor, found)
    return len(found)


def _pointed_at(
    scene: SceneGraph, task: Task, cue: Cue, hand: str | None, question: str, reference: str
) -> Tool | Anatomy | None:
    """Return the one thing a pair can be about; None where there is none, or a choice."""
    things: Sequence[Tool | Anatomy]
    if task is Task.ANATOMY:
        things = [anatomy for anatomy in scene.anatomies if anatomy.category == reference]
    elif hand is not None:
        things = [tool for tool in scene.tools if tool.hand is Hand(hand)]
    else:
        things = scene.tools
    if cue is Cue.POSITION:
        things = [thing for thing in things if _is_there(scene, thing, question)]
    return things[0] if len(things) == 1 else None


def _is_there(scene: SceneGraph, thing: Tool | Anatomy, question: str) -> bool:
    return f"located at the {position_word(thing.box, scene.width, scene.height)} of the image" in question


def _drawing(scene: SceneGraph, thing: Tool | Anatomy, cue: Cue) -> Outline | Arrow | None:
    """Return what the release draws: its arrows take no notice of other boxes."""
    if cue not in (Cue.BOX, Cue.ARROW):
        return None
    draw = box_cue if cue is Cue.BOX else arrow_cue
    drawing: Outline | Arrow | Reason = draw(thing.box, scene.width, scene.height)
    return None if isinstance(drawing, Reason) else drawing


def _write(
    cursor: "duckdb.DuckDBPyConnection", found: Sequence[tuple[str, Tool | Anatomy, Outline | Arrow | None]]
) -> None:
    table = {
        "unit_id": [unit_id for unit_id, *_ in found],
        "annotation_id": arrow_array([thing.annotation_id for _, thing, _ in found]),
        "box": [dump_box(thing.box) for _, thing, _ in found],
        "drawing": [dump_drawing(drawing) if drawing else None for *_, drawing in found],
    }
    cursor.register("pointed", arrow_table(table))
    cursor.execute(
        "UPDATE pairs SET annotation_id = n.annotation_id, box = n.box, drawing = n.drawing "
        "FROM pointed n WHERE pairs.unit_id = n.unit_id"
    )
    cursor.unregister("pointed")
