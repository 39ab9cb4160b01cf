"""Promises of the form that brings in VeriMap: records, a data set's questions, and task labels."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from backend.store.store import Store
from tests.pages.data_page import app_store, data_page, jsonl, press, table, words

Row = dict[str, Any]

SENT = "application/octet-stream"

QUESTIONS: list[Row] = [
    {
        "qid": number, "image_name": f"frame{number}.jpg", "image_organ": "CHEST", "question": question,
        "answer": answer, "question_type": "PRES", "answer_type": "CLOSED",
    }
    for number, (question, answer) in enumerate(
        [("Is there a pleural effusion?", "No"), ("Is this a CT scan?", "Yes"), ("Is the heart enlarged?", "No")], 1
    )
]  # fmt: skip
"""Invented rows in the layout of VQA-RAD."""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The app's store, empty."""
    yield from app_store(tmp_path, monkeypatch)


def records() -> list[Row]:
    """Return verdicts of two verifiers on three answers of one generator; two of them are right."""
    said: dict[str, list[str | None]] = {
        "Maker": ["CORRECT", "CORRECT", "CORRECT"],
        "Checker": ["CORRECT", "INCORRECT", None],
    }
    return [
        {
            "id": f"Q{number}", "dataset": "mine", "task": "modality", "generator": "Maker", "verifier": verifier,
            "oracle_correct": number != 3, "verdict": verdict,
        }
        for verifier, verdicts in said.items()
        for number, verdict in enumerate(verdicts, 1)
    ]  # fmt: skip


def verimap_form(form: str = "Verification records") -> AppTest:
    app = data_page(bring="VeriMap files")
    app.button_group(key="verimap_form").set_value(form)
    return app.run()


def send(app: AppTest, place: int, *files: tuple[str, bytes]) -> AppTest:
    uploader = app.file_uploader[place]
    sent = [(name, content, SENT) for name, content in files]
    uploader.set_value(sent if uploader.proto.multiple_files else sent[0])
    return app.run()


def with_questions(store: Store) -> AppTest:
    """Import the invented questions, and open the form of labels."""
    app = send(verimap_form("Questions of a data set"), 0, ("testset.json", jsonl(QUESTIONS)))
    press(app, "examples_import")
    assert store.value("SELECT count(*) FROM examples") == 3
    app.button_group(key="verimap_form").set_value("Task labels")
    return app.run()


def label_csv(*tasks: str) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([["qid", "task"], *([number, task] for number, task in enumerate(tasks, 1))])
    return text.getvalue().encode()


def test_verification_records_go_in_and_are_reported(store: Store) -> None:
    app = send(verimap_form(), 0, ("mine.jsonl", jsonl(records())))
    press(app, "records_import")
    assert "3 new units in suite mine; 6 new verdicts of 2 VLMs" in words(app)
    runs = table(app, "replaced")
    assert dict(zip(runs["VLM"], runs["not readable"], strict=True)) == {"Checker": 1, "Maker": 0}
    assert "Answers are verdicts here" in words(app)


def test_bad_records_are_listed_and_the_good_ones_go_in_when_asked(store: Store) -> None:
    app = send(verimap_form(), 0, ("mine.jsonl", jsonl(records()) + b'{"id": "Q9"}\n'))
    press(app, "records_import")
    assert "1 bad line; nothing was imported" in words(app)
    assert list(table(app, "why it cannot be used")["line"]) == [7]
    app.checkbox(key="records_lenient").check().run()
    press(app, "records_import")
    assert "6 new verdicts of 2 VLMs; 1 bad line left out" in words(app)


def test_questions_of_a_data_set_go_in_with_their_images(store: Store, tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    Image.new("RGB", (40, 30), "#803020").save(tmp_path / "images" / "frame1.jpg")
    app = send(verimap_form("Questions of a data set"), 0, ("testset.json", jsonl(QUESTIONS)))
    app.text_input(key="verimap_images_path").set_value("images").run()
    press(app, "examples_import")
    assert "3 new units in suite vqa-rad; files for 1 image" in words(app)
    assert store.value("SELECT count(path) FROM images") == 1


def test_a_folder_of_images_that_cannot_be_read_is_refused_before_anything_goes_in(store: Store) -> None:
    app = send(verimap_form("Questions of a data set"), 0, ("testset.json", jsonl(QUESTIONS)))
    app.text_input(key="verimap_images_path").set_value("/etc").run()
    app.button(key="examples_import").click().run()
    assert "PARALLAX_ROOTS" in words(app)
    assert store.value("SELECT count(*) FROM units") == 0


def test_labels_need_questions_first(store: Store) -> None:
    assert "import the questions of a data set first" in words(verimap_form("Task labels"))


def test_rules_propose_labels_for_stored_questions(store: Store) -> None:
    app = press(with_questions_by_rules(store), "labels_import")
    assert "task labels in suite vqa-rad" in words(app)
    assert store.rows("SELECT DISTINCT labelled_by FROM examples WHERE task IS NOT NULL") == [("rules",)]


def with_questions_by_rules(store: Store) -> AppTest:
    app = with_questions(store)
    app.radio(key="labels_source").set_value("proposed by rules, from the questions’ words")
    return app.run()


def test_three_annotators_vote_and_their_differences_are_shown(store: Store) -> None:
    app = with_questions(store)
    files = [
        ("one.csv", label_csv("disease", "modality", "disease")),
        ("two.csv", label_csv("disease", "modality", "anatomy")),
        ("three.csv", label_csv("disease", "spatial", "disease")),
    ]
    send(app, 0, *files)
    send(app, 1, ("by_hand.csv", label_csv("disease", "modality", "quantitative")))
    press(app, "labels_import")
    assert "3 new or changed task labels in suite vqa-rad" in words(app)
    tasks = store.rows("SELECT task FROM examples JOIN units USING (unit_id) ORDER BY source_id")
    assert [row[0] for row in tasks] == ["disease_classification", "modality_recognition", "disease_classification"]
    differing = table(app, "says instead")
    assert differing["questions"].sum() == 4
    assert table(app, "by hand").to_dict("records") == [
        {"by hand": "quantitative measurement", "labelled": "disease classification", "questions": 1}
    ]
