"""Promises of the laparoscopy-like frames."""

from collections import Counter
from collections.abc import Sequence

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from backend.demo.laparoscopy import Annotation, SurgicalFrame, as_coco, draw_laparoscopy
from backend.demo.laparoscopy.scene import CATEGORIES, HANDS, HEIGHT, WIDTH
from backend.demo.scenes import Frame, Split, Thing
from backend.surgcheck.scene_graphs import ANATOMIES, NULL_TARGET, NULL_VERB, TARGETS, TOOLS, VERBS

N_FRAMES = 80


@pytest.fixture(scope="module")
def frames() -> list[SurgicalFrame]:
    return [draw_laparoscopy(Split.VALIDATION, number) for number in range(N_FRAMES)]


def tools_of(frame: SurgicalFrame) -> list[Annotation]:
    return [annotation for annotation in frame.annotations if annotation.is_tool]


def anatomies_of(frame: SurgicalFrame) -> dict[str, Annotation]:
    return {annotation.category: annotation for annotation in frame.annotations if not annotation.is_tool}


def distance_between(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Pixels between the nearest pixels of two masks."""
    away = cv2.distanceTransform((~other).astype(np.uint8), cv2.DIST_L2, 5)
    return float(np.asarray(away)[one].min())


def colours_of(frame: SurgicalFrame, category: str) -> NDArray[np.float64]:
    """Mean RGB of an anatomy's visible pixels."""
    return np.asarray(frame.frame.pixels[anatomies_of(frame)[category].thing.mask].mean(0))


@pytest.mark.parametrize("split", list(Split))
def test_a_frame_is_the_same_each_time_it_is_drawn(split: Split) -> None:
    once, again = draw_laparoscopy(split, 3), draw_laparoscopy(split, 3)
    assert np.array_equal(once.frame.pixels, again.frame.pixels)
    assert once.cvs == again.cvs and once.frame.hard == again.frame.hard
    for one, other in zip(once.annotations, again.annotations, strict=True):
        assert (one.category, one.hand, one.verb, one.target) == (other.category, other.hand, other.verb, other.target)
        assert np.array_equal(one.thing.mask, other.thing.mask)


def test_other_splits_and_other_numbers_are_other_frames() -> None:
    drawn = [draw_laparoscopy(split, number).frame.pixels.tobytes() for split in Split for number in range(4)]
    assert len(set(drawn)) == len(drawn)


def test_a_frame_has_the_size_of_the_data_set_and_its_things_are_its_annotations(frames: list[SurgicalFrame]) -> None:
    for frame in frames:
        assert frame.frame.pixels.shape == (HEIGHT, WIDTH, 3) == (480, 854, 3)
        assert frame.frame.pixels.dtype == np.uint8
        assert frame.frame.things == tuple(annotation.thing for annotation in frame.annotations)


def test_every_mask_shows_something_and_no_pixel_belongs_to_two_things(frames: list[SurgicalFrame]) -> None:
    for frame in frames:
        masks = np.stack([thing.mask for thing in frame.frame.things])
        assert masks.shape[1:] == (HEIGHT, WIDTH)
        assert masks.any((1, 2)).all()
        assert masks.sum(0).max() <= 1


def test_nothing_is_annotated_where_no_light_falls(frames: list[SurgicalFrame]) -> None:
    for frame in frames:
        if not frame.frame.hard:
            for thing in frame.frame.things:
                assert (frame.frame.pixels[thing.mask].max(1) > 0).mean() > 0.97


def test_every_word_is_in_the_vocabulary_and_only_tools_have_an_action(frames: list[SurgicalFrame]) -> None:
    for annotation in (annotation for frame in frames for annotation in frame.annotations):
        assert annotation.category == annotation.thing.kind
        if annotation.is_tool:
            assert annotation.category in TOOLS
            assert annotation.hand in HANDS and annotation.verb in VERBS and annotation.target in TARGETS
            assert (annotation.verb == NULL_VERB) == (annotation.target == NULL_TARGET)
        else:
            assert annotation.category in ANATOMIES
            assert annotation.hand == annotation.verb == annotation.target == ""


def test_two_to_five_anatomies_once_each_and_at_most_three_tools(frames: list[SurgicalFrame]) -> None:
    for frame in frames:
        counts = Counter(annotation.category for annotation in frame.annotations if not annotation.is_tool)
        assert 2 <= len(counts) <= 5
        assert set(counts.values()) == {1}
        assert len(tools_of(frame)) <= 3


def test_a_tool_at_work_touches_its_target_and_its_box_the_target_s_box(frames: list[SurgicalFrame]) -> None:
    for frame in frames:
        for tool in tools_of(frame):
            if tool.verb == NULL_VERB:
                continue
            target = anatomies_of(frame)[tool.target]
            (ax, ay, aw, ah), (bx, by, bw, bh) = tool.thing.box, target.thing.box
            assert ax <= bx + bw and bx <= ax + aw and ay <= by + bh and by <= ay + ah
            assert distance_between(tool.thing.mask, target.thing.mask) <= 24


def test_each_anatomy_keeps_enough_in_sight_to_be_named(frames: list[SurgicalFrame]) -> None:
    for frame in frames:
        for annotation in anatomies_of(frame).values():
            assert np.count_nonzero(annotation.thing.mask) >= 400


def test_a_criterion_is_met_only_where_what_it_asks_for_is_there(frames: list[SurgicalFrame]) -> None:
    for frame in frames:
        anatomies, (two_structures, triangle, lower_third) = anatomies_of(frame), frame.cvs
        assert all(value in (0, 1 / 3, 2 / 3, 1) for value in frame.cvs)
        if two_structures > 0.5:
            assert {"cystic_artery", "cystic_duct", "gallbladder"} <= set(anatomies)
        if triangle > 0.5:
            assert "calot_triangle" in anatomies
        if lower_third > 0.5:
            assert "gallbladder" in anatomies


def test_duct_and_artery_reach_the_gallbladder_where_two_structures_are_seen(frames: list[SurgicalFrame]) -> None:
    for frame in frames:
        if frame.cvs[0] > 0.5:
            anatomies = anatomies_of(frame)
            for name in ("cystic_artery", "cystic_duct"):
                assert distance_between(anatomies[name].thing.mask, anatomies["gallbladder"].thing.mask) <= 40


def test_a_cleared_triangle_is_pinker_than_one_that_is_not(frames: list[SurgicalFrame]) -> None:
    blueness: dict[bool, list[float]] = {True: [], False: []}
    for frame in frames:
        if "calot_triangle" in anatomies_of(frame) and not frame.frame.hard:
            red, _, blue = colours_of(frame, "calot_triangle")
            blueness[frame.cvs[1] > 0.5].append(float(blue / red))
    assert min(blueness[True]) > max(blueness[False])


def test_a_dark_gap_lies_at_a_gallbladder_whose_lower_third_is_parted_and_at_no_other(
    frames: list[SurgicalFrame],
) -> None:
    dark_pixels: dict[bool, list[int]] = {True: [], False: []}
    for frame in frames:
        if "gallbladder" in anatomies_of(frame) and not frame.frame.hard:
            body = anatomies_of(frame)["gallbladder"].thing.mask.astype(np.uint8)
            around = np.asarray(cv2.dilate(body, np.ones((41, 41), np.uint8))).astype(bool)
            nothing = ~np.any([thing.mask for thing in frame.frame.things], axis=0)
            dark = around & nothing & (frame.frame.pixels.max(2) < 48) & (frame.frame.pixels.max(2) > 3)
            dark_pixels[frame.cvs[2] > 0.5].append(int(dark.sum()))
    assert min(dark_pixels[True]) > max(dark_pixels[False])


@pytest.mark.parametrize(
    ("words", "taken", "least_kinds"),
    [("tools", TOOLS, 6), ("verbs", VERBS, 6), ("targets", TARGETS, 5), ("hands", HANDS, 3)],
)
def test_every_word_occurs(frames: list[SurgicalFrame], words: str, taken: Sequence[str], least_kinds: int) -> None:
    said = {
        {"tools": tool.category, "verbs": tool.verb, "targets": tool.target, "hands": tool.hand}[words]
        for frame in frames
        for tool in tools_of(frame)
    }
    assert len(said) == least_kinds and said <= set(taken)


def test_no_tool_s_verb_follows_from_the_tool_alone(frames: list[SurgicalFrame]) -> None:
    verbs: dict[str, set[str]] = {}
    for tool in (tool for frame in frames for tool in tools_of(frame)):
        verbs.setdefault(tool.category, set()).add(tool.verb)
    assert all(len(seen) >= 2 for seen in verbs.values())


def rectangle(kind: str, x: int, y: int, width: int, height: int) -> Thing:
    mask = np.zeros((HEIGHT, WIDTH), bool)
    mask[y : y + height, x : x + width] = True
    return Thing(kind, mask)


def test_the_coco_file_of_two_frames_is_the_one_worked_out_by_hand() -> None:
    gallbladder, hook = rectangle("gallbladder", 300, 60, 260, 200), rectangle("hook", 500, 100, 354, 40)
    pixels = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    busy = SurgicalFrame(
        Frame(pixels, (gallbladder, hook)),
        (Annotation("gallbladder", gallbladder), Annotation("hook", hook, "Rt", "dissect", "gallbladder")),
        (1 / 3, 0.0, 1.0),
    )
    plate = rectangle("cystic_plate", 0, 0, 10, 20)
    calm = SurgicalFrame(Frame(pixels, (plate,)), (Annotation("cystic_plate", plate),), (0.0, 0.0, 0.0))

    coco = as_coco([("901_25.jpg", busy), ("902_50.jpg", calm)])

    shared = {"width": 854, "height": 480, "is_det_keyframe": True, "is_ds_keyframe": True}
    assert coco["images"] == [
        {"id": 1, "file_name": "901_25.jpg", "video_id": 901, "ds": [1 / 3, 0.0, 1.0], **shared},
        {"id": 2, "file_name": "902_50.jpg", "video_id": 902, "ds": [0.0, 0.0, 0.0], **shared},
    ]
    assert coco["annotations"] == [
        {"id": 1, "image_id": 1, "category_id": 5, "bbox": [300, 60, 260, 200], "area": 52000, "iscrowd": 0},
        {
            "id": 2,
            "image_id": 1,
            "category_id": 10,
            "bbox": [500, 100, 354, 40],
            "area": 14160,
            "iscrowd": 0,
            "triplet": {"tool": "hook", "verb": "dissect", "target": "gallbladder"},
            "oper": "Rt",
        },
        {"id": 3, "image_id": 2, "category_id": 1, "bbox": [0, 0, 10, 20], "area": 200, "iscrowd": 0},
    ]
    assert [(category["id"], category["name"]) for category in coco["categories"]] == list(enumerate(CATEGORIES, 1))
    assert [category["name"] for category in coco["categories"] if category["supercategory"] == "anatomy"] == [
        "cystic_plate",
        "calot_triangle",
        "cystic_artery",
        "cystic_duct",
        "gallbladder",
    ]


def test_a_coco_file_of_drawn_frames_names_each_thing_once(frames: list[SurgicalFrame]) -> None:
    coco = as_coco((f"1_{number}.jpg", frame) for number, frame in enumerate(frames))
    assert [annotation["id"] for annotation in coco["annotations"]] == list(
        range(1, sum(len(frame.annotations) for frame in frames) + 1)
    )
    for annotation in coco["annotations"]:
        x, y, width, height = annotation["bbox"]
        assert 0 <= x < x + width <= WIDTH and 0 <= y < y + height <= HEIGHT
        assert ("triplet" in annotation) == ("oper" in annotation) == (annotation["category_id"] > len(ANATOMIES))


def test_a_coco_file_refuses_a_name_without_a_video_s_number(frames: list[SurgicalFrame]) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        as_coco([("frame.jpg", frames[0])])
