"""Promises of the first visit: the built-in data set comes in by itself, is called synthetic, and leads to cases."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from backend.domain.progress import Report
from backend.errors import AppError
from backend.services.demo import built_in
from backend.services.demo.built_in import put_demo
from backend.services.demo.shipped import DIRECT
from backend.services.ingest.report import ImportReport
from backend.services.jobs import JOBS
from backend.store.store import Store
from pages.ui.box_vlm import REPORT
from pages.ui.resources import opened_store, the_store
from tests.pages.app_page import html_of
from tests.pages.paired_store import make_store
from tests.services.demo_files import N_APART, N_MIRAGE_RUNS, N_RUNS, N_SURGICAL_RUNS, make_demo, ship
from tests.services.test_demo import keep_training

BRINGS = "Bring in the built-in data set (synthetic)"
SYNTHETIC_TAG = ">synthetic</span>"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built-in data set in small, with what a training keeps."""
    folder = make_demo(tmp_path_factory.mktemp("demo") / "demo")
    keep_training(folder / "vlm")
    return folder


@pytest.fixture
def overview(root: Path, tmp_path: Path, demo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The app before its first page, with no store and the setting on; three units make a headline."""
    monkeypatch.setenv("PARALLAX_DEMO", "on")
    monkeypatch.setenv("PARALLAX_STORE", str(tmp_path / "store.duckdb"))
    monkeypatch.setattr("backend.services.headlines.FEWEST_UNITS", 3)
    ship(demo, monkeypatch)
    opened_store.clear()
    app = AppTest.from_file(str(root / "pages/ui/main.py"), default_timeout=60)
    app.session_state["acknowledged"] = True
    yield app
    wait_for_jobs()
    the_store().close()
    opened_store.clear()


def wait_for_jobs() -> None:
    """Wait until no job of the store runs."""
    end = time.monotonic() + 60
    while any(not job.is_over for job in JOBS.of(the_store())):
        assert time.monotonic() < end
        time.sleep(0.02)


def filled(app: AppTest) -> AppTest:
    """The overview after the built-in data set came in."""
    app.run()
    wait_for_jobs()
    app.run()
    assert not app.exception
    return app


def links_of(app: AppTest) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for link in app.main.get("page_link"):
        found.setdefault(link.proto.label, []).append(link.proto.query_string)
    return found


def subheaders_of(app: AppTest) -> list[str]:
    return [heading.value for heading in app.subheader]


@pytest.fixture
def held_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Keep the built-in data set at its first step until the event is set."""
    go_on = Event()

    def put(store: Store, report: Report) -> ImportReport:
        report("reading demo.jsonl.gz", 300, 1200)
        assert go_on.wait(60)
        return put_demo(store, report)

    monkeypatch.setattr(built_in, "put_demo", put)
    yield go_on
    go_on.set()


def test_while_the_data_set_comes_in_the_page_says_what_and_how_far(overview: AppTest, held_back: Event) -> None:
    overview.run()
    assert not overview.exception
    words = html_of(overview)
    assert BRINGS in words and "role='progressbar'" in words
    assert any("**synthetic** frames" in block.value for block in overview.markdown)
    assert not any(heading.startswith("The store is empty") for heading in subheaders_of(overview))
    held_back.set()
    wait_for_jobs()
    overview.run()
    assert BRINGS not in html_of(overview)
    assert "What is in the store" in subheaders_of(overview)


def test_when_it_is_in_the_overview_shows_the_suite_as_synthetic(overview: AppTest) -> None:
    words = html_of(filled(overview))
    assert "demo <span" in words and SYNTHETIC_TAG in words and ">Box VLM</span>" in words
    assert [table.value["suite"].to_list() for table in overview.dataframe] == [
        ["demo ◌ synthetic", "demo-surgical ◌ synthetic", "demo-verimap ◌ synthetic"],
        ["demo ◌ synthetic"] * N_RUNS
        + ["demo-surgical ◌ synthetic"] * N_SURGICAL_RUNS
        + ["demo-verimap ◌ synthetic"] * N_MIRAGE_RUNS,
    ]
    assert BRINGS not in words


def test_a_link_leads_straight_to_a_right_answer_on_a_wrong_part(overview: AppTest) -> None:
    links = links_of(filled(overview))
    in_card, in_section = links["See one: right answer, wrong part"]
    assert in_card == in_section
    unit = dict(part.split("=") for part in in_card.split("&"))["unit"].replace("%3A", ":")
    apart = the_store().rows(
        "SELECT unit_id FROM outcomes JOIN runs USING (run_id) "
        "WHERE vlm = 'Box VLM' AND stage = 'direct' AND outcome = 'inconsistent'"
    )
    assert (unit,) in apart and len(apart) == N_APART


@pytest.mark.parametrize("page", ["endoca", "asr", "case", "live", "runs"])
def test_every_page_shows_the_data_set_coming_in_and_then_what_it_holds(overview: AppTest, page: str) -> None:
    overview.switch_page(f"../{page}.py").run()
    assert BRINGS in html_of(overview)
    wait_for_jobs()
    overview.run()
    assert not overview.exception
    assert BRINGS not in html_of(overview)


def test_paired_answers_and_cases_say_synthetic_too(overview: AppTest) -> None:
    filled(overview)
    unit = the_store().value("SELECT min(unit_id) FROM units")
    overview.switch_page("../endoca.py").run()
    overview.query_params["suite"] = "demo"
    overview.run()
    assert not overview.exception
    assert SYNTHETIC_TAG in html_of(overview)
    assert "demo ◌ synthetic" in overview.selectbox(key="filter_suite").options
    overview.switch_page("../case.py")
    overview.query_params["unit"] = str(unit)
    overview.run()
    assert not overview.exception
    assert "This frame was drawn by a program; it shows no patient." in html_of(overview)
    assert SYNTHETIC_TAG in html_of(overview)


def test_suites_of_real_frames_are_not_called_synthetic(overview: AppTest, tmp_path: Path) -> None:
    make_store(tmp_path / "store.duckdb")
    overview.run()
    assert not overview.exception
    assert not JOBS.of(the_store())
    assert SYNTHETIC_TAG not in html_of(overview)
    assert overview.dataframe[0].value["suite"].to_list() == ["drawn"]
    overview.switch_page("../case.py")
    overview.query_params["unit"] = "drawn:22"
    overview.run()
    assert "drawn by a program" not in html_of(overview)


def test_where_it_could_not_come_in_the_page_says_why_and_what_else_to_do(
    overview: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(store: Store, report: Report) -> ImportReport:
        raise AppError("The manifest is damaged.", "Restore data/demo from the project.")

    monkeypatch.setattr(built_in, "put_demo", refuse)
    filled(overview)
    assert "Restore data/demo from the project." in html_of(overview)
    assert any(heading.startswith("The store is empty") for heading in subheaders_of(overview))


def test_a_data_set_that_came_in_by_half_says_so_beside_what_is_there(overview: AppTest, tmp_path: Path) -> None:
    (tmp_path / "damaged" / DIRECT).mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(built_in, "RUNS", tmp_path / "damaged")
        filled(overview)
    assert BRINGS in html_of(overview) and "run.json" in html_of(overview)
    assert "What is in the store" in subheaders_of(overview)


def test_the_section_tells_how_the_vlm_in_the_box_was_trained(overview: AppTest) -> None:
    filled(overview)
    assert "The VLM in the box" in subheaders_of(overview)
    assert "6 steps in 2 minutes on 2 processor cores, seed 7. Prompt versions: endoca-1, surgcheck-1." in html_of(
        overview
    )
    assert [block.value for block in overview.code] == [".venv/bin/python -m backend demo train", REPORT]
    assert any("It is no medical VLM" in block.value for block in overview.markdown)
    [chart] = overview.main.get("plotly_chart")
    drawn: dict[str, Any] = json.loads(chart.proto.spec)
    assert [trace.get("name") for trace in drawn["data"]][:2] == ["Atomic question", "Complex question"]


def test_without_learning_curves_there_is_no_section(overview: AppTest, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("backend.services.demo.shipped.VLM", tmp_path / "absent")
        filled(overview)
    assert "The VLM in the box" not in subheaders_of(overview)
    assert not overview.code


def test_damaged_learning_curves_are_a_plain_sentence(overview: AppTest, tmp_path: Path) -> None:
    folder = keep_training(tmp_path / "vlm")
    (folder / "curves.jsonl").write_text("no curve <b>at all</b>")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("backend.services.demo.shipped.VLM", folder)
        filled(overview)
    assert any("damaged. Restore data/demo from the project." in text.value for text in overview.text)
    assert not overview.main.get("plotly_chart")


def test_the_setting_off_leaves_the_store_empty(overview: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARALLAX_DEMO", "off")
    overview.run()
    assert not JOBS.of(the_store())
    assert any(heading.startswith("The store is empty") for heading in subheaders_of(overview))
