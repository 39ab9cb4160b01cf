"""The blind baseline is a run like any other, learned on another suite than it answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain.progress import Cancelled
from backend.errors import AppError
from backend.services.blind import run_blind, run_blind_verimap
from backend.services.explore import endoca_metrics
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.verimap_suites import SuiteExample, put_examples
from backend.services.opening import open_store
from backend.store.filters import UnitFilter
from backend.store.store import Store
from backend.verimap.vocabulary import Task
from tests.services.endoca_files import Line, manifest_lines, write_jsonl


def other_images() -> list[Line]:
    """The small manifest about other images: other samples with the same questions and references."""
    return [{**line, "img_id": f"other-{line['img_id']}"} for line in manifest_lines()]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with two suites of the same questions about different images."""
    with open_store(tmp_path / "store.duckdb") as opened:
        for name, lines in (("learned", manifest_lines()), ("asked", other_images())):
            import_endoca(opened, [SourceFile.at(write_jsonl(tmp_path / f"{name}.jsonl", lines))])
        yield opened


def test_it_writes_a_run_that_says_what_it_is_and_what_it_learned_from(store: Store) -> None:
    [report] = run_blind(store, "learned", "asked").runs
    assert (report.vlm, report.suite, report.n_answers, report.n_new) == ("Blind baseline", "asked", 9, 9)
    assert store.rows("SELECT vlm, vlm_group, suite, stage, origin, setting, prompt_version, decoding FROM runs") == [
        (
            "Blind baseline", "blind", "asked", "direct", "precomputed", "learned on learned",
            "question-classes-1", "commonest reference",
        )
    ]  # fmt: skip


def test_its_answers_are_the_commonest_references_of_the_suite_it_learned_on(store: Store) -> None:
    run_blind(store, "learned", "asked")
    answers = dict(store.rows("SELECT p.source_id, a.answer FROM answers a JOIN probes p USING (probe_id)"))
    assert answers["22::complex"] == "Two polyps and a green box artifact."
    assert answers["33::atomic::0"] == "tube"
    # Text is answered once with yes and once with no, polyps once with 0 and once with 2.
    assert answers["11::atomic::0"] == answers["33::atomic::1"] == "no"
    assert answers["22::atomic::0"] == answers["33::atomic::2"] == "0"


def test_it_is_scored_like_every_other_run(store: Store) -> None:
    run_blind(store, "learned", "asked")
    [row] = endoca_metrics(store, UnitFilter()).to_dict("records")
    # All three complex answers are right; of the atomic ones 22::0 (2) and 33::1 (yes) are wrong.
    assert row["complex_accuracy"] == 1
    assert row["atomic_accuracy"] == pytest.approx(4 / 6)
    assert row["joint_accuracy"] == pytest.approx(1 / 3)


def test_what_was_never_learned_is_an_empty_answer(store: Store, tmp_path: Path) -> None:
    only_text = [line for line in manifest_lines() if line["sample_id"] == 11]
    moved = [{**line, "img_id": "third"} for line in only_text]
    import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "text.jsonl", moved))])
    [report] = run_blind(store, "text", "asked").runs
    # Known: 11's two probes and 33's text question. Unknown: the other six of nine.
    assert (report.n_answers, report.n_missing, report.n_empty) == (9, 0, 6)


def test_running_it_again_changes_nothing(store: Store) -> None:
    [first] = run_blind(store, "learned", "asked").runs
    [again] = run_blind(store, "learned", "asked").runs
    assert (again.run_id, again.n_new, again.n_replaced, again.n_unchanged) == (first.run_id, 0, 0, 9)


def test_what_it_learned_on_makes_it_another_run(store: Store, tmp_path: Path) -> None:
    third = [{**line, "img_id": f"third-{line['img_id']}"} for line in manifest_lines()]
    import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "third.jsonl", third))])
    runs = [run_blind(store, learn, "asked").runs[0] for learn in ("learned", "third")]
    assert runs[0].run_id != runs[1].run_id


def test_learning_from_the_test_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="it would be learning from the test"):
        run_blind(store, "asked", "asked")
    import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "copy.jsonl", other_images()[:2]))])
    with pytest.raises(AppError, match="1 samples of suite asked are in suite copy too"):
        run_blind(store, "copy", "asked")
    assert store.rows("SELECT * FROM runs") == []


@pytest.mark.parametrize(("learn", "answer"), [("lerned", "asked"), ("learned", "askd")])
def test_an_unknown_suite_is_an_error_that_lists_the_known_ones(store: Store, learn: str, answer: str) -> None:
    with pytest.raises(AppError, match="Suites in the store: asked, learned"):
        run_blind(store, learn, answer)


def test_stopping_leaves_no_run_behind(store: Store) -> None:
    def stop(stage: str, done: int, total: int | None) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        run_blind(store, "learned", "asked", report=stop)
    assert store.rows("SELECT * FROM runs") == []


def test_on_core_it_reaches_what_is_known_of_a_majority_look_up(shared: Path, tmp_path: Path) -> None:
    """73.4, 71.4 and 65.0 were found independently, by comparing parsed references without a scorer."""
    with open_store(tmp_path / "real.duckdb") as opened:
        for suite in ("core", "diagnostic"):
            import_endoca(opened, [SourceFile.at(shared / f"data/kvasir/endoca/endoca_{suite}.jsonl.gz")])
        [report] = run_blind(opened, "diagnostic", "core").runs
        [row] = endoca_metrics(opened, UnitFilter()).to_dict("records")
    assert (report.n_answers, report.n_empty, report.n_unparsed) == (27_736, 0, 0)
    assert row["atomic_accuracy"] == pytest.approx(0.734, abs=0.001)
    assert row["complex_accuracy"] == pytest.approx(0.714, abs=0.001)
    assert row["joint_accuracy"] == pytest.approx(0.650, abs=0.001)


def verimap_store(path: Path, asked_image: str = "x") -> Store:
    """A store with two data sets: references by task and kind, "CT" twice and "MRI" once among those learned from."""
    rows = {
        "learned": [("1", "CT", "a"), ("2", "ct", "b"), ("3", "MRI", "c"), ("4", "Yes", "d"), ("5", "", "e")],
        "asked": [("1", "MRI", asked_image), ("2", "No", "y")],
    }
    store = open_store(path)
    with store.write() as cursor:
        for suite, examples in rows.items():
            found = [
                SuiteExample(
                    source_id=name,
                    images=(f"{image}.jpg",),
                    question="?",
                    reference=reference,
                    answer_type="closed" if reference in ("Yes", "No") else "open",
                    task=Task.MODALITY_RECOGNITION,
                    labelled_by="file",
                )
                for name, reference, image in examples
            ]
            put_examples(cursor, suite, found, {}, "a test", dataset="drawn")
    return store


def test_as_a_generator_it_gives_the_commonest_reference_of_each_task_open_and_closed_apart(tmp_path: Path) -> None:
    with verimap_store(tmp_path / "verimap.duckdb") as store:
        [first] = run_blind_verimap(store, "learned", "asked").runs
        [second] = run_blind_verimap(store, "learned", "asked").runs
        said = dict(store.rows("SELECT probe_id, answer FROM answers"))
        judged = dict(store.rows("SELECT probe_id, correct FROM oracle_judgements"))
    assert (first.n_new, second.n_new, second.n_unchanged) == (2, 0, 2)
    assert said == {"asked:1": "CT", "asked:2": "Yes"}
    assert judged == {"asked:2": False}


def test_a_generator_does_not_learn_from_images_it_is_asked_about(tmp_path: Path) -> None:
    with (
        verimap_store(tmp_path / "verimap.duckdb", asked_image="a") as store,
        pytest.raises(AppError, match="learning from the test"),
    ):
        run_blind_verimap(store, "learned", "asked")
