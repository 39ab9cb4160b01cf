"""Training frames are drawn once, kept in blocks, and never those of the test split."""

import json
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backend.demo.architecture import IMAGE_SIZE, build_processor, build_tokenizer
from backend.demo.endoscopy import draw_endoscopy
from backend.demo.endoscopy_questions import facts_of
from backend.demo.held_out import FRAMES
from backend.demo.laparoscopy import draw_laparoscopy
from backend.demo.patch_names import GRID, NAMES, endoscopy_names
from backend.demo.scenes import Split, seed_of
from backend.demo.surgical_questions import scene_of
from backend.demo.training import ENDOSCOPY_FRAMES, LAPAROSCOPY_FRAMES, VALIDATION_FRAMES
from backend.demo.training_frames import (
    BLOCK,
    DRAWN_CUES,
    as_seen,
    draw_pictures,
    endoscopy_picture,
    surgical_pictures,
)
from backend.domain.progress import Cancelled, silent
from backend.surgcheck.question_pairs import all_pairs

RED = NAMES.index("red")


def test_no_two_frames_of_any_splits_share_a_seed() -> None:
    most = max(ENDOSCOPY_FRAMES, LAPAROSCOPY_FRAMES, VALIDATION_FRAMES, *FRAMES.values())
    seeds = Counter(seed_of(*named) for named in product(("endoscopy", "laparoscopy"), Split, range(most)))
    assert seeds.most_common(1)[0][1] == 1


def test_blocks_are_drawn_once_and_a_drawing_that_was_cancelled_goes_on(tmp_path: Path) -> None:
    def cancel(stage: str, done: int, total: int | None) -> None:
        assert stage == "drawing endoscopy-like frames (train)"
        if done == BLOCK:
            raise Cancelled

    with pytest.raises(Cancelled):
        draw_pictures(tmp_path, "endoscopy", Split.TRAIN, 6 * BLOCK, 1, cancel)
    kept = sorted(tmp_path.iterdir())
    assert kept[0].name == "endoscopy-train-0000.npz" and len(kept) < 6
    written = kept[0].stat().st_mtime_ns
    pictures = draw_pictures(tmp_path, "endoscopy", Split.TRAIN, 1, 0, silent)  # no process may draw
    assert kept[0].stat().st_mtime_ns == written
    assert pictures.pixels.shape == (BLOCK, IMAGE_SIZE, IMAGE_SIZE, 3)
    assert pictures.coverage.shape == (BLOCK, len(NAMES), GRID, GRID)
    for number in (0, BLOCK - 1):
        pixels, names, facts = endoscopy_picture(Split.TRAIN, number)
        assert np.array_equal(pictures.pixels[number], pixels)
        assert np.array_equal(pictures.coverage[number], names)
        assert pictures.facts[number] == facts
    assert not list(tmp_path.glob("*partial*"))


def put_block(folder: Path, number: int, shade: int) -> None:
    pixels = np.full((2, IMAGE_SIZE, IMAGE_SIZE, 3), shade, np.uint8)
    names = np.full((2, len(NAMES), GRID, GRID), shade, np.uint8)
    facts = np.array(json.dumps([{"shade": shade}, {"shade": shade + 1}]))
    np.savez(folder / f"laparoscopy-validation-{number:04}.npz", pixels=pixels, coverage=names, facts=facts)


def test_blocks_are_joined_in_order(tmp_path: Path) -> None:
    for number, shade in ((2, 30), (0, 10), (1, 20)):
        put_block(tmp_path, number, shade)
    pictures = draw_pictures(tmp_path, "laparoscopy", Split.VALIDATION, 2 * BLOCK + 1, 0, silent)
    assert pictures.pixels[:, 0, 0, 0].tolist() == [10, 10, 20, 20, 30, 30]
    assert pictures.coverage[:, 0, 0, 0].tolist() == [10, 10, 20, 20, 30, 30]
    assert [fact["shade"] for fact in pictures.facts] == [10, 11, 20, 21, 30, 31]


def test_of_the_blocks_only_as_many_are_loaded_as_were_asked_for(tmp_path: Path) -> None:
    for number, shade in ((0, 10), (1, 20)):
        put_block(tmp_path, number, shade)
    assert len(draw_pictures(tmp_path, "laparoscopy", Split.VALIDATION, BLOCK, 0, silent).facts) == 2


def test_an_endoscopy_like_frame_is_kept_as_it_is_seen_with_its_names_and_references() -> None:
    frame = draw_endoscopy(Split.TRAIN, 4)
    pixels, names, facts = endoscopy_picture(Split.TRAIN, 4)
    assert np.array_equal(pixels, as_seen(frame.pixels))
    assert np.array_equal(names, endoscopy_names(frame))
    assert facts == facts_of(frame)


def test_the_same_number_of_two_splits_is_another_picture() -> None:
    pictures = [endoscopy_picture(split, 0)[0] for split in Split]
    assert not any(np.array_equal(pictures[a], pictures[b]) for a, b in ((0, 1), (0, 2), (1, 2)))


@pytest.mark.parametrize("number", range(12))
def test_a_laparoscopy_like_frame_comes_with_its_plain_questions_and_each_copy_with_those_of_its_cue(
    number: int,
) -> None:
    plain, *copies = surgical_pictures(Split.TRAIN, number)
    drawn = draw_laparoscopy(Split.TRAIN, number)
    pairs = all_pairs(scene_of(drawn, f"{number + 1}_1.jpg")).pairs
    rows = [[pair.task, pair.original, pair.less_biased, pair.reference] for pair in pairs]
    assert np.array_equal(plain[0], as_seen(drawn.frame.pixels))
    assert plain[2] == [row for row, pair in zip(rows, pairs, strict=True) if pair.drawing is None]
    assert not plain[1][RED].any()
    cues: dict[tuple[int | None, str], list[list[str]]] = {}
    for row, pair in zip(rows, pairs, strict=True):
        if pair.drawing is not None:
            cues.setdefault((pair.annotation_id, pair.cue), []).append(row)
    assert len(copies) == min(DRAWN_CUES, len(cues))
    for pixels, names, asked in copies:
        assert not np.array_equal(pixels, plain[0])
        assert names[RED].any()
        assert np.array_equal(np.delete(names, RED, 0), np.delete(plain[1], RED, 0))
        assert asked in cues.values()


def seen_by_processor(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    processor = build_processor(build_tokenizer(["a"]))
    values = processor.image_processor(images=Image.fromarray(pixels), return_tensors="pt").pixel_values[0]
    return np.asarray((values.permute(1, 2, 0) + 1) * 127.5, dtype=float)


@pytest.mark.parametrize("shape", [(512, 512), (480, 854)])
def test_a_frame_is_squeezed_as_the_processor_squeezes_it(shape: tuple[int, int]) -> None:
    endoscopic, surgical = draw_endoscopy(Split.TRAIN, 1).pixels, draw_laparoscopy(Split.TRAIN, 1).frame.pixels
    pixels = endoscopic if shape == (512, 512) else surgical
    assert pixels.shape[:2] == shape
    away = np.abs(as_seen(pixels) - seen_by_processor(pixels))
    assert away.max() <= 1.01  # one grey level, by rounding
