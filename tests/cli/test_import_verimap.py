"""``import verimap`` and ``export verimap`` as a user types them."""

import json
from pathlib import Path

import pytest
from PIL import Image

from tests.cli.calling import call, done
from tests.services.verimap_files import QUESTIONS, json_lines, json_list, record, vqa_rad_row

RECORDS = [record("q1", True, "CORRECT"), record("q2", False, None), record("q3", None, "UNCERTAIN", verifier="B")]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Three questions as VQA-RAD publishes them."""
    return json_list(tmp_path / "testset.json", QUESTIONS).path


def label_files(folder: Path, *tasks: str) -> list[Path]:
    """Write one annotator's file for each task, given to question 1."""
    return [json_lines(folder / f"{at}.jsonl", [{"id": 1, "task": task}]).path for at, task in enumerate(tasks)]


def test_questions_go_in_with_their_images(tmp_path: Path, store: Path, questions: Path) -> None:
    (tmp_path / "images").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "images" / "synpic1.jpg")
    images = ["--images", str(tmp_path / "images")]
    result = done("import", "verimap", questions, "--dataset", "vqa-rad", *images, "--store", store)
    assert "Suite vqa-rad: 3 questions (3 new), 2 images." in result.out
    assert "found 1, new 1" in result.out
    again = done("import", "verimap", questions, "--dataset", "vqa-rad", "--store", store)
    assert again.out.endswith("The store held all of this already; nothing was changed.\n")


@pytest.mark.parametrize("with_questions", [True, False])
def test_three_label_files_behind_one_option_vote(
    tmp_path: Path, store: Path, questions: Path, with_questions: bool
) -> None:
    files = label_files(tmp_path, "spatial", "modality", "modality")
    if not with_questions:
        done("import", "verimap", questions, "--dataset", "vqa-rad", "--store", store)
    paths = [questions] if with_questions else []
    made = done(
        "import", "verimap", *paths, "--dataset", "vqa-rad", "--labels", *files, "--store", store, "--json"
    ).json
    assert (made["labels"]["how"], made["labels"]["n_labelled"], made["labels"]["kinds"]["majority"]) == ("vote", 1, 1)
    assert len(made["labels"]["pairs"]) == 3


def test_labels_can_be_proposed_by_rules_and_checked_by_hand(tmp_path: Path, store: Path, questions: Path) -> None:
    [by_hand] = label_files(tmp_path, "modality")
    result = done("import", "verimap", questions, "--dataset", "vqa-rad", "--labels", "rules", "--checked", by_hand,
                  "--store", store)  # fmt: skip
    assert "Questions of vqa-rad with a task: 3 of 3 (3 new or changed)." in result.out
    assert "Against labels by hand: 1 of 1 agree (100.0 %); labelled by hand alone: 0." in result.out


def test_records_go_in_and_come_out_again(tmp_path: Path, store: Path) -> None:
    file = json_lines(tmp_path / "r.jsonl", RECORDS).path
    result = done("import", "verimap", "--records", file, "--store", store)
    assert "Suite own: 3 questions (3 new), 0 images." in result.out
    assert (
        "A on own (answers of A): 2 verdicts (2 new, 0 replaced, 0 unchanged); failed 0, not readable 1, "
        "on answers that nobody judged 0."
    ) in result.out
    out = tmp_path / "out.csv.gz"
    written = done("export", "verimap", "--model", "A", "--out", out, "--store", store, "--json").json
    assert (written["n_lines"], written["file"]) == (2, str(out))
    fresh = tmp_path / "fresh.duckdb"
    report = done("import", "verimap", "--records", out, "--store", fresh, "--json").json
    assert [(run["vlm"], run["n_answers"], run["n_unparsed"]) for run in report["runs"]] == [("A", 2, 1)]


def test_bad_lines_stop_everything_unless_they_may_be_skipped(tmp_path: Path, store: Path) -> None:
    file = json_lines(tmp_path / "r.jsonl", [*RECORDS, record("q4", True, "MAYBE"), record("", True, "CORRECT")]).path
    result = call("import", "verimap", "--records", file, "--store", store)
    assert result.code == 2
    assert "r.jsonl, line 4: verdict: 'MAYBE' is no verdict" in result.err
    assert "r.jsonl, line 5: id is empty or no text" in result.err
    skipped = done("import", "verimap", "--records", file, "--lenient", "--store", store)
    assert "2 bad lines left out" in skipped.err


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["testset.json", "--dataset", "rad"], "'rad' is no data set", "Known: vqa-rad, slake, pathvqa, pmc-vqa"),
        (["testset.json"], "Name either the files of a data set", "import verimap Slake1.0"),
        (["testset.json", "--records", "r.jsonl"], "Name either the files of a data set", "--dataset slake"),
        (["--dataset", "slake", "--labels", "rules"], "no questions of 'slake'", "Stored: none"),
        (["--dataset", "slake"], "No file was named", "labels of its questions"),
        (["testset.json", "--dataset", "slake", "--checked", "c"], "--checked compares labels", "--labels"),
        (["testset.json", "--dataset", "vqa-rad", "--images", "nowhere"], "no folder", "--images"),
        (["--records", "absent.jsonl"], "There is no file", "Check the path"),
    ],
)
def test_what_cannot_be_done_is_answered_with_what_can(
    tmp_path: Path, store: Path, questions: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str,
    hint: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    result = call("import", "verimap", *arguments, "--store", store)
    assert result.code == 2
    assert message in result.err
    assert hint in result.err


def test_metrics_of_the_other_systems_do_not_count_verimap(tmp_path: Path, store: Path, questions: Path) -> None:
    done("import", "verimap", questions, "--dataset", "vqa-rad", "--store", store)
    done("import", "verimap", "--records", json_lines(tmp_path / "r.jsonl", RECORDS).path, "--store", store)
    for system in ("endoca", "surgcheck"):
        assert done("metrics", system, "--store", store, "--json").json == {"rows": []}
    assert call("metrics", "endoca", "--suite", "own", "--store", store).code == 2
    assert done("rescore", "endoca", "--store", store, "--json").json["n_rescored"] == 0


def test_a_suite_can_be_removed_with_its_labels_and_verdicts(tmp_path: Path, store: Path) -> None:
    done("import", "verimap", "--records", json_lines(tmp_path / "r.jsonl", RECORDS).path, "--store", store)
    more = json_list(tmp_path / "testset.json", [vqa_rad_row(1, "Is this a CT?")]).path
    done("import", "verimap", more, "--dataset", "vqa-rad", "--store", store)
    removed = done("remove", "suite", "own", "--store", store, "--json").json
    assert removed == {"removed": "Removed suite own with 3 units and 2 runs over it."}
    again = done("import", "verimap", "--records", tmp_path / "r.jsonl", "--store", store, "--json").json
    assert [(run["n_new"], run["n_unchanged"]) for run in again["runs"]] == [(2, 0), (1, 0)]
    assert json.dumps(again["suites"]).count('"n_new": 3') == 1
