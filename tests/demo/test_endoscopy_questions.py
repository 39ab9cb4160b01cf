"""References follow from what can be seen, and a complex question asks just what it says it asks."""

from collections import Counter
from itertools import combinations

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
)
from backend.demo.endoscopy_questions import (
    DEMO_CLASSES,
    ComplexQuestion,
    complex_answer,
    complex_questions,
    facts_of,
    statement,
)
from backend.demo.scenes import Frame, Thing
from backend.endoca.scoring import Atom, score_answer
from backend.endoca.vocabulary import BY_NAME, CELLS, QuestionType
from tests.demo.material import facts_from

FORCEPS, NEEDLE, CLIP, SNARE, TUBE = INSTRUMENTS
CECUM, ILEUM, PYLORUS, Z_LINE = LANDMARKS

SEEDS = st.integers(0, 2**32 - 1)
POLYP_CLASSES = {"polyp_count", "polyp_removal_status", "abnormality_presence"}


def in_cells(*cells: str) -> NDArray[np.bool_]:
    """A mask on a 9 × 9 frame that fills these cells."""
    mask = np.zeros((9, 9), np.bool_)
    for cell in cells:
        row, column = divmod(CELLS.index(cell), 3)
        mask[3 * row : 3 * row + 3, 3 * column : 3 * column + 3] = True
    return mask


def frame(*things: tuple[str, NDArray[np.bool_]]) -> Frame:
    return Frame(np.zeros((9, 9, 3), np.uint8), tuple(Thing(kind, mask) for kind, mask in things))


NOTHING = {
    "text_presence": "no",
    "box_artifact_presence": "no",
    "finding_count": "0",
    "polyp_count": "0",
    "polyp_removal_status": "not relevant",
    "instrument_presence": "none",
    "instrument_location": "none",
    "landmark_presence": "none",
    "abnormality_presence": "none",
    "abnormality_location": "none",
}


@pytest.mark.parametrize(
    ("seen", "differing"),
    [
        pytest.param(frame(), {}, id="nothing"),
        pytest.param(
            frame((TEXT, in_cells("lower-right")), (BOX, in_cells("lower-left"))),
            {"text_presence": "yes", "box_artifact_presence": "yes"},
            id="overlays lie nowhere that is asked for",
        ),
        pytest.param(
            frame((POLYP, in_cells("center-right")), (POLYP, in_cells("upper-left", "upper-center"))),
            {
                "finding_count": "2",
                "polyp_count": "2",
                "polyp_removal_status": "no",
                "abnormality_presence": "polyp",
                "abnormality_location": "upper-left; upper-center; center-right",
            },
            id="two polyps, located row by row",
        ),
        pytest.param(
            frame((RESECTION, in_cells("center"))),
            {"polyp_removal_status": "yes"},
            id="a resection site alone is no finding",
        ),
        pytest.param(
            frame((RESECTION, in_cells("center")), (POLYP, in_cells("lower-left"))),
            {
                "finding_count": "1",
                "polyp_count": "1",
                "polyp_removal_status": "no",
                "abnormality_presence": "polyp",
                "abnormality_location": "lower-left",
            },
            id="one polyp left beside a resection site",
        ),
        pytest.param(
            frame((COLITIS, in_cells("upper-right")), (OESOPHAGITIS, in_cells("upper-right"))),
            {
                "finding_count": "2",
                "abnormality_presence": "oesophagitis; ulcerative colitis",
                "abnormality_location": "upper-right",
            },
            id="findings that are no polyps",
        ),
        pytest.param(
            frame((TUBE, in_cells("lower-right")), (FORCEPS, in_cells("center")), (TUBE, in_cells("center"))),
            {"instrument_presence": "biopsy forceps; tube", "instrument_location": "center; lower-right"},
            id="instruments are named once, in the vocabulary's order",
        ),
        pytest.param(frame((PYLORUS, in_cells("center"))), {"landmark_presence": "pylorus"}, id="a landmark"),
    ],
)
def test_references_are_read_off_the_things_that_can_be_seen(seen: Frame, differing: dict[str, str]) -> None:
    assert facts_of(seen) == NOTHING | differing


def test_a_thing_lies_in_every_cell_with_a_quarter_of_its_pixels() -> None:
    mask = np.zeros((9, 9), np.bool_)
    mask[0, 0:4] = True
    assert facts_of(frame((POLYP, mask)))["abnormality_location"] == "upper-left; upper-center"
    mask[1, 0] = True
    assert facts_of(frame((POLYP, mask)))["abnormality_location"] == "upper-left"


def test_every_reference_of_a_frame_is_in_the_vocabulary_of_its_class() -> None:
    assert set(FINDINGS) <= set(BY_NAME["abnormality_presence"].labels)
    assert BY_NAME["instrument_presence"].labels == INSTRUMENTS
    assert BY_NAME["landmark_presence"].labels == LANDMARKS


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("text_presence", "yes", "text is present"),
        ("box_artifact_presence", "no", "no box artefact is present"),
        ("finding_count", "0", "no findings are visible"),
        ("finding_count", "1", "one finding is visible"),
        ("polyp_count", "7", "seven polyps are visible"),
        ("polyp_removal_status", "not relevant", "polyp removal is not relevant"),
        ("instrument_presence", "none", "no instrument is visible"),
        ("instrument_presence", "polyp snare; tube", "polyp snare and tube are visible"),
        ("landmark_presence", "z-line", "z-line is visible"),
        ("abnormality_presence", "none", "no abnormality is visible"),
        ("abnormality_location", "center", "the abnormality is in the center"),
        (
            "instrument_location",
            "upper-left; center; lower-right",
            "the instrument is in the upper-left, center and lower-right",
        ),
    ],
)
def test_a_value_is_said_as_a_clause(name: str, value: str, said: str) -> None:
    assert statement(name, value) == said


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        (["polyp_count"], "Two polyps are visible."),
        (["text_presence", "polyp_count"], "No text is present and two polyps are visible."),
        (
            ["landmark_presence", "polyp_count", "text_presence"],
            "Cecum is visible, two polyps are visible, and no text is present.",
        ),
    ],
)
def test_a_complex_reference_is_one_sentence_with_a_clause_a_part(classes: list[str], said: str) -> None:
    facts = NOTHING | {"polyp_count": "2", "landmark_presence": "cecum"}
    assert complex_answer(facts, classes) == said


@settings(max_examples=1500, deadline=None)
@given(SEEDS)
def test_every_reference_is_right_under_the_scorer(seed: int) -> None:
    facts = facts_from(seed)
    for asked in complex_questions(facts, np.random.default_rng(seed), (1, 1, 2)):
        atoms = [Atom(name, facts[name]) for name in asked.question_classes]
        answer = complex_answer(facts, asked.question_classes)
        score = score_answer(asked.question, atoms, answer)
        assert score.correct, (asked.question, answer, score.atoms)
    name = DEMO_CLASSES[seed % len(DEMO_CLASSES)]
    for answer in (facts[name], statement(name, facts[name])):
        score = score_answer(BY_NAME[name].question, [Atom(name, facts[name])], answer)
        assert score.correct, (name, answer, score.atoms)


@pytest.mark.parametrize("name", DEMO_CLASSES)
def test_one_value_of_a_class_is_wrong_where_another_is_the_reference(name: str) -> None:
    values = {facts_from(seed)[name] for seed in range(60)}
    for said, reference in combinations(sorted(values), 2):
        for answer in (said, statement(name, said)):
            assert not score_answer(BY_NAME[name].question, [Atom(name, reference)], answer).correct, (
                answer,
                reference,
            )


@settings(max_examples=100, deadline=None)
@given(SEEDS, st.tuples(st.integers(0, 8), st.integers(0, 25), st.integers(0, 40)))
def test_complex_questions_ask_for_what_they_may(seed: int, wanted: tuple[int, int, int]) -> None:
    facts = facts_from(seed)
    asked = complex_questions(facts, np.random.default_rng(seed), wanted)
    assert Counter(len(question.question_classes) for question in asked) == Counter(dict(enumerate(wanted, 1)))
    assert len({frozenset(question.question_classes) for question in asked}) == len(asked)
    for question in asked:
        classes = question.question_classes
        assert len(set(classes)) == len(classes) and set(classes) <= set(DEMO_CLASSES)
        assert len(POLYP_CLASSES & set(classes)) <= 1
        for place in ("instrument", "abnormality"):
            assert f"{place}_location" not in classes or facts[f"{place}_location"] != "none"
        assert question.question[0].isupper() and question.question.endswith("?")


def test_where_there_are_fewer_complex_questions_than_wanted_all_are_asked() -> None:
    asked = complex_questions(NOTHING, np.random.default_rng(0), (99, 99))
    of_one = [question for question in asked if len(question.question_classes) == 1]
    assert {question.question_classes[0] for question in of_one} == set(DEMO_CLASSES) - {
        "instrument_location",
        "abnormality_location",
    }
    assert len(asked) - len(of_one) == 8 * 7 // 2 - 3  # pairs of eight classes, less three pairs about polyps


def test_what_is_asked_follows_from_the_seed_alone() -> None:
    def drawn() -> list[ComplexQuestion]:
        return complex_questions(facts_from(1), np.random.default_rng(4), (2, 2, 2))

    assert drawn() == drawn()


def test_the_ten_classes_are_of_every_type() -> None:
    assert len(set(DEMO_CLASSES)) == 10
    assert {BY_NAME[name].type for name in DEMO_CLASSES} == set(QuestionType)
