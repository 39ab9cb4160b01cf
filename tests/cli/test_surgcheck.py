"""The command line of SurgCheck, as a user calls it."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.cli.calling import call, done
from tests.services.surgcheck_files import (
    N_PAIRS,
    prediction_rows,
    release_rows,
    write,
    write_answers,
    write_both,
    write_release,
)
from tests.services.test_scene_graph_import import two_tools


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    path = tmp_path / "test_coco.json"
    path.write_text(json.dumps(two_tools()))
    return path


def test_questions_are_imported_from_a_folder(tmp_path: Path, store: Path) -> None:
    write_release(tmp_path)
    report = done("import", "surgcheck", tmp_path / "full", "--store", store, "--json").json
    assert [(suite["suite"], suite["n_pairs"], suite["n_new"]) for suite in report["suites"]] == [
        ("full_test", N_PAIRS, N_PAIRS)
    ]
    told = done("import", "surgcheck", tmp_path / "full", "--store", store).out
    assert f"Suite full_test: {N_PAIRS} pairs (0 new), 2 images." in told and "nothing was changed" in told


def test_one_pair_of_answers_is_imported_by_name(tmp_path: Path, store: Path) -> None:
    original, less_biased = write_answers(tmp_path)
    pair = ("--original", original, "--less-biased", less_biased)
    [run] = done(
        "import", "surgcheck", *pair, "--model", "Mine", "--setting", "zero-shot", "--suite", "mine",
        "--store", store, "--json",
    ).json["runs"]  # fmt: skip
    assert (run["vlm"], run["suite"], run["setting"], run["n_answers"]) == ("Mine", "mine", "zero-shot", 2 * N_PAIRS)
    refused = call("import", "surgcheck", *pair, "--store", store)
    assert refused.code == 2 and "--model NAME" in refused.err


def test_columns_are_mapped(tmp_path: Path, store: Path) -> None:
    names = {"image": "bild", "question": "frage", "pred": "ist", "gt": "soll"}
    write_both(tmp_path, lambda v: [{new: row[old] for old, new in names.items()} for row in prediction_rows(v)])
    files = sorted(tmp_path.glob("*.jsonl"))
    refused = call("import", "surgcheck", *files, "--model", "Mine", "--store", store)
    assert refused.code == 2 and "--map" in refused.err and "bild" in refused.err
    mapped = ",".join(f"{old}={new}" for old, new in names.items())
    [run] = done("import", "surgcheck", *files, "--model", "Mine", "--map", mapped, "--store", store, "--json").json[
        "runs"
    ]
    assert run["n_answers"] == 2 * N_PAIRS
    refused = call("import", "surgcheck", *files, "--model", "Mine", "--map", "colour=bild", "--store", store)
    assert refused.code == 2 and "Fields: image" in refused.err


def test_bad_lines_stop_an_import_unless_they_may_be_skipped(tmp_path: Path, store: Path) -> None:
    broken = [*release_rows("original")[:-1], {"image": "x.jpg"}]
    write(tmp_path / "test_original.jsonl", broken)
    write(tmp_path / "test_less_biased.jsonl", release_rows("less_biased"))
    files = sorted(tmp_path.glob("*.jsonl"))
    refused = call("import", "surgcheck", *files, "--store", store)
    assert refused.code == 2 and f"test_original.jsonl, line {N_PAIRS}:" in refused.err and "--lenient" in refused.err
    report = done("import", "surgcheck", *files, "--lenient", "--store", store, "--json")
    assert report.json["suites"][0]["n_pairs"] == N_PAIRS - 1
    assert "1 bad line left out" in report.err and "1 row left out" in report.err


@pytest.mark.parametrize("arguments", [(), ("x.jsonl", "--original", "y.jsonl")])
def test_files_are_named_in_one_way(store: Path, arguments: tuple[str, ...]) -> None:
    refused = call("import", "surgcheck", *arguments, "--store", store)
    assert refused.code == 2 and "--less-biased" in refused.err


def test_a_run_is_exported_and_imported_again(tmp_path: Path, store: Path) -> None:
    done("import", "surgcheck", *write_answers(tmp_path), "--model", "Mine", "--store", store)
    out = tmp_path / "out.jsonl.gz"
    told = done("export", "surgcheck", "--model", "Mine", "--out", out, "--store", store, "--json").json
    assert (told["n_lines"], told["suite"]) == (2 * N_PAIRS, "pred")
    report = done("import", "surgcheck", out, "--store", store, "--json").json
    assert report["runs"][0]["n_unchanged"] == 2 * N_PAIRS and report["suites"] == []
    unknown = call("export", "surgcheck", "--model", "Other", "--out", out, "--store", store)
    assert unknown.code == 2 and "Mine" in unknown.err


def test_a_suite_is_removed_with_its_pairs(tmp_path: Path, store: Path) -> None:
    done("import", "surgcheck", *write_answers(tmp_path), "--model", "Mine", "--store", store)
    done("remove", "suite", "pred", "--store", store)
    report = done("import", "surgcheck", *write_answers(tmp_path), "--model", "Mine", "--store", store, "--json").json
    assert report["suites"][0]["n_new"] == N_PAIRS


def test_generate_writes_the_releases_files_and_why_questions_are_left_out(scenes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    told = done("surgcheck", "generate", "--scene-graphs", scenes, "--out", out, "--json").json
    assert set(told["files"]) == {
        f"{name}_{variant}.jsonl"
        for name in ("full/test", *(f"balanced_4cue_test/{cue}" for cue in ("box", "arrow", "position", "periphrasis")))
        for variant in ("original", "less_biased")
    }
    for name, n in told["files"].items():
        assert len((out / name).read_text().splitlines()) == n > 0
    report = json.loads((out / "exclusions.json").read_text())
    assert report["by_reason"]["full"]["the tool performs no action"] == 5
    assert len(report["exclusions"]["full"]) == sum(report["by_reason"]["full"].values())
    rows = [
        [json.loads(line) for line in (out / f"full/test_{v}.jsonl").read_text().splitlines()]
        for v in ("original", "less_biased")
    ]
    for original, less_biased in zip(*rows, strict=True):
        tags = ("image", "ori_img_tag", "main_tag", "sub_sub_tag", "sub_tag")
        assert [original[tag] for tag in tags] == [less_biased[tag] for tag in tags]
        assert original["conversations"][1] == less_biased["conversations"][1]


def test_what_is_generated_makes_the_suite_that_the_scene_graphs_make(scenes: Path, tmp_path: Path) -> None:
    done("surgcheck", "generate", "--scene-graphs", scenes, "--out", tmp_path / "out")
    files = done("import", "surgcheck", tmp_path / "out", "--store", tmp_path / "a.duckdb", "--json").json
    graphs = done("import", "surgcheck", scenes, "--suite", "g", "--store", tmp_path / "b.duckdb", "--json").json
    sizes = [{suite["n_pairs"] for suite in report["suites"]} for report in (files, graphs)]
    assert sizes[0] == sizes[1]


def test_generate_names_the_annotation_at_fault(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(two_tools(category_id=99)))
    refused = call("surgcheck", "generate", "--scene-graphs", path, "--out", tmp_path / "out")
    assert refused.code == 2 and "Annotation 1 has the category 99" in refused.err


@pytest.mark.parametrize("cue", ["box", "arrow"])
def test_cue_draws_into_a_copy(tmp_path: Path, cue: str) -> None:
    frame = tmp_path / "frame.png"
    Image.new("RGB", (854, 480)).save(frame)
    before = frame.read_bytes()
    out = tmp_path / "cue.png"
    told = done(
        "surgcheck", "cue", "--image", frame, "--box", "320,110,140,90", "--cue", cue, "--out", out, "--json"
    ).json
    pixels = np.asarray(Image.open(out))
    red = np.argwhere((pixels == (255, 0, 0)).all(axis=2))
    assert len(red) > 300 and told["cue"] == cue
    if cue == "arrow":
        assert (told["drawing"]["tip"], told["drawing"]["side"]) == ([460.0, 155.0], "right")
        assert red[:, 1].min() == pytest.approx(460, abs=1)
    assert frame.read_bytes() == before


def test_a_cue_is_drawn_into_the_image_as_viewers_turn_it(tmp_path: Path) -> None:
    stored = Image.new("RGB", (480, 854))
    exif = stored.getexif()
    exif[0x112] = 6
    stored.save(tmp_path / "frame.png", exif=exif)
    out = tmp_path / "cue.png"
    done("surgcheck", "cue", "--image", tmp_path / "frame.png", "--box", "700,110,140,90", "--cue", "box", "--out", out)
    pixels = np.asarray(Image.open(out))
    red = np.argwhere((pixels == (255, 0, 0)).all(axis=2))
    assert pixels.shape[:2] == (480, 854)
    assert (red[:, 1].min(), red[:, 1].max()) == pytest.approx((700, 840), abs=3)


def test_frames_without_boxes_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "scenes.json"
    coco = two_tools()
    coco["images"].append({**coco["images"][0], "id": 99, "file_name": "9_9.jpg", "is_det_keyframe": False})
    path.write_text(json.dumps(coco))
    asked = ("surgcheck", "generate", "--scene-graphs", path, "--out", tmp_path / "out")
    assert done(*asked, "--json").json["n_frames_without_boxes"] == 1
    assert json.loads((tmp_path / "out" / "exclusions.json").read_text())["n_frames_without_boxes"] == 1
    assert "nothing is asked: 1 frame." in done(*asked).out


@pytest.mark.parametrize(
    ("cue", "box", "told"),
    [
        ("box", "900,10,20,20", "outside the frame"),
        ("box", "1,2,3", "is no box"),
        ("box", "1,2,0,4", "is no box"),
        ("position", "1,2,3,4", "Choose box or arrow"),
        ("colour", "1,2,3,4", "box"),
    ],
)
def test_a_cue_that_cannot_be_drawn_says_why(tmp_path: Path, cue: str, box: str, told: str) -> None:
    frame = tmp_path / "frame.png"
    Image.new("RGB", (854, 480)).save(frame)
    refused = call("surgcheck", "cue", "--image", frame, "--box", box, "--cue", cue, "--out", tmp_path / "o.png")
    assert refused.code == 2 and told in refused.err and not (tmp_path / "o.png").exists()


@pytest.mark.parametrize(
    ("box", "word"),
    [
        ("0,0,10,10", "top-left"),
        ("400,200,50,50", "center"),
        ("800,460,100,100", "bottom-right"),
        ("-40,200,60,40", "left"),
        ("0,0,854,320", "center"),
    ],
)
def test_position_says_the_word_of_a_box(box: str, word: str) -> None:
    assert done("surgcheck", "position", "--size", "854x480", "--box", box).out == f"{word}\n"
    assert done("surgcheck", "position", "--size", "854×480", "--box", box, "--json").json == {"position": word}


@pytest.mark.parametrize(("size", "box"), [("854", "1,2,3,4"), ("0x480", "1,2,3,4"), ("854x480", "900,1,2,3")])
def test_a_position_that_has_no_word_is_an_error(size: str, box: str) -> None:
    assert call("surgcheck", "position", "--size", size, "--box", box).code == 2


def test_predict_can_withhold_the_image(tmp_path: Path, store: Path) -> None:
    done("import", "surgcheck", *write_release(tmp_path), "--store", store)
    dry = ("predict", "--model", "demo", "--suite", "full_test", "--dry-run", "--store", store, "--json")
    asked, withheld = done(*dry).json, done(*dry, "--without-image").json
    assert (asked["stage"], asked["n_planned"]) == ("direct", 2 * N_PAIRS)
    assert (withheld["stage"], withheld["n_planned"], withheld["missing_images"]) == ("text_only", N_PAIRS, [])
