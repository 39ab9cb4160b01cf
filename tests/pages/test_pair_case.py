"""Promises of the case page of a pair: its words, its table, its list, and what it says where something is missing."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response
from streamlit.testing.v1 import AppTest

from backend.domain.records import Stage
from backend.services.surgcheck_cases import PairCase, PairRun, load_pair
from backend.store.store import Store
from backend.surgcheck.tasks import Cue, Task
from pages.ui.image_routes import cued
from pages.ui.pair_table import pair_judgements, pair_table
from pages.ui.pair_words import outcome_words, pair_sentence, run_sentence
from tests.pages.app_page import html_of, open_page, told
from tests.services.pair_store import (
    ARROW_ACTION,
    HINTED,
    OTHER,
    PAIRS,
    REASON,
    SILENT,
    STEADY,
    make_pair_store,
    run_id,
    unit_of,
)

opened = partial(open_page, "case")


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pairs") / "pairs.duckdb"
    make_pair_store(path).close()
    return path


@pytest.fixture
def pair(store_file: Path) -> Iterator[PairCase]:
    with Store.open(store_file) as store:
        yield load_pair(store, ARROW_ACTION)


def run_of(pair: PairCase, vlm: str, stage: Stage = Stage.DIRECT) -> PairRun:
    return next(run for run in pair.runs if run.run_id == run_id(vlm, stage))


@pytest.mark.parametrize(
    ("vlm", "stage", "outcome", "sentence"),
    [
        (
            STEADY,
            Stage.DIRECT,
            "right with the hint and without it",
            "With the hint it says “retract” (right); without it “retract” (right). The reference is “retract”.",
        ),
        (
            HINTED,
            Stage.DIRECT,
            "right with the hint, wrong without it",
            "With the hint it says “retract” (right); without it “clip” (wrong). The reference is “retract”.",
        ),
        (
            SILENT,
            Stage.DIRECT,
            "no answer with the hint and without it",
            "With the hint it says nothing (call failed); without it nothing (no answer on file). "
            "The reference is “retract”.",
        ),
        (
            STEADY,
            Stage.TEXT_ONLY,
            "right without seeing the image",
            "Without the image it says “retract” (right). The reference is “retract”.",
        ),
    ],
)
def test_a_run_is_told_in_a_clinicians_words(
    pair: PairCase, vlm: str, stage: Stage, outcome: str, sentence: str
) -> None:
    run = run_of(pair, vlm, stage)
    assert outcome_words(pair, run) == outcome
    assert run_sentence(pair, run) == sentence


def test_the_page_counts_who_is_right_with_the_hint_and_who_of_them_without(pair: PairCase) -> None:
    assert pair_sentence(pair, pair.runs) == ("2 of 3 runs answer right with the hint; 1 of these is wrong without it.")
    assert pair_sentence(pair, [run_of(pair, STEADY)]) == "1 of 1 run answers right with the hint."
    assert pair_sentence(pair, [run_of(pair, STEADY, Stage.TEXT_ONLY)]) == (
        "No VLM that saw the image has answered it yet."
    )
    same = replace(pair, less_biased=replace(pair.less_biased, question=pair.original.question))
    assert pair_sentence(same, [run_of(pair, STEADY)]) == (
        "1 of 1 run answers it right; it gives no hint away, so both its texts are the same."
    )


def test_the_table_marks_the_words_and_the_answers_that_part_and_no_others(pair: PairCase) -> None:
    table = pair_table(pair, pair.runs, {})
    assert table.count("<mark>") == 2
    assert "<mark>grasper</mark>" in table and "<mark>tool</mark>" in table
    assert table.count('class="parts') == 2, "both answers of the one run whose answers part"
    assert "Hinted &lt;b&gt;VLM&lt;/b&gt;" in table and "<b>VLM</b>" not in table
    assert "image withheld" in table and "not asked" in table
    assert "Judge: 1 of 5" in table and "not scored by Judge" in table


def test_a_judges_reason_and_a_long_reply_stand_in_full_under_how_it_was_judged(pair: PairCase) -> None:
    hinted = run_of(pair, HINTED)
    raw = "user\nWhat?\nassistant\nretract " + "<i>and more</i> " * 30
    assert hinted.original is not None
    long = replace(hinted.original, said=replace(hinted.original.said, text=raw))
    account = pair_judgements(pair, [replace(hinted, original=long)])
    assert REASON.replace("<", "&lt;").replace(">", "&gt;") in account
    assert "the reply was no JSON" in account
    assert "The whole reply with the hint:" in account and account.count("&lt;i&gt;and more") == 30
    assert "exact match" in account


def test_the_case_page_shows_a_pair_as_a_pair(page: AppTest) -> None:
    opened(page, unit=ARROW_ACTION, suite="pairs")
    assert page.text[0].value == "2 of 3 runs answer right with the hint; 1 of these is wrong without it."
    html = html_of(page)
    assert "As the VLM saw it" in html and "For people" in html
    assert "List: suite pairs." in html
    picture, people = told(page, "layers")
    assert picture["url"] == "/cue/pairs%3A013" and picture["layers"] == []
    assert people["url"] == "/img/drawn%3A7_100.png"
    assert [layer["label"] for layer in people["layers"] if layer["is_shown"]] == ["Red arrow"]
    [place] = told(page, "position")
    assert (place["position"], place["total"]) == (13, len(PAIRS))
    assert place["list"] == "case?suite=pairs"


def test_a_picture_that_is_drawn_on_the_fly_is_served_and_asked_for_again_only_when_it_changed(page: AppTest) -> None:
    opened(page, unit=ARROW_ACTION)

    def get(unit: str, headers: Sequence[tuple[bytes, bytes]] = ()) -> Response:
        scope = {"type": "http", "method": "GET", "headers": list(headers), "path_params": {"unit_id": unit}}
        return cued(Request(scope))

    answer = get(ARROW_ACTION)
    assert (answer.status_code, answer.media_type) == (200, "image/png")
    assert bytes(answer.body).startswith(b"\x89PNG")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert get(ARROW_ACTION, [(b"if-none-match", answer.headers["etag"].encode())]).status_code == 304
    for unit in ("nobody", "../../etc/passwd", unit_of(Task.INSTRUMENT_COUNT, Cue.NONE)):
        assert get(unit).status_code == 404


def test_a_list_of_failures_leads_from_pair_to_pair(page: AppTest) -> None:
    opened(page, unit=ARROW_ACTION, pair_outcomes="hint_only")
    [place] = told(page, "position")
    assert (place["position"], place["total"]) == (2, 8)
    assert place["list"] == "case?pair_outcomes=hint_only"
    assert "List: “right with the hint, wrong without it”." in html_of(page)


def test_runs_outside_the_filter_are_folded_away(page: AppTest) -> None:
    opened(page, unit=ARROW_ACTION, runs=run_id(STEADY))
    assert [block.label for block in page.expander] == ["What the other 3 runs answered"]


def test_a_list_of_pairs_can_be_chosen_from(page: AppTest) -> None:
    opened(page, suite="pairs", pair_outcomes="hint_only")
    assert "List: suite pairs, “right with the hint, wrong without it”." in html_of(page)
    assert len(page.dataframe[0].value) == 8
    opened(page, suite="pairs", pair_outcomes="pointed_only")
    assert "No pair fits these filters. Take one of them away, or clear them all." in [t.value for t in page.text]


def test_a_link_that_cannot_be_meant_is_refused_and_everything_can_be_shown(page: AppTest) -> None:
    opened(page, unit=ARROW_ACTION, cues="laser")
    assert "The link asks for the cue" in html_of(page)
    page.button[0].click().run()
    assert not page.exception
    assert len(page.dataframe[0].value) == 50


def test_a_picture_that_can_neither_be_found_nor_drawn_is_said_and_the_rest_is_there(page: AppTest) -> None:
    unit = next(unit for unit, pair in PAIRS.items() if pair.frame == OTHER.file_name and pair.cue is Cue.BOX)
    opened(page, unit=unit)
    html = html_of(page)
    assert "The picture the VLM saw is not at hand." in html
    assert "Which anatomical structure is in the red box?" in html
    assert unit_of(Task.ANATOMY, Cue.BOX, 9) == unit
