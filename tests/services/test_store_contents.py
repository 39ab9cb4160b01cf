"""Promises of what the store says about itself: how much it holds, where from, and scored by what."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.errors import BadLines
from backend.services.explore import store_summary
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.log import logged_imports
from backend.services.opening import open_store
from backend.services.scoring import rescore
from backend.services.store_contents import Totals, outdated_runs, printed_sources, totals
from backend.store.queries import run_table, suite_table
from backend.store.store import Store
from tests.services.endoca_files import manifest_lines, prediction_lines, write_jsonl
from tests.services.verification_store import make_verification_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.duckdb") as opened:
        yield opened


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Two VLMs' answers, which carry their references."""
    return write_jsonl(tmp_path / "endoca_small.jsonl", [*prediction_lines("A"), *prediction_lines("B")])


def test_an_empty_store_holds_nothing_but_printed_tables(store: Store) -> None:
    assert totals(store) == Totals(0, 0, 0, 0, 0, 0, 0)
    printed = printed_sources(store)
    assert list(printed["suite"]) == ["core", "diagnostic"]
    assert list(printed["n_vlms"]) == [11, 11]


def test_everything_is_counted_once(store: Store, answers: Path) -> None:
    import_endoca(store, [SourceFile.at(answers)])
    assert totals(store) == Totals(suites=1, units=3, images=2, images_at_hand=0, runs=2, vlms=2, answers=18)


def test_verdicts_are_counted_beside_answers_and_an_image_that_nobody_names_is_none(tmp_path: Path) -> None:
    with make_verification_store(tmp_path / "v.duckdb") as store:
        held = totals(store)
        assert (held.suites, held.units, held.images, held.vlms, held.verdicts) == (2, 13, 6, 2, 83)
        assert store_summary(store)[1].endswith("83 verdicts")
        assert suite_table(store)[["suite", "n_images"]].to_numpy().tolist() == [["own", 2], ["vqa-rad", 4]]
        verdicts = run_table(store).query("stage == 'verify'").groupby("suite")["n_answers"].sum()
        assert verdicts.to_dict() == {"own": 11, "vqa-rad": 72}
        assert outdated_runs(store) == []
        assert rescore(store) == 0


def test_the_blind_baseline_is_a_run_and_no_vlm(store: Store, answers: Path, tmp_path: Path) -> None:
    import_endoca(store, [SourceFile.at(answers)])
    blind = write_jsonl(tmp_path / "blind.jsonl", prediction_lines("Usual answers"))
    import_endoca(store, [SourceFile.at(blind)], vlm_group="blind")
    held = totals(store)
    assert (held.runs, held.vlms) == (3, 2)


def test_runs_of_another_scorer_version_are_named_by_it(store: Store, answers: Path) -> None:
    import_endoca(store, [SourceFile.at(answers)])
    assert outdated_runs(store) == []
    with store.write() as cursor:
        cursor.execute("UPDATE runs SET scorer = 'older', scorer_version = '0' WHERE vlm = 'A'")
    assert outdated_runs(store) == ["older 0"]


def test_an_import_is_logged_with_the_report_that_was_given(store: Store, answers: Path) -> None:
    report = import_endoca(store, [SourceFile.at(answers)])
    [entry] = logged_imports(store)
    assert entry.report == report
    assert entry.report.source == "endoca_small.jsonl"


def test_the_log_is_newest_first_and_bounded(store: Store, answers: Path, tmp_path: Path) -> None:
    import_endoca(store, [SourceFile.at(answers)])
    import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "later.jsonl", prediction_lines("C")))])
    assert [entry.report.source for entry in logged_imports(store)] == ["later.jsonl", "endoca_small.jsonl"]
    assert len(logged_imports(store, limit=1)) == 1


def test_an_import_that_changes_nothing_or_fails_is_not_logged(store: Store, answers: Path, tmp_path: Path) -> None:
    import_endoca(store, [SourceFile.at(answers)])
    import_endoca(store, [SourceFile.at(answers)])
    with pytest.raises(BadLines):
        import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "bad.jsonl", [*manifest_lines(), "not json"]))])
    assert len(logged_imports(store)) == 1
