"""Promises of scene graphs in the store: the questions they make, why others are not asked, and drawn cues."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from backend.domain.vlm import Decoding
from backend.errors import AppError
from backend.services.images import image_file
from backend.services.ingest.cue_pictures import FOLDER, draw_cue_pictures
from backend.services.ingest.files import SourceFile
from backend.services.ingest.images import attach_images
from backend.services.ingest.scene_graphs import import_scene_graphs
from backend.services.removal import remove_suite
from backend.services.runs.import_run import import_run
from backend.services.runs.plan import read_plan
from backend.services.runs.runner import run_plan
from backend.services.surgcheck_files import generate_files
from backend.store.store import Store
from backend.surgcheck.cue_drawing import draw_cue
from backend.surgcheck.stored_scenes import load_drawing, load_scene
from backend.surgcheck.tasks import Mode
from tests.services.run_files import PARROT, Parrot
from tests.services.surgcheck_files import bring
from tests.surgcheck.scenes import HEIGHT, WIDTH, coco_of

GRASPER, HOOK = 8, 10


def two_tools(**grasper: Any) -> dict[str, Any]:
    """A frame with a grasper that holds the gallbladder, a hook that does nothing, and two structures."""
    action = {"tool": "grasper", "verb": "retract", "target": "gallbladder"}
    return coco_of(
        {"id": 1, "category_id": GRASPER, "bbox": [40, 40, 120, 90], "oper": "Lt", "triplet": action, **grasper},
        {"id": 2, "category_id": HOOK, "bbox": [600, 300, 120, 90], "oper": "Rt"},
        {"id": 3, "category_id": 5, "bbox": [300, 20, 120, 90]},
        {"id": 4, "category_id": 4, "bbox": [300, 360, 120, 90]},
        ds=[1, 0, 0],
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(tmp_path / "store.duckdb") as made:
        yield made


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    path = tmp_path / "test_coco.json"
    path.write_text(json.dumps(two_tools()))
    return path


@pytest.fixture
def frames(tmp_path: Path) -> Path:
    folder = tmp_path / "frames"
    folder.mkdir()
    pixels = np.random.default_rng(1).integers(0, 120, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "7_100.png")
    return folder


def test_a_file_of_scene_graphs_makes_the_full_and_the_balanced_set(store: Store, scenes: Path) -> None:
    report = bring(store, scenes, suite="mine")
    full, balanced = report.suites
    assert (full.suite, balanced.suite) == ("mine", "mine-balanced")
    assert store.rows("SELECT source_id FROM units WHERE suite = 'mine' ORDER BY rowid LIMIT 2") == [
        ("00001",), ("00002",),
    ]  # fmt: skip
    cues = store.rows("SELECT cue, count(*) FROM pairs WHERE suite = 'mine-balanced' GROUP BY ALL ORDER BY ALL")
    assert [cue for cue, _ in cues] == ["arrow", "box", "periphrasis", "position"] and len({n for _, n in cues}) == 1
    assert {row[0] for row in store.rows("SELECT split FROM units")} == {"test"}


def test_a_pair_knows_what_it_points_at_and_what_is_drawn(store: Store, scenes: Path) -> None:
    bring(store, scenes, suite="mine")
    rows = store.rows(
        "SELECT hand, annotation_id, box, drawing, picture_id FROM pairs WHERE suite = 'mine-balanced' AND cue = 'box'"
    )
    assert {row[:3] for row in rows} == {("lt", 1, "[40, 40, 120, 90]")}
    assert {row[4] for row in rows} == {"endoscapes:7_100_bbox_lt"}
    assert json.loads(rows[0][3])["kind"] == "outline"


def test_every_question_that_is_not_asked_is_counted_by_its_reason(store: Store, scenes: Path) -> None:
    report = bring(store, scenes, suite="mine")
    assert report.exclusions["mine: the tool performs no action"] == 5
    [(told,)] = store.rows("SELECT report FROM suites WHERE suite = 'mine'")
    built = json.loads(told)
    assert (built["made_from"], built["mode"], built["n_frames"]) == ("scene graphs", "strict", 1)
    assert built["exclusions"]["the tool performs no action"] == 5


def test_what_is_annotated_in_a_frame_is_kept(store: Store, scenes: Path) -> None:
    bring(store, scenes, suite="mine")
    rows = dict(store.rows("SELECT suite, scene FROM frames WHERE image_id = 'endoscapes:7_100'"))
    assert set(rows) == {"mine", "mine-balanced"}
    scene = load_scene(rows["mine"])
    assert [tool.category for tool in scene.tools] == ["grasper", "hook"]
    assert scene.cvs is not None and scene.cvs.two_structures and not scene.cvs.achieved


def test_importing_scene_graphs_twice_changes_nothing(store: Store, scenes: Path) -> None:
    bring(store, scenes, suite="mine")
    assert not bring(store, scenes, suite="mine").changed
    assert store.value("SELECT count(*) FROM frames") == 2


def test_other_scene_graphs_under_the_same_name_are_refused(store: Store, scenes: Path) -> None:
    bring(store, scenes, suite="mine")
    scenes.write_text(json.dumps(two_tools(oper="assi")))
    with pytest.raises(AppError, match="other content under the same ids"):
        bring(store, scenes, suite="mine")


def test_the_official_mode_asks_more(store: Store, scenes: Path, tmp_path: Path) -> None:
    crowded = two_tools()
    crowded["annotations"][1]["bbox"] = [60, 60, 120, 90]
    scenes.write_text(json.dumps(crowded))
    for suite, mode in (("strict", Mode.STRICT), ("official", Mode.OFFICIAL)):
        import_scene_graphs(store, SourceFile.at(scenes), suite, mode=mode)
    sizes = dict(store.rows("SELECT suite, count(*) FROM pairs GROUP BY ALL"))
    assert "strict-balanced" not in sizes and sizes["official-balanced"] > 0


def test_a_fault_names_the_annotation_and_nothing_is_imported(store: Store, scenes: Path) -> None:
    scenes.write_text(json.dumps(two_tools(oper="third hand")))
    with pytest.raises(AppError, match="Annotation 1 has the hand"):
        bring(store, scenes)
    assert store.value("SELECT count(*) FROM suites") == 0


def test_another_json_file_is_no_file_of_scene_graphs(store: Store, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(AppError, match="no file of scene graphs"):
        import_scene_graphs(store, SourceFile.at(tmp_path / "x.json"), "x")


def test_a_suite_goes_with_its_frames(store: Store, scenes: Path) -> None:
    bring(store, scenes, suite="mine")
    remove_suite(store, "mine")
    assert store.rows("SELECT suite FROM frames") == [("mine-balanced",)]


def test_pictures_that_are_not_at_hand_are_drawn_where_the_frame_is(
    store: Store, scenes: Path, frames: Path, tmp_path: Path
) -> None:
    bring(store, scenes, suite="mine")
    assert "lack their file and their frame's" in draw_cue_pictures(store)[0]
    attach_images(store, frames)
    [note] = draw_cue_pictures(store)
    assert note.startswith("Pictures with a box or an arrow that were drawn: ")
    file = image_file(store, "endoscapes:7_100_bbox_lt")
    assert file is not None and file.path.parent == (tmp_path / FOLDER).resolve()
    pixels = np.asarray(Image.open(frames / "7_100.png").convert("RGB"))
    drawing = store.value("SELECT drawing FROM pairs WHERE picture_id = 'endoscapes:7_100_bbox_lt'")
    assert np.array_equal(np.asarray(Image.open(file.path)), draw_cue(pixels, load_drawing(drawing)))
    assert draw_cue_pictures(store) == []


def test_a_picture_that_is_at_hand_is_never_drawn_over(store: Store, scenes: Path, frames: Path) -> None:
    own = Image.new("RGB", (WIDTH, HEIGHT), "green")
    own.save(frames / "7_100_bbox_lt.png")
    bring(store, scenes, suite="mine")
    attach_images(store, frames)
    draw_cue_pictures(store)
    file = image_file(store, "endoscapes:7_100_bbox_lt")
    assert file is not None and file.path == frames.resolve() / "7_100_bbox_lt.png"


def test_a_drawn_picture_that_was_deleted_is_drawn_again(store: Store, scenes: Path, frames: Path) -> None:
    bring(store, scenes, suite="mine")
    attach_images(store, frames)
    draw_cue_pictures(store)
    file = image_file(store, "endoscapes:7_100_bbox_lt")
    assert file is not None
    file.path.unlink()
    assert draw_cue_pictures(store, "mine-balanced") == ["Pictures with a box or an arrow that were drawn: 1."]


def test_a_batch_run_asks_both_questions_about_the_picture_with_the_cue(
    store: Store, scenes: Path, frames: Path
) -> None:
    bring(store, scenes, suite="mine")
    attach_images(store, frames)
    draw_cue_pictures(store)
    plan = read_plan(store, "mine-balanced", PARROT, Decoding())
    assert plan.key.stage == "direct" and not plan.missing_images
    boxes = [item for item in plan.items if item.unit_id == "mine-balanced:box-00001"]
    assert [(item.role, item.image_name) for item in boxes] == [
        ("original", "7_100_bbox_lt.jpg"), ("less_biased", "7_100_bbox_lt.jpg"),
    ]  # fmt: skip
    assert boxes[1].prompt == (
        "You are an assistant with surgical expertise. Given a surgical scene, answer the question in 1-5 words. "
        "Which tool is in the red box?"
    )


def test_with_the_image_withheld_a_batch_run_asks_original_questions(
    store: Store, scenes: Path, tmp_path: Path
) -> None:
    bring(store, scenes, suite="mine")
    plan = read_plan(store, "mine", PARROT, Decoding(), with_image=False)
    assert plan.key.stage == "text_only"
    assert {(item.role, item.image_id, item.image) for item in plan.items} == {("original", "", None)}
    run_plan(plan, Parrot(), tmp_path / "run")
    [run] = import_run(store, tmp_path / "run").runs
    assert (run.stage, run.n_answers, run.n_missing) == ("text_only", len(plan.items), 0)


def test_a_run_planned_without_a_store_finds_its_questions_by_the_files_ids(
    store: Store, scenes: Path, frames: Path, tmp_path: Path
) -> None:
    """As the runs that ship: they call a probe ``00001::original``, whatever the suite."""
    bring(store, scenes, suite="mine")
    attach_images(store, frames)
    draw_cue_pictures(store)
    plan = read_plan(store, "mine", PARROT, Decoding())
    run_plan(plan, Parrot(), tmp_path / "run")
    with Store.create(tmp_path / "other.duckdb") as other:
        bring(other, scenes, suite="mine")
        with other.write() as cursor:
            cursor.execute("UPDATE probes SET source_id = probe_id, probe_id = 'x' || probe_id")
        [run] = import_run(other, tmp_path / "run").runs
        assert (run.n_answers, run.n_missing) == (len(plan.items), 0)
        assert other.value("SELECT count(*) FROM calls JOIN probes USING (probe_id)") == len(plan.items)


def test_pairs_without_boxes_get_those_of_scene_graphs_in_either_order(scenes: Path, tmp_path: Path) -> None:
    """A hand with one tool, a structure with one box; what could be two things stays as it is."""
    folder = tmp_path / "generated"
    generate_files(scenes, folder)
    held = []
    for number, order in enumerate(((scenes, folder), (folder, scenes))):
        with Store.create(tmp_path / f"{number}.duckdb") as store:
            for path in order:
                bring(store, path, suite="graphs" if path == scenes else None)
            pairs = "SELECT cue, annotation_id, box, drawing FROM pairs WHERE suite = 'full_test' ORDER BY unit_id"
            held.append(store.rows(pairs))
            assert not bring(store, scenes, suite="graphs").changed
            boxes = "SELECT DISTINCT cue, annotation_id, box FROM pairs WHERE suite = ? ORDER BY ALL"
            assert store.rows(boxes, ["full_test"]) == store.rows(boxes, ["graphs"])
    assert held[0] == held[1]
    assert {cue for cue, _, box, _ in held[0] if box is None} == {"none"}
    assert {cue for cue, *_, drawing in held[0] if drawing} == {"box", "arrow"}
