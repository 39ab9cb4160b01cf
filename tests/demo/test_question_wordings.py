"""The VLM in the box was trained for the wordings that are drawn, and for no other question."""

import subprocess
import sys
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.demo.endoscopy_questions import complex_questions
from backend.demo.question_wordings import (
    DEMO_CLASSES,
    MAX_COMPLEXITY,
    WORDINGS,
    are_asked_together,
    is_trained_question,
    joined,
)
from backend.endoca.vocabulary import BY_NAME, QUESTION_CLASSES
from tests.demo.material import facts_from


@pytest.mark.parametrize("name", DEMO_CLASSES)
def test_the_atomic_question_of_every_class_is_recognised(name: str) -> None:
    assert is_trained_question(BY_NAME[name].question)


@pytest.mark.parametrize("complexity", [1, 2])
def test_every_complex_question_of_one_or_two_classes_is_recognised_in_every_wording(complexity: int) -> None:
    for classes in permutations(DEMO_CLASSES, complexity):
        for clauses in product(*(WORDINGS[name] for name in classes)):
            asked = joined(clauses) + "?"
            assert is_trained_question(asked) is are_asked_together(classes), asked


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_every_complex_question_that_is_drawn_is_recognised(seed: int) -> None:
    drawn = complex_questions(facts_from(seed), np.random.default_rng(seed), (1,) * MAX_COMPLEXITY)
    assert len(drawn) == MAX_COMPLEXITY
    for asked in drawn:
        assert is_trained_question(asked.question), asked
        assert is_trained_question(f"  {asked.question.upper()}\n")


def test_no_question_about_more_classes_than_are_drawn_is_recognised() -> None:
    clauses = [WORDINGS[name][0] for name in ("text_presence", "polyp_count", "landmark_presence", "finding_count")]
    assert is_trained_question(joined(clauses[:MAX_COMPLEXITY]) + "?")
    assert not is_trained_question(joined(clauses) + "?")


@pytest.mark.parametrize(
    "question",
    [
        "",
        "?",
        "Is there any text",
        "Is there any  text?",
        "Is there a text?",
        "Is there any text?!",
        "Please: is there any text?",
        "Is there any text? How many polyps are visible?",
        "Is there any text, how many polyps are visible and which instruments are present?",
        "Is there any text, and how many polyps are visible?",
        "How many polyps are visible and how many polyps are in the image?",
        "How many polyps are visible and have all polyps been removed?",
        "Are there any polyps visible in the image?",
        "Is this a malignant lesion?",
        "What is the patient's name?",
        *(one.question for one in QUESTION_CLASSES if one.name not in DEMO_CLASSES),
    ],
)
def test_another_question_is_not_recognised(question: str) -> None:
    assert not is_trained_question(question)


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    assert not is_trained_question(text)


def test_nothing_that_draws_is_imported_with_the_wordings() -> None:
    said = "import sys, backend.demo.question_wordings; print({'numpy', 'PIL'} & {*sys.modules})"
    ended = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\n"
