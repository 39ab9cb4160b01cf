"""Promises of the Loop page: rules and filters live in the link, each piece opens its cases, gaps say what to do."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from backend.store.verification_filters import VerificationFilter
from backend.verimap.fates import LoopEnd, LoopRule
from pages.ui.loop_cases import behind_fate, behind_turn
from pages.ui.loop_choices import named_loops
from pages.ui.loop_words import apart_sentence, headline, loop_commands
from tests.pages.app_page import captions, headings, html_of, html_of_all, link, open_page, texts_of
from tests.services.verification_store import ATLAS, BEACON, MODALITY, VQA_RAD, make_verification_store, run_id

LOOP = run_id(VQA_RAD, ATLAS, ATLAS, turn=2)

opened = partial(open_page, "loop")


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("loop") / "loop.duckdb"
    make_verification_store(path).close()
    return path


def fates(app: AppTest) -> dict[str, dict[str, Any]]:
    frame = next(frame.value for frame in app.dataframe if "n_wrong" in frame.value)
    return {str(row["task"]): {str(key): value for key, value in row.items()} for row in frame.to_dict("records")}


def test_an_empty_store_says_how_to_make_a_loop_and_what_the_paper_prints(page_of_empty_store: AppTest) -> None:
    app = opened(page_of_empty_store)
    assert any("verify run --suite DATASET" in code.value and "--turns 4" in code.value for code in app.code)
    assert any("import verimap --records" in code.value for code in app.code)
    assert "69.5 to 87.1 % locked" in captions(app)


def test_the_sentence_says_what_became_of_wrong_answers_and_of_the_share_of_right_ones(page: AppTest) -> None:
    assert texts_of(opened(page))[0] == (
        "Atlas, reviewed by itself: of 4 wrong answers, 50.0 % end accepted as correct and 25.0 % corrected; right "
        "answers go from 42.9 % to 42.9 % (0.0 points, −37.5 to +37.5; n = 7)."
    )


def test_figures_and_what_they_leave_out_stand_below_each_other(page: AppTest) -> None:
    app = opened(page)
    assert headings(app) == [
        "What became of answers that were wrong at first",
        "What became of answers that were right at first",
        "Does the verifier lean further with each turn?",
        "Right answers, turn by turn",
        "All fates",
    ]
    assert "Left out of all figures: 1 (first or last answer not judged), of 8 first answers." in html_of(app)
    assert len(app.main.get("plotly_chart")) == 5
    assert "As printed (VeriMap, section 4.6" in captions(app)


def test_the_rule_comes_from_the_link_and_goes_into_it(page: AppTest) -> None:
    app = opened(page, end="Ends at the first acceptance")
    assert "A loop ends at the first acceptance" in html_of(app)
    # Question 2 is accepted at once, while it is still right.
    assert (fates(app)["All"]["n_right"], float(fates(app)["All"]["spoiled"])) == (3, 0.0)
    app.button_group(key="choice_end").set_value("Ends at the last turn").run()
    assert link(app)["end"] == "Ends at the last turn"
    app.button_group(key="choice_last").set_value("To turn 1").run()
    assert link(app)["last"] == "To turn 1" and "Last turn: 1." in html_of(app)


def test_what_counts_at_a_turn_and_the_metric_are_choices(page: AppTest) -> None:
    app = opened(page, how="All verdicts so far", lean="FPR")
    assert "At each turn all verdicts given so far are added up." in captions(app)


def test_tasks_can_be_chosen_and_a_filter_without_loops_says_so(page: AppTest) -> None:
    app = opened(page, tasks=MODALITY)
    assert list(fates(app)) == ["All", "Modality"] and fates(app)["All"]["n_wrong"] == 2
    app = opened(page, verifiers=BEACON)
    assert texts_of(app)[0].startswith("No loop fits these filters.")
    app.button(key="loops_clear").click().run()
    assert link(app) == {} and "every loop in the store" in html_of(app)


def test_a_link_that_cannot_be_meant_says_what_can(page: AppTest) -> None:
    app = opened(page, tasks="vibes")
    assert "modality_recognition" in html_of(app)
    app.button[0].click().run()
    assert link(app) == {}


def test_a_piece_of_a_bar_opens_its_cases_once(page: AppTest) -> None:
    app = opened(page)
    app.session_state["n_wrong_chart_clicked"] = [LOOP, "all", "locked"]
    app.run()
    assert not app.exception
    assert "“wrong in the end, and accepted as correct” in the loop Atlas, reviewed by itself" in html_of_all(app)
    assert "<strong>2 verdicts</strong>" in html_of_all(app)
    app.run()
    assert "<strong>2 verdicts</strong>" not in html_of_all(app)


def test_a_point_opens_the_verdicts_of_its_turn(page: AppTest) -> None:
    app = opened(page)
    app.session_state["lean_chart_clicked"] = [LOOP, MODALITY, 1]
    app.run()
    assert "<strong>4 verdicts</strong>" in html_of_all(app)


def test_a_cell_opens_its_fates_and_one_that_holds_nothing_opens_nothing(page: AppTest) -> None:
    app = opened(page)
    for column, told in (("spoiled", "all: 1"), ("n_wrong", "all: 4"), ("change", "Choose a cell")):
        app.session_state["fates"] = {"selection": {"rows": [], "columns": [], "cells": [[0, column]]}}
        app.run()
        assert told in html_of(app)
        assert app.button(key="fates_open").disabled == (column == "change")


def test_a_link_to_fates_lists_their_cases_and_keeps_the_figures(page: AppTest) -> None:
    app = opened(page, **behind_fate(LOOP, VQA_RAD, "all", ("locked",), LoopRule()).to_query())
    assert headings(app)[0] == "Cases"
    assert fates(app)["All"]["n_wrong"] == 4
    assert "<b>2 verdicts, of 1 loop, 8 first answers</b>" in html_of(app)
    cases = next(frame.value for frame in app.dataframe if "question" in frame.value)
    assert sorted(cases["source_id"]) == ["3", "6"]


def test_what_a_click_opens_is_a_filter_with_its_rule() -> None:
    rule = LoopRule(LoopEnd.AT_ACCEPTANCE, 2)
    assert behind_fate("l", "s", MODALITY, ("kept",), rule) == VerificationFilter(
        suites=("s",), tasks=(MODALITY,), loop="l", fates=("kept",), loop_rule="at-acceptance.2"
    )
    assert behind_turn("l", "s", "unlabelled", 3) == VerificationFilter(
        suites=("s",), tasks=("unlabelled",), loop="l", turns=(3,)
    )


def a_row(loop: str, low: float | None, high: float | None, n_wrong: int = 10) -> dict[str, Any]:
    return {
        "loop_id": loop, "n": 30, "n_wrong": n_wrong, "n_right": 10, "locked": 0.5, "corrected": 0.1, "before": 0.5,
        "after": 0.6, "change": 0.1, "change_low": low, "change_high": high, "n_unfinished": 2, "n_unjudged": 0,
    }  # fmt: skip


def test_the_headline_counts_loops_whose_interval_lies_on_one_side_of_zero() -> None:
    labels = {"a": "A", "b": "B", "c": "C"}
    rows = [a_row("a", 0.01, 0.2), a_row("b", -0.2, -0.1), a_row("c", None, None, n_wrong=12)]
    told = headline(rows, labels)
    assert told.startswith("Of 3 loops, 1 clearly gains right answers and 1 clearly loses some. C: of 12 wrong answers")
    assert told.endswith("(+10.0 points; n = 22).")
    assert headline([a_row("a", -0.1, 0.2), a_row("c", None, None)], labels).startswith("None of 2 loops clearly")
    nothing = [{**a_row("a", None, None), "change": None}]
    assert headline(nothing, labels).startswith("No loop here was followed to its end")
    assert apart_sentence(rows) == "Left out of all figures: 6 (not followed to its end), of 90 first answers."
    assert apart_sentence([]) == ""


def test_data_sets_are_named_where_there_are_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARALLAX_STORE", str(tmp_path / "empty.duckdb"))
    loops = [{"loop_id": suite, "suite": suite, "label": "A"} for suite in (VQA_RAD, "own")]
    assert named_loops(loops) == {VQA_RAD: "A (VQA-RAD)", "own": "A (own)"}
    assert named_loops(loops[:1]) == {VQA_RAD: "A"}


def test_commands_name_a_store_that_is_not_the_default_one() -> None:
    assert all("--store '/my data/s.duckdb'" in line for line in loop_commands(Path("/my data/s.duckdb")))


def test_a_share_of_zero_is_no_contradiction_and_has_no_colour(page: AppTest) -> None:
    app = opened(page)
    [table] = [frame for frame in app.dataframe if "locked" in frame.value]
    shares = {row["task"]: float(row["locked"]) for row in table.value.to_dict("records") if row["n_wrong"]}
    assert shares["All"] > 0
    styles = table.proto.arrow_data.styler.styles
    assert {int(at) for at in re.findall(r"row(\d+)_col4\b", styles)} == {
        at for at, share in enumerate(table.value["locked"]) if share and not pd.isna(share)
    }
