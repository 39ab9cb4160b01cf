"""The reason of a wrong value says what the reference has instead, and of a right one nothing more."""

import pytest

from backend.endoca.scoring import Atom, score_answer

REASONS = [
    ("polyp_count", "2", "one polyp", "counts 1 polyp; the reference is 2"),
    ("polyp_count", "2", "two polyps", "counts 2 polyps"),
    ("polyp_count", "2", "some polyps", "gives no exact number of polyps"),
    ("instrument_presence", "none", "A tube is visible.", "names tube; the reference is none"),
    ("instrument_presence", "tube", "no instruments", "states that there is no instrument; the reference is tube"),
    (
        "instrument_presence",
        "tube",
        "a tube and a polyp snare",
        "names polyp snare and tube; the reference does not have polyp snare",
    ),
    (
        "instrument_presence",
        "polyp snare; tube; metal clip",
        "a tube",
        "names tube; the reference also has metal clip and polyp snare",
    ),
    (
        "instrument_location",
        "center; upper-left",
        "in the center and the lower right",
        "places the instrument in center and lower-right; the reference has upper-left instead of lower-right",
    ),
    ("abnormality_color", "red", "pink", "names the colour pink; the reference is red"),
    (
        "polyp_removal_status",
        "not relevant",
        "All polyps were removed.",
        "says that all polyps were removed; the reference is not relevant",
    ),
    (
        "polyp_removal_status",
        "no",
        "no residual polyps",
        "says that no polyps are left; the reference is no",
    ),
]


@pytest.mark.parametrize(("name", "reference", "answer", "reason"), REASONS)
def test_a_reason_ends_with_what_the_reference_has_where_they_differ(
    name: str, reference: str, answer: str, reason: str
) -> None:
    (atom,) = score_answer("", [Atom(name, reference)], answer).atoms
    assert atom.reason == reason


def test_the_reference_changes_neither_the_value_read_nor_the_rule() -> None:
    answers = ("one polyp", "none", "2", "several polyps", "possibly one")
    for answer in answers:
        read = {
            (atom.parsed, atom.rule)
            for reference in ("0", "1", "2", "16")
            for atom in score_answer("How many polyps are there?", [Atom("polyp_count", reference)], answer).atoms
        }
        assert len(read) == 1
