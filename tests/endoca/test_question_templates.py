"""Atomic questions are proposed for what a complex question asks, in its order, and for nothing else."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.endoca.question_templates import propose_atomic_questions
from backend.endoca.vocabulary import BY_NAME, class_of_question


def classes(question: str) -> list[str]:
    return [proposed.question_class for proposed in propose_atomic_questions(question)]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Is there any text?", ["text_presence"]),
        ("Does the image contain textual information?", ["text_presence"]),
        ("Are there any green or black box-shaped artefacts?", ["box_artifact_presence"]),
        ("Is there any abnormality?", ["finding_presence"]),
        ("Are there multiple abnormal findings?", ["finding_count"]),
        ("Which abnormalities are visible?", ["abnormality_presence"]),
        ("In which regions of the image is the abnormality located?", ["abnormality_location"]),
        ("What are the colors of the lesion?", ["abnormality_color"]),
        ("Are there any polyps?", ["polyp_count"]),
        ("What is the size of the polyp?", ["polyp_size"]),
        ("What type of polyp is it?", ["polyp_type"]),
        ("Has every polyp been excised?", ["polyp_removal_status"]),
        ("Is there evidence of residual polyps?", ["polyp_removal_status"]),
        ("Are there any foreign bodies or medical devices?", ["instrument_presence"]),
        ("Can you see a snare?", ["instrument_presence"]),
        ("What type of instrument is present?", ["instrument_presence"]),
        ("How many instruments are there?", ["instrument_count"]),
        ("Is there any visible instrument in the image?", ["instrument_location"]),
        ("Is the cecum visible?", ["landmark_presence"]),
        ("Where is the anatomical landmark?", ["landmark_location"]),
        ("What color is the anatomical landmark?", ["landmark_color"]),
        ("What procedure is depicted in the image?", ["procedure_type"]),
        ("How many polyps are there, and is there text?", ["polyp_count", "text_presence"]),
        ("Is there text and how many polyps are there?", ["text_presence", "polyp_count"]),
        (
            "Are there any instruments, findings, or anatomical landmarks?",
            ["instrument_presence", "finding_count", "landmark_presence"],
        ),
        ("Are there any instruments, and if so, where are they?", ["instrument_presence", "instrument_location"]),
        ("Is there an instrument, and where is it?", ["instrument_presence", "instrument_location"]),
        ("Are there polyps, and how many?", ["polyp_count"]),
        ("Are there polyps and have they been removed?", ["polyp_count", "polyp_removal_status"]),
        ("Are there abnormalities, and which?", ["abnormality_presence"]),
        ("IS THERE ANY TEXT?", ["text_presence"]),
    ],
)
def test_what_is_asked_is_proposed_in_the_order_asked(question: str, asked: list[str]) -> None:
    assert classes(question) == asked


@pytest.mark.parametrize(
    "question", ["", "?", "Where is it?", "What is the patient's name?", "Is this a context?", "How many are there?"]
)
def test_nothing_is_proposed_where_nothing_is_recognised(question: str) -> None:
    assert propose_atomic_questions(question) == []


def test_a_proposal_is_worded_as_kvasir_vqa_words_it() -> None:
    [proposed] = propose_atomic_questions("Are there polyps?")
    assert proposed.question == "How many polyps are in the image?"


@pytest.mark.parametrize("name", BY_NAME)
def test_the_standard_question_of_a_class_proposes_itself(name: str) -> None:
    assert classes(BY_NAME[name].question) == [name]


@given(
    st.lists(
        st.sampled_from(["polyps", "where", "is", "the", "instrument", "and", ",", "which", "how many", "text", "it"])
    )
)
def test_no_class_is_proposed_twice(words: list[str]) -> None:
    proposed = propose_atomic_questions(" ".join(words))
    assert len({one.question_class for one in proposed}) == len(proposed)
    assert all(class_of_question(one.question) == one.question_class for one in proposed)


@pytest.mark.parametrize(
    ("suite", "precision", "recall", "exact"), [("core", 0.99, 0.99, 0.985), ("diagnostic", 0.985, 0.985, 0.975)]
)
def test_most_questions_of_endoca_propose_just_their_classes(
    shared: Path, suite: str, precision: float, recall: float, exact: float
) -> None:
    """Measured: Core 99.4, 99.3 and 99.0 %; Diagnostic 99.2, 98.9 and 98.3 %. The rest differ from their words."""
    found = proposed = asked = whole = n = 0
    for line in lines(shared, suite):
        if line["probe_kind"] == "complex_direct":
            had, wanted = set(classes(line["question"])), set(line["question_class"])
            found, proposed, asked = found + len(had & wanted), proposed + len(had), asked + len(wanted)
            whole, n = whole + (had == wanted), n + 1
    assert n
    assert found / proposed >= precision
    assert found / asked >= recall
    assert whole / n >= exact


def lines(shared: Path, suite: str) -> list[dict[str, Any]]:
    with gzip.open(shared / "data" / "kvasir" / "endoca" / f"endoca_{suite}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
