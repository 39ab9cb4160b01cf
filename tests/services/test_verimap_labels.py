"""Task labels say how they came to be: a file's, a vote's, or a rule's proposal."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.errors import AppError, BadLines
from backend.services.ingest.files import SourceFile
from backend.services.ingest.log import logged_imports
from backend.services.ingest.report import ImportReport
from backend.services.ingest.verimap_labels import LabelFiles
from backend.services.ingest.verimap_questions import import_verimap
from backend.store.store import Store
from tests.services.verimap_files import QUESTIONS, json_lines, json_list, tasks

MODALITY, SPATIAL, DISEASE = "modality_recognition", "spatial_localization", "disease_classification"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(tmp_path / "s.duckdb") as opened:
        import_verimap(opened, [json_list(tmp_path / "testset.json", QUESTIONS)], "vqa-rad")
        yield opened


def labels(folder: Path, name: str, **by_id: str) -> SourceFile:
    """Write an annotator's file; ids as ``q1``."""
    return json_lines(folder / name, [{"id": key.removeprefix("q"), "task": task} for key, task in by_id.items()])


def test_one_file_labels_as_it_says_and_again_changes_nothing(store: Store, tmp_path: Path) -> None:
    file = labels(tmp_path, "a.jsonl", q1="modality", q2="spatial reasoning", q3="nonsense", q99="causal")
    outcome = import_verimap(store, [], "vqa-rad", labels=LabelFiles((file,)))
    assert tasks(store, "vqa-rad") == {"1": (MODALITY, "file"), "2": (SPATIAL, "file"), "3": (None, None)}
    assert outcome.labels is not None
    assert (outcome.labels.how, outcome.labels.n_labelled, outcome.labels.n_changed, outcome.labels.n_unknown) == (
        "file", 2, 2, 1,
    )  # fmt: skip
    assert outcome.notes == [
        "Questions of vqa-rad with a task: 2 of 3 (2 new or changed).",
        "Labels of a.jsonl that are none of the seven tasks: 1.",
        "Ids with a label that vqa-rad does not hold: 1.",
    ]
    assert not import_verimap(store, [], "vqa-rad", labels=LabelFiles((file,))).changed


def test_three_files_vote_and_the_report_tells_how_far_they_agree(store: Store, tmp_path: Path) -> None:
    files = (
        labels(tmp_path, "a.jsonl", q1="modality", q2="spatial", q3="spatial"),
        labels(tmp_path, "b.jsonl", q1="modality", q2="spatial", q3="modality"),
        labels(tmp_path, "c.jsonl", q1="modality", q2="disease", q3="disease"),
    )
    by_hand = labels(tmp_path, "hand.jsonl", q1="modality", q3="modality", q77="causal")
    outcome = import_verimap(store, [], "VQA-RAD", labels=LabelFiles(files, checked=by_hand))
    assert tasks(store, "vqa-rad") == {"1": (MODALITY, "vote"), "2": (SPATIAL, "vote"), "3": (DISEASE, "vote")}
    made = outcome.labels
    assert made is not None
    assert made.kinds == {"unanimous": 1, "majority": 1, "alphabetical": 1, "none": 0}
    assert [(pair["a"], pair["b"], pair["k"], pair["n"]) for pair in made.pairs] == [
        ("a.jsonl", "b.jsonl", 2, 3), ("a.jsonl", "c.jsonl", 1, 3), ("b.jsonl", "c.jsonl", 1, 3),
    ]  # fmt: skip
    apart = [cell for cell in made.confusion if cell["task_a"] != cell["task_b"]]
    assert {(cell["a"], cell["b"], cell["task_a"], cell["task_b"]): cell["n"] for cell in apart} == {
        ("a.jsonl", "b.jsonl", SPATIAL, MODALITY): 1,
        ("a.jsonl", "c.jsonl", SPATIAL, DISEASE): 2,
        ("b.jsonl", "c.jsonl", SPATIAL, DISEASE): 1,
        ("b.jsonl", "c.jsonl", MODALITY, DISEASE): 1,
    }
    assert made.checked is not None
    assert (made.checked["n"], made.checked["k"], made.checked["n_absent"]) == (2, 1, 1)
    assert made.checked["confusion"] == [
        {"by_hand": MODALITY, "labelled": MODALITY, "n": 1}, {"by_hand": MODALITY, "labelled": DISEASE, "n": 1},
    ]  # fmt: skip
    assert "The vote: all annotators agree 1; a majority 1; no majority, first by alphabet 1; no valid label 0." in (
        outcome.notes
    )
    assert "Against labels by hand: 1 of 2 agree (50.0 %); labelled by hand alone: 1." in outcome.notes


def test_rules_propose_for_questions_without_a_label_alone(store: Store, tmp_path: Path) -> None:
    import_verimap(store, [], "vqa-rad", labels=LabelFiles((labels(tmp_path, "a.jsonl", q1="causal"),)))
    outcome = import_verimap(store, [], "vqa-rad", labels=LabelFiles(rules=True))
    assert tasks(store, "vqa-rad") == {
        "1": ("causal_explanation", "file"), "2": (SPATIAL, "rules"), "3": (DISEASE, "rules"),
    }  # fmt: skip
    assert outcome.labels is not None
    assert sum(outcome.labels.kinds.values()) == outcome.labels.n_changed == 2
    assert not import_verimap(store, [], "vqa-rad", labels=LabelFiles(rules=True)).changed


def test_a_file_takes_the_place_of_a_proposal(store: Store, tmp_path: Path) -> None:
    import_verimap(store, [], "vqa-rad", labels=LabelFiles(rules=True))
    import_verimap(store, [], "vqa-rad", labels=LabelFiles((labels(tmp_path, "a.jsonl", q2="disease"),)))
    assert tasks(store, "vqa-rad")["2"] == (DISEASE, "file")


def test_questions_and_their_labels_can_go_in_together_or_not_at_all(tmp_path: Path) -> None:
    questions = json_list(tmp_path / "testset.json", QUESTIONS)
    bad = json_lines(tmp_path / "bad.jsonl", [{"id": "1", "task": "causal"}, {"id": "1", "task": "spatial"}, {"x": 1}])
    with Store.create(tmp_path / "s.duckdb") as store:
        with pytest.raises(BadLines) as caught:
            import_verimap(store, [questions], "vqa-rad", labels=LabelFiles((bad,)))
        assert [(line.file, line.number) for line in caught.value.lines] == [("bad.jsonl", 2), ("bad.jsonl", 3)]
        assert store.value("SELECT count(*) FROM units") == 0
        import_verimap(store, [questions], "vqa-rad", labels=LabelFiles((bad,)), lenient=True)
        assert tasks(store, "vqa-rad")["1"] == ("causal_explanation", "file")


def test_the_log_keeps_what_the_labels_were(store: Store, tmp_path: Path) -> None:
    outcome = import_verimap(store, [], "vqa-rad", labels=LabelFiles(rules=True))
    assert logged_imports(store)[0].report.labels == outcome.labels
    assert ImportReport.from_json(outcome.as_json()) == outcome


@pytest.mark.parametrize("wrong", [LabelFiles(), LabelFiles((SourceFile(Path("x"), "x"),), rules=True)])
def test_labels_come_from_files_or_from_rules(store: Store, wrong: LabelFiles) -> None:
    with pytest.raises(AppError, match="from one of the two"):
        import_verimap(store, [], "vqa-rad", labels=wrong)


def test_labels_of_an_unknown_suite_are_answered_with_the_stored_ones(store: Store) -> None:
    with pytest.raises(AppError, match="no questions of 'other'") as caught:
        import_verimap(store, [], "other", labels=LabelFiles(rules=True))
    assert caught.value.hint.startswith("Stored: vqa-rad.")


def test_an_annotator_has_one_vote(store: Store, tmp_path: Path) -> None:
    a, b = labels(tmp_path, "a.jsonl", q1="modality"), labels(tmp_path, "b.jsonl", q1="spatial")
    again = SourceFile.at(tmp_path / "." / "a.jsonl")
    with pytest.raises(AppError, match=r"a\.jsonl is named twice"):
        import_verimap(store, [], "vqa-rad", labels=LabelFiles((a, b, again)))
