"""Verification records go in whole, find their questions, and count as often as they stand in their file."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from backend.errors import AppError, BadLines
from backend.services.ingest.files import SourceFile
from backend.services.ingest.verimap_labels import LabelFiles
from backend.services.ingest.verimap_questions import import_verimap
from backend.services.ingest.verimap_records import import_verification_records
from backend.store.store import Store
from backend.verimap.metrics import score_table, tally
from backend.verimap.outcomes import Policy, Treatment
from backend.verimap.vocabulary import task_of_name
from tests.services.verimap_files import QUESTIONS, Row, contents, json_lines, json_list, record, tasks

RECORDS = (
    record("q1", True, "CORRECT", question="Is this a CT?", reference="yes", answer="Yes", explanation="It looks so."),
    record("q1", True, "INCORRECT", verifier="B"),
    record("q2", False, "CORRECT", image="x/a.png", turn=1),
    record("q2", False, None, image="x/a.png", turn=1),
    record("q3", None, "uncertain", task="spatial reasoning"),
    record("q3", False, None, task="spatial", condition="image withheld", error="timeout"),
)


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store.create(tmp_path / "s.duckdb") as opened:
        yield opened


def write(path: Path, rows: tuple[Row, ...]) -> SourceFile:
    """Write records in the format that the file's name says; cells that a row lacks are empty."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if ".jsonl" in path.suffixes:
        text = "".join(json.dumps(row) + "\n" for row in rows).encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    elif path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(rows)
    else:
        pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in columns}), path)
    return SourceFile.at(path)


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz", "r.csv", "r.parquet"])
def test_every_format_makes_the_same_runs_and_verdicts(store: Store, tmp_path: Path, name: str) -> None:
    outcome = import_verification_records(store, [write(tmp_path / name, RECORDS)])
    assert [(run.vlm, run.setting, run.stage, run.n_new) for run in outcome.runs] == [
        ("A", "answers of A", "verify", 4),
        ("B", "answers of A", "verify", 1),
        ("A", "answers of A, image withheld", "verify", 1),
    ]
    assert store.rows(
        "SELECT verifier, unit_id, turn, place, condition, answer, oracle_correct, oracle, verdict, explanation, "
        "status, error FROM verifications ORDER BY ALL"
    ) == [
        ("A", "own:q1", 0, 0, "plain", "Yes", True, "file", "CORRECT", "It looks so.", "read", ""),
        ("A", "own:q2", 1, 0, "plain", None, False, "file", "CORRECT", None, "read", ""),
        ("A", "own:q2", 1, 1, "plain", None, False, "file", None, None, "unparsed", ""),
        ("A", "own:q3", 0, 0, "image_withheld", None, False, "file", None, None, "failed", "timeout"),
        ("A", "own:q3", 0, 0, "plain", None, None, None, "UNCERTAIN", None, "read", ""),
        ("B", "own:q1", 0, 0, "plain", None, True, "file", "INCORRECT", None, "read", ""),
    ]
    assert store.rows("SELECT source_id, question, reference, role FROM probes ORDER BY ALL") == [
        ("q1", "Is this a CT?", "yes", "generate"), ("q2", "", "", "generate"), ("q3", "", "", "generate"),
    ]  # fmt: skip
    assert store.rows("SELECT origin, vlm_group, scorer <> '' FROM runs GROUP BY ALL") == [("imported", None, True)]


def test_importing_twice_changes_nothing(store: Store, tmp_path: Path) -> None:
    file = write(tmp_path / "r.jsonl", RECORDS)
    import_verification_records(store, [file])
    before = contents(store)
    again = import_verification_records(store, [file])
    assert (again.changed, sum(run.n_unchanged for run in again.runs)) == (False, len(RECORDS))
    assert contents(store) == before


def test_a_changed_file_replaces_what_it_names_and_keeps_the_rest(store: Store, tmp_path: Path) -> None:
    import_verification_records(store, [write(tmp_path / "r.jsonl", RECORDS)])
    changed = (record("q1", True, "UNCERTAIN"), record("q9", True, "CORRECT"))
    [run] = import_verification_records(store, [write(tmp_path / "s.jsonl", changed)]).runs
    assert (run.n_new, run.n_replaced, run.n_unchanged) == (1, 1, 0)
    assert store.rows("SELECT unit_id, verdict FROM verifications WHERE verifier = 'A' AND condition = 'plain' "
                      "AND turn = 0 ORDER BY ALL") == [
        ("own:q1", "UNCERTAIN"), ("own:q3", "UNCERTAIN"), ("own:q9", "CORRECT"),
    ]  # fmt: skip


def test_alike_records_stay_apart_and_one_that_the_file_holds_no_more_goes(store: Store, tmp_path: Path) -> None:
    twice = (record("q1", True, "CORRECT"), record("q1", True, "CORRECT"))
    import_verification_records(store, [write(tmp_path / "r.jsonl", twice)])
    assert store.rows("SELECT place FROM verifications ORDER BY 1") == [(0,), (1,)]
    outcome = import_verification_records(store, [write(tmp_path / "r.jsonl", twice[:1])])
    assert store.rows("SELECT place FROM verifications") == [(0,)]
    assert (outcome.changed, outcome.runs[0].n_removed, outcome.runs[0].n_unchanged) == (True, 1, 1)


def test_records_without_an_image_each_count_as_one_of_their_own(store: Store, tmp_path: Path) -> None:
    import_verification_records(store, [write(tmp_path / "r.jsonl", RECORDS)])
    images = dict(store.rows("SELECT u.source_id, i.file FROM units u JOIN images i USING (image_id)"))
    assert images == {"q1": "", "q2": "x/a.png", "q3": ""}
    assert store.value("SELECT count(DISTINCT image_id) FROM verifications") == 3


def test_records_find_the_questions_of_an_imported_data_set(store: Store, tmp_path: Path) -> None:
    import_verimap(store, [json_list(tmp_path / "test.json", QUESTIONS)], "vqa-rad")
    rows = (
        record("1", True, "CORRECT", dataset="VQA_RAD"),
        record("2", False, "CORRECT", dataset="VQA-RAD", task=None, question="Another question?"),
        record("77", False, "CORRECT", dataset="vqa-rad", task=None),
    )
    outcome = import_verification_records(store, [write(tmp_path / "r.jsonl", rows)])
    [suite] = outcome.suites
    assert (suite.suite, suite.n_units, suite.n_new) == ("vqa-rad", 3, 1)
    assert store.rows("SELECT v.image_id, p.question FROM verifications v JOIN probes p USING (unit_id) "
                      "WHERE p.source_id = '2'") == [("vqa-rad:synpic1", "Where is the mass?")]  # fmt: skip
    assert outcome.notes == [
        "Records with another question, reference or image than what is known of their id in vqa-rad: 1. What is known "
        "is kept.",
        "Ids that vqa-rad did not hold: 1. Their questions are what the records say of them.",
    ]
    assert tasks(store, "vqa-rad")["1"] == ("modality_recognition", "file")


def test_the_data_set_may_come_after_its_records_and_completes_their_questions(store: Store, tmp_path: Path) -> None:
    import_verification_records(
        store, [write(tmp_path / "r.jsonl", (record("1", True, "CORRECT", dataset="vqa-rad"),))]
    )
    [suite] = import_verimap(store, [json_list(tmp_path / "test.json", QUESTIONS)], "vqa-rad").suites
    assert (suite.n_units, suite.n_new, suite.n_completed) == (3, 2, 1)
    assert store.rows(
        "SELECT p.question, p.reference, u.split, u.image_id, v.image_id, e.answer_type, e.task, i.file "
        "FROM verifications v JOIN probes p USING (unit_id) JOIN units u USING (unit_id) "
        "JOIN examples e USING (unit_id) JOIN images i ON i.image_id = u.image_id"
    ) == [("Is this a CT?", "Yes", "test", "vqa-rad:synpic1", "vqa-rad:synpic1", "closed", "modality_recognition",
           "synpic1.jpg")]  # fmt: skip
    assert store.value("SELECT count(*) FROM images WHERE file = ''") == 0
    before = contents(store)
    assert not import_verimap(store, [json_list(tmp_path / "test.json", QUESTIONS)], "vqa-rad").changed
    assert contents(store) == before


def test_a_record_with_another_task_than_its_question_is_a_bad_line(store: Store, tmp_path: Path) -> None:
    rows = (record("q1", True, "CORRECT"), record("q1", True, "CORRECT", verifier="B", task="spatial"))
    file = write(tmp_path / "r.jsonl", rows)
    with pytest.raises(BadLines) as caught:
        import_verification_records(store, [file])
    [line] = caught.value.lines
    assert (line.number, line.reason) == (2, "q1 of own has the task modality_recognition, not spatial_localization")
    assert contents(store)["verifications"] == []
    outcome = import_verification_records(store, [file], lenient=True)
    assert ([run.vlm for run in outcome.runs], len(outcome.bad_lines)) == (["A"], 1)


def test_a_task_that_a_rule_proposed_gives_way_to_the_records(store: Store, tmp_path: Path) -> None:
    import_verimap(store, [json_list(tmp_path / "t.json", QUESTIONS)], "vqa-rad", labels=LabelFiles(rules=True))
    assert tasks(store, "vqa-rad")["3"] == ("disease_classification", "rules")
    rows = (record("3", True, "CORRECT", dataset="vqa-rad", task="causal"),)
    outcome = import_verification_records(store, [write(tmp_path / "r.jsonl", rows)])
    assert tasks(store, "vqa-rad")["3"] == ("causal_explanation", "file")
    assert "rules had proposed another" in outcome.notes[0]
    assert not import_verification_records(store, [write(tmp_path / "r.jsonl", rows)]).changed


def test_all_bad_lines_are_listed_with_their_numbers_and_the_good_ones_can_go_in(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    lines = [
        json.dumps(record("q1", True, "CORRECT")),
        "not json",
        json.dumps(record("q2", True, "perhaps")),
        json.dumps(record("q2", True, "CORRECT", task="surgery")),
        json.dumps(record("q2", True, "CORRECT", dataset="a:b")),
        json.dumps({name: value for name, value in RECORDS[0].items() if name != "generator"}),
    ]
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(BadLines) as caught:
        import_verification_records(store, [SourceFile.at(file)])
    assert [line.number for line in caught.value.lines] == [2, 3, 4, 5, 6]
    assert "the tasks are modality_recognition" in caught.value.lines[2].reason
    outcome = import_verification_records(store, [SourceFile.at(file)], lenient=True)
    assert (outcome.runs[0].n_new, len(outcome.bad_lines)) == (1, 5)


def test_a_table_of_another_kind_is_refused_as_a_whole(store: Store, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="has no column oracle_correct, verdict") as caught:
        import_verification_records(
            store, [write(tmp_path / "r.csv", ({"id": 1, "dataset": 1, "task": 1, "generator": 1, "verifier": 1},))]
        )
    assert "explanation" in caught.value.hint


def test_a_suite_of_another_system_is_not_touched(store: Store, tmp_path: Path) -> None:
    with store.write() as cursor:
        cursor.execute("INSERT INTO suites (suite, system, source) VALUES ('own', 'endoca', 'x')")
    with pytest.raises(AppError, match="one of endoca"):
        import_verification_records(store, [write(tmp_path / "r.jsonl", RECORDS)])


@pytest.mark.parametrize(
    ("policy", "key"),
    [
        (Policy(), "uncertain_is_reject"),
        (Policy(uncertain=Treatment.DROP), "drop_uncertain_and_missing"),
    ],
)
def test_the_hand_made_goldens_are_met_by_the_imported_file(
    store: Store, shared: Path, policy: Policy, key: str
) -> None:
    folder = shared / "data" / "medvqa"
    import_verification_records(store, [SourceFile.at(folder / "handmade_verifier_records.jsonl")])
    records = store.read(
        "SELECT e.task, v.image_id, v.oracle_correct, v.verdict FROM verifications v JOIN examples e USING (unit_id)"
    )
    records["oracle_correct"] = records["oracle_correct"].astype(object)
    goldens = json.loads((folder / "handmade_verifier_goldens.json").read_text())["values"]
    by_task = score_table(tally(records, ["task"], policy), ["task"]).set_index("task")
    rows = {str(task_of_name(name)): values[key] for name, values in goldens.items() if name != "ALL"}
    assert set(by_task.index) == set(rows)
    [overall] = score_table(tally(records, [], policy), []).to_dict("records")
    found = {**by_task.to_dict("index"), "ALL": overall}
    names = {"N": "n", "dropped": "n_dropped", "TP": "tp", "TN": "tn", "FP": "fp", "FN": "fn", "acc": "accuracy"}
    for name, values in {**rows, "ALL": goldens["ALL"][key]}.items():
        for column, expected in values.items():
            value = found[name][names.get(column, column)]
            assert value == (None if expected is None else pytest.approx(expected, abs=5e-7)), (name, column)


def test_files_may_fill_one_run_together(store: Store, tmp_path: Path) -> None:
    first = json_lines(tmp_path / "a.jsonl", [record("q1", True, "CORRECT")])
    second = json_lines(tmp_path / "b.jsonl", [record("q2", True, "CORRECT")])
    [run] = import_verification_records(store, [first, second]).runs
    assert run.n_new == 2
