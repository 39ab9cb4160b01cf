"""The five data sets as they are published."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from backend.verimap.examples import AnswerType, Option, question_with_options
from backend.verimap.published_formats import PublishedExamples, read_published, telling_dataset
from backend.verimap.scoring import score_closed
from backend.verimap.vocabulary import Dataset


def rows_of(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """Return a file's rows, numbered from 1."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as lines:
            return list(enumerate(csv.DictReader(lines), start=1))
    content = path.read_text("utf-8")
    rows = json.loads(content) if path.suffix == ".json" else [json.loads(line) for line in content.splitlines()]
    return list(enumerate(rows, start=1))


def read(shared: Path, dataset: Dataset, name: str) -> PublishedExamples:
    path = shared / "data" / "medvqa" / name
    return read_published(dataset, rows_of(path), path.name)


def of(dataset: Dataset, *rows: dict[str, Any]) -> PublishedExamples:
    return read_published(dataset, list(enumerate(rows, start=1)), "some.test.json")


@pytest.mark.parametrize(
    ("dataset", "name", "n", "n_left_out"),
    [
        (Dataset.VQA_RAD, "vqa_rad/testset.json", 451, 0),
        (Dataset.VQA_RAD, "vqa_rad/trainset.json", 3064, 0),
        (Dataset.VQA_RAD, "vqa_rad/testset_with_images.json", 169, 0),
        (Dataset.SLAKE, "slake/test.json", 1061, 1033),
        (Dataset.SLAKE, "slake/validate.json", 1053, 1046),
        (Dataset.SLAKE, "slake/test_open.csv", 645, 0),
        (Dataset.SLAKE, "slake/test_close.csv", 416, 0),
        (Dataset.PATHVQA, "pathvqa/text_sample_150.jsonl", 150, 0),
        (Dataset.PMC_VQA, "pmc_vqa/documented_example_v1.csv", 1, 0),
        (Dataset.PMC_VQA, "pmc_vqa/handmade_v2.csv", 3, 0),
        (Dataset.MEDXPERTQA, "medxpertqa/documented_example_MM-26.jsonl", 1, 0),
        (Dataset.MEDXPERTQA, "medxpertqa/handmade_mm.jsonl", 2, 0),
    ],
)
def test_every_row_of_the_published_files_is_read_or_left_out_with_its_reason(
    shared: Path, dataset: Dataset, name: str, n: int, n_left_out: int
) -> None:
    found = read(shared, dataset, name)
    assert (len(found.examples), len(found.left_out), found.bad_lines) == (n, n_left_out, ())
    assert len({example.source_id for example in found.examples}) == n
    for example in found.examples:
        assert example.dataset is dataset
        assert example.question == example.question.strip() != ""
        assert example.reference == example.reference.strip() != ""


@pytest.mark.parametrize(
    ("dataset", "name"),
    [
        (Dataset.VQA_RAD, "vqa_rad/testset.json"),
        (Dataset.VQA_RAD, "vqa_rad/trainset.json"),
        (Dataset.SLAKE, "slake/test.json"),
        (Dataset.PMC_VQA, "pmc_vqa/handmade_v2.csv"),
        (Dataset.MEDXPERTQA, "medxpertqa/handmade_mm.jsonl"),
    ],
)
def test_every_closed_reference_is_right_by_the_deterministic_scorer(shared: Path, dataset: Dataset, name: str) -> None:
    closed = [example for example in read(shared, dataset, name).examples if example.answer_type is AnswerType.CLOSED]
    scores = [score_closed(example, example.reference) for example in closed]
    assert closed
    assert all(score is not None and score.correct for score in scores)


def test_vqa_rads_dirt_is_cleaned_and_its_words_are_kept(shared: Path) -> None:
    examples = read(shared, Dataset.VQA_RAD, "vqa_rad/trainset.json").examples
    assert Counter(example.answer_type for example in examples) == {AnswerType.CLOSED: 1823, AnswerType.OPEN: 1241}
    types = {name for example in examples for name in example.native_types}
    assert types == {
        "PRES", "POS", "ABN", "SIZE", "OTHER", "MODALITY", "ATTRIB", "PLANE", "COLOR", "ORGAN", "COUNT",
    }  # fmt: skip
    by_id = {example.source_id: example for example in examples}
    assert by_id["2392"].reference == "4"
    assert by_id["3504"].reference == "superficial to the patient's skin"
    assert "\t" in by_id["280"].question


def test_vqa_rads_original_split_and_copies_without_ids_are_read() -> None:
    found = of(
        Dataset.VQA_RAD,
        {"qid": "5", "image_name": "a.jpg", "question": "Q", "answer": 3.0, "phrase_type": "test_para",
         "question_type": "PRSE, pos", "answer_type": "CLOSED "},
        {"image": {"bytes": b"", "path": "b.jpg"}, "question": "Q", "answer": "no"},
    )  # fmt: skip
    first, second = found.examples
    assert (first.split, first.reference, first.native_types) == ("test", "3", ("PRES", "POS"))
    assert first.answer_type is AnswerType.CLOSED
    assert (second.source_id, second.images, second.answer_type) == ("some-2", ("b.jpg",), None)


def test_slakes_chinese_questions_are_left_out_even_where_a_table_does_not_say_the_language() -> None:
    found = of(
        Dataset.SLAKE,
        {"img_name": "x/source.jpg", "question": "图中有肝脏吗?", "answer": "有"},
        {"img_name": "x/source.jpg", "question": "Is there a liver?", "answer": "Yes", "q_lang": "en", "qid": 4,
         "answer_type": "CLOSED", "content_type": "Organ"},
    )  # fmt: skip
    [example] = found.examples
    assert (example.source_id, example.native_types, example.images) == ("4", ("Organ",), ("x/source.jpg",))
    [line] = found.left_out
    assert (line.number, line.reason) == (1, "the question is not English (q_lang zh)")


def test_rows_without_ids_are_named_by_file_and_number_and_images_may_be_absent() -> None:
    found = of(
        Dataset.PATHVQA,
        {"image": None, "question": "q", "answer": "yes"},
        {"image": "img_1", "question": "q", "answer": "yes"},
    )
    assert [example.source_id for example in found.examples] == ["some-1", "some-2"]
    assert [example.images for example in found.examples] == [(), ("img_1",)]


def test_both_versions_of_pmc_vqa_give_the_text_of_the_right_choice(shared: Path) -> None:
    [example] = read(shared, Dataset.PMC_VQA, "pmc_vqa/documented_example_v1.csv").examples
    assert example.reference_letter == "B"
    assert example.options[1] == Option("B", example.reference)
    second = read(shared, Dataset.PMC_VQA, "pmc_vqa/handmade_v2.csv").examples
    assert [(one.source_id, one.reference_letter, one.reference) for one in second] == [
        ("test-0", "A", "CT"),
        ("test-1", "C", "three"),
        ("test-2", "B", "Right lobe"),
    ]


CHOICES = {"Choice A": " A: CT ", "Choice B": "B:MRI", "Choice C": "", "Choice D": None}


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"Answer": "CT", "Answer_label": "B"}, "Answer is 'CT', but choice B is 'MRI'"),
        ({"Answer": "C"}, "no choice has the letter 'C'"),
        ({"Answer": ""}, "has no Answer"),
    ],
)
def test_a_pmc_vqa_row_whose_answer_is_unclear_is_bad(cells: dict[str, Any], reason: str) -> None:
    found = of(Dataset.PMC_VQA, {"Figure_path": "a.jpg", "Question": "q", **CHOICES, **cells})
    [line] = found.bad_lines
    assert reason in line.reason


def test_medxpertqas_options_are_cut_off_the_question_and_can_be_shown_again(shared: Path) -> None:
    first, second = read(shared, Dataset.MEDXPERTQA, "medxpertqa/handmade_mm.jsonl").examples
    assert len(first.images) == 2
    assert "Answer Choices" not in first.question
    assert len(first.options) == 5
    assert (first.reference_letter, first.reference) == ("B", "Spleen")
    assert question_with_options(first.question, first.options).splitlines()[-1] == "E: Stomach"
    assert second.native_types[0] == "Treatment"


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"options": None, "label": "A"}, "options is no object"),
        ({"options": {"A": "x"}, "label": "B"}, "no option has the letter 'B'"),
        ({"options": {"A": "x"}, "label": None}, "has no label"),
    ],
)
def test_a_medxpertqa_row_without_its_right_option_is_bad(cells: dict[str, Any], reason: str) -> None:
    [line] = of(Dataset.MEDXPERTQA, {"id": "1", "question": "q", "images": [], **cells}).bad_lines
    assert reason in line.reason


def test_a_question_whose_printed_options_are_others_stays_whole() -> None:
    question = "Which?\nAnswer Choices: (A) x (B) z"
    [example] = of(
        Dataset.MEDXPERTQA,
        {"id": "1", "question": question, "options": {"A": "x", "B": "y"}, "label": "A", "images": ["1.jpeg"]},
    ).examples
    assert example.question == question


def test_a_bad_row_is_told_with_its_number_and_the_others_are_read() -> None:
    found = of(
        Dataset.VQA_RAD,
        {"qid": 1, "image_name": "a.jpg", "question": "Q", "answer": "no"},
        {"qid": 2, "image_name": "a.jpg", "question": " ", "answer": "no"},
        {"qid": 3, "image_name": "a.jpg", "question": "Q", "answer": float("nan")},
        {"qid": 1, "image_name": "b.jpg", "question": "Q", "answer": "yes"},
    )
    assert [example.source_id for example in found.examples] == ["1"]
    assert [(line.number, line.reason) for line in found.bad_lines] == [
        (2, "has no question"),
        (3, "has no answer"),
        (4, "id 1 is there already"),
    ]


@pytest.mark.parametrize(
    ("name", "dataset"),
    [
        ("vqa_rad/testset.json", Dataset.VQA_RAD),
        ("slake/validate.json", Dataset.SLAKE),
        ("slake/test_open.csv", Dataset.SLAKE),
        ("pmc_vqa/documented_example_v1.csv", Dataset.PMC_VQA),
        ("medxpertqa/handmade_mm.jsonl", Dataset.MEDXPERTQA),
        ("pathvqa/text_sample_150.jsonl", None),
    ],
)
def test_columns_tell_the_data_set_where_one_alone_has_them(shared: Path, name: str, dataset: Dataset | None) -> None:
    [(_, cells), *_] = rows_of(shared / "data" / "medvqa" / name)
    assert telling_dataset(cells) is dataset


def test_columns_of_two_data_sets_tell_neither() -> None:
    assert telling_dataset({"image_name", "q_lang", "question"}) is None


def test_half_a_surrogate_pair_becomes_a_mark_that_a_store_can_hold() -> None:
    [found] = of(Dataset.PATHVQA, {"image": "\ud800.png", "question": "Why \udc00?", "answer": "no"}).examples
    assert (found.images, found.question) == (("\ufffd.png",), "Why \ufffd?")
