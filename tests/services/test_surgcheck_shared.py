"""What the importer makes of the real release and of real VLMs' answers, read where they lie."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from backend.services.images import image_file
from backend.services.ingest.cue_pictures import draw_cue_pictures
from backend.services.ingest.images import attach_images
from backend.services.ingest.surgcheck_pairing import LEAKED, NO_TWIN
from backend.store.store import Store
from tests.services.surgcheck_files import bring

VLMS = {"llava": "LLaVA-OV-1.5", "qwen": "Qwen2.5-VL", "pali": "PaliGemma2"}
"""Folder of the answers → name in the goldens."""


@pytest.fixture(scope="module")
def answers(shared: Path) -> Path:
    return shared / "data" / "surgcheck_predictions"


@pytest.fixture(scope="module")
def released(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with the whole release and every prediction file."""
    data = shared / "data"
    with Store.create(tmp_path_factory.mktemp("released") / "store.duckdb") as store:
        bring(store, data / "endoscapes" / "surgcheck" / "SurgCheck_annotations.zip")
        for folder, vlm in VLMS.items():
            bring(store, data / "surgcheck_predictions" / "full_test" / folder, vlm=vlm)
            for setting, kind in (("fine-tuned", "lora_balanced"), ("zero-shot", "zero_shot_judged")):
                bring(store, data / "surgcheck_predictions" / kind / folder, vlm=vlm, setting=setting)
        yield store


def test_the_release_has_its_printed_sizes_and_its_leaked_rows_are_reported(released: Store) -> None:
    sizes = dict(released.rows("SELECT suite, count(*) FROM pairs GROUP BY ALL"))
    assert sizes == {"full_test": 3_860, "full_train": 19_604 - 1_058, "balanced_4cue_test": 4 * 1_898}
    [(report,)] = released.rows("SELECT report FROM imports ORDER BY rowid LIMIT 1")
    said = json.loads(report)
    leaked = [line for line in said["left_out"] if line["reason"] == LEAKED]
    assert len(leaked) == len({line["number"] for line in leaked}) == said["exclusions"][LEAKED] == 1_058
    assert {line["file"] for line in leaked} == {"train_original.jsonl"}
    notes = [note for note in said["notes"] if "another picture than the frame" in note]
    assert [note.partition(": ")[2].partition(" ")[0] for note in notes] == ["2", "52"]


def test_rows_that_are_alike_are_all_there(released: Store) -> None:
    repeated = released.rows(
        "SELECT suite, sum(n - 1) FROM (SELECT p.suite, count(*) AS n FROM pairs p JOIN probes o USING (unit_id) "
        "WHERE o.role = 'original' GROUP BY p.suite, p.picture_id, p.task, p.cue, o.question, o.reference) GROUP BY ALL"
    )
    assert dict(repeated) == {"full_test": 99, "full_train": 506, "balanced_4cue_test": 2}


@pytest.mark.parametrize("vlm", VLMS.values())
def test_fine_tuned_accuracies_are_those_that_were_recomputed_elsewhere(
    released: Store, shared: Path, vlm: str
) -> None:
    goldens = json.loads((shared / "data/endoscapes/derived/metric_goldens.json").read_text())["full_test_3860"]
    found = dict(
        released.rows(
            "SELECT s.role, 100 * avg(s.correct::INT) FROM scores s JOIN runs r USING (run_id) "
            "WHERE r.vlm = ? AND r.suite = 'full_test' AND r.setting = 'fine-tuned' GROUP BY ALL",
            [vlm],
        )
    )
    for role, value in found.items():
        assert value == pytest.approx(goldens[f"{vlm} {role}"]["acc"], abs=0.01)


def test_every_answer_of_every_file_found_its_question(released: Store) -> None:
    runs = released.rows(
        "SELECT r.suite, r.setting, count(*), count(*) FILTER (s.status = 'missing') FROM scores s "
        "JOIN runs r USING (run_id) GROUP BY ALL"
    )
    sizes = {"full_test": 3_860, "balanced_4cue_test": 4 * 1_898}
    assert {(suite, setting): (n, missing) for suite, setting, n, missing in runs} == {
        (suite, setting): (len(VLMS) * 2 * n, 0)
        for suite, n in sizes.items()
        for setting in ("fine-tuned", "zero-shot")
    }


def test_judged_answers_keep_every_score(released: Store) -> None:
    rows = released.rows(
        "SELECT r.vlm, count(*), count(j.score), min(j.score), max(j.score) "
        "FROM judgements j JOIN runs r USING (run_id) WHERE r.suite = 'balanced_4cue_test' AND r.setting = 'zero-shot' "
        "GROUP BY ALL"
    )
    assert sorted(rows) == sorted((vlm, 8 * 1_898, 8 * 1_898, 1, 5) for vlm in VLMS.values())


def test_the_judges_shares_are_those_of_the_facts(released: Store) -> None:
    """Qwen's answers at score 4 or better: 11.06 % of the original, 8.67 % of the less-biased questions."""
    shares = dict(
        released.rows(
            "SELECT p.role, round(100 * avg((j.score >= 4)::INT), 2) FROM judgements j JOIN runs r USING (run_id) "
            "JOIN probes p USING (probe_id) WHERE r.vlm = 'Qwen2.5-VL' GROUP BY ALL"
        )
    )
    assert shares == {"original": 11.06, "less_biased": 8.67}


def test_the_six_further_rows_of_the_judged_files_are_left_out_and_listed(answers: Path, tmp_path: Path) -> None:
    with Store.create(tmp_path / "store.duckdb") as store:
        report = bring(store, answers / "zero_shot_judged" / "llava", vlm="LLaVA", suite="balanced")
    assert report.exclusions == {NO_TWIN: 6}
    assert {(line.number, line.file.split("_")[2]) for line in report.left_out} == {
        (number, cue) for number in (1_899, 1_900) for cue in ("arrow", "box", "position")
    }
    assert sum(suite.n_pairs for suite in report.suites) == 4 * 1_898


@pytest.mark.parametrize("kind", ["full_test", "lora_balanced", "zero_shot_judged"])
def test_without_the_release_all_vlms_answers_make_one_suite(answers: Path, tmp_path: Path, kind: str) -> None:
    with Store.create(tmp_path / "store.duckdb") as store:
        for folder, vlm in VLMS.items():
            bring(store, answers / kind / folder, vlm=vlm)
        sizes = store.rows("SELECT suite, count(*) FROM pairs GROUP BY ALL")
        n_missing = store.value("SELECT count(*) FROM scores WHERE status = 'missing'")
    assert len(sizes) == 1 and sizes[0][1] == (3_860 if kind == "full_test" else 4 * 1_898)
    assert n_missing == 0


def test_files_whose_names_hold_the_variant_in_the_middle_are_pairs(answers: Path, tmp_path: Path) -> None:
    with Store.create(tmp_path / "store.duckdb") as store:
        report = bring(store, answers / "lora_balanced" / "llava_recog_asso", vlm="LLaVA")
    assert {suite.n_pairs for suite in report.suites} == {1_898, 498}
    assert all(run.n_missing == 0 for run in report.runs)


def test_hands_are_told_for_every_tool_that_is_pointed_at(released: Store) -> None:
    """But for positions in questions that name no hand: the release does not say it of them."""
    without = released.rows(
        "SELECT DISTINCT cue, task FROM pairs WHERE suite = 'balanced_4cue_test' AND hand IS NULL ORDER BY ALL"
    )
    assert {cue for cue, _ in without} == {"position"}


def test_pictures_are_drawn_for_the_releases_rows_where_scene_graphs_know_the_box(shared: Path, tmp_path: Path) -> None:
    """As the official renderings: of the red pixels at least 95 % lie within 2 px of the other's, and the reverse."""
    data = shared / "data" / "endoscapes"
    bare = tmp_path / "bare"
    bare.mkdir()
    for frame in (data / "frames").glob("*.jpg"):
        if frame.name.count("_") == 1:
            (bare / frame.name).write_bytes(frame.read_bytes())
    with Store.create(tmp_path / "store.duckdb") as store:
        bring(store, data / "surgcheck" / "balanced_4cue_test")
        report = bring(store, data / "handmade" / "handmade_real_frames_partial_coco.json", suite="sg")
        assert any(note.startswith("Pairs that got the box they point at") for note in report.notes)
        attach_images(store, bare)
        draw_cue_pictures(store)
        compared = 0
        for rendering in sorted((data / "frames").glob("*_*_*.jpg")):
            drawn = image_file(store, f"endoscapes:{rendering.stem}")
            frame = data / "frames" / f"{'_'.join(rendering.stem.split('_')[:2])}.jpg"
            if drawn is None or not frame.is_file():
                continue
            compared += 1
            base = np.asarray(Image.open(frame).convert("RGB")).astype(int)
            ours, theirs = (red_over(base, path) for path in (drawn.path, rendering))
            for one, other in ((ours, theirs), (theirs, ours)):
                assert one[dilated(other)].sum() >= 0.95 * one.sum(), rendering.name
    assert compared >= 8


def red_over(base: "np.ndarray[Any, Any]", path: Path) -> "np.ndarray[Any, Any]":
    """Return where a picture is red and its frame is not."""
    pixels = np.asarray(Image.open(path).convert("RGB")).astype(int)
    red = (pixels[..., 0] > 150) & (pixels[..., 1] < 90) & (pixels[..., 2] < 90)
    return np.asarray(red & (np.abs(pixels - base).sum(axis=2) > 100))


def dilated(mask: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Return a mask grown by 2 pixels on all sides."""
    return np.asarray(cv2.dilate(mask.astype(np.uint8), np.ones((5, 5), np.uint8)).astype(bool))
