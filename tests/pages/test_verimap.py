"""Promises of the plane page: filters live in the link, figures keep all verdicts, each number opens its verdicts."""

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from backend.store.verification_filters import VerificationFilter
from backend.verimap.quadrants import PlaneThresholds
from pages.ui.verimap_cases import cases_behind
from pages.ui.verimap_controls import unchanged_sentence
from pages.ui.verimap_legend import plane_legend
from pages.ui.verimap_plane import facet_names
from pages.ui.verimap_scores import place_words
from pages.ui.verimap_verifiers import crossing_sentence
from pages.ui.verimap_words import counting_sentence, headline, mean_words, pair_words, printed_headline
from tests.pages.app_page import chosen_cell, headings, html_of, link, open_page, texts_of, told_of
from tests.services.verification_store import (
    ATLAS,
    BEACON,
    DISEASE,
    MODALITY,
    OWN,
    SPATIAL,
    VQA_RAD,
    make_verification_store,
    run_id,
)

ATLAS_MODALITY = f"{run_id(VQA_RAD, ATLAS, ATLAS)}/{MODALITY}/0"

opened = partial(open_page, "verimap")


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verimap") / "verdicts.duckdb"
    make_verification_store(path).close()
    return path


def cells(app: AppTest) -> list[dict[str, Any]]:
    found = [frame.value for frame in app.dataframe if "quadrant" in frame.value]
    return [{str(key): value for key, value in row.items()} for frame in found for row in frame.to_dict("records")]


def test_an_empty_store_shows_the_printed_plane_and_the_next_step(page_of_empty_store: AppTest) -> None:
    app = opened(page_of_empty_store)
    assert texts_of(app)[0] == (
        "38 of 42 printed points lie in the verification mirage (error from 40 % and FPR from 60 % on), 2 in the "
        "desired corner; each is a mean over data sets, without n or interval."
    )
    assert any("import verimap --records FILE" in code.value for code in app.code)
    assert "FPR of 2 cells, dSkew of 3 cells" in "".join(caption.value for caption in app.caption)
    app.session_state["plane_chart_clicked"] = ["printed/causal_explanation/Gemma-3", "fpr"]
    app.run()
    assert not app.exception
    assert len(next(frame.value for frame in app.dataframe if "verifier_accuracy" in frame.value)) == 5
    assert any("without counts and without the verdicts" in text.value for text in app.text)


def test_small_cells_are_not_judged_and_the_sentence_says_so(page: AppTest) -> None:
    assert texts_of(opened(page))[0] == (
        "None of 7 cells has 30 verdicts and a wrong answer among them, so none is judged; the largest has 4 verdicts."
    )


def test_the_sentence_says_how_many_cells_lie_in_the_mirage_and_where_most_slips_through(page: AppTest) -> None:
    assert texts_of(opened(page, cut_min_n="4", suites=VQA_RAD))[0] == (
        "2 of 3 cells lie in the verification mirage (error from 40 % and FPR from 60 % on), 1 in the desired corner. "
        f"Most wrong answers slip through where {BEACON} verifies its own answers on modality recognition (VQA-RAD): "
        "2 of 2 are accepted (100.0 %; 34.2–100.0)."
    )


def test_without_a_link_first_answers_of_self_verification_are_shown(page: AppTest) -> None:
    app = opened(page)
    assert "VLMs verifying their own answers, first answers:" in html_of(app) and "<b>22 verdicts</b>" in html_of(app)
    assert len(cells(app)) == 7
    assert link(app) == {}


def test_self_and_cross_stay_rows_of_their_own(page: AppTest) -> None:
    app = opened(page, pairing="both", suites=VQA_RAD)
    pairs = [row["pair"] for row in cells(app) if row["task"] == "Modality"]
    assert sorted(pairs) == sorted(
        [
            f"{ATLAS}, own answers",
            f"{BEACON}, own answers",
            f"{ATLAS} on answers of {BEACON}",
            f"{BEACON} on answers of {ATLAS}",
        ]
    )


def test_every_part_of_the_filter_can_come_from_the_link(page: AppTest) -> None:
    app = opened(
        page,
        suites=VQA_RAD,
        tasks=MODALITY,
        generators=ATLAS,
        verifiers=ATLAS,
        turns="1",
        verdict_outcomes="fp",
        text="plane",
    )
    sentence = (
        f"data set VQA-RAD, modality recognition questions, answers of {ATLAS}, verified by {ATLAS}, VLMs verifying "
        "their own answers, turn 1, false acceptance, with “plane”:"
    )
    assert sentence in html_of(app) and "<b>1 verdict</b>" in html_of(app)
    assert headings(app)[0] == "Cases", "a condition on outcomes lists its cases"
    assert [(row["n"], row["fp"]) for row in cells(app)] == [(4, 2)], "and the figures keep all verdicts"
    app.button(key="verdicts_clear").click().run()
    assert link(app) == {}


def test_every_control_writes_its_part_of_the_link(page: AppTest) -> None:
    app = opened(page, rows="By task")
    for name, values in (
        ("suites", [VQA_RAD]),
        ("tasks", [MODALITY, DISEASE]),
        ("groups", ["perceptual"]),
        ("generators", [BEACON]),
        ("verifiers", [ATLAS, BEACON]),
        ("origins", ["precomputed"]),
        ("verdict_outcomes", ["fp", "unparsed"]),
    ):
        app.multiselect(key=f"verdicts_{name}").set_value(values).run()
        assert link(app)[name] == "~".join(values)
    app.text_input(key="verdicts_text").set_value("lung").run()
    app.multiselect(key="verdicts_turns").set_value([0, 1]).run()
    app.slider(key="slide_fpr").set_value(75).run()
    app.slider(key="slide_min_n").set_value(3).run()
    app.multiselect(key="cells_quadrants").set_value(["mirage", "desired"]).run()
    app.button_group(key="cells_axis").set_value("bias").run()
    app.button_group(key="count_uncertain").set_value("drop").run()
    app.button_group(key="plane_pairing").set_value("cross").run()
    assert not app.exception
    expected = {
        "text": "lung", "turns": "0~1", "cut_fpr": "75", "cut_min_n": "3", "quadrants": "mirage~desired",
        "quadrant_of": "bias", "uncertain": "drop", "pairing": "cross", "rows": "By task",
    }  # fmt: skip
    assert {name: link(app).get(name) for name in expected} == expected
    app.button(key="verdicts_clear").click().run()
    assert set(link(app)) == {"rows"}, "how it is drawn is no filter and stays"


@pytest.mark.parametrize("own", [{"cut_min_n": "1"}, {"quadrants": "mirage"}, {"quadrant_of": "bias"}])
def test_thresholds_and_quadrants_alone_can_be_cleared_too(page: AppTest, own: dict[str, str]) -> None:
    app = opened(page, **own)
    app.button(key="verdicts_clear").click().run()
    assert link(app) == {}
    assert not [button for button in app.button if button.key == "verdicts_clear"]


def test_the_counting_of_undecided_verdicts_is_said_and_changes_the_cells(page: AppTest) -> None:
    usual = opened(page, suites=VQA_RAD, tasks=DISEASE, verifiers=ATLAS)
    assert "UNCERTAIN verdicts count as not accepted; replies without a verdict are left out and counted." in html_of(
        usual
    )
    assert [row["n"] for row in cells(usual)] == [3]
    usual.query_params["uncertain"] = "drop"
    usual.run()
    assert "UNCERTAIN verdicts are left out and counted" in html_of(usual)
    assert [row["n"] for row in cells(usual)] == [2]


@pytest.mark.parametrize(
    ("query", "known"),
    [
        ({"tasks": "surgery"}, "modality_recognition"),
        ({"cut_fpr": "120"}, "0 to 100"),
        ({"cut_min_n": "0"}, "1 to 200"),
        ({"quadrants": "middle"}, "mirage, desired, lenient, unreliable"),
        ({"quadrants": "mirage", "quadrant_of": "fnr"}, "signed_dskew"),
    ],
)
def test_a_link_that_cannot_be_meant_names_what_can_and_leads_back(
    page: AppTest, query: dict[str, str], known: str
) -> None:
    app = opened(page, **query)
    assert known in html_of(app)
    app.button[0].click().run()
    assert link(app) == {} and not app.exception


def test_quadrants_do_not_change_the_sentence_about_all_cells(page: AppTest) -> None:
    whole = opened(page, cut_min_n="1")
    told = [text for text in texts_of(whole) if "lie in the verification mirage" in text]
    assert told and told[0] in texts_of(opened(page, quadrants="desired", cut_min_n="1"))


def test_a_place_that_fpr_leaves_open_is_said_by_the_other_axes() -> None:
    open_ = placed_cell("A", quadrant_fpr=None, quadrant_bias="desired", quadrant_dskew="desired")
    assert place_words(open_) == "N/A · desired · desired"
    assert place_words(open_ | {"quadrant_bias": None, "quadrant_dskew": None}) is None
    assert place_words(open_ | {"too_small": True}) == "too small to judge"


def test_a_link_to_runs_shows_them_whoever_verifies_and_whatever_the_turn(page: AppTest) -> None:
    crossed = cells(opened(page, suites=VQA_RAD, runs=run_id(VQA_RAD, ATLAS, BEACON)))
    assert {row["pair"] for row in crossed} == {f"{BEACON} on answers of {ATLAS}"}
    later = cells(opened(page, suites=VQA_RAD, runs=run_id(VQA_RAD, ATLAS, ATLAS, turn=2)))
    assert {row["turn"] for row in later} == {2}


def test_quadrants_choose_cells(page: AppTest) -> None:
    n_all = len(cells(opened(page, cut_min_n="1")))
    app = opened(page, quadrants="mirage", cut_min_n="1")
    assert {row["quadrant"].split(" · ")[0] for row in cells(app)} == {"mirage"}
    n = len(cells(app))
    assert 0 < n < n_all
    assert any(
        said.value.startswith(f"Quadrant verification mirage, by error and FPR: {n} of {n_all} cells.")
        for said in app.caption
    )
    nobody = opened(page, quadrants="lenient", quadrant_of="dskew", tasks="unlabelled")
    assert "No cell fits these filters. Take one of them away, or clear them all." in texts_of(nobody)


@pytest.mark.parametrize("rows", ["One plane", "By data set", "By task", "By group", "By verifier"])
def test_the_plane_can_be_taken_apart(page: AppTest, rows: str) -> None:
    app = opened(page, rows=rows, points="Together", pairing="both")
    assert not app.exception


def test_the_printed_plane_can_stand_alone_or_beside_the_store_s(page: AppTest) -> None:
    alone = opened(page, points="Printed", tasks=DISEASE)
    assert texts_of(alone)[0].startswith("6 of 6 printed points lie in the verification mirage")
    assert "thin and hollow: printed in the paper" in html_of(alone)
    both = opened(page, points="Together")
    assert "too small to judge" in html_of(both) and "thin and hollow" in html_of(both)
    fits_not = opened(page, points="Together", suites=VQA_RAD)
    assert "Printed points are means over data sets" in html_of(fits_not)


def test_a_point_opens_its_false_acceptances(page: AppTest) -> None:
    app = opened(page)
    app.session_state["plane_chart_clicked"] = [ATLAS_MODALITY, "fpr"]
    app.run()
    assert not app.exception
    sentence = told_of(app, "1 verdict")
    assert "data set VQA-RAD, modality recognition questions" in sentence and "false acceptance" in sentence
    switch = app.button_group[-1]
    assert (switch.label, switch.value) == ("What became of the verdict", "fp")
    assert switch.options == ["false acceptance 1", "wrong answer, rejected 1", "right answer, accepted 2", "all 4"]


def test_each_cell_opens_its_verdicts(page: AppTest) -> None:
    app = opened(page)
    for key, cell, words, count in (
        ("cells", (0, "fpr"), "false acceptance", "1 verdict"),
        ("cells", (2, "fnr"), "false rejection", "1 verdict"),
        ("crossings", (0, "fpr_b"), "modality recognition questions, VLMs verifying each other", "1 verdict"),
        ("matrix", (0, "v1"), f"answers of {ATLAS}, verified by Beacon", "1 verdict"),
        ("controls", (0, "fpr_b"), "image withheld", "3 verdicts"),
        ("two_step", (0, "error_b"), "two step, first answers, wrong answer, rejected", "4 verdicts"),
    ):
        app.session_state[key] = chosen_cell(*cell)
        app.run()
        app.button(key=f"{key}_open").click().run()
        assert not app.exception
        assert words in told_of(app, count), (key, cell)


def test_marks_of_the_other_figures_open_their_verdicts(page: AppTest) -> None:
    app = opened(page)
    for chart, point, words, count in (
        (
            "crossing_chart",
            [SPATIAL, "self", "fpr"],
            "spatial localization questions, VLMs verifying their own",
            "2 verdicts",
        ),
        ("crossing_chart", ["", "self", "fpr"], "unlabelled questions", "1 verdict"),
        ("unchanged_chart", [ATLAS, ATLAS, "image swapped"], "image swapped", "3 verdicts"),
    ):
        app.session_state[f"{chart}_clicked"] = point
        app.run()
        assert not app.exception
        assert words in told_of(app, count), (chart, point)


def test_an_undefined_rate_and_a_missing_task_say_why_they_are_not_available(page: AppTest) -> None:
    app = opened(page, suites=OWN)
    rows = cells(app)
    at = next(at for at, row in enumerate(rows) if row["task"] == "Disease")
    assert pd.isna(rows[at]["fnr"]) and pd.isna(rows[at]["dskew"])
    app.session_state["cells"] = chosen_cell(at, "dskew")
    app.run()
    assert "dSkew is N/A, for no verdict is wrong" in html_of(app)
    unlabelled = next(at for at, row in enumerate(rows) if row["task"] == "Not labelled")
    assert pd.isna(rows[unlabelled]["route"])
    app.session_state["cells"] = chosen_cell(unlabelled, "route")
    app.run()
    assert "its questions have no task" in html_of(app)


def test_a_route_comes_with_the_evidence(page: AppTest) -> None:
    app = opened(page, suites=VQA_RAD, verifiers=ATLAS, tasks=MODALITY)
    [row] = cells(app)
    assert row["route"] == "cross-verify"
    app.session_state["cells"] = chosen_cell(0, "route")
    app.run()
    assert "Too few verdicts to judge (fewer than 30): error 25.0 %" in html_of(app)


def test_controls_tell_how_many_verdicts_need_no_image(page: AppTest) -> None:
    app = opened(page)
    assert "with the image withheld, 87.5 % of its verdicts stay the same (7/8; 66.7–100.0)." in html_of(app)
    assert {"Does the verifier look?", "Looking first"} <= set(headings(app))
    without = opened(page, generators=BEACON)
    assert not {"Does the verifier look?", "Looking first"} & set(headings(without))


def test_without_cross_verification_the_page_says_what_it_would_show(page: AppTest) -> None:
    app = opened(page, generators=BEACON, verifiers=BEACON)
    assert any("No answer here was verified by its own VLM and by another one." in text for text in texts_of(app))


def test_a_name_is_text_wherever_it_stands(page: AppTest) -> None:
    app = opened(page, pairing="both", verifiers=BEACON)
    assert "<b>VLM</b>" not in html_of(app) and "Beacon &lt;b&gt;VLM&lt;/b&gt;" in html_of(app)


def placed_cell(name: str, **about: Any) -> dict[str, Any]:
    row = {
        "key": name, "run_id": name, "suite": "slake", "task": DISEASE.value, "generator": name, "verifier": name,
        "condition": "plain", "turn": 0, "n": 50, "n_uncertain": 0, "n_unparsed": 0, "n_unjudged": 0,
        "too_small": False, "quadrant_fpr": "mirage", "fpr": 0.8, "fpr_k": 20, "fpr_n": 25, "fpr_low": 0.6,
        "fpr_high": 0.9, "is_self": True,
    }  # fmt: skip
    return row | about


def test_cells_too_small_to_judge_are_not_counted_in_the_headline() -> None:
    rows = [
        placed_cell("A"),
        placed_cell("B", too_small=True, fpr=1.0),
        placed_cell("C", quadrant_fpr="desired", fpr=0.1),
    ]
    assert headline(rows, PlaneThresholds()).startswith("1 of 2 cells lies in the verification mirage")
    assert "A verifies its own answers on disease classification (SLAKE): 20 of 25" in headline(rows, PlaneThresholds())
    assert headline([], PlaneThresholds()) == "No verdict fits these filters, so there is no cell to place."


def test_printed_points_that_do_not_fit_leave_a_sentence() -> None:
    assert printed_headline([], PlaneThresholds()) == "No printed point fits these filters."
    assert mean_words([{"fpr_left_out": 0, "dskew_left_out": 0}]) == ""


def test_what_is_counted_apart_is_said_and_nothing_where_there_is_none() -> None:
    assert counting_sentence([placed_cell("A")]) == ""
    assert counting_sentence([placed_cell("A", n_unparsed=2), placed_cell("B", n_unjudged=1)]) == (
        "Here: 2 without a verdict, 1 on answers that nobody judged, in no rate."
    )


def test_the_run_is_named_only_where_two_measured_the_same() -> None:
    one, other = placed_cell("A"), placed_cell("A", run_id="again")
    assert cases_behind(one, VerificationFilter(), [one]).runs == ()
    behind = cases_behind(other, VerificationFilter(uncertain="drop"), [one, other])
    assert (behind.runs, behind.uncertain, behind.turns, behind.conditions) == (("again",), "drop", (0,), ())


def test_the_legend_names_what_is_drawn_and_nothing_else() -> None:
    drawn = plane_legend([placed_cell("<i>A</i>", n=4)], [], {"<i>A</i>": 0}, PlaneThresholds())
    assert "Disease" in drawn and "Modality" not in drawn
    assert "&lt;i&gt;A&lt;/i&gt;" in drawn and "<i>A</i>" not in drawn
    assert "too small" not in drawn and "dot inside" not in drawn and "thin and hollow" not in drawn
    crossed = plane_legend([placed_cell("A", is_self=False, too_small=True)], [placed_cell("P")], {}, PlaneThresholds())
    assert all(words in crossed for words in ("too small", "dot inside", "thin and hollow"))


def test_facets_stand_in_the_order_of_their_kind() -> None:
    rows = [placed_cell("B"), placed_cell("A")]
    assert list(facet_names("verifier", rows, [], {"A": 0, "B": 1})) == ["A", "B"]
    assert list(facet_names("task", rows, [], {}))[-1] is None
    assert facet_names("", rows, [], {}) == {}


def test_a_change_is_called_clear_only_with_its_interval_below_zero() -> None:
    row = {
        "task": DISEASE,
        "fpr_a": 0.8,
        "fpr_b": 0.5,
        "fpr_change": -0.3,
        "fpr_change_low": -0.4,
        "fpr_change_high": -0.2,
    }
    unclear = {**row, "fpr_change_high": 0.1}
    assert crossing_sentence([row, unclear]) == (
        "In 1 of 2 tasks other verifiers clearly accept fewer wrong answers (the 95 % interval of the change lies "
        "below zero); most on disease classification: FPR 80.0 % → 50.0 %, −30.0 points (−40.0 to −20.0)."
    )
    assert crossing_sentence([unclear]).startswith("In none of 1 task")
    assert crossing_sentence([{**row, "fpr_change": None}]) == "In no task is the FPR of both defined."


def test_the_control_s_sentence_needs_verdicts_on_both_sides() -> None:
    none = {"generator": "A", "verifier": "A", "control": "image withheld", "unchanged": None, "n_without": 898}
    said = "A, own answers: with the image withheld, none of 898 answers has a verdict on both sides to compare."
    assert unchanged_sentence([none]) == said
    some = {
        "generator": "A", "verifier": "A", "control": "image swapped", "unchanged": 0.5, "unchanged_low": None,
        "unchanged_k": 1, "unchanged_n": 2,
    }  # fmt: skip
    assert unchanged_sentence([none, some]) == (
        f"A, own answers: with the image swapped, 50.0 % of its verdicts stay the same (1/2). {said}"
    )


def test_a_pair_says_who_verifies_whom() -> None:
    assert pair_words({"generator": "A", "verifier": "A"}) == "A, own answers"
    assert pair_words({"generator": "A", "verifier": "B"}) == "B on answers of A"
