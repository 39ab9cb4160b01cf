"""The report of an import in words, where looks came in, alone or beside answers."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from backend.services.ingest.report import ImportReport, RunReport
from backend.store.store import Store
from pages.ui.import_report import summary
from tests.pages.data_page import app_store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An empty store."""
    yield from app_store(tmp_path, monkeypatch)


def run(stage: str, n_new: int = 0, n_looks: int = 0, n_failed: int = 0) -> RunReport:
    return RunReport(
        run_id=f"Atlas.{stage}",
        vlm="Atlas",
        suite="small",
        n_answers=5,
        n_new=n_new,
        n_replaced=0,
        n_unchanged=0,
        n_missing=0,
        n_failed=n_failed,
        n_empty=0,
        n_unparsed=0,
        n_looks_changed=n_looks,
        stage=stage,
    )


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ([run("saliency", n_looks=5)], "saliency of 5 answers of Atlas"),
        ([run("saliency", n_looks=1), run("saliency")], "saliency of 1 answer of Atlas"),
        (
            [run("direct", n_new=5), run("saliency", n_looks=4)],
            "5 new answers of Atlas; saliency of 4 answers of Atlas",
        ),
        (
            [run("direct", n_new=5), replace(run("direct", n_new=5), vlm="Beacon"), run("saliency", n_looks=4)],
            "10 new answers of 2 VLMs; saliency of 4 answers of Atlas",
        ),
        ([run("saliency")], "nothing changed: all of it was there already"),
    ],
    ids=["looks", "looks at two runs", "answers and looks", "looks at one VLM of two", "looks that were there"],
)
def test_looks_are_told_in_one_line(runs: list[RunReport], words: str) -> None:
    assert summary(ImportReport("run", "run folder looks", runs=runs)) == words


def draw(stages: list[str]) -> None:
    from backend.services.ingest.report import ImportReport
    from pages.ui.import_report import show_report
    from tests.pages.test_import_report import run

    report = ImportReport("run", "run folder looks", runs=[run(stage, 5, 5, 2) for stage in stages])
    show_report(ImportReport.from_json(report.as_json()), key="report")


@pytest.mark.parametrize("stages", [["saliency"], ["direct", "saliency"]])
def test_a_report_says_what_failed_means_for_looks(store: Store, stages: list[str]) -> None:
    app = AppTest.from_function(draw, args=(stages,)).run()
    assert not app.exception
    [caption] = app.caption
    assert "could not be looked into" in caption.value
    assert ("wrong answer" in caption.value) == ("direct" in stages)
    [table] = app.dataframe
    assert list(table.value["saliency, new"]) == [5] * len(stages)
