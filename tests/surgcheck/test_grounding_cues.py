"""Where cues point: geometry worked out by hand, and the release's own drawings and words."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.surgcheck.boxes import Box, Relation, overlap
from backend.surgcheck.exclusions import Reason
from backend.surgcheck.grounding_cues import Arrow, Outline, arrow_cue, box_cue, periphrasis_cue, position_word
from backend.surgcheck.scene_graphs import Hand
from tests.surgcheck.scenes import HANDMADE, HEIGHT, MANY, WIDTH, boxes, read_lines

OUTSIDE = Box(WIDTH, 10, 50, 50)


def around(x: float, y: float) -> Box:
    """A small box with this centre."""
    return Box(x - 5, y - 5, 10, 10)


@pytest.mark.parametrize(
    ("box", "word"),
    [
        (around(140, 80), "top-left"),
        (around(427, 80), "top"),
        (around(700, 80), "top-right"),
        (around(140, 240), "left"),
        (around(427, 240), "center"),
        (around(700, 240), "right"),
        (around(140, 400), "bottom-left"),
        (around(427, 400), "bottom"),
        (around(700, 400), "bottom-right"),
        (around(284, 159), "top-left"),
        (around(284, 160), "left"),
        (around(854 / 3, 160), "center"),
        (Box(854 / 3 - 100, 100, 200, 120), "center"),
        (around(2 * 854 / 3, 320), "bottom-right"),
        (Box(-600, 0, 700, 100), "top-left"),
        (Box(500, 300, 900, 900), "bottom-right"),
        (Box(0, 0, 854, 480), "center"),
    ],
)
def test_a_position_is_the_cell_of_the_boxs_centre(box: Box, word: str) -> None:
    assert position_word(box, WIDTH, HEIGHT) == word


@MANY
@given(boxes())
def test_every_box_that_shows_has_a_position(box: Box) -> None:
    assert not isinstance(position_word(box, WIDTH, HEIGHT), Reason)


def test_the_words_are_the_releases_for_every_box_it_drew(shared: Path) -> None:
    derived = shared / "data" / "endoscapes" / "derived"
    words = {
        (facts["frame"], tool["slot"]): tool["position"]
        for facts in read_lines(derived / "test_scene_facts.jsonl")
        for tool in facts["tools"]
    }
    drawn = json.loads((derived / "overlay_measurements.json").read_text("utf-8"))
    compared = 0
    for row in drawn:
        if row["kind"] == "bbox":
            x1, y1, x2, y2 = row["outer_xyxy"]
            assert (
                position_word(Box(x1, y1, x2 + 1 - x1, y2 + 1 - y1), WIDTH, HEIGHT) == words[row["frame"], row["slot"]]
            )
            compared += 1
    assert compared == 15


@pytest.mark.parametrize(
    ("box", "outline"),
    [
        (Box(100, 100, 50, 40), Outline(Box(100, 100, 50, 40), 4, padded=False)),
        (Box(-20, 400, 60, 200), Outline(Box(0, 400, 40, 80), 4, padded=False)),
        (Box(100, 100, 12, 12), Outline(Box(100, 100, 12, 12), 4, padded=False)),
        (Box(100, 100, 50, 4), Outline(Box(100, 96, 50, 12), 4, padded=True)),
        (Box(846, 472, 6, 6), Outline(Box(842, 468, 12, 12), 4, padded=True)),
        (Box(-3, 100, 6, 20), Outline(Box(0, 100, 12, 20), 4, padded=True)),
        (OUTSIDE, Reason.OUTSIDE_FRAME),
    ],
    ids=["as it is", "clipped", "just large enough", "thin", "tiny in a corner", "tiny once clipped", "outside"],
)
def test_an_outline_follows_the_box(box: Box, outline: Outline | Reason) -> None:
    assert box_cue(box, WIDTH, HEIGHT) == outline


def test_lines_grow_with_the_frame() -> None:
    assert box_cue(Box(100, 100, 20, 40), 2 * WIDTH, 2 * HEIGHT) == Outline(Box(98, 100, 24, 40), 8, padded=True)
    assert box_cue(Box(10, 10, 20, 20), 100, 100) == Outline(Box(10, 10, 20, 20), 1, padded=False)


@MANY
@given(boxes())
def test_an_outline_lies_in_the_frame_and_round_what_shows_of_the_box(box: Box) -> None:
    outline, inside = box_cue(box, WIDTH, HEIGHT), box.clipped(WIDTH, HEIGHT)
    assert isinstance(outline, Outline)
    assert inside is not None
    drawn = outline.box
    assert drawn.width >= 12 - 1e-9
    assert drawn.height >= 12 - 1e-9
    assert drawn.x >= 0
    assert drawn.y >= 0
    assert drawn.right <= WIDTH + 1e-9
    assert drawn.bottom <= HEIGHT + 1e-9
    assert overlap(drawn, inside) == pytest.approx(inside.area)
    assert outline.padded or drawn == inside


RIGHT, LEFT, BELOW, ABOVE = Relation.RIGHT, Relation.LEFT, Relation.BELOW, Relation.ABOVE


@pytest.mark.parametrize(
    ("box", "others", "side", "tip", "length"),
    [
        (Box(100, 100, 50, 40), [], RIGHT, (150, 120), 80),
        (Box(700, 100, 74, 40), [], RIGHT, (774, 120), 80),
        (Box(700, 100, 75, 40), [], LEFT, (700, 120), 80),
        (Box(0, 0, 854, 150), [], BELOW, (427, 150), 80),
        (Box(0, 330, 854, 150), [], ABOVE, (427, 330), 80),
        (Box(400, 470, 50, 10), [], RIGHT, (450, 468), 80),
        (Box(-20, -20, 60, 30), [], RIGHT, (40, 12), 80),
        (Box(0, 100, 854, 300), [], BELOW, (427, 400), 80),
        (Box(30, 40, 794, 400), [], BELOW, (427, 440), 40),
        (Box(24, 0, 830, 480), [], LEFT, (24, 240), 24),
        (Box(100, 100, 50, 40), [Box(150, 100, 200, 40)], LEFT, (100, 120), 80),
        (Box(20, 200, 50, 40), [Box(70, 100, 200, 240)], BELOW, (45, 240), 80),
        (Box(100, 100, 50, 40), [Box(0, 0, 854, 480)], RIGHT, (150, 120), 80),
    ],
    ids=[
        "right is first",
        "just enough room on the right",
        "one pixel too little on the right",
        "neither right nor left, so below",
        "only above",
        "moved up so that the head stays inside",
        "a box beyond the corner counts as far as it shows",
        "exactly enough room below",
        "shortened where it is longest",
        "shortened to the least",
        "another box on the right",
        "another box on the right, no room on the left",
        "another box everywhere",
    ],
)
def test_an_arrow_touches_its_box_from_the_first_free_side(
    box: Box, others: list[Box], side: Relation, tip: tuple[float, float], length: float
) -> None:
    arrow = arrow_cue(box, WIDTH, HEIGHT, others)
    assert arrow == Arrow(tip, side, length, shaft_width=9, head_length=20, head_width=24)


@pytest.mark.parametrize(
    ("box", "reason"),
    [
        (Box(0, 0, 854, 480), Reason.NO_ROOM_FOR_ARROW),
        (Box(23, 23, 808, 434), Reason.NO_ROOM_FOR_ARROW),
        (OUTSIDE, Reason.OUTSIDE_FRAME),
    ],
)
def test_an_arrow_that_cannot_be_drawn_has_a_reason(box: Box, reason: Reason) -> None:
    assert arrow_cue(box, WIDTH, HEIGHT) is reason


def test_an_arrow_grows_with_the_frame() -> None:
    arrow = arrow_cue(Box(200, 200, 100, 80), 2 * WIDTH, 2 * HEIGHT)
    assert arrow == Arrow((300, 240), RIGHT, 160, shaft_width=18, head_length=40, head_width=48)


def test_a_frame_lower_than_an_arrows_head_has_no_arrow_from_the_side() -> None:
    assert arrow_cue(Box(400, 0, 20, 20), WIDTH, 20) is Reason.NO_ROOM_FOR_ARROW


@MANY
@given(boxes(), st.lists(boxes(), max_size=4))
def test_a_whole_arrow_lies_in_the_frame_and_misses_its_box(box: Box, others: list[Box]) -> None:
    arrow, inside = arrow_cue(box, WIDTH, HEIGHT, others), box.clipped(WIDTH, HEIGHT)
    assert inside is not None
    if isinstance(arrow, Reason):
        assert arrow is Reason.NO_ROOM_FOR_ARROW
        assert max(inside.x, WIDTH - inside.right, inside.y, HEIGHT - inside.bottom) < 24
        return
    assert 24 <= arrow.length <= 80
    assert overlap(arrow.box, inside) == pytest.approx(0)
    drawn = arrow.box.clipped(WIDTH, HEIGHT)
    assert drawn is not None
    assert drawn.area == pytest.approx(arrow.box.area)


@pytest.mark.parametrize(
    ("hand", "others", "expected"),
    [
        (Hand.LEFT, [Hand.RIGHT], Hand.LEFT),
        (Hand.LEFT, [], Hand.LEFT),
        (Hand.LEFT, [None], Hand.LEFT),
        (Hand.LEFT, [Hand.RIGHT, Hand.LEFT], Reason.SHARED_HAND),
        (None, [Hand.LEFT], Reason.NO_HAND),
        (None, [None], Reason.NO_HAND),
    ],
)
def test_a_hand_describes_a_tool_only_where_it_holds_no_other(
    hand: Hand | None, others: list[Hand | None], expected: Hand | Reason
) -> None:
    assert periphrasis_cue(hand, others) is expected


def test_positions_noted_with_the_real_frames_are_met(shared: Path) -> None:
    coco = json.loads((shared / HANDMADE / "handmade_real_frames_partial_coco.json").read_text("utf-8"))
    for row in coco["annotations"]:
        assert position_word(Box(*row["bbox"]), WIDTH, HEIGHT) == row["handmade_expected_position"]
