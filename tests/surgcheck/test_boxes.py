"""Boxes and the spatial rule of LG-CVS, with values worked out by hand."""

import pytest
from hypothesis import given

from backend.surgcheck.boxes import Box, Relation, iou, overlap, relation
from tests.surgcheck.scenes import HEIGHT, MANY, WIDTH, boxes

MIDDLE = Box(100, 100, 20, 20)

OPPOSITES = {
    Relation.LEFT: Relation.RIGHT,
    Relation.RIGHT: Relation.LEFT,
    Relation.ABOVE: Relation.BELOW,
    Relation.BELOW: Relation.ABOVE,
}


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        (Box(160, 100, 20, 20), Relation.RIGHT),
        (Box(40, 100, 20, 20), Relation.LEFT),
        (Box(100, 160, 20, 20), Relation.BELOW),
        (Box(100, 40, 20, 20), Relation.ABOVE),
        (Box(160, 160, 20, 20), Relation.RIGHT),
        (Box(40, 160, 20, 20), Relation.LEFT),
        (Box(160, 161, 20, 20), Relation.BELOW),
        (Box(102, 102, 10, 10), Relation.INSIDE),
        (Box(90, 90, 40, 40), Relation.OUTSIDE),
        (Box(100, 100, 20, 20), Relation.INSIDE),
        (Box(112, 100, 10, 20), Relation.INSIDE),
        (Box(113, 100, 10, 20), Relation.RIGHT),
        (Box(60, 108, 100, 4), None),
    ],
    ids=[
        "right",
        "left",
        "below, since y grows downwards",
        "above",
        "45 degrees is still right",
        "45 degrees is still left",
        "steeper than 45 degrees is below",
        "wholly inside",
        "wholly around",
        "the same box",
        "80 % of the smaller one shared",
        "70 % of the smaller one shared",
        "a cross round one centre has no direction",
    ],
)
def test_a_thing_lies_where_the_rule_says(thing: Box, expected: Relation | None) -> None:
    assert relation(thing, MIDDLE) == expected


@MANY
@given(boxes(), boxes())
def test_seen_from_the_other_end_the_direction_is_the_opposite(one: Box, other: Box) -> None:
    there, back = relation(one, other), relation(other, one)
    if there in OPPOSITES:
        assert back is OPPOSITES[there]
    else:
        assert back not in OPPOSITES


def test_overlap_and_iou_of_half_shifted_squares() -> None:
    one, other = Box(0, 0, 10, 10), Box(5, 0, 10, 10)
    assert overlap(one, other) == 50
    assert iou(one, other) == 50 / 150
    assert iou(one, one) == 1
    assert overlap(one, Box(10, 0, 10, 10)) == 0


@MANY
@given(boxes())
def test_a_clipped_box_lies_in_the_frame(box: Box) -> None:
    inside = box.clipped(WIDTH, HEIGHT)
    assert inside is not None
    assert 0 <= inside.x < inside.right <= WIDTH
    assert 0 <= inside.y < inside.bottom <= HEIGHT


def test_a_box_beside_the_frame_has_no_part_in_it() -> None:
    assert Box(WIDTH, 0, 10, 10).clipped(WIDTH, HEIGHT) is None
    assert Box(-10, 0, 10, 10).clipped(WIDTH, HEIGHT) is None
