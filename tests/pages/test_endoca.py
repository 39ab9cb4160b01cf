"""Promises of the EndoCA page: filters live in the link, figures keep all units, each number opens its cases."""

from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from backend.endoca.metrics import METRICS
from backend.services.endoca_series import BlindFinding, PrintedShift, SuiteFacts, records, runs_of, series_table
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.opening import open_store
from backend.store.filters import UnitFilter
from backend.store.store import Store
from pages.ui.endoca_words import (
    blind_sentence,
    counted,
    gaps_sentence,
    headline,
    legend,
    metric_help,
    nothing_shown,
    quiet_line,
    shift_sentence,
    suite_notes,
)
from pages.ui.series_cases import cases_behind
from pages.ui.unit_table import _sortable
from tests.pages.app_page import app_over, chosen_cell, headings, html_of, html_of_all, link, open_page, texts_of
from tests.pages.paired_store import PARTED, SILENT, STEADY, SUITE, make_store
from tests.services.endoca_files import manifest_lines, prediction_lines, write_jsonl

BLIND = "Usual answers"

opened = partial(open_page, "endoca")


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three samples, three VLMs with known faults, and a blind baseline that is always right."""
    path = tmp_path_factory.mktemp("endoca") / "paired.duckdb"
    make_store(path)
    with Store.open(path) as store:
        lines = write_jsonl(path.parent / "blind.jsonl", prediction_lines(BLIND))
        import_endoca(store, [SourceFile.at(lines)], vlm_group="blind")
    return path


@pytest.fixture(scope="module")
def run_ids(store_file: Path) -> dict[str, str]:
    with Store.open(store_file) as store:
        return {run["vlm"]: run["run_id"] for run in runs_of(store, SUITE)}


def test_an_empty_store_shows_the_printed_tables_and_the_next_step(page_of_empty_store: AppTest) -> None:
    app = opened(page_of_empty_store)
    assert texts_of(app)[0] == (
        "MedGemma-FT answers 74.5 % of complex questions right; 25.1 % of those rest on a wrong part (as printed)."
    )
    assert any("import the EndoCA manifests (github.com/Luious-LYH/EndoCA-VQA)" in text for text in texts_of(app))
    assert "printed figures only" in html_of(app)
    assert app.dataframe[0].value["complex_accuracy"].iloc[0] == 51.4
    assert "Cases" not in headings(app)


def test_the_sentence_under_the_title_is_about_the_best_vlm_with_answers(page: AppTest) -> None:
    assert texts_of(opened(page, suite=SUITE))[0] == (
        f"{PARTED} answers 100.0 % of complex questions right (n = 3); 33.3 % of those 3 rest on a wrong part."
    )


def test_without_a_link_the_first_suite_with_units_is_shown(page: AppTest) -> None:
    assert f"suite {SUITE}:" in html_of(opened(page))


def test_every_part_of_the_filter_can_come_from_the_link(page: AppTest, run_ids: dict[str, str]) -> None:
    app = opened(page, suite=SUITE, complexities="2~3", outcomes="inconsistent", runs=run_ids[PARTED], text="polyp")
    sentence = f"suite {SUITE}, {PARTED}, complexity 2 or 3, “right answer, wrong part”, with “polyp”:"
    assert sentence in html_of(app)
    assert "<b>1 unit</b>" in html_of(app)
    assert app.multiselect(key="filter_complexities").value == [2, 3]
    assert app.multiselect(key="filter_runs").value == [run_ids[PARTED]]
    assert app.text_input(key="filter_text").value == "polyp"


def test_every_control_writes_its_part_of_the_link(page: AppTest, run_ids: dict[str, str]) -> None:
    app = opened(page, suite=SUITE, table="By VLM group")
    app.multiselect(key="filter_complexities").set_value([2]).run()
    assert link(app)["complexities"] == "2"
    app.multiselect(key="filter_classes").set_value(["polyp_count"]).run()
    app.checkbox(key="filter_part_wrong").set_value(True).run()
    assert (link(app)["classes"], link(app)["part_wrong"]) == ("polyp_count", "1")
    app.selectbox(key="filter_right").set_value(run_ids[STEADY]).run()
    app.selectbox(key="filter_wrong").set_value(run_ids[SILENT]).run()
    assert (link(app)["right"], link(app)["wrong"]) == (run_ids[STEADY], run_ids[SILENT])
    app.multiselect(key="filter_classes").set_value([]).run()
    assert "part_wrong" not in link(app), "without a class there is no part to be wrong"
    app.button(key="filter_clear").click().run()
    assert not app.exception
    assert link(app) == {"suite": SUITE, "table": "By VLM group"}, "what is no filter stays"


def test_another_suite_begins_without_filters(page: AppTest) -> None:
    app = opened(page, suite=SUITE, complexities="2")
    app.selectbox(key="filter_suite").set_value("core").run()
    assert not app.exception
    assert link(app) == {"suite": "core"}


def test_conditions_on_answers_choose_cases_and_leave_the_figures_alone(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    assert headings(app)[-1] == "Cases", "the list comes last"
    scores = next(table.value for table in app.dataframe if "joint_accuracy" in table.value)

    app = opened(page, suite=SUITE, outcomes="inconsistent")
    assert headings(app)[0] == "Cases", "what was asked for comes first"
    assert any("Figures keep all units" in caption.value for caption in app.caption)
    again = next(table.value for table in app.dataframe if "joint_accuracy" in table.value)
    assert again.equals(scores)
    assert list(app.dataframe[0].value["source_id"]) == [22]


def test_one_run_in_the_filter_has_its_answers_beside_the_questions(page: AppTest, run_ids: dict[str, str]) -> None:
    app = opened(page, suite=SUITE, runs=run_ids[PARTED], outcomes="inconsistent")
    row = app.dataframe[0].value.iloc[0]
    assert (row["answer"], row["parts"], row["outcome"]) == (
        "Two polyps and a green box artifact.",
        "1 of 2",
        "right answer, wrong part",
    )
    assert row["link"].startswith(f"/case?unit={SUITE}%3A22&")


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ({"suite": "nowhere"}, "Known: drawn, core, diagnostic."),
        ({"outcomes": "sad"}, "Known: supported, inconsistent"),
        ({"complexities": "two"}, "Complexity is a whole number, 1 to 3."),
    ],
)
def test_a_link_that_cannot_be_meant_says_what_can(page: AppTest, query: dict[str, str], hint: str) -> None:
    app = opened(page, **query)
    assert hint in html_of(app)
    app.button[0].click().run()
    assert not app.exception
    assert link(app) == {} and headings(app)


def test_no_case_says_how_to_get_some(page: AppTest) -> None:
    app = opened(page, suite=SUITE, text="nobody says this")
    assert "No case fits these filters. Take one of them away, or clear them all." in texts_of(app)


@pytest.mark.parametrize("table", ["By VLM", "Missing and unreadable", "By VLM group", "Compare two runs", "no such"])
def test_every_table_of_scores_has_its_link(page: AppTest, table: str) -> None:
    opened(page, suite=SUITE, table=table)


def test_two_runs_are_compared_on_the_same_units_with_their_flips(page: AppTest, run_ids: dict[str, str]) -> None:
    app = opened(page, suite=SUITE, table="Compare two runs", a=run_ids[STEADY], b=run_ids[SILENT])
    table = next(frame.value for frame in app.dataframe if "lost" in frame.value)
    first = table.iloc[0]
    assert (first["metric"], first["a"], first["n"]) == ("Complex accuracy", "100.0 %", 3)
    assert (first["lost"], first["won"], first["p"]) == (2, 0, "0.500"), "two flips one way: p = 2 × 0.5²"
    app.button(key="flips_A right, B wrong").click().run()
    assert not app.exception
    listed = [frame.value for frame in app.dataframe if "source_id" in frame.value]
    assert [22, 33] in [list(frame["source_id"]) for frame in listed]


def test_a_run_compared_with_itself_says_what_to_do(page: AppTest, run_ids: dict[str, str]) -> None:
    app = opened(page, suite=SUITE, table="Compare two runs", a=run_ids[STEADY], b=run_ids[STEADY])
    assert "Choose two different runs." in html_of(app)


def test_a_clicked_point_opens_its_cases_once(page: AppTest, run_ids: dict[str, str]) -> None:
    app = opened(page, suite=SUITE)
    app.session_state["radar_chart_clicked"] = [run_ids[PARTED], "consistency"]
    app.run()
    assert not app.exception
    assert f"suite {SUITE}, {PARTED}, “right answer, wrong part”: <strong>1 unit</strong>" in html_of_all(app)
    app.run()
    assert "<strong>1 unit</strong>" not in html_of_all(app)


def test_a_chosen_cell_is_told_and_opens_only_with_its_button(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    assert app.button(key="scores_open").disabled
    scores = next(table.value for table in app.dataframe if "joint_accuracy" in table.value)
    at = list(scores["label"]).index(PARTED)
    app.session_state["scores"] = chosen_cell(at, "inconsistency")
    app.run()
    opened_cases = "<strong>1 unit</strong>"
    assert f"{PARTED}: {METRICS['inconsistency'].label}" in html_of(app)
    assert opened_cases not in html_of_all(app)
    app.button(key="scores_open").click().run()
    assert not app.exception
    assert opened_cases in html_of_all(app)


@pytest.mark.parametrize(
    ("shown", "key", "column", "words"),
    [
        ("By VLM", "scores", "missing", "a missing answer"),
        ("Missing and unreadable", "quality", "failed_rate", "a failed call"),
        ("Missing and unreadable", "quality", "unparsed_rate", "an answer that is not readable"),
    ],
)
def test_a_rate_of_answers_apart_opens_their_cases(
    page: AppTest, shown: str, key: str, column: str, words: str
) -> None:
    app = opened(page, suite=SUITE, table=shown)
    labels = list(next(table.value for table in app.dataframe if column in table.value)["label"])
    app.session_state[key] = chosen_cell(labels.index(STEADY), column)
    app.run()
    assert app.button(key=f"{key}_open").disabled, "there is no such answer"
    app.session_state[key] = chosen_cell(labels.index(SILENT), column)
    app.run()
    app.button(key=f"{key}_open").click().run()
    assert not app.exception
    assert f", with {words}: <strong>1 unit</strong>" in html_of_all(app)


def test_a_rate_of_a_group_opens_such_cases_of_its_runs(page: AppTest) -> None:
    app = opened(page, suite=SUITE, table="By VLM group")
    groups = next(table.value for table in app.dataframe if "n_runs" in table.value)
    at = next(at for at, rate in enumerate(groups["failed_rate"]) if rate)
    app.session_state["groups"] = chosen_cell(at, "failed_rate")
    app.run()
    app.button(key="groups_open").click().run()
    assert not app.exception
    assert ", with a failed call: <strong>1 unit</strong>" in html_of_all(app)


def test_answers_apart_are_chosen_by_a_chip(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    app.multiselect(key="filter_statuses").set_value(["failed", "missing"]).run()
    assert link(app)["statuses"] == "failed~missing"
    assert "with a failed call or a missing answer:" in html_of(app) and "<b>1 unit</b>" in html_of(app)


def test_a_cell_that_stands_for_no_cases_opens_nothing(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    app.session_state["classes"] = chosen_cell(0, "class")
    app.run()
    assert not app.exception
    assert app.button(key="classes_open").disabled


def test_a_chosen_row_past_the_end_of_a_shorter_list_is_none(page: AppTest) -> None:
    app = opened(page, suite=SUITE, complexities="2")
    app.session_state["cases_table"] = chosen_cell(2, "question")
    app.run()
    assert not app.exception
    assert app.button(key="cases_table_open").disabled


def test_missing_answers_stand_beside_the_scores(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    scores = next(table.value for table in app.dataframe if "joint_accuracy" in table.value)
    missing = dict(zip(scores["label"], scores["missing"], strict=True))
    assert missing[STEADY] == 0
    assert missing[SILENT] == pytest.approx(100 / 9), "one of nine questions has no answer on file"


def test_samples_are_numbers_only_where_all_are_written_as_such() -> None:
    import pandas as pd

    assert list(_sortable(pd.Series(["9", "10"]))) == [9, 10]
    for names in (["9", "x10"], ["09", "10"], ["9" * 16]):
        assert list(_sortable(pd.Series(names))) == names


def test_a_clicked_printed_point_says_where_it_is_printed(page_of_empty_store: AppTest) -> None:
    app = opened(page_of_empty_store)
    app.session_state["slope_chart_clicked"] = ["printed.GPT-5.5", "joint_accuracy"]
    app.run()
    assert not app.exception
    words = [text.value for text in app.text]
    assert any(text.startswith("GPT-5.5: Liu, Zhao, Yue 2026, EndoCA") for text in words)
    assert any("no case to open" in text for text in words)


def test_a_vlm_name_is_text_wherever_it_stands(page: AppTest) -> None:
    drawn = html_of(opened(page, suite=SUITE))
    assert "Silent &lt;b&gt;VLM&lt;/b&gt;" in drawn
    assert "<b>VLM</b>" not in drawn


def test_the_radar_takes_its_vlms_from_the_link_and_six_at_most(page: AppTest, run_ids: dict[str, str]) -> None:
    app = opened(page, suite=SUITE, radar=f"{run_ids[SILENT]}~unknown")
    assert app.multiselect(key="pick_radar").value == [run_ids[SILENT]]
    app.multiselect(key="pick_radar").set_value([run_ids[STEADY], run_ids[PARTED]]).run()
    assert link(app)["radar"] == f"{run_ids[STEADY]}~{run_ids[PARTED]}"
    assert run_ids[BLIND] not in app.multiselect(key="pick_radar").options, "the baseline is no VLM"

    app = opened(page, suite="core")
    assert len(app.multiselect(key="pick_radar").value) == 6


@pytest.mark.parametrize(
    ("what", "level", "expected"),
    [
        ("joint_accuracy", None, UnitFilter(suite="s", runs=("r",), splits=("test",))),
        ("consistency", None, UnitFilter(suite="s", runs=("r",), splits=("test",), outcomes=("inconsistent",))),
        (
            "inconsistency",
            2,
            UnitFilter(suite="s", runs=("r",), splits=("test",), complexities=(2,), outcomes=("inconsistent",)),
        ),
        ("mixed", None, UnitFilter(suite="s", runs=("r",), splits=("test",), outcomes=("mixed",))),
        ("complex_accuracy", 3, UnitFilter(suite="s", runs=("r",), splits=("test",), complexities=(3,))),
    ],
)
def test_a_number_opens_the_units_it_is_a_share_of(what: str, level: int | None, expected: UnitFilter) -> None:
    chosen = UnitFilter(suite="s", runs=("r", "q"), groups=("g",), splits=("test",), text="x", outcomes=("supported",))
    assert cases_behind(chosen, "r", what, level) == expected


def rows_of(store_file: Path) -> list[dict[str, object]]:
    with Store.open(store_file) as store:
        return records(series_table(store, UnitFilter(suite=SUITE)))


def test_a_metric_is_explained_by_a_sentence_a_formula_and_an_example(store_file: Path) -> None:
    words = metric_help("inconsistency", rows_of(store_file))
    assert words == (
        "Right answers that rest on a wrong part (complex-atomic inconsistency): right complex answers with a wrong "
        "atomic answer / right complex answers (equation 6). N/A when no complex answer is right. "
        f"Here, for example, `{PARTED}`: 1 / 3 = 33.3 %."
    )
    assert "example" not in metric_help("inconsistency", [])
    assert all(metric_help(key, rows_of(store_file)) for key in METRICS)


def test_a_name_in_a_tooltip_is_code_and_no_markdown() -> None:
    row = {
        "label": "![x](http://x.example) `$`", "vlm_group": None, "origin": "imported", "run_id": "r",
        "n_units": 4, "n_atomic": 6, "n_missing": 0, "n_failed": 0,
        "inconsistency": 0.5, "inconsistency_k": 1, "inconsistency_n": 2,
    }  # fmt: skip
    assert "example, `![x](http://x.…mple) '$'`: 1 / 2" in metric_help("inconsistency", [row])
    assert "example" not in metric_help("inconsistency", [row | {"n_missing": 4}]), "its file is no example of it"


def test_the_headline_says_when_only_the_baseline_is_shown_and_when_nothing_can_rest() -> None:
    assert headline([{"vlm_group": "blind"}]) == "Only the blind baseline is shown, and no VLM."
    never = {
        "vlm_group": None, "run_id": "r", "vlm": "V", "label": "V", "complex_accuracy": 0.0,
        "inconsistency": None, "n_units": 7, "n_atomic": 9, "n_missing": 0, "n_failed": 0,
    }  # fmt: skip
    assert headline([never]) == "V answers 0.0 % of complex questions right (n = 7)."
    parts_missing = never | {"label": "P", "complex_accuracy": 1.0, "inconsistency": 1.0, "n_missing": 9}
    assert headline([never, parts_missing]) == headline([never]), "a whole run goes first"
    assert headline([parts_missing]) == (
        "P answers 100.0 % of complex questions right (n = 7); many of its answers are missing or failed."
    )


def test_runs_that_lack_answers_are_named_with_their_counts() -> None:
    run = {"run_id": "r", "label": "A", "n_units": 12000, "n_atomic": 15736, "n_missing": 27000, "n_failed": 592}
    assert gaps_sentence([run]) == (
        "Missing or failed answers count as wrong: of A, 27,592 of 27,736. A right answer with a missing part thus "
        "counts as inconsistent, though nothing contradicts it."
    )
    assert gaps_sentence([run | {"n_missing": 0}]) == gaps_sentence([]) == ""
    assert "; of 2 other runs, many." in gaps_sentence([run] * 5)


@pytest.mark.parametrize(
    ("units", "runs", "filtered", "begins"),
    [
        (True, True, True, "No run over suite s fits these filters"),
        (True, False, True, "No VLM has answered suite s in this store, and no printed figure fits these filters."),
        (True, False, False, "No VLM has answered suite s in this store yet"),
        (False, False, True, "The store holds no unit of suite s, and its printed table does not fit"),
    ],
)
def test_why_there_is_nothing_to_draw_is_said_in_one_sentence(
    units: bool, runs: bool, filtered: bool, begins: str
) -> None:
    assert nothing_shown("s", units=units, runs=runs, filtered=filtered).startswith(begins)


def chart_keys(app: AppTest) -> list[str]:
    return [block.proto.id for block in app.main.get("plotly_chart")]


def test_a_suite_nobody_answered_has_no_figures_but_next_steps_and_its_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(tmp_path / "bare.duckdb") as store:
        import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "bare.jsonl", manifest_lines()))])
    for app in app_over(tmp_path / "bare.duckdb", monkeypatch):
        opened(app, suite="bare")
        assert texts_of(app)[0] == "No VLM has answered suite bare in this store yet, so there is nothing to compare."
        assert headings(app) == ["Cases"] and not chart_keys(app)
        assert "Claude" not in html_of(app)
        [link_on] = [element.proto.label for element in app.main.get("page_link")]
        assert "Import prediction files, or run the blind baseline" in link_on


def test_a_filter_that_leaves_no_run_says_so_and_can_be_cleared(page: AppTest) -> None:
    app = opened(page, suite=SUITE, origins="live")
    assert texts_of(app)[0].startswith(f"No run over suite {SUITE} fits these filters")
    assert headings(app) == ["Cases"] and not chart_keys(app)
    next(button for button in app.button if button.label == "Clear the filters").click().run()
    assert not app.exception
    assert link(app) == {"suite": SUITE} and len(chart_keys(app)) == 4


def test_what_is_missing_is_said_beside_the_figures(page: AppTest) -> None:
    assert html_of(opened(page, suite=SUITE)).count("count as wrong: of Silent &lt;b&gt;VLM&lt;/b&gt;, 2 of 9.") == 2


def test_the_remark_on_the_printed_tables_stands_under_their_suites_only(page: AppTest) -> None:
    assert "printed atomic accuracy falls" in html_of(opened(page, suite="core"))
    assert "printed atomic accuracy falls" not in html_of(opened(page, suite=SUITE))


def test_the_radar_says_how_many_views_it_has(page: AppTest) -> None:
    assert headings(opened(page, suite=SUITE))[0] == "Up to 6 VLMs, 5 views"
    assert headings(opened(page, suite="core"))[0] == "Up to 6 VLMs, 4 views"


BASE = {"atomic_accuracy": 0.734, "complex_accuracy": 0.714, "joint_accuracy": 0.65, "label": "Blind"}


@pytest.mark.parametrize(
    ("best", "ending"),
    [
        (None, "joint accuracy here."),
        (
            {"label": "V", "joint_accuracy": 0.56},
            "here. Its joint accuracy is above that of every VLM shown (best: V, 56.0 %).",
        ),
        ({"label": "V", "joint_accuracy": 0.7}, "here; the best VLM's joint accuracy is higher (V, 70.0 %)."),
        ({"label": "V", "joint_accuracy": 0.65}, "here; the best VLM's joint accuracy is the same (V, 65.0 %)."),
    ],
)
def test_what_not_looking_reaches_is_said_plainly(best: dict[str, object] | None, ending: str) -> None:
    sentence = blind_sentence(BlindFinding(BASE, best))
    assert "reaches 73.4 % atomic, 71.4 % complex and 65.0 % joint accuracy here" in sentence
    assert sentence.endswith(ending)


def test_notes_on_the_suite_are_counted_and_left_out_where_they_do_not_apply() -> None:
    adapted = [{"vlm_group": "endoscopy_adapted"}]
    notes = suite_notes(SuiteFacts(12000, 8264, 10774, 15736, 12961), adapted)
    assert notes[0].startswith("68.9 % of the suite's units (8,264/12,000) have a single part")
    assert notes[1].startswith("2,775 of 15,736 atomic questions")
    assert notes[2].startswith("10,774 of 12,000 units come from the training split")
    assert len(suite_notes(SuiteFacts(12000, 8264, 10774, 15736, 12961), [])) == 2
    assert suite_notes(SuiteFacts(10, 0, 0, 10, 10), adapted) == []
    assert suite_notes(SuiteFacts(0, 0, 0, 0, 0), adapted) == []


def test_a_printed_change_is_told_with_its_direction() -> None:
    fall = PrintedShift("V", ("core", "diagnostic"), (0.761, 0.566), 0.02)
    assert shift_sentence(fall) == (
        "V's printed atomic accuracy falls from 76.1 % on core to 56.6 % on diagnostic; no other printed VLM moves by "
        "more than 2.0 points."
    )
    assert " rises from " in shift_sentence(fall._replace(values=(0.5, 0.6)))


def test_text_of_a_data_set_is_escaped_in_notes_and_legends() -> None:
    row = {"place": 3, "vlm": "<i>V</i>", "label": "<i>V</i>", "run_id": "r", "vlm_group": None, "origin": "imported"}
    assert "<i>V" not in legend([row]) and "&lt;i&gt;V" in legend([row])
    printed = legend([row | {"run_id": None, "vlm": "x" * 30}])
    assert "mask:" in printed and "mask:" not in legend([row]), "a printed mark is hollow"
    assert f'title="{"x" * 30}"' in printed and "…" in printed
    assert quiet_line("<i>").count("&lt;i&gt;") == 1
    assert (counted(1), counted(1200)) == ("1 unit", "1,200 units")
