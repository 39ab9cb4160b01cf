"""Promises of the Data page: what goes in, what is refused in calm words, and what is said about it afterwards."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from backend.errors import AppError, BadLine
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.report import ImportReport, RunReport, SuiteReport
from backend.services.jobs import JOBS, Task
from backend.store.store import Store
from pages.ui.import_forms import three_sizes
from pages.ui.import_report import NO_IMAGE_FOUND, bad_lines_csv, summary
from pages.ui.job_view import progress_words, time_words
from pages.ui.plain import plain
from tests.pages.data_page import app_store, data_page, jsonl, press, table, words
from tests.services.endoca_files import manifest_lines, prediction_lines, write_jsonl
from tests.services.test_jobs import Gate, finished


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The app's store, empty."""
    yield from app_store(tmp_path, monkeypatch)


@pytest.fixture
def filled(store: Store, tmp_path: Path) -> Store:
    """The app's store with a manifest, one VLM that is always right and one that answers nothing."""
    manifest = write_jsonl(tmp_path / "endoca_small.jsonl", manifest_lines())
    answers = write_jsonl(
        tmp_path / "answers.jsonl", [*prediction_lines("Right VLM"), *prediction_lines("Silent VLM", lambda line: "")]
    )
    import_endoca(store, [SourceFile.at(manifest), SourceFile.at(answers)])
    return store


def upload(app: AppTest, *files: tuple[str, bytes], lenient: bool = False) -> AppTest:
    """Send files, import them, and wait until the job is over."""
    app.file_uploader[0].set_value([(name, content, "application/octet-stream") for name, content in files])
    if lenient:
        app.checkbox(key="endoca_lenient").check()
    app.run()
    return press(app, "endoca_import")


def test_an_empty_store_says_where_to_get_data_and_what_to_do(store: Store) -> None:
    shown = words(data_page())
    assert "The store is empty" in shown
    for place in ("github.com/Luious-LYH/EndoCA-VQA", "github.com/simula/Kvasir-VQA-x1", "SimulaMet/Kvasir-VQA"):
        assert place in shown
    assert "Nothing has been imported yet" in shown


def test_printed_results_are_there_from_the_start(store: Store) -> None:
    printed = table(data_page(), "table")
    assert list(printed["suite"]) == ["core", "diagnostic"]
    assert list(printed["VLMs"]) == [11, 11]
    assert all("published" in origin for origin in printed["origin"])


def test_the_page_names_the_licences(store: Store) -> None:
    assert "CC BY-NC 4.0" in words(data_page())


def test_uploaded_manifest_and_answers_go_in_and_are_reported(store: Store) -> None:
    app = upload(data_page(), ("endoca_small.jsonl.gz", gzip.compress(jsonl(manifest_lines()))))
    assert "3 new units in suite small" in words(app)
    app = upload(app, ("mine.jsonl", jsonl(prediction_lines("My VLM"))))
    assert "9 new answers of My VLM" in words(app)
    runs = table(app, "replaced")
    assert runs.to_dict("records") == [
        {
            "VLM": "My VLM", "stage": "direct", "suite": "small", "answers": 9, "new": 9, "replaced": 0,
            "unchanged": 0, "missing": 0, "failed": 0, "empty": 0, "not readable": 0,
        }
    ]  # fmt: skip
    assert "1 suite with 3 units on 2 images (0 with a file), and 9 answers in 1 run of 1 VLM." in words(app)


def test_importing_a_file_again_says_that_nothing_changed_and_leaves_no_log(filled: Store) -> None:
    app = upload(data_page(), ("again.jsonl", jsonl(prediction_lines("Right VLM"))))
    assert "Nothing changed: all of it was there already" in words(app)
    assert filled.value("SELECT count(*) FROM imports") == 1


def test_the_uploaded_copy_is_deleted_after_the_import(store: Store) -> None:
    app = upload(data_page(), ("endoca_small.jsonl", jsonl(manifest_lines())))
    [job] = JOBS.of(store)
    assert job.state == "done"
    assert job.task.release.__self__.files[0].path.exists() is False  # type: ignore[attr-defined]
    assert "endoca_small.jsonl" in words(app)


BROKEN = [
    ("cut.jsonl.gz", gzip.compress(jsonl(manifest_lines()))[:-200], "bad line", ""),
    ("latin.jsonl", jsonl(manifest_lines()) + '{"probe_id": "Blåbær"}\n'.encode("latin-1"), "1 bad line", "not UTF-8"),
    ("wide.jsonl", jsonl(manifest_lines()).decode().encode("utf-16"), "UTF-16", ""),
    ("frame.png", b"\x89PNG\r\n\x1a\n" + bytes(200), "binary file of no known kind", ""),
    ("nothing.jsonl", b"", "is empty", ""),
    ("text.jsonl", b"hello\nworld\n", "2 bad lines", ""),
    ("list.json", b'[{"probe_id": "1::complex"}]', "one JSON list", ""),
    ("twice.jsonl", jsonl([*manifest_lines(), manifest_lines()[0]]), "1 bad line", ""),
    ("half.jsonl", jsonl(manifest_lines()[:-1]), "bad line", ""),
    ("two.jsonl", jsonl([*prediction_lines("A VLM"), *prediction_lines("A VLM")]), "9 bad lines", "a second time"),
]


@pytest.mark.parametrize(("name", "content", "said", "reason"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_broken_file_is_refused_in_calm_words_and_changes_nothing(
    store: Store, name: str, content: bytes, said: str, reason: str
) -> None:
    app = upload(data_page(), (name, content))
    assert said in words(app)
    assert "Traceback" not in words(app) and "bug" not in words(app)
    assert store.value("SELECT count(*) FROM units") == store.value("SELECT count(*) FROM imports") == 0
    if "bad line" in said:
        lines = table(app, "why it cannot be used")
        assert set(lines["file"]) == {name} and (lines["line"] > 0).all()
        assert reason in " ".join(lines["why it cannot be used"])


def test_bad_lines_can_be_skipped_without_sending_the_file_again(store: Store) -> None:
    app = upload(data_page(), ("endoca_small.jsonl", jsonl(manifest_lines()) + b"not json\n"))
    [job] = JOBS.of(store)
    press(app, f"skip_{job.id}")
    assert store.value("SELECT count(*) FROM units") == 3
    assert "3 new units in suite small; 1 bad line left out" in words(app)
    assert list(table(app, "why it cannot be used")["line"]) == [10]


def test_an_unknown_probe_is_a_bad_line_where_the_suite_is_named(filled: Store) -> None:
    app = data_page()
    app.selectbox(key="endoca_suite").set_value("small")
    unknown = {"probe_id": "99::complex", "model_id": "My VLM", "prediction": "yes"}
    upload(app, ("mine.jsonl", jsonl([*prediction_lines("My VLM"), unknown])))
    [reason] = table(app, "why it cannot be used")["why it cannot be used"]
    assert "99::complex" in reason


def test_a_path_under_a_registered_folder_is_imported(store: Store, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "endoca_small.jsonl", manifest_lines())
    app = data_page()
    app.button_group(key="endoca_0_source").set_value("Path on this computer").run()
    app.text_area(key="endoca_0_paths").set_value("endoca_small.jsonl").run()
    press(app, "endoca_import")
    assert store.value("SELECT count(*) FROM units") == 3


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/etc/passwd", "PARALLAX_ROOTS"),
        ("../outside.jsonl", "PARALLAX_ROOTS"),
        ("absent.jsonl", "There is nothing at absent.jsonl"),
        ("", "No file was chosen"),
    ],
)
def test_a_path_that_cannot_be_used_is_refused_at_the_form(store: Store, path: str, said: str) -> None:
    app = data_page()
    app.button_group(key="endoca_0_source").set_value("Path on this computer").run()
    app.text_area(key="endoca_0_paths").set_value(path).run()
    app.button(key="endoca_import").click().run()
    assert said in words(app)
    assert JOBS.of(store) == []


def test_a_folder_is_refused_as_a_file(store: Store, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    app = data_page()
    app.button_group(key="endoca_0_source").set_value("Path on this computer").run()
    app.text_area(key="endoca_0_paths").set_value("folder").run()
    press(app, "endoca_import")
    assert "folder is a folder" in words(app)


def test_a_name_that_looks_like_markup_is_shown_as_text(store: Store) -> None:
    name = "<img src=x onerror=alert(1)>![a](javascript:alert)$x$.jsonl"
    app = upload(data_page(), (name, b""))
    said = words(app)
    assert "<img" not in said and "&lt;img" in said
    assert not [element for element in app.markdown if "javascript" in element.value]


def test_a_job_is_found_again_by_its_link_and_without_it(store: Store) -> None:
    gate = Gate(ImportReport("endoca", "slow.jsonl"))
    job = JOBS.start(store, Task("Import slow.jsonl", gate))
    assert gate.reached.wait(20)
    for app in (data_page(), data_page(job=job.id)):
        assert "Import slow.jsonl" in words(app)
        assert "waiting at the gate: 1 of 4 (25 %)" in words(app)
        assert app.button(key=f"cancel_{job.id}").label == "Cancel"
    gate.open.set()
    finished(job)
    assert "Nothing changed" in words(data_page(job=job.id))


def test_a_running_job_can_be_cancelled_from_the_page(store: Store) -> None:
    gate = Gate()
    job = JOBS.start(store, Task("Import slow.jsonl", gate))
    assert gate.reached.wait(20)
    app = data_page(job=job.id)
    app.button(key=f"cancel_{job.id}").click().run()
    assert app.button(key=f"cancel_{job.id}").disabled
    gate.open.set()
    finished(job)
    assert "Cancelled; nothing was changed." in words(app.run())


def test_a_press_is_heard_though_the_job_above_it_has_ended_meanwhile(store: Store) -> None:
    gate = Gate(ImportReport("endoca", "slow.jsonl"))
    job = JOBS.start(store, Task("Import slow.jsonl", gate))
    assert gate.reached.wait(20)
    app = data_page(job=job.id, bring="Images")
    assert "waiting at the gate" in words(app)
    gate.open.set()
    finished(job)
    app.text_input(key="images_path").set_value("absent")
    app.button(key="images_attach").click().run()
    assert "There is nothing at absent" in words(app), "what the press came to"
    assert "Nothing changed" in words(app), "the end of the job"


def test_a_job_behind_another_says_that_it_waits(store: Store) -> None:
    gate = Gate()
    first = JOBS.start(store, Task("First", gate))
    second = JOBS.start(store, Task("Second", lambda report: ImportReport("endoca", "b")))
    assert gate.reached.wait(20)
    assert "Waits until the job before it is over" in words(data_page(job=second.id))
    gate.open.set()
    finished(first)
    finished(second)


def test_a_job_that_nobody_knows_any_more_says_so(store: Store) -> None:
    app = data_page(job="0123456789ab")
    assert "not known any more" in words(app)
    app.button(key="forget_job").click().run()
    assert "job" not in app.query_params


def test_a_bug_in_a_job_is_called_one(store: Store) -> None:
    def work(report: object) -> object:
        raise KeyError("polyp")

    job = finished(JOBS.start(store, Task("Import", work)))
    said = words(data_page(job=job.id))
    assert "bug in Parallax" in said and "Traceback" not in said


def test_closing_a_report_takes_it_off_the_page(store: Store) -> None:
    app = upload(data_page(), ("endoca_small.jsonl", jsonl(manifest_lines())))
    [job] = JOBS.of(store)
    app.button(key=f"close_{job.id}").click().run()
    assert JOBS.of(store) == []
    assert "job" not in app.query_params


def test_the_tables_say_what_is_in_the_store(filled: Store) -> None:
    app = data_page()
    [suite] = table(app, "with a file").to_dict("records")
    assert (suite["suite"], suite["system"], suite["units"], suite["atomic questions"]) == ("small", "EndoCA", 3, 6)
    runs = table(app, "scorer")
    assert list(runs["VLM"]) == ["Right VLM", "Silent VLM"]
    assert list(runs["answers"]) == [9, 9]
    assert all("imported" in origin for origin in runs["origin"])


def test_runs_can_be_restricted_to_a_vlm(filled: Store) -> None:
    app = data_page()
    app.multiselect(key="runs_vlm").set_value(["Silent VLM"]).run()
    assert list(table(app, "scorer")["VLM"]) == ["Silent VLM"]


def test_the_log_keeps_each_import_with_its_report(filled: Store) -> None:
    app = data_page()
    [entry] = table(app, "what changed").to_dict("records")
    assert entry["files"] == "endoca_small.jsonl, answers.jsonl"
    assert entry["what changed"] == "3 new units in suite small; 18 new answers of 2 VLMs"
    app.session_state["imports_table"] = chosen_cell(0, "files")
    app.run()
    assert list(table(app, "replaced")["empty"]) == [0, 9]


def test_old_scores_are_offered_to_be_made_anew(filled: Store) -> None:
    assert "another version of the scorer" not in words(data_page())
    with filled.write() as cursor:
        cursor.execute("UPDATE runs SET scorer_version = '0' WHERE vlm = 'Right VLM'")
    app = data_page()
    assert "1 run was scored by another version of the scorer" in words(app)
    press(app, "rescore")
    assert "1 run scored with the present scorer" in words(app)
    assert "another version of the scorer" not in words(app)


def test_the_blind_baseline_needs_two_suites(filled: Store, tmp_path: Path) -> None:
    assert "import a second manifest first" in words(data_page(bring="Blind baseline"))
    other = [{**line, "img_id": f"other-{line['img_id']}"} for line in manifest_lines()]
    import_endoca(filled, [SourceFile.at(write_jsonl(tmp_path / "other.jsonl", other))])
    app = data_page(bring="Blind baseline")
    app.selectbox(key="blind_learn").set_value("other")
    app.selectbox(key="blind_answer").set_value("small")
    press(app, "blind_run")
    assert "9 new answers of Blind baseline" in words(app)


def test_the_blind_baseline_does_not_learn_from_the_test(filled: Store, tmp_path: Path) -> None:
    other = [{**line, "img_id": f"other-{line['img_id']}"} for line in manifest_lines()]
    import_endoca(filled, [SourceFile.at(write_jsonl(tmp_path / "other.jsonl", other))])
    app = data_page(bring="Blind baseline")
    app.selectbox(key="blind_learn").set_value("small")
    app.selectbox(key="blind_answer").set_value("small")
    press(app, "blind_run")
    assert "learning from the test" in words(app)


def test_images_are_attached_from_a_registered_folder(filled: Store, tmp_path: Path) -> None:
    from PIL import Image

    (tmp_path / "frames").mkdir()
    Image.new("RGB", (40, 30), "#803020").save(tmp_path / "frames" / "frame-a.jpg")
    app = data_page(bring="Images")
    app.text_input(key="images_path").set_value("frames").run()
    press(app, "images_attach")
    assert filled.value("SELECT count(path) FROM images") == 1
    counts = table(app, "images and files")
    assert dict(zip(counts["images and files"], counts["number"], strict=True))["of these, new or changed"] == 1


def test_a_suite_is_built_from_kvasir_vqa_files(store: Store, tmp_path: Path) -> None:
    (tmp_path / "vqa.csv").write_text("source,question,answer,img_id\nx,Is there text?,no,img1\n")
    header = "img_id,complexity,question,answer,original,question_class\n"
    original = json.dumps([{"q": "Is there text?", "a": "no"}]).replace('"', '""')
    row = f'img1,1,Is any text visible?,No text is visible.,"{original}","[""text_presence""]"\n'
    (tmp_path / "x1-test.csv").write_text(header + row)
    app = data_page(bring="Kvasir-VQA suites")
    for form, file in (("vqa", "vqa.csv"), ("x1", "x1-test.csv")):
        app.button_group(key=f"{form}_0_source").set_value("Path on this computer").run()
        app.text_area(key=f"{form}_0_paths").set_value(file).run()
    app.text_input(key="kvasir_suite").set_value("built").run()
    press(app, "kvasir_import")
    assert "1 new unit in suite built" in words(app)


@pytest.mark.parametrize(
    ("typed", "sizes"), [("", None), (" ", None), ("8264,3736,0", (8264, 3736, 0)), ("1, 2, 3", (1, 2, 3))]
)
def test_sizes_are_three_whole_numbers(typed: str, sizes: tuple[int, int, int] | None) -> None:
    assert three_sizes(typed) == sizes


@pytest.mark.parametrize("typed", ["1,2", "a,b,c", "-1,2,3", "1.5,2,3", "1,2,3,4"])
def test_other_sizes_are_refused(typed: str) -> None:
    with pytest.raises(AppError, match="not three whole numbers"):
        three_sizes(typed)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "about a second"), (12.4, "about 12 s"), (89, "about 89 s"), (300, "about 5 min"), (7200, "about 2.0 h")],
)
def test_time_left_is_said_as_coarsely_as_it_is_known(seconds: float, said: str) -> None:
    assert time_words(seconds) == said


def test_progress_is_said_in_one_line() -> None:
    from backend.services.jobs import Progress

    assert progress_words(Progress("reading a.jsonl", 250, 1000, 2.0)) == (
        "reading a.jsonl: 250 of 1,000 (25 %), 125 a second, about 6 s left"
    )
    assert progress_words(Progress("looking through frames", 40, None, 0.1)) == "looking through frames: 40"
    assert progress_words(Progress("learning", 0, None, 0.1)) == "learning"


def run_report(*, answers: int = 0, new: int = 0, replaced: int = 0, unchanged: int = 0) -> RunReport:
    return RunReport("run", "My VLM", "core", answers, new, replaced, unchanged, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (ImportReport("endoca", "a"), "nothing changed: all of it was there already"),
        (
            ImportReport("endoca", "a", runs=[run_report(answers=3, new=1, replaced=2)]),
            "1 new answer of My VLM; 2 answers of My VLM replaced",
        ),
        (
            ImportReport("endoca", "a", suites=[SuiteReport("core", 5, 5, 5, 7, 2)], bad_lines=[BadLine(1, "x")]),
            "5 new units in suite core; 1 bad line left out",
        ),
        (ImportReport("images", "a", images={"found": 4, "new": 2}), "files for 2 images"),
        (ImportReport("images", "a", images={"found": 4, "new": 0}), "nothing changed: all of it was there already"),
        (ImportReport("images", "a", images={"found": 0, "new": 0}), NO_IMAGE_FOUND),
    ],
)
def test_a_report_is_summed_up_in_one_line(report: ImportReport, said: str) -> None:
    assert summary(report) == said


def test_a_report_survives_the_log() -> None:
    report = ImportReport(
        "endoca", "a.jsonl", [SuiteReport("core", 5, 5, 5, 7, 2)], [run_report(answers=3, new=3)],
        [BadLine(3, "not JSON", "a.jsonl")], ["a note"], {"reason": 2}, {"new": 1},
    )  # fmt: skip
    kept = json.loads(json.dumps(report.as_json()))
    assert ImportReport.from_json({**kept, "later": 1}) == report


def test_bad_lines_as_csv_hold_no_formula() -> None:
    lines = [BadLine(1, "not JSON", "a.jsonl"), BadLine(2, "=cmd()", "-x.csv")]
    assert bad_lines_csv(lines).decode().splitlines() == [
        "file,line,reason", "a.jsonl,1,not JSON", "'-x.csv,2,'=cmd()",
    ]  # fmt: skip


def test_a_removed_run_is_gone_from_the_tables_and_said_in_the_log(filled: Store) -> None:
    app = data_page()
    app.session_state[f"runs_{filled.data_version}_table"] = chosen_cell(0, "VLM")
    app.run()
    assert "Remove Right VLM on small?" in words(app), "what goes is named before it goes"
    app.button(key="remove_run").click().run()
    assert not app.exception
    assert filled.rows("SELECT vlm FROM runs") == [("Silent VLM",)]
    log = next(table.value for table in app.dataframe if "what changed" in table.value.columns)
    assert log.iloc[0]["what changed"] == "Removed the run of Right VLM on small with 9 answers."
    assert "remove_run" not in {button.key for button in app.button}
    [told] = app.toast
    assert told.value == r"Removed the run of Right VLM on small with 9 answers\."
    app.run()
    assert not app.toast, "said once"


def test_a_suite_is_named_before_it_goes(filled: Store) -> None:
    app = data_page()
    app.session_state[f"suites_{filled.data_version}_table"] = chosen_cell(0, "units")
    app.run()
    assert "Remove small?" in words(app)
    app.button(key="remove_suite").click().run()
    assert not app.exception
    assert filled.value("SELECT count(*) FROM suites") == 0
    assert [told.value.startswith("Removed") for told in app.toast] == [True]


def chosen_cell(row: int, column: str) -> dict[str, dict[str, list[object]]]:
    """Return a table's state once one of its cells is chosen."""
    return {"selection": {"rows": [], "columns": [], "cells": [(row, column)]}}


@pytest.mark.parametrize(
    ("text", "markdown"),
    [("a_b", r"a\_b"), ("<b>VLM</b>", r"\<b\>VLM\<\/b\>"), ("$x$\n# y", r"\$x\$ \# y"), ("Ä 1", "Ä 1")],
)
def test_a_name_stays_text_where_markdown_is_read(text: str, markdown: str) -> None:
    assert plain(text) == markdown
