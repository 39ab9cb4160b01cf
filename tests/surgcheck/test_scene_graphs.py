"""Reading Endoscapes-SG201: what is kept, and what is refused by the annotation's id."""

import json
from pathlib import Path
from typing import Any

import pytest

from backend.errors import AppError
from backend.surgcheck.boxes import Box
from backend.surgcheck.scene_graphs import Anatomy, Cvs, Hand, Tool, Triplet, read_scene_graphs
from tests.surgcheck.scenes import HANDMADE, coco_of, handmade_scenes, real_frames

HOOK = {"id": 31, "category_id": 10, "bbox": [560, 250, 280, 180], "oper": "Rt"}
TRIPLET = {"tool": "hook", "verb": "dissect", "target": "cystic_duct"}
DUCT = {"id": 32, "category_id": 4, "bbox": [360, 300, 110, 70], "area": 7700, "iscrowd": 0}


def test_a_frame_is_read_with_its_tools_structures_and_criteria() -> None:
    coco = coco_of({**HOOK, "triplet": TRIPLET}, DUCT, ds=[1.0, 2 / 3, 1 / 3], is_det_keyframe=True)
    (read,) = read_scene_graphs(coco)
    assert (read.file_name, read.width, read.height, read.video) == ("7_100.jpg", 854, 480, "7")
    action = Triplet("hook", "dissect", "cystic_duct")
    assert read.tools == (Tool(31, "hook", Box(560, 250, 280, 180), Hand.RIGHT, action),)
    assert read.anatomies == (Anatomy(32, "cystic_duct", Box(360, 300, 110, 70)),)
    assert read.cvs == Cvs(two_structures=True, hepatocystic_triangle=True, cystic_plate=False)


@pytest.mark.parametrize(
    ("means", "achieved"),
    [([1, 1, 1], True), ([2 / 3, 2 / 3, 2 / 3], True), ([1, 1, 1 / 3], False), ([1, 1, 0.5], False)],
)
def test_the_view_is_achieved_where_every_mean_is_above_one_half(means: list[float], achieved: bool) -> None:
    cvs = read_scene_graphs(coco_of(ds=means))[0].cvs
    assert cvs is not None
    assert cvs.achieved is achieved


def test_criteria_that_are_not_annotated_are_not_unmet() -> None:
    assert read_scene_graphs(coco_of())[0].cvs is None


@pytest.mark.parametrize(
    ("oper", "hand"),
    [("Lt", Hand.LEFT), (" RT ", Hand.RIGHT), ("assi", Hand.ASSISTANT), (None, None), ("", None)],
)
def test_a_hand_is_read_whatever_its_case(oper: str | None, hand: Hand | None) -> None:
    assert read_scene_graphs(coco_of({**HOOK, "oper": oper}))[0].tools[0].hand is hand


@pytest.mark.parametrize(
    "triplet",
    [
        {"tool": "hook", "verb": "null_verb", "target": "null_target"},
        {"tool": "hook", "verb": "dissect", "target": "null_target"},
        {"tool": "hook", "verb": "null_verb", "target": "cystic_duct"},
        None,
    ],
)
def test_a_null_verb_or_target_is_no_action(triplet: dict[str, str] | None) -> None:
    assert read_scene_graphs(coco_of({**HOOK, "triplet": triplet}))[0].tools[0].triplet is None


def test_the_categories_of_the_file_win_over_the_usual_ids() -> None:
    coco = coco_of({**HOOK, "category_id": 99})
    coco["categories"].append({"id": 99, "name": "scissors"})
    assert read_scene_graphs(coco)[0].tools[0].category == "scissors"


def test_a_frame_in_which_nobody_drew_boxes_is_left_out() -> None:
    assert read_scene_graphs(coco_of(is_det_keyframe=False)) == ()
    assert len(read_scene_graphs(coco_of(is_det_keyframe=None))) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"category_id": 77}, "category 77"),
        ({"oper": "third"}, "hand 'third'"),
        ({"triplet": {**TRIPLET, "verb": "cut"}}, "verb 'cut'"),
        ({"triplet": {**TRIPLET, "target": "calot_triangle"}}, "target 'calot_triangle'"),
        ({"triplet": {**TRIPLET, "tool": "knife"}}, "tool 'knife'"),
        ({"triplet": {**TRIPLET, "tool": "grasper"}}, "box of hook with a triplet of grasper"),
        ({"triplet": "hook,dissect,cystic_duct"}, "triplet 'hook,dissect,cystic_duct'"),
        ({"bbox": [1, 2, 3]}, "box [1, 2, 3]"),
        ({"bbox": [1, 2, 0, 3]}, "box [1, 2, 0, 3]"),
        ({"bbox": [1, 2, float("nan"), 3]}, "box [1, 2, nan, 3]"),
        ({"bbox": [900, 2, 10, 3]}, "box [900, 2, 10, 3]"),
        ({"bbox": None}, "box None"),
        ({"image_id": 5}, "image 5"),
        ({"category_id": None}, "category_id None"),
    ],
)
def test_what_cannot_be_read_is_refused_by_the_annotations_id(change: dict[str, Any], words: str) -> None:
    with pytest.raises(AppError) as caught:
        read_scene_graphs(coco_of(DUCT, {**HOOK, **change}))
    assert "31" in caught.value.message
    assert words in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("image", "words"),
    [
        ({"width": None}, "width None"),
        ({"width": 0}, "size 0 × 480"),
        ({"height": -480}, "size 854 × -480"),
        ({"file_name": ""}, "no file_name"),
        ({"ds": [1, 1]}, "criteria [1, 1]"),
        ({"ds": [1, 1, 2]}, "criteria [1, 1, 2]"),
    ],
)
def test_an_image_that_cannot_be_read_is_refused_by_its_id(image: dict[str, Any], words: str) -> None:
    with pytest.raises(AppError, match="1") as caught:
        read_scene_graphs(coco_of(**image))
    assert words in caught.value.message


@pytest.mark.parametrize("name", ["7_100.jpg", "part/7_100.jpg", "7_100.png"])
def test_two_frames_never_share_a_name(name: str) -> None:
    """Frames are told apart by the names of their files, whatever folder and format they lie in."""
    coco = coco_of()
    coco["images"].append({**coco["images"][0], "id": 2, "file_name": name})
    with pytest.raises(AppError, match="2 frames are called 7_100"):
        read_scene_graphs(coco)


@pytest.mark.parametrize("number", [2**63, True, 31.0])
def test_an_id_is_a_whole_number_that_a_store_can_hold(number: object) -> None:
    with pytest.raises(AppError, match="no whole number"):
        read_scene_graphs(coco_of({**HOOK, "id": number}))


def test_two_annotations_never_share_an_id() -> None:
    with pytest.raises(AppError, match="annotations have the id 32"):
        read_scene_graphs(coco_of(DUCT, DUCT))


@pytest.mark.parametrize("key", ["images", "annotations", "categories"])
def test_a_file_of_another_kind_is_refused(key: str) -> None:
    coco = coco_of()
    del coco[key]
    with pytest.raises(AppError, match=f"no list of {key}"):
        read_scene_graphs(coco)


def test_the_handmade_frames_are_read_whole(shared: Path) -> None:
    scenes = handmade_scenes(shared)
    assert [len(scene.tools) for scene in scenes] == [2, 2, 2, 2, 2, 1, 1, 2, 1, 0, 1, 1, 1, 1]
    assert sum(len(scene.anatomies) for scene in scenes) == 45 - 19
    assert scenes[3].tools[1].hand is None
    assert scenes[4].tools[1].triplet is None
    assert len(real_frames(shared)) == 8


def test_the_layout_without_tool_classes_is_refused_with_the_classes_needed(shared: Path) -> None:
    text = (shared / HANDMADE / "handmade_endoscapes_coco.json").read_text("utf-8")
    with pytest.raises(AppError, match="Annotation 4 has the category 'tool'") as caught:
        read_scene_graphs(json.loads(text))
    assert "grasper" in caught.value.hint
