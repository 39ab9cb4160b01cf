"""Promises of the overview: what an empty store says next, and what a filled one says first."""

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from backend.services.headlines import Headlines, headlines
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.store.store import Store
from pages.ui.resources import opened_store, the_store
from pages.ui.tags import origin_tag, outcome_tag, vlm_name
from tests.pages.app_page import chosen_cell, html_of
from tests.pages.paired_store import PARTED, SUITE, make_empty_store, make_store
from tests.services.endoca_files import prediction_lines, write_jsonl
from tests.services.looked_store import a_look, put
from tests.services.verification_store import BEACON, VQA_RAD, make_verification_store, run_id, unit_of


@pytest.fixture
def open_overview(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., AppTest]]:
    """Return a function that opens the overview over a store made by ``make``, with no VLM in the box."""
    monkeypatch.setattr("backend.services.demo.shipped.VLM", tmp_path / "absent")

    def open_(make: Callable[[Path], None]) -> AppTest:
        path = tmp_path / "store.duckdb"
        make(path)
        monkeypatch.setenv("PARALLAX_STORE", str(path))
        opened_store.clear()
        app = AppTest.from_file(str(root / "pages/ui/main.py"), default_timeout=20)
        app.session_state["acknowledged"] = True
        app.run()
        assert not app.exception
        return app

    yield open_
    the_store().close()
    opened_store.clear()


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Headlines:
    """Headlines of the small store, as if its three units were enough."""
    monkeypatch.setattr("backend.services.headlines.FEWEST_UNITS", 3)
    path = tmp_path / "headlines.duckdb"
    make_store(path)
    with Store.open(path) as store:
        return headlines(store)


def test_an_empty_store_says_what_to_do_step_by_step(open_overview: Callable[..., AppTest]) -> None:
    app = open_overview(make_empty_store)
    commands = [block.value for block in app.code]
    assert len(commands) == 3
    assert all(command.startswith(".venv/bin/python -m backend import endoca ") for command in commands)
    words = " ".join(block.value for block in app.markdown)
    for place in ("github.com/Luious-LYH/EndoCA-VQA", "github.com/simula/Kvasir-VQA-x1", "SimulaMet/Kvasir-VQA"):
        assert place in words


def test_printed_tables_can_be_looked_at_before_anything_is_imported(open_overview: Callable[..., AppTest]) -> None:
    app = open_overview(make_empty_store)
    assert ">published</span>" in html_of(app)
    assert ">imported</span>" not in html_of(app)
    assert "there are no answers behind it" in html_of(app)


def test_a_filled_store_says_what_is_in_it(open_overview: Callable[..., AppTest]) -> None:
    app = open_overview(make_store)
    assert app.text[0].value.startswith("1 suite, 3 units on 2 images (0 at hand), 26 answers in 3 runs of 3 VLMs.")
    assert not app.code


def test_the_headline_of_a_suite_is_its_widest_gap(found: Headlines) -> None:
    [gap] = [gap for gap in found.gaps if gap.suite == SUITE]
    assert (gap.vlm, gap.origin) == (PARTED, "imported")
    assert (gap.complex_accuracy, gap.joint_accuracy) == (1, 2 / 3)
    assert gap.inconsistency is not None
    assert (gap.inconsistency.k, gap.inconsistency.n) == (1, 3)


def test_a_run_over_few_units_has_no_headline(tmp_path: Path) -> None:
    make_store(tmp_path / "few.duckdb")
    with Store.open(tmp_path / "few.duckdb") as store:
        assert {gap.suite for gap in headlines(store).gaps} == {"core", "diagnostic"}


def test_a_run_that_lacks_answers_has_no_headline(found: Headlines, tmp_path: Path) -> None:
    """A file with complex answers only: each right one would stand on a missing part."""
    told = prediction_lines("Only complex")
    lines = write_jsonl(tmp_path / "complex.jsonl", [line for line in told if line["probe_kind"] == "complex_direct"])
    with Store.open(tmp_path / "headlines.duckdb") as store:
        import_endoca(store, [SourceFile.at(lines)])
        again = headlines(store)
    row = again.runs.set_index("vlm").loc["Only complex"]
    assert (row["gap"], row["unanswered"]) == (1, pytest.approx(6 / 9))
    assert again.gaps == found.gaps


def test_the_overview_says_which_runs_a_headline_is_chosen_from(open_overview: Callable[..., AppTest]) -> None:
    words = [caption.value for caption in open_overview(make_store).caption]
    assert any("at least 100 units with at most 5.0 % of their answers missing or failed" in text for text in words)


def test_printed_figures_have_headlines_of_their_own(found: Headlines) -> None:
    """As printed for Core: Qwen2.5-VL-FT 72.1 complex and 41.6 joint, the widest of the eleven."""
    [gap] = [gap for gap in found.gaps if gap.suite == "core"]
    assert (gap.vlm, gap.origin, gap.run_id, gap.inconsistency) == ("Qwen2.5-VL-FT", "published", None, None)
    assert (gap.complex_accuracy, gap.joint_accuracy) == (0.721, 0.416)


def test_tags_have_a_shape_an_origin_and_escape_names() -> None:
    tags = [origin_tag(origin) for origin in ("published", "imported", "precomputed", "live")]
    shapes = {tag.split('style="')[1].split('"')[0] for tag in tags}
    assert len(shapes) == 4
    assert "<b>" not in vlm_name("<b>VLM</b>", "<i>group</i>") and "<i>" not in vlm_name("a", "<i>group</i>")
    assert "right answer, wrong part" in outcome_tag("inconsistent")
    with pytest.raises(ValueError):
        origin_tag("rumoured")


def verdicts(path: Path) -> None:
    make_verification_store(path).close()


def test_a_store_of_verdicts_has_no_columns_for_parts_and_names_the_page_that_compares_them(
    open_overview: Callable[..., AppTest],
) -> None:
    app = open_overview(verdicts)
    [runs] = [frame.value for frame in app.dataframe if "n_answers" in frame.value]
    assert not {"complex", "joint", "apart", "n_units"} & set(runs)
    assert "Intervals, and every other metric: Mirage plane." in [caption.value for caption in app.caption]
    labels = list(runs[runs["suite"] == "vqa-rad"]["label"])
    assert labels == sorted(labels)


def test_a_run_of_a_verifier_is_opened_at_the_wrong_answers_it_accepted(open_overview: Callable[..., AppTest]) -> None:
    app = open_overview(verdicts)
    app.session_state["runs"] = chosen_cell(0, "label")
    app.run()
    assert ": wrong answers accepted" in html_of(app)


@pytest.mark.parametrize(("looked", "opened"), [("", "2"), ("4", "4"), ("1", "2")])
def test_the_one_accepted_wrong_answer_is_one_that_was_looked_into_where_there_is_one(
    open_overview: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, looked: str, opened: str
) -> None:
    """Beacon accepts its wrong answers to questions 2, 4, 5 and 8, and its right one to question 1."""

    def make(path: Path) -> None:
        with make_verification_store(path) as store:
            for run in (run_id(VQA_RAD, BEACON), run_id(VQA_RAD, BEACON, BEACON)):
                put(store, run, {name: a_look(0.6, 0.8) for name in looked})

    monkeypatch.setattr("backend.services.parting_headlines.FEWEST_UNITS", 8)
    app = open_overview(make)
    [link] = [one.proto for one in app.main.get("page_link") if one.proto.label == "See one: wrong answer, accepted"]
    asked = dict(parse_qsl(link.query_string))
    assert asked["unit"] == unit_of(VQA_RAD, opened) and "looked" not in asked
