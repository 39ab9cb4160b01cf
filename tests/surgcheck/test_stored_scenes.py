"""Promises of scene graphs and drawings as JSON."""

from hypothesis import given

from backend.surgcheck.boxes import Box
from backend.surgcheck.grounding_cues import Arrow, Outline, arrow_cue, box_cue
from backend.surgcheck.scene_graphs import SceneGraph
from backend.surgcheck.stored_scenes import dump_box, dump_drawing, dump_scene, load_box, load_drawing, load_scene
from tests.surgcheck.scenes import FEW, HEIGHT, WIDTH, boxes, scene_graphs


@FEW
@given(scene_graphs())
def test_a_scene_graph_read_back_is_the_one_written(scene: SceneGraph) -> None:
    assert load_scene(dump_scene(scene)) == scene


@FEW
@given(boxes())
def test_a_box_and_its_drawings_read_back_are_those_written(box: Box) -> None:
    assert load_box(dump_box(box)) == box
    for cue in (box_cue(box, WIDTH, HEIGHT), arrow_cue(box, WIDTH, HEIGHT)):
        if isinstance(cue, Outline | Arrow):
            assert load_drawing(dump_drawing(cue)) == cue
