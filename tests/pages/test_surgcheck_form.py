"""Promises of the form that brings in SurgCheck: columns are recognised or chosen, and what came of it is reported."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from backend.services.ingest.surgcheck_pairing import LEAKED
from backend.services.jobs import JOBS
from backend.store.store import Store
from tests.pages.data_page import app_store, data_page, jsonl, press, table, words
from tests.services.surgcheck_files import (
    N_PAIRS,
    Row,
    bring,
    prediction_rows,
    release_rows,
    write,
    write_answers,
    write_release,
)

ODD = {"image": "frame_shown", "question": "asked", "pred": "vlm_said", "gt": "truth"}
"""Column as authors name it → a name that nobody knows."""

ORIGINAL, LESS_BIASED, TEXT_ONLY = range(3)
"""Places of the files in the form."""

SENT = "application/octet-stream"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The app's store, empty."""
    yield from app_store(tmp_path, monkeypatch)


def surgcheck_form() -> AppTest:
    return data_page(bring="SurgCheck files")


def send(app: AppTest, place: int, name: str, content: bytes) -> AppTest:
    app.file_uploader[place].set_value((name, content, SENT))
    return app.run()


def send_pair(app: AppTest, **more: str) -> AppTest:
    """Send both files in the authors' layout, each row with these further cells."""
    send(app, ORIGINAL, "box_original.jsonl", jsonl(prediction_rows("original", more=more)))
    return send(app, LESS_BIASED, "box_less_bias.jsonl", jsonl(prediction_rows("less_biased", more=more)))


def odd_csv(variant: str) -> bytes:
    """Return answers under names of columns that nobody knows, with a judge's scores."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [*ODD.values(), "rating", "model"])
    writer.writeheader()
    for row in prediction_rows(variant):
        writer.writerow({**{odd: row[known] for known, odd in ODD.items()}, "rating": 4, "model": "My VLM"})
    return text.getvalue().encode()


def choose(app: AppTest, label: str, column: str) -> AppTest:
    next(box for box in app.selectbox if box.label == label).set_value(column)
    return app.run()


def chosen(app: AppTest, label: str) -> str:
    return str(next(box for box in app.selectbox if box.label == label).value)


def open_questions() -> AppTest:
    app = surgcheck_form()
    app.button_group(key="surgcheck_form").set_value("Questions and scene graphs")
    return app.run()


def test_a_pair_of_files_in_a_known_layout_needs_no_choice_of_columns(store: Store) -> None:
    app = send_pair(surgcheck_form(), model="My VLM")
    assert not app.button(key="pairs_import").disabled
    assert [chosen(app, label) for label in ("Picture", "Question", "Answer", "Reference")] == [
        "image", "question", "pred", "gt",
    ]  # fmt: skip
    app = press(app, "pairs_import")
    assert "5 new units in suite surgcheck; 10 new answers of My VLM" in words(app)
    [run] = table(app, "replaced").to_dict("records")
    assert (run["VLM"], run["suite"], run["answers"], run["missing"]) == ("My VLM", "surgcheck", 10, 0)
    assert table(app, "pairs").to_dict("records") == [
        {"suite": "surgcheck", "units": N_PAIRS, "new": N_PAIRS, "pairs": N_PAIRS, "images": 2}
    ]


def test_unknown_columns_are_chosen_on_the_page_and_shown_as_they_will_be_taken(store: Store) -> None:
    app = surgcheck_form()
    send(app, ORIGINAL, "mine.csv", odd_csv("original"))
    send(app, LESS_BIASED, "mine_twin.csv", odd_csv("less_biased"))
    assert app.button(key="pairs_import").disabled
    assert "Say under Columns which one holds: picture, question, answer, reference" in plain_words(app)
    assert list(table(app, "vlm_said")["vlm_said"]) == ["one", "dissect", "hook"], "the first rows as they stand"
    for label, column in (("Picture", "frame_shown"), ("Question", "asked"), ("Answer", "vlm_said")):
        choose(app, label, column)
    choose(app, "Judge’s score", "rating")
    choose(app, "Reference", "truth")
    taken = table(app, "picture").to_dict("records")
    assert [(row["file"], row["task"], row["answer"], row["judge’s score"]) for row in taken] == [
        ("mine.csv", "Instrument count", "one", "4"), ("mine_twin.csv", "Instrument count", "one", "4"),
    ]  # fmt: skip
    press(app, "pairs_import")
    assert "a judge’s scores of 10 answers" in words(app)
    assert store.value("SELECT count(score) FROM judgements WHERE score = 4") == 2 * N_PAIRS
    assert store.value("SELECT sum(correct::INT) FROM scores") == 2 * N_PAIRS


def test_one_column_is_never_both_the_answer_and_the_reference(store: Store) -> None:
    app = choose(send_pair(surgcheck_form(), model="My VLM"), "Answer", "gt")
    assert app.button(key="pairs_import").disabled
    assert "The column gt cannot be both the answer and the reference" in plain_words(app)


def test_a_reference_is_not_asked_for_where_a_stored_suite_can_hold_it(store: Store, tmp_path: Path) -> None:
    bring(store, *write_release(tmp_path))
    app = surgcheck_form()
    for place, variant in ((ORIGINAL, "original"), (LESS_BIASED, "less_biased")):
        rows = [{**row, "model": "My VLM", "gt": None} for row in prediction_rows(variant)]
        for row in rows:
            del row["gt"]
        send(app, place, f"{variant}.jsonl", jsonl(rows))
    press(app, "pairs_import")
    assert "10 new answers of My VLM" in words(app)
    assert store.rows("SELECT suite FROM runs") == [("full_test",)]


def test_who_answered_has_to_be_said_by_somebody(store: Store) -> None:
    app = send_pair(surgcheck_form())
    assert app.button(key="pairs_import").disabled
    assert "Say which VLM answered" in words(app)


def test_a_stored_vlm_can_be_chosen_and_its_run_is_filled_by_further_files(store: Store, tmp_path: Path) -> None:
    bring(store, *write_release(tmp_path), *write_answers(tmp_path), vlm="My VLM")
    app = surgcheck_form()
    send(app, TEXT_ONLY, "blind.jsonl", jsonl(prediction_rows("original")))
    app.selectbox(key="surgcheck_vlm").set_value("My VLM").run()
    press(app, "pairs_import")
    assert dict(store.rows("SELECT stage, count(*) FROM answers JOIN runs USING (run_id) GROUP BY ALL")) == {
        "direct": 2 * N_PAIRS, "text_only": N_PAIRS,
    }  # fmt: skip


def test_a_setting_keeps_runs_apart(store: Store, tmp_path: Path) -> None:
    bring(store, *write_release(tmp_path))
    app = send_pair(surgcheck_form(), model="My VLM")
    app.selectbox(key="surgcheck_setting").set_value("zero-shot").run()
    press(app, "pairs_import")
    assert store.rows("SELECT setting FROM runs") == [("zero-shot",)]
    assert table(app, "replaced")["setting"].tolist() == ["zero-shot"]


def test_a_refused_import_leaves_files_and_choices_as_they_were(store: Store) -> None:
    app = surgcheck_form()
    odd = prediction_rows("original", more={"model": "My VLM", "sub_tag": "Odd"})
    send(app, ORIGINAL, "a_original.jsonl", jsonl(odd))
    send(app, LESS_BIASED, "a_less_bias.jsonl", jsonl(prediction_rows("less_biased", more={"model": "My VLM"})))
    app.selectbox(key="surgcheck_setting").set_value("fine-tuned").run()
    press(app, "pairs_import")
    assert "5 bad lines; nothing was imported" in words(app)
    assert "'Odd' is not known" in table(app, "why it cannot be used").iloc[0]["why it cannot be used"]
    assert not app.button(key="pairs_import").disabled
    assert app.selectbox(key="surgcheck_setting").value == "fine-tuned"
    send(app, ORIGINAL, "a_original.jsonl", jsonl(prediction_rows("original", more={"model": "My VLM"})))
    press(app, "pairs_import")
    assert "10 new answers of My VLM" in words(app)
    assert app.button(key="pairs_import").disabled, "the files have gone in; the form is empty"
    assert app.selectbox(key="surgcheck_setting").value == "fine-tuned"


def test_what_was_typed_is_there_again_after_a_look_at_another_form(store: Store) -> None:
    app = surgcheck_form()
    app.button_group(key="pairs_source").set_value("Path on this computer").run()
    app.text_area(key="pairs_0_original_paths").set_value("mine.jsonl").run()
    app.checkbox(key="surgcheck_lenient").check().run()
    app.button_group(key="surgcheck_form").set_value("Questions and scene graphs").run()
    app.button_group(key="surgcheck_form").set_value("Answers of a VLM").run()
    assert app.text_area(key="pairs_0_original_paths").value == "mine.jsonl"
    assert app.checkbox(key="surgcheck_lenient").value


def test_a_file_in_the_wrong_place_is_pointed_out(store: Store) -> None:
    app = send(surgcheck_form(), ORIGINAL, "box_less_bias.jsonl", jsonl(prediction_rows("less_biased")))
    assert "box_less_bias.jsonl is called less-biased" in plain_words(app)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.jsonl", b"", "is empty"),
        ("frame.png", b"\x89PNG\r\n\x1a\n" + bytes(200), "binary file of no known kind"),
        ("words.jsonl", b"hello\n", "holds no row that can be read"),
        ("scenes.json", b'{"images": [], "annotations": [], "categories": []}', "is a file of scene graphs"),
    ],
)
def test_a_file_that_holds_no_rows_says_so_at_once(store: Store, name: str, content: bytes, said: str) -> None:
    app = send(surgcheck_form(), ORIGINAL, name, content)
    assert said in words(app)
    assert "bug" not in words(app) and app.button(key="pairs_import").disabled


def test_a_path_outside_of_the_registered_folders_is_refused_at_once(store: Store) -> None:
    app = surgcheck_form()
    app.button_group(key="pairs_source").set_value("Path on this computer").run()
    app.text_area(key="pairs_0_original_paths").set_value("/etc/passwd").run()
    assert "PARALLAX_ROOTS" in words(app)


def test_answers_are_imported_by_their_paths(store: Store, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", prediction_rows("original", more={"model": "My VLM"}))
    write(tmp_path / "b.jsonl", prediction_rows("less_biased", more={"model": "My VLM"}))
    app = surgcheck_form()
    app.button_group(key="pairs_source").set_value("Path on this computer").run()
    app.text_area(key="pairs_0_original_paths").set_value("a.jsonl").run()
    app.text_area(key="pairs_0_less_biased_paths").set_value("b.jsonl").run()
    press(app, "pairs_import")
    assert "10 new answers of My VLM" in words(app)


def zipped(folder: Path) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for path in sorted(folder.rglob("*.jsonl")):
            archive.write(path, path.relative_to(folder))
    return raw.getvalue()


def test_the_release_goes_in_as_its_archive_and_leaked_rows_are_listed(store: Store, tmp_path: Path) -> None:
    write_release(tmp_path / "release")
    leaked: list[Row] = release_rows("original")
    leaked[1] = release_rows("less_biased")[1]
    write(tmp_path / "release/full/test_original.jsonl", leaked)
    app = open_questions()
    send(app, 0, "SurgCheck_annotations.zip", zipped(tmp_path / "release"))
    press(app, "questions_import")
    assert "4 new units in suite full_test; 1 row not taken" in words(app)
    [job] = JOBS.of(store)
    app.session_state[f"report_{job.id}_left_out_open"] = True
    app.run()
    assert table(app, "why it was not taken").to_dict("records") == [
        {"file": "test_original.jsonl", "line": 2, "why it was not taken": LEAKED}
    ]


def test_a_damaged_archive_is_called_by_its_own_name(store: Store, tmp_path: Path) -> None:
    write_release(tmp_path / "release")
    whole = bytearray(zipped(tmp_path / "release"))
    whole[40:60] = bytes(20)
    app = send(open_questions(), 0, "mine.zip", bytes(whole))
    app.button(key="questions_import").click().run()
    assert "mine.zip cannot be unpacked" in words(app)


def test_a_folder_of_the_release_goes_in_by_its_path(store: Store, tmp_path: Path) -> None:
    write_release(tmp_path / "release")
    app = open_questions()
    app.button_group(key="questions_0_source").set_value("Path on this computer").run()
    app.text_area(key="questions_0_paths").set_value("release").run()
    press(app, "questions_import")
    assert "5 new units in suite full_test" in words(app)


def scene_file() -> bytes:
    """Return one frame with a hook and a grasper at work."""
    tools = (("hook", "Rt", "dissect", 300), ("grasper", "Lt", "retract", 40))
    names = ("gallbladder", "hook", "grasper")
    annotations = [
        {
            "id": number, "image_id": 1, "category_id": names.index(tool) + 1, "bbox": [left, 40, 60, 40], "area": 2400,
            "iscrowd": 0, "oper": hand, "triplet": {"tool": tool, "verb": verb, "target": "gallbladder"},
        }
        for number, (tool, hand, verb, left) in enumerate(tools, 1)
    ]  # fmt: skip
    anatomy = {"id": 9, "image_id": 1, "category_id": 1, "bbox": [150, 100, 120, 80], "area": 9600, "iscrowd": 0}
    frame = {
        "id": 1, "file_name": "1_25.jpg", "width": 400, "height": 240, "video_id": 1, "is_det_keyframe": True,
        "is_ds_keyframe": True, "ds": [1, 0, 0],
    }  # fmt: skip
    categories = [{"id": number, "name": name} for number, name in enumerate(names, 1)]
    return json.dumps({"images": [frame], "annotations": [*annotations, anatomy], "categories": categories}).encode()


def test_scene_graphs_become_questions_and_their_frames_are_attached(store: Store, tmp_path: Path) -> None:
    from PIL import Image

    (tmp_path / "frames").mkdir()
    Image.new("RGB", (400, 240), "#803020").save(tmp_path / "frames" / "1_25.jpg")
    app = send(open_questions(), 0, "test_scenes.json", scene_file())
    app.text_input(key="surgcheck_frames_path").set_value("frames").run()
    press(app, "questions_import")
    assert "new units in suite test_scenes" in words(app)
    assert dict(table(app, "images and files").to_numpy().tolist())["of these, new or changed"] >= 1
    assert not table(app, "left out, by reason").empty


def plain_words(app: AppTest) -> str:
    """Return the page's text without the marks that keep names from being read as Markdown."""
    return words(app).replace("\\", "")
