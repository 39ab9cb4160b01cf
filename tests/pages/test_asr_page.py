"""Promises of the ASR page: printed beside own, each number opens its cases, and what is missing says how to get it."""

from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from backend.domain.records import Stage
from pages.ui.asr_words import asr_commands, gaps_sentence, noise_commands
from tests.pages.app_page import app_over, chosen_cell, html_of, html_of_all, link, open_page, table, texts_of, told_of
from tests.services.reconciled_store import SUITE, VLM, make_store, run_id

DIRECT, REVISE, SELECT = run_id(Stage.DIRECT), run_id(Stage.REVISE), run_id(Stage.SELECT)
SELF_REVISE = run_id(Stage.SELF_REVISE)

opened = partial(open_page, "asr")


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("asr") / "reconciled.duckdb"
    make_store(path)
    return path


def test_an_empty_store_shows_the_printed_tables_and_the_commands(page_of_empty_store: AppTest) -> None:
    app = opened(page_of_empty_store)
    assert texts_of(app)[0] == (
        "Asked again with their own parts as premises, 4 VLMs gain +3.1 points to +8.1 points of joint accuracy, while "
        "complex accuracy goes from 63.3 % to 62.2 % (averages as printed)."
    )
    printed = table(app, "joint_change")
    assert printed[0]["label"] == "Qwen3-VL-8B" and len(printed) == 5
    assert printed[0]["joint_change"] == pytest.approx(5.3)
    ablation = table(app, "method")
    assert [row["joint_accuracy"] for row in ablation] == pytest.approx([45.5, 43.0, 50.9])
    assert any("asr run --model VLM" in code.value for code in app.code)
    assert "What became right, and what became wrong" not in [heading.value for heading in app.main.subheader]


def test_the_sentence_says_what_was_mended_and_what_broken(page: AppTest) -> None:
    assert texts_of(opened(page, suite=SUITE))[0] == (
        f"Asked again with its own parts as premises, {VLM} mends 1 wrong answer and breaks 1 right one (n = 3); joint "
        "accuracy moves by +33.3 points, without the parts by +33.3 points."
    )


def test_own_rows_stand_before_the_printed_ones_with_their_counts(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    first, second, *printed = table(app, "joint_change")
    assert (first["label"], second["label"]) == (f"{VLM}, ASR", f"{VLM}, Self")
    assert first["selective_accuracy"] == 50
    assert len(printed) == 5
    assert [row["method"] for row in table(app, "method")][:3] == [
        "Direct", "Without parts (Self)", "With parts (ASR)",
    ]  # fmt: skip


def test_a_part_of_the_suite_leaves_the_printed_rows_out(page: AppTest) -> None:
    assert len(table(opened(page, suite=SUITE, complexities="1"), "joint_change")) == 2


def test_each_clicked_point_opens_its_cases(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    for clicks, point, words, count in (
        ("steps_chart", [REVISE, "revised_accuracy"], f"suite {SUITE}, ", "3 units"),
        ("steps_chart", [REVISE, "selective_accuracy"], "answered", "2 units"),
        ("coverage_chart", [REVISE, "coverage", "abstain", "unreadable", False], "decision not readable", "1 unit"),
        ("coverage_chart", [REVISE, "coverage", "answer", "partly consistent", True], "answered", "2 units"),
        (f"groups_{REVISE}", [REVISE, "repairs", "complexity", 1], "complexity 1", "1 unit"),
        (f"groups_{REVISE}", [REVISE, "harms", "question_class", "polyp_count"], "polyp count", "1 unit"),
    ):
        app.session_state[f"{clicks}_clicked"] = point
        app.run()
        assert not app.exception
        assert words in told_of(app, count)


def test_a_clicked_printed_point_says_where_it_is_printed(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    app.session_state["steps_chart_clicked"] = ["printed.Lingshu-7B", "revised_accuracy"]
    app.run()
    assert not app.exception
    assert any("Table V and Fig. 5" in text.value for text in app.text)


def test_each_count_opens_its_cases(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    for key, cell, words, count in (
        ("changes", (0, "repairs"), "complex answer right by", "1 unit"),
        ("changes", (1, "repairs"), "complex answer right by", "1 unit"),
        ("table_v", (0, "coverage"), "answered", "2 units"),
        ("table_vi", (0, "inconsistency"), "right answer, wrong part", "1 unit"),
        (f"moves_{REVISE}", (3, "to_premise"), "text presence questions, such a part moved to its premise", "1 unit"),
        (f"tracking_{REVISE}", (1, "wrong"), "withheld", "1 unit"),
        (f"tracking_{SELF_REVISE}", (0, "right"), "answered", "2 units"),
    ):
        app.session_state[key] = chosen_cell(*cell)
        app.run()
        app.button(key=f"{key}_open").click().run()
        assert not app.exception
        assert words in told_of(app, count), (key, cell)


def test_a_printed_cell_opens_nothing(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    app.session_state["table_v"] = chosen_cell(3, "direct_accuracy")
    app.run()
    assert not app.exception
    assert app.button(key="table_v_open").disabled


def test_decisions_say_what_could_not_be_read_and_what_was_repeated(page: AppTest) -> None:
    drawn = html_of(opened(page, suite=SUITE))
    assert "1 decision could not be read: withheld." in drawn
    assert "1 decision told another answer" in drawn


def test_a_second_decoding_is_the_noise_floor_and_opens_its_cases(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    assert any("1/3, complex answers are right in one run and wrong in the other" in text for text in texts_of(app))
    app.button(key="noise_0_Became right").click().run()
    assert not app.exception
    assert "<strong>1 unit</strong>" in html_of_all(app)


def test_without_a_second_run_the_noise_floor_is_not_available_and_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_store(tmp_path / "once.duckdb", again=False, both=False)
    for app in app_over(tmp_path / "once.duckdb", monkeypatch):
        opened(app, suite=SUITE)
        assert any(text.startswith("N/A: the store has one direct run") for text in texts_of(app))
        assert any("--setting again --batch 1" in code.value for code in app.code)


def test_the_choice_of_direct_answers_lives_in_the_link(page: AppTest) -> None:
    app = opened(page, suite=SUITE, base="no such run")
    assert app.selectbox(key="asr_base").value == DIRECT
    app.selectbox(key="asr_base").set_value(DIRECT).run()
    assert not app.exception


def test_filters_that_fit_no_reconciliation_can_be_cleared(page: AppTest) -> None:
    app = opened(page, suite=SUITE, groups="closed_source")
    assert f"No reconciled run over suite {SUITE} fits these filters. Clear them to see all." in texts_of(app)
    app.button[0].click().run()
    assert link(app) == {"suite": SUITE}


def test_a_link_with_a_decision_lists_its_cases_and_keeps_the_figures(page: AppTest) -> None:
    app = opened(page, suite=SUITE, runs=SELECT, decision="abstain")
    assert app.main.subheader[0].value == "Cases"
    assert list(app.dataframe[0].value["source_id"]) == [33]
    assert len(table(app, "joint_change")) == 6, "the one reconciliation of that run, and the printed ones"


def test_a_vlm_name_is_text_wherever_it_stands(page: AppTest) -> None:
    drawn = html_of(opened(page, suite=SUITE))
    assert "<i>VLM</i>" not in drawn


def test_commands_name_what_is_known_and_quote_it() -> None:
    lines = asr_commands("My VLM", "core", Path("data/other.duckdb"))
    assert len(lines) == 4
    assert "asr run --model 'My VLM' --suite core --variant asr --out data/runs/My-VLM.core.asr" in lines[0]
    assert "--from data/runs/My-VLM.core.asr/direct" in lines[2]
    assert all(line.endswith("--store data/other.duckdb") for line in lines)
    assert "--out data/runs/a.core.again" in noise_commands("a", "core", Path("x"))[0]


def test_missing_revised_answers_are_told() -> None:
    rows = [("A", {"n_unanswered": 2, "n_units": 10}), ("B", {"n_unanswered": 0, "n_units": 10})]
    assert gaps_sentence(rows).endswith("of A, 2 of 10.")
    assert gaps_sentence(rows[1:]) == ""
