"""Hops from a target to the structures beside it, worked out by hand."""

import pytest

from backend.surgcheck.anatomy_hops import hops_from
from backend.surgcheck.boxes import Box
from backend.surgcheck.exclusions import Reason
from backend.surgcheck.scene_graphs import Anatomy

TARGET = Anatomy(1, "gallbladder", Box(400, 200, 40, 40))
LARGER = Anatomy(2, "gallbladder", Box(100, 100, 60, 60))
RIGHT_NEAR = Anatomy(3, "cystic_duct", Box(460, 200, 40, 40))
RIGHT_FAR = Anatomy(4, "cystic_artery", Box(560, 200, 40, 40))
RIGHT_AGAIN = Anatomy(5, "cystic_duct", Box(620, 200, 40, 40))
BELOW = Anatomy(6, "calot_triangle", Box(400, 300, 40, 40))
ABOVE = Anatomy(7, "cystic_plate", Box(400, 120, 40, 40))
LEFT = Anatomy(8, "cystic_artery", Box(200, 200, 40, 40))
INSIDE = Anatomy(9, "cystic_artery", Box(410, 210, 10, 10))
CROSSING = Anatomy(10, "cystic_artery", Box(300, 215, 240, 10))


@pytest.mark.parametrize(
    ("others", "hops", "excluded"),
    [
        ([TARGET, RIGHT_NEAR], [("right", "cystic_duct")], []),
        ([TARGET, BELOW, ABOVE], [("above", "cystic_plate"), ("below", "calot_triangle")], []),
        (
            [TARGET, LEFT, BELOW, ABOVE],
            [("above", "cystic_plate"), ("below", "calot_triangle")],
            [Reason.BEYOND_TWO_HOPS],
        ),
        ([TARGET, RIGHT_NEAR, RIGHT_FAR, ABOVE], [("above", "cystic_plate")], [Reason.SHARED_DIRECTION] * 2),
        ([TARGET, RIGHT_NEAR, RIGHT_AGAIN], [("right", "cystic_duct")], []),
        ([TARGET, INSIDE, ABOVE], [("above", "cystic_plate")], [Reason.INSIDE_TARGET]),
        ([TARGET, CROSSING], [], [Reason.NO_DIRECTION]),
        ([TARGET], [], [Reason.NO_NEIGHBOUR]),
        ([ABOVE], [], [Reason.TARGET_NOT_BOXED]),
        ([TARGET, LARGER, ABOVE], [], [Reason.TARGET_BOXED_TWICE]),
    ],
    ids=[
        "one neighbour",
        "the nearest first",
        "at most two, the nearest",
        "two classes in one direction are ambiguous",
        "one class twice in one direction is one answer",
        "inside the target is no direction",
        "one centre is no direction",
        "nothing else is boxed",
        "the target is not boxed",
        "two boxes of the target",
    ],
)
def test_a_strict_hop_has_one_answer(
    others: list[Anatomy], hops: list[tuple[str, str]], excluded: list[Reason]
) -> None:
    found = hops_from("gallbladder", others, strict=True)
    assert list(found.hops) == hops
    assert list(found.excluded) == excluded


def test_an_official_hop_may_have_two_answers_and_starts_at_the_largest_box() -> None:
    found = hops_from("gallbladder", [TARGET, RIGHT_NEAR, RIGHT_FAR], strict=False)
    assert list(found.hops) == [("right", "cystic_duct"), ("right", "cystic_artery")]
    assert hops_from("gallbladder", [TARGET, LARGER, LEFT], strict=False).hops == (("right", "cystic_artery"),)
