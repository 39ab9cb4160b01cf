"""The paper's rules, and those settled where the paper is silent, one by one."""

import pytest

from backend.endoca.scoring.reader import read_answer

TEXT = ("Is there any text?", "text_presence")
BOX = ("Is there a green/black box artefact?", "box_artifact_presence")
POLYPS = ("How many polyps are there?", "polyp_count")
INSTRUMENTS = ("Which instruments are visible?", "instrument_presence")
WHERE = ("Where is the instrument?", "instrument_location")
REMOVED = ("Have all polyps been removed?", "polyp_removal_status")
REMAINING = ("Are any polyps left behind?", "polyp_removal_status")
SIZE = ("How large is the polyp?", "polyp_size")
LANDMARKS = ("Which landmarks are visible?", "landmark_presence")


def read(asked: tuple[str, str], answer: str) -> str | None:
    question, name = asked
    return read_answer(question, (name,), answer)[0].parsed


@pytest.mark.parametrize("hedge", ["Likely", "Probably", "Possibly", "Perhaps", "Presumably"])
def test_a_hedge_is_non_committal(hedge: str) -> None:
    assert read(POLYPS, f"{hedge} one polyp.") is None
    assert read(TEXT, f"{hedge} there is no text.") is None
    assert read(INSTRUMENTS, f"{hedge} a tube") is None


@pytest.mark.parametrize("verb", ["may be", "might be", "could be", "is suspected to be"])
def test_a_modal_verb_is_a_hedge(verb: str) -> None:
    assert read(TEXT, f"Text {verb} present in the corner.") is None


@pytest.mark.parametrize("opening", ["It appears that there is", "There seems to be", "There appears to be", "I see"])
def test_appears_and_seems_are_ordinary_style(opening: str) -> None:
    assert read(POLYPS, f"{opening} one polyp.") == "1"


@pytest.mark.parametrize("adjective", ["obvious", "significant", "clear", "definite", "visible", "discernible"])
def test_no_obvious_thing_is_no(adjective: str) -> None:
    assert read(TEXT, f"No {adjective} text.") == "no"
    assert read(INSTRUMENTS, f"No {adjective} instruments.") == "no"
    assert read(POLYPS, f"No {adjective} polyps.") == "0"


@pytest.mark.parametrize(
    "answer",
    [
        "It cannot be determined.",
        "This is impossible to say.",
        "Unclear",
        "Unknown",
        "N/A",
        "I am not sure.",
        "I don't know.",
    ],
)
@pytest.mark.parametrize("asked", [TEXT, BOX, POLYPS, INSTRUMENTS, WHERE, LANDMARKS])
def test_saying_that_nothing_can_be_said_is_non_committal(asked: tuple[str, str], answer: str) -> None:
    assert read(asked, answer) is None


@pytest.mark.parametrize(
    "count", ["Multiple", "Several", "At least two", "About two", "More than two", "Up to two", "Two or three"]
)
def test_a_quantity_that_is_no_number_is_no_count(count: str) -> None:
    assert read(POLYPS, f"{count} polyps are seen.") is None


@pytest.mark.parametrize("dash", list("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"))
def test_a_range_is_no_count_with_any_dash(dash: str) -> None:
    assert read(POLYPS, f"2{dash}3 polyps") is None


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        ("A polyp", "1"),
        ("One small and three larger polyps", "4"),
        ("A pair of polyps", "2"),
        ("Four (4) polyps", "4"),
        ("no polyps except two", "2"),
        ("Two polyps of 4 mm and 6 mm", "2"),
        ("One polyp; the overlay reads 12/03/2019 and 14:05", "1"),
        ("In 2019 one polyp was seen", "1"),
    ],
)
def test_numbers_count_polyps_and_nothing_else(answer: str, count: str) -> None:
    assert read(POLYPS, answer) == count


def test_yes_and_no_is_ambiguous_and_never_a_list() -> None:
    assert read(TEXT, "yes and no") is None
    both = read_answer("Is there text and is there a box?", ("text_presence", "box_artifact_presence"), "yes and no")
    assert [r.parsed for r in both] == [None, None]


@pytest.mark.parametrize(
    "answer",
    [
        "Yes, there is no text.",
        "No, a caption is visible.",
        "Text is present. Wait, no text is present.",
        "No... actually yes",
    ],
)
def test_a_contradiction_or_a_self_correction_is_ambiguous(answer: str) -> None:
    assert read(TEXT, answer) is None


def test_a_superset_names_the_label_outside_the_vocabulary() -> None:
    assert read(INSTRUMENTS, "a tube and a catheter") == "catheter;tube"
    assert read(LANDMARKS, "the pylorus and the duodenum") == "duodenum;pylorus"


def test_an_organ_that_is_only_the_place_is_no_landmark() -> None:
    assert read(LANDMARKS, "The pylorus is visible in the stomach.") == "pylorus"


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("no residual polyps", "not_applicable or yes"),
        ("nothing remains of the polyps", None),
        ("no polyps were removed", "no or not_applicable"),
        ("a polyp is visible", "no"),
        ("no polyps can be seen", "not_applicable"),
        ("every polyp has been resected", "yes"),
        ("the polyps were only partially resected", "no"),
        ("removal is not applicable", "not_applicable"),
        ("no removal is needed", "not_applicable"),
    ],
)
def test_the_removal_status_is_what_the_statement_fits(answer: str, value: str | None) -> None:
    if value is not None:
        assert read(REMOVED, answer) == value
    else:
        assert read(REMOVED, answer) != "yes"


def test_the_question_can_turn_the_polarity_round() -> None:
    assert read(REMAINING, "Yes") == "no"
    assert read(REMAINING, "No") == "not_applicable or yes"


@pytest.mark.parametrize(
    ("answer", "cells"),
    [
        ("upper", "upper-center"),
        ("the lower part of the image", "lower-center"),
        ("central", "center"),
        ("top right", "upper-right"),
        ("left upper quadrant", "upper-left"),
        ("lower central and left areas", "lower-center;lower-left"),
        ("several areas", None),
        ("center left", "center-left"),
    ],
)
def test_cells_are_named_in_many_ways(answer: str, cells: str | None) -> None:
    assert read(WHERE, answer) == cells


@pytest.mark.parametrize(
    ("answer", "size"),
    [
        ("7 mm", "5-10mm"),
        ("0.3 cm", "<5mm"),
        ("14-18 mm", "11-20mm"),
        ("9-12 mm", None),
        ("under 5 mm", "<5mm"),
        ("over 20 mm", ">20mm"),
    ],
)
def test_a_size_inside_a_bin_is_that_bin(answer: str, size: str | None) -> None:
    assert read(SIZE, answer) == size


ANY_OF = "Are there any instruments or landmarks in the image?"
CLAUSES = "Are there any instruments and which landmarks are visible?"


@pytest.mark.parametrize("answer", ["No", "None", "None visible."])
def test_a_bare_no_answers_every_part_of_one_any_of_question_and_no_other(answer: str) -> None:
    classes = ("instrument_presence", "landmark_presence")
    assert [r.parsed for r in read_answer(ANY_OF, classes, answer)] == ["no", "no"]
    assert [r.parsed for r in read_answer(CLAUSES, classes, answer)] == [None, None]


def test_a_bare_list_follows_the_order_of_the_question_and_not_of_the_atoms() -> None:
    question = "Is there text, and how many polyps are there?"
    assert [r.parsed for r in read_answer(question, ("polyp_count", "text_presence"), "yes; 2")] == ["2", "yes"]
    assert [r.parsed for r in read_answer(question, ("text_presence", "polyp_count"), "yes; 2")] == ["yes", "2"]


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("The frame is not free of text.", "yes"),
        ("It is not true that there is no text.", "yes"),
        ("Text is not absent.", "yes"),
        ("Not without text.", "yes"),
        ("There is no absence of text.", "yes"),
    ],
)
def test_two_negations_cancel(answer: str, value: str) -> None:
    assert read(TEXT, answer) == value


def test_a_colour_decides_the_box_but_a_colour_elsewhere_does_not() -> None:
    assert read(BOX, "A green box, but no black box.") == "yes"
    assert read(BOX, "The lesion is green.") is None


def test_only_the_text_after_the_thinking_counts() -> None:
    assert read(POLYPS, "<think>two, no, three polyps</think>One polyp.") == "1"
    assert read(POLYPS, "<think>two polyps") is None
