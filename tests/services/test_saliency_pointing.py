"""Pointing on drawn frames: frames drawn again are the shipped ones, scores are worked out by hand, chance is exact."""

import json
from collections.abc import Iterator
from pathlib import Path
from shutil import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from backend.demo.endoscopy import FINDINGS, TEXT, draw_endoscopy
from backend.demo.question_wordings import DEMO_CLASSES
from backend.demo.scenes import Split
from backend.services.demo.shipped import FRAMES
from backend.services.demo.verification_examples import TASKS
from backend.services.saliency_pointing import OBJECTS, pointing_scores, redrawn
from backend.services.saliency_pointing_table import EVERY, pointing_figures, pointing_table
from backend.store.store import Store
from backend.vlm.saliency.geometry import View, paint, regions_of
from backend.vlm.saliency.pointing import pointing_score
from tests.services.pointing_store import GENERATOR, SWAPPED, VERIFIER, kept, make_pointing_store, put_look, unit_of

SIDE = 16
EVEN = np.full((SIDE, SIDE), 0.5 / SIDE**2)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = make_pointing_store(tmp_path / "parallax.duckdb")
    yield made
    made.close()


def cover_of(number: int, *kinds: str) -> np.ndarray:
    """Return, by hand, the share of each cell of 32 × 32 pixels on things of a frame."""
    things = draw_endoscopy(Split.TEST, number - 1).of(*kinds)
    mask = np.any([thing.mask for thing in things], axis=0)
    return np.asarray(mask.reshape(SIDE, 32, SIDE, 32).mean(axis=(1, 3)))


def scores_of(store: Store, name: str = "attention") -> pd.DataFrame:
    scores = pointing_scores(store).scores
    return scores[scores["map"] == name].reset_index(drop=True)


@pytest.mark.parametrize("number", [1, 2, 57, 200])
def test_a_frame_drawn_again_is_the_shipped_one(number: int) -> None:
    frame = redrawn(FRAMES / f"synthetic-{number:04}.webp")
    assert frame is not None
    [own] = [thing.mask for thing in draw_endoscopy(Split.TEST, number - 1).things[:1]]
    np.testing.assert_array_equal(frame.things[0].mask, own)


def test_a_file_that_shows_another_frame_is_left_out(tmp_path: Path) -> None:
    other = tmp_path / "synthetic-0002.webp"
    copy(FRAMES / "synthetic-0003.webp", other)
    assert redrawn(other) is None


def test_a_thing_in_another_place_is_another_frame(tmp_path: Path) -> None:
    pixels = np.array(Image.open(FRAMES / "synthetic-0002.webp").convert("RGB"))
    pixels[200:240, 200:240] = (90, 200, 90)
    moved = tmp_path / "synthetic-0002.png"
    Image.fromarray(pixels).save(moved)
    assert redrawn(moved) is None


@pytest.mark.parametrize("name", ["synthetic-0000.webp", "synthetic-x.webp", "none-0001.webp"])
def test_a_file_without_a_frame_is_left_out(tmp_path: Path, name: str) -> None:
    assert redrawn(tmp_path / name) is None


def test_a_score_on_a_grid_is_worked_out_by_hand() -> None:
    score = pointing_score(np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([[0.0, 0.5], [0.0, 0.0]]))
    assert (score.mass, score.area, score.is_hit, score.times_chance) == (0.375, 0.125, True, 3.0)
    nowhere = pointing_score(np.zeros((2, 2)), np.ones((2, 2)))
    assert (nowhere.mass, nowhere.area, nowhere.is_hit) == (None, 1.0, None)


@given(
    arrays(np.float64, (2, 4), elements=st.sampled_from([0.0, 0.1, 0.25, 1.0])),
    arrays(np.bool_, (8, 8)),
)
def test_a_score_on_a_grid_is_that_of_the_map_painted_onto_pixels(heat: np.ndarray, mask: np.ndarray) -> None:
    cover = mask.reshape(2, 4, 4, 2).mean(axis=(1, 3))
    painted = paint(heat.ravel(), regions_of([View(0, 0, 1, 1, 2, 4)]), (8, 8))
    on_grid, on_pixels = pointing_score(heat, cover), pointing_score(painted, mask)
    assert on_grid.is_hit == on_pixels.is_hit
    assert on_grid.area == pytest.approx(on_pixels.area)
    assert on_grid.mass == (None if on_pixels.mass is None else pytest.approx(on_pixels.mass))


def test_every_built_in_question_class_is_about_something() -> None:
    assert set(OBJECTS) == set(TASKS)
    assert set(OBJECTS) <= set(DEMO_CLASSES)


def test_an_even_map_has_its_chance_inside_and_the_mask_itself_more(store: Store) -> None:
    cover = cover_of(1, "polyp")
    put_look(store, GENERATOR.run_id, unit_of(1, "polyp_count"), kept(EVEN, cover))
    found = pointing_scores(store)
    even, own = found.scores.to_dict("records")
    assert (even["map"], own["map"], even["seat"], even["object"]) == ("attention", "gradient", "generator", "lesion")
    assert even["mass"] == pytest.approx(cover.mean(), rel=1e-3)
    assert even["area"] == pytest.approx(cover.mean())
    assert own["mass"] == pytest.approx((cover**2).sum() / cover.sum(), rel=1e-3)
    assert own["is_hit"] is True
    assert own["chance_hit"] == (cover >= 0.5).mean()
    assert (found.n_looks, found.n_scored) == (1, 1)


def test_a_cell_grid_that_cuts_pixels_still_covers_the_whole_mask(store: Store) -> None:
    even = np.full((24, 24), 1 / 576)
    put_look(store, GENERATOR.run_id, unit_of(1, "polyp_count"), kept(even))
    [area] = pointing_scores(store).scores["area"]
    assert area == pytest.approx(cover_of(1, "polyp").mean(), rel=1e-6)


def test_what_cannot_be_scored_is_counted_by_its_reason(store: Store) -> None:
    put_look(store, GENERATOR.run_id, unit_of(1, "text_presence"), kept(EVEN))
    put_look(store, GENERATOR.run_id, unit_of(2, "text_presence"), kept(EVEN))
    put_look(store, GENERATOR.run_id, unit_of(1, "polyp_count"), kept(None))
    put_look(store, GENERATOR.run_id, unit_of(5, "landmark_presence"), kept(EVEN))
    found = pointing_scores(store)
    assert (found.n_looks, found.n_absent, found.n_other_frame, found.n_no_place, found.n_scored) == (4, 1, 1, 1, 1)
    assert list(found.scores["question_class"]) == ["text_presence"]
    assert draw_endoscopy(Split.TEST, 1).of(TEXT) == ()


def test_verdicts_count_where_the_verifier_was_shown_the_frame(store: Store) -> None:
    for run in (GENERATOR, VERIFIER, SWAPPED):
        put_look(store, run.run_id, unit_of(1, "polyp_count"), kept(EVEN))
    assert sorted(pointing_scores(store).scores["seat"]) == ["generator", "verifier"]


def test_a_look_at_an_answer_that_was_replaced_does_not_count(store: Store) -> None:
    put_look(store, GENERATOR.run_id, unit_of(1, "polyp_count"), kept(EVEN))
    with store.write() as cursor:
        cursor.execute("UPDATE answers SET answer = 'no'")
    assert pointing_scores(store).n_looks == 0


def test_the_map_of_the_next_frame_stands_beside_and_the_first_follows_the_last(store: Store) -> None:
    covers = {number: cover_of(number, *FINDINGS) for number in (1, 2, 3)}
    for number, cover in covers.items():
        put_look(store, GENERATOR.run_id, unit_of(number, "abnormality_presence"), kept(cover / cover.sum() / 2))
    scores = scores_of(store)
    for row, following in zip(scores.to_dict("records"), (2, 3, 1), strict=True):
        own = covers[int(row["image_id"][-4:])]
        expected = (covers[following] * own).sum() / covers[following].sum()
        assert row["other_mass"] == pytest.approx(expected, rel=2e-3)


def test_a_frame_alone_has_no_other_map_beside(store: Store) -> None:
    put_look(store, GENERATOR.run_id, unit_of(1, "polyp_count"), kept(EVEN))
    put_look(store, GENERATOR.run_id, unit_of(1, "abnormality_presence"), kept(EVEN))
    put_look(store, VERIFIER.run_id, unit_of(2, "polyp_count"), kept(EVEN))
    assert list(scores_of(store)["other_mass"]) == [None, None, None]


def a_score(image: str, mass: float | None, area: float, **more: object) -> dict[str, object]:
    return {
        "vlm": "Atlas", "seat": "generator", "map": "attention", "object": "lesion", "question_class": "polyp_count",
        "image_id": image, "run_id": "r", "probe_id": image, "mass": mass, "area": area,
        "is_hit": None if mass is None else mass > 0.3, "chance_hit": 0.25, "other_mass": None, **more,
    }  # fmt: skip


def test_sums_are_ratios_of_means_with_intervals_that_hold_them() -> None:
    scores = pd.DataFrame(
        [
            a_score("a", 0.5, 0.1, other_mass=0.1),
            a_score("b", 0.1, 0.2, other_mass=0.2),
            a_score("b", 0.3, 0.1),
            a_score("c", None, 0.9),
            a_score("c", 0.3, 0.2, object="instrument", seat="verifier"),
        ],
        dtype=object,
    )
    table = pointing_table(scores)
    assert list(zip(table["object"], table["seat"], table["n"], strict=True)) == [
        (EVERY, "generator", 3), (EVERY, "verifier", 1), ("instrument", "verifier", 1), ("lesion", "generator", 3),
    ]  # fmt: skip
    row = table.to_dict("records")[0]
    assert (row["n_images"], row["n_other"], row["hits_k"]) == (2, 2, 1)
    assert row["mass"] == pytest.approx(0.3)
    assert row["area"] == pytest.approx(0.4 / 3)
    assert row["times_chance"] == pytest.approx(0.9 / 0.4)
    assert row["times_other"] == pytest.approx(0.6 / 0.3)
    assert (row["times_chance_low"], row["times_chance_high"]) == (pytest.approx(4 / 3), pytest.approx(5))
    assert row["hits_low"] < 1 / 3 < row["hits_high"]
    assert row["chance_hit"] == 0.25
    alone = table.to_dict("records")[1]
    assert (alone["times_chance"], alone["times_chance_low"], alone["times_other"]) == (pytest.approx(1.5), None, None)


def test_a_store_without_looks_has_no_figures(store: Store) -> None:
    assert pointing_figures(store) == {
        "n_looks": 0, "n_scored": 0, "n_absent": 0, "n_other_frame": 0, "n_no_place": 0, "rows": [],
    }  # fmt: skip


def test_figures_can_be_written_as_json(store: Store) -> None:
    put_look(store, GENERATOR.run_id, unit_of(1, "polyp_count"), kept(EVEN, EVEN))
    figures = pointing_figures(store)
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    assert figures["rows"][0]["times_chance"] == pytest.approx(1, rel=1e-3)
