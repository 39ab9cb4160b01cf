"""Exact match leaves aside case and spaces, and nothing else."""

import pytest

from backend.surgcheck.scoring import exact_match


@pytest.mark.parametrize(
    ("answer", "reference", "right"),
    [
        ("cystic_duct", "cystic_duct", True),
        ("  Cystic_Duct \n", "cystic_duct", True),
        ("grasper,  retract, gallbladder", "grasper, retract, gallbladder", True),
        ("cystic duct", "cystic_duct", False),
        ("grasper, retract", "grasper, retract, gallbladder", False),
        ("Yes.", "Yes", False),
        ("", "Yes", False),
    ],
)
def test_an_answer_is_right_where_it_is_the_reference(answer: str, reference: str, right: bool) -> None:
    assert exact_match(answer, reference) is right
