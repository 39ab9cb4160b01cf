"""An endoscopy-like frame is always the same, and lists exactly what can be seen in it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from backend.demo.endoscopy import (
    BOX,
    COLITIS,
    FINDINGS,
    INSTRUMENTS,
    LANDMARKS,
    OESOPHAGITIS,
    POLYP,
    RESECTION,
    TEXT,
    draw_endoscopy,
)
from backend.demo.endoscopy.layer import Layer, Pixels, visible
from backend.demo.scenes import Frame, Split, Thing, cells_of

KINDS = {*FINDINGS, RESECTION, *INSTRUMENTS, *LANDMARKS, BOX, TEXT}
HARD = {"small", "dark", "blurred", "half hidden", "several instruments"}


@pytest.fixture(scope="module")
def frames() -> list[Frame]:
    return [draw_endoscopy(Split.TEST, number) for number in range(150)]


def masked(height: int, width: int, *places: tuple[int, int]) -> NDArray[np.bool_]:
    """A mask of these (row, column) pixels."""
    mask = np.zeros((height, width), np.bool_)
    for place in places:
        mask[place] = True
    return mask


def same(a: Frame, b: Frame) -> bool:
    return (
        np.array_equal(a.pixels, b.pixels)
        and a.hard == b.hard
        and [thing.kind for thing in a.things] == [thing.kind for thing in b.things]
        and all(np.array_equal(s.mask, t.mask) for s, t in zip(a.things, b.things, strict=True))
    )


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(Split), st.integers(0, 10**9))
def test_the_same_number_of_a_split_is_the_same_frame_to_the_pixel(split: Split, number: int) -> None:
    assert same(draw_endoscopy(split, number), draw_endoscopy(split, number))


def test_another_number_is_another_frame() -> None:
    assert not np.array_equal(draw_endoscopy(Split.TRAIN, 5).pixels, draw_endoscopy(Split.TRAIN, 6).pixels)


def test_the_same_number_of_another_split_is_another_frame() -> None:
    drawn = [draw_endoscopy(split, 5).pixels for split in Split]
    assert not any(np.array_equal(drawn[a], drawn[b]) for a, b in ((0, 1), (0, 2), (1, 2)))


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(Split), st.integers(0, 10**9))
def test_every_pixel_belongs_to_one_thing_at_most_and_every_thing_can_be_seen(split: Split, number: int) -> None:
    frame = draw_endoscopy(split, number)
    assert frame.pixels.shape == (512, 512, 3) and frame.pixels.dtype == np.uint8
    owners = np.zeros((512, 512), int)
    for thing in frame.things:
        assert thing.kind in KINDS
        assert thing.mask.shape == (512, 512) and thing.mask.dtype == np.bool_
        assert thing.mask.sum() >= 40
        owners += thing.mask
    assert owners.max() <= 1
    assert set(frame.hard) <= HARD


def test_the_counts_of_a_frame_stay_what_was_asked_for(frames: list[Frame]) -> None:
    for frame in frames:
        assert len(frame.of(POLYP)) <= 4
        assert len(frame.of(RESECTION)) <= 1
        assert len(frame.of(OESOPHAGITIS)) <= 2 and len(frame.of(COLITIS)) <= 2
        assert not (frame.of(OESOPHAGITIS) and frame.of(COLITIS))
        assert len(frame.of(*LANDMARKS)) <= 1
        assert len(frame.of(*INSTRUMENTS)) <= 3
        assert len(frame.of(BOX)) <= 1 and len(frame.of(TEXT)) <= 1


def test_every_kind_and_every_difficulty_occurs(frames: list[Frame]) -> None:
    assert {thing.kind for frame in frames for thing in frame.things} == KINDS
    assert {reason for frame in frames for reason in frame.hard} == HARD


def test_no_answer_to_a_yes_no_question_wins_by_far(frames: list[Frame]) -> None:
    for kinds in ((POLYP,), INSTRUMENTS, LANDMARKS, (BOX,), (TEXT,)):
        share = np.mean([bool(frame.of(*kinds)) for frame in frames])
        assert 0.25 < share < 0.8, kinds


def test_several_instruments_are_hard_and_one_is_not(frames: list[Frame]) -> None:
    for frame in frames:
        assert ("several instruments" in frame.hard) == (len(frame.of(*INSTRUMENTS)) > 1)


def test_only_a_frame_with_a_polyp_is_hard_for_one(frames: list[Frame]) -> None:
    for frame in frames:
        if {"small", "half hidden"} & set(frame.hard):
            assert frame.of(POLYP)


def test_nothing_lies_on_the_black_border_but_box_and_text(frames: list[Frame]) -> None:
    corners = np.zeros((512, 512), np.bool_)
    corners[:30, :30] = corners[:30, -30:] = corners[-30:, :30] = corners[-30:, -30:] = True
    for frame in frames:
        overlays = np.zeros((512, 512), np.bool_)
        for thing in frame.things:
            if thing.kind in (BOX, TEXT):
                overlays |= thing.mask
            else:
                assert not (thing.mask & corners).any()
        # Glyph edges fade out over about a pixel round the mask.
        near = np.pad(overlays, 2)
        near = np.logical_or.reduce([near[r : r + 512, c : c + 512] for r in range(5) for c in range(5)])
        assert frame.pixels[corners & ~near].max(initial=0) == 0


def test_the_box_lies_at_the_lower_left_in_green_or_dark(frames: list[Frame]) -> None:
    for frame in frames:
        for box in frame.of(BOX):
            x, y, width, height = box.box
            assert x < 20 and y + height > 480 and width < 150
            red, green, blue = np.median(frame.pixels[box.mask], axis=0)
            assert green >= red and (green > blue or max(red, green, blue) < 60)


def test_letters_are_pale_whatever_the_exposure(frames: list[Frame]) -> None:
    for frame in frames:
        for text in frame.of(TEXT):
            assert np.median(frame.pixels[text.mask].max(-1)) > 200


def test_dark_frames_are_darker(frames: list[Frame]) -> None:
    middle = {
        dark: np.mean([frame.pixels[180:330, 180:330].mean() for frame in frames if ("dark" in frame.hard) == dark])
        for dark in (True, False)
    }
    assert middle[True] < 0.7 * middle[False]


def nothing(pixels: Pixels) -> None:
    """Paint nothing."""


def layer(kind: str, rows: slice, columns: slice, least_share: float = 0.3, is_overlay: bool = False) -> Layer:
    mask = np.zeros((20, 20), np.uint8)
    mask[rows, columns] = 255
    return Layer(kind, mask, nothing, least_share, is_overlay)


FIELD = np.ones((20, 20), np.bool_)


def test_what_is_painted_later_hides_what_was_painted_before() -> None:
    low, high = layer("low", slice(0, 10), slice(0, 10)), layer("high", slice(0, 5), slice(0, 20))
    seen = visible([low, high], FIELD)
    assert [(each.layer.kind, each.mask.sum()) for each in seen] == [("low", 50), ("high", 100)]


def test_what_is_hidden_too_far_is_left_out() -> None:
    low, high = layer("low", slice(0, 10), slice(0, 10), 0.6), layer("high", slice(0, 5), slice(0, 20))
    assert [each.layer.kind for each in visible([low, high], FIELD)] == ["high"]


def test_fewer_than_forty_pixels_are_left_out_however_large_their_share() -> None:
    low, high = layer("39", slice(0, 3), slice(0, 13)), layer("40", slice(10, 14), slice(0, 10))
    assert [each.layer.kind for each in visible([low, high], FIELD)] == ["40"]


def test_what_is_left_out_hides_nothing() -> None:
    """The middle keeps 20 of its 100 pixels and goes; the low one then keeps 100 of 160, not 80."""
    low = layer("low", slice(0, 8), slice(0, 20), 0.6)
    middle = layer("middle", slice(0, 10), slice(0, 10))
    high = layer("high", slice(2, 10), slice(0, 10))
    seen = visible([low, middle, high], FIELD)
    assert [(each.layer.kind, each.mask.sum()) for each in seen] == [("low", 100), ("high", 80)]


def test_outside_the_field_only_an_overlay_is_seen() -> None:
    field = FIELD.copy()
    field[:, :10] = False
    thing = layer("thing", slice(0, 5), slice(0, 20))
    overlay = layer("overlay", slice(10, 15), slice(0, 20), is_overlay=True)
    assert [each.mask.sum() for each in visible([thing, overlay], field)] == [50, 100]


def test_a_frame_finds_its_things_by_kind_in_the_order_drawn() -> None:
    things = tuple(Thing(kind, masked(3, 3, (0, k))) for k, kind in enumerate((POLYP, TEXT, POLYP)))
    frame = Frame(np.zeros((3, 3, 3), np.uint8), things)
    assert frame.of(POLYP) == (things[0], things[2])
    assert frame.of(POLYP, TEXT) == things
    assert frame.of(BOX) == ()


def test_a_box_goes_round_the_visible_pixels() -> None:
    assert Thing(POLYP, masked(6, 8, (1, 2), (4, 5))).box == (2, 1, 4, 4)
    assert Thing(POLYP, masked(6, 8, (0, 7))).box == (7, 0, 1, 1)


ONE_IN_EACH = [(row, column) for row in (1, 4, 7) for column in (1, 4, 7)]


@pytest.mark.parametrize(
    ("places", "cells"),
    [
        ([(0, 0)], ("upper-left",)),
        ([(2, 2), (3, 3)], ("upper-left", "center")),
        # Three pixels of four in one cell, one in the next: just a quarter.
        ([(4, 0), (4, 1), (4, 2), (4, 3)], ("center-left", "center")),
        # One of five is less than a quarter.
        ([(4, 0), (4, 1), (4, 2), (5, 0), (4, 3)], ("center-left",)),
        # Two ninths in the left cell, four in the middle, three at the right.
        ([*((7, c) for c in range(1, 9)), (8, 4)], ("lower-center", "lower-right")),
        # No cell holds a quarter: the fullest one.
        ([*ONE_IN_EACH, (8, 8)], ("lower-right",)),
    ],
)
def test_a_thing_lies_where_a_quarter_of_it_is_seen(places: list[tuple[int, int]], cells: tuple[str, ...]) -> None:
    assert cells_of(masked(9, 9, *places)) == cells


@settings(max_examples=50, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 10), st.integers(0, 13)), min_size=1))
def test_a_thing_always_lies_somewhere(places: set[tuple[int, int]]) -> None:
    cells = cells_of(masked(11, 14, *places))
    assert cells and len(set(cells)) == len(cells)
