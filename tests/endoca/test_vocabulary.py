"""The eighteen classes are known by name, by question and by what their references can be."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.endoca.scoring.grammar_words import GRAMMAR_WORDS
from backend.endoca.scoring.lexicon import Tag
from backend.endoca.scoring.thing_words import THING_WORDS
from backend.endoca.vocabulary import (
    BY_NAME,
    ENDOCA_CLASSES,
    QUESTION_CLASSES,
    QuestionType,
    canonical_reference,
    class_of_question,
)


def test_there_are_eighteen_classes_and_nine_of_them_are_endocas() -> None:
    assert len(QUESTION_CLASSES) == len(BY_NAME) == 18
    assert len(set(ENDOCA_CLASSES)) == 9
    assert set(ENDOCA_CLASSES) <= set(BY_NAME)


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_a_class_is_found_by_its_own_question(name: str) -> None:
    assert class_of_question(BY_NAME[name].question) == name


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Is there a green/black box artifact?", "box_artifact_presence"),
        ("how many instruments are in the image", "instrument_count"),
        ("What colour is the abnormality?", "abnormality_color"),
        ("Which colours does the anatomical landmark have?", "landmark_color"),
        ("Where is the instrument?", "instrument_location"),
        ("In which region is the polyp located?", "abnormality_location"),
        ("Where does the landmark lie?", "landmark_location"),
        ("How many polyps can be seen?", "polyp_count"),
        ("How many abnormal findings are there?", "finding_count"),
        ("Were all polyps excised?", "polyp_removal_status"),
        ("What is the diameter of the polyp?", "polyp_size"),
        ("What is the Paris classification of the polyp?", "polyp_type"),
        ("Which type of procedure was performed?", "procedure_type"),
        ("Which instruments are visible?", "instrument_presence"),
        ("Which anatomical landmarks are visible?", "landmark_presence"),
        ("Which abnormalities are visible?", "abnormality_presence"),
        ("Is any finding present?", "finding_presence"),
        ("Is any text visible?", "text_presence"),
        ("Is this finding easy to detect?", None),
        ("Are there any polyps?", None),
        ("What is the weather like?", None),
        ("", None),
    ],
)
def test_a_question_in_other_words_finds_its_class_or_none(question: str, name: str | None) -> None:
    assert class_of_question(question) == name


@pytest.mark.parametrize(
    ("name", "raw", "canonical"),
    [
        ("instrument_presence", "none", "no"),
        ("landmark_presence", "none", "no"),
        ("instrument_location", "none", "none"),
        ("instrument_presence", "tube; polyp snare", "polyp snare;tube"),
        ("instrument_location", "upper-left; center", "center;upper-left"),
        ("landmark_location", "center; lower-rigth", "center;lower-right"),
        ("polyp_removal_status", "not relevant", "not_applicable"),
        ("polyp_removal_status", "not_applicable", "not_applicable"),
        ("polyp_size", ">20", ">20mm"),
        ("polyp_size", "5-10mm;<5mm", "5-10mm;<5mm"),
        ("abnormality_color", "red; pink", "pink;red"),
        ("polyp_count", "16", "16"),
        ("text_presence", "Yes", "yes"),
    ],
)
def test_a_reference_is_brought_into_the_form_of_the_manifests(name: str, raw: str, canonical: str) -> None:
    assert canonical_reference(name, raw) == canonical


def test_every_reference_of_kvasir_vqa_is_in_the_vocabulary(shared: Path) -> None:
    table = json.loads((shared / "data/kvasir/derived/kvasir_vqa_vocabulary.json").read_text())
    for question, entry in table.items():
        name = entry["x1_question_class"]
        assert class_of_question(question) == name
        if name is None or BY_NAME[name].type is QuestionType.COUNT:
            continue
        allowed = {*BY_NAME[name].labels, BY_NAME[name].nothing}
        for answer in entry["answers"]:
            assert set(canonical_reference(name, answer).split(";")) <= allowed, (name, answer)


def _meanings() -> Iterator[tuple[str, list[Tag]]]:
    found: dict[str, list[Tag]] = {}
    for phrase, tag in (*GRAMMAR_WORDS, *THING_WORDS):
        found.setdefault(phrase, []).append(tag)
    yield from found.items()


def test_no_phrase_is_entered_with_two_meanings() -> None:
    assert [phrase for phrase, tags in _meanings() if len(set(tags)) > 1] == []


def test_every_label_has_at_least_one_word_that_means_it() -> None:
    meant = {tag.label for _, tags in _meanings() for tag in tags}
    for question_class in QUESTION_CLASSES:
        if question_class.type is QuestionType.MULTI_LABEL or question_class.name in ("polyp_type", "procedure_type"):
            assert set(question_class.labels) <= meant, question_class.name
