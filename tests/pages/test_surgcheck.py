"""Promises of the SurgCheck page: filters live in the link, each number opens its pairs, gaps say what to do."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from backend.domain.records import LIVE_PAIRS, Stage, System
from backend.services.endoca_series import records
from backend.services.surgcheck_lists import answered_pairs
from backend.store.pair_filters import PairFilter, pair_count
from backend.surgcheck.outcomes import PairOutcome
from backend.surgcheck.tasks import Task
from pages.ui.resources import the_store
from pages.ui.surgcheck_cards import card_html
from pages.ui.surgcheck_cases import flips_of, pairs_behind
from pages.ui.surgcheck_tables import readable
from pages.ui.surgcheck_words import (
    ablation_sentence,
    gaps_sentence,
    headline,
    judge_commands,
    text_only_commands,
    unasked_sentence,
)
from tests.pages.app_page import chosen_cell, headings, html_of, link, open_page, table, texts_of, told_of
from tests.services.pair_store import HINTED, SILENT, STEADY, SUITE, make_pair_store, run_id

HINT = run_id(HINTED)
UNANSWERED = "asked of nobody"

opened = partial(open_page, "surgcheck")


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs that three VLMs answered, a suite nobody answered, and pairs made live."""
    path = tmp_path_factory.mktemp("surgcheck") / "pairs.duckdb"
    with make_pair_store(path) as store, store.write() as cursor:
        for suite in (UNANSWERED, LIVE_PAIRS):
            cursor.execute("INSERT INTO suites (suite, system, source) VALUES (?, ?, '')", [suite, System.SURGCHECK])
    return path


def test_an_empty_store_shows_the_printed_table_and_the_commands(page_of_empty_store: AppTest) -> None:
    app = opened(page_of_empty_store)
    assert texts_of(app)[0] == (
        "4 fine-tuned VLMs lose 4.7 to 8.0 points of accuracy when a question only points at what it asks about (as "
        "printed)."
    )
    assert any("import surgcheck RELEASE.zip" in code.value for code in app.code)
    assert "does not hold for PaliGemma2-10B-Mix" in html_of(app)
    app.session_state["slope_chart_clicked"] = ["printed.EndoChat.fine-tuned", "original"]
    app.run()
    assert any("Table 2, fine-tuned" in text.value for text in app.text)


def test_a_suite_nobody_answered_says_so_and_how_to_answer_it(page: AppTest) -> None:
    app = opened(page, suite=UNANSWERED)
    assert texts_of(app)[0] == f"No VLM has answered suite {UNANSWERED} in this store yet."
    assert any(f"--suite '{UNANSWERED}'" in code.value for code in app.code)
    assert headings(app) == ["Cases"]


def test_pairs_made_live_are_no_suite_of_the_page(page: AppTest) -> None:
    assert list(opened(page).selectbox(key="pairs_suite").options) == [SUITE, UNANSWERED]


def test_an_unknown_suite_names_the_known_ones_and_leads_back(page: AppTest) -> None:
    app = opened(page, suite="nope")
    assert f"Known: {SUITE}, {UNANSWERED}." in html_of(app)
    app.button[0].click().run()
    assert link(app) == {}


def test_the_sentence_says_who_loses_most(page: AppTest) -> None:
    assert texts_of(opened(page, suite=SUITE, tasks=Task.ACTION))[0] == (
        f"None of 3 runs clearly loses when a question only points. {HINTED}, fine-tuned answers 100.0 % of original "
        "questions right and 0.0 % of less-biased ones, a drop of 100.0 points (8 pairs, 1 frame)."
    )


def test_every_part_of_the_filter_can_come_from_the_link(page: AppTest) -> None:
    app = opened(page, suite=SUITE, tasks="Action~Target", cues="arrow", pair_outcomes="hint_only", runs=HINT)
    assert "Action or Target questions, cue arrow, “right with the hint, wrong without it” by Hinted" in html_of(app)
    assert "<b>2 pairs</b>" in html_of(app)
    assert app.multiselect(key="pairs_tasks").value == ["Action", "Target"]
    assert headings(app)[0] == "Cases", "a condition on answers lists its cases"
    assert [row["n_pairs"] for row in table(app, "n_pairs")] == [4], "and the figures keep all pairs"
    app.button(key="pairs_clear").click().run()
    assert link(app) == {"suite": SUITE}


def test_every_control_writes_its_part_of_the_link(page: AppTest) -> None:
    app = opened(page, suite=SUITE, metric="Macro F1")
    for name, values in (
        ("tasks", ["Action"]),
        ("levels", ["observation"]),
        ("cues", ["box", "arrow"]),
        ("runs", [HINT]),
        ("pair_outcomes", ["both_right"]),
    ):
        app.multiselect(key=f"pairs_{name}").set_value(values).run()
        assert link(app)[name] == "~".join(values)
    app.text_input(key="pairs_text").set_value("hook").run()
    assert (link(app)["text"], link(app)["metric"]) == ("hook", "Macro F1")
    app.selectbox(key="pairs_suite").set_value(UNANSWERED).run()
    assert link(app) == {"suite": UNANSWERED, "metric": "Macro F1"}


def test_the_switch_chooses_the_metric_of_every_figure(page: AppTest) -> None:
    app = opened(page, suite=SUITE, metric="Macro F1")
    assert "reaches a macro F1 of" in texts_of(app)[0]
    assert "p_value" not in table(app, "n_pairs")[0], "tests are of right and wrong answers"


def test_where_no_run_is_judged_the_judge_says_how(page: AppTest) -> None:
    app = opened(page, suite=SUITE, metric="Judge", runs=run_id(STEADY))
    assert texts_of(app)[0] == "No answer to these pairs has been scored by a judge in both ways."
    assert any("judge --model LLM --run VLM" in code.value for code in app.code)


def test_each_clicked_point_opens_its_pairs(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    text_run = run_id(STEADY, Stage.TEXT_ONLY)
    for chart, point, words, count in (
        ("slope_chart", [HINT, "original"], f"suite {SUITE}, Hinted", "53 pairs"),
        ("task_chart", [HINT, "gap", "Action"], "Action questions, “right with the hint, wrong without it”", "8 pairs"),
        ("cue_chart", [HINT, "gap", "arrow"], "cue arrow, “right with the hint, wrong without it”", "2 pairs"),
        ("ablation_chart", [run_id(STEADY), "original", "Triplet", text_run], "Triplet questions", "6 pairs"),
        ("ablation_chart", [run_id(STEADY), "text_only", "Triplet", text_run], "text only", "6 pairs"),
    ):
        app.session_state[f"{chart}_clicked"] = point
        app.run()
        assert not app.exception
        assert words in told_of(app, count), (chart, point)


def test_the_list_behind_a_point_can_be_turned_round(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    app.session_state["task_chart_clicked"] = [HINT, "gap", "Action"]
    app.run()
    switch = app.button_group[-1]
    assert (switch.label, switch.value) == ("What became of the pair", PairOutcome.HINT_ONLY)
    assert switch.options == [*(outcome.plain for outcome in PairOutcome), "all"]


def test_each_cell_opens_its_pairs(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    for name, key, cell, words, count in (
        ("Both ways", "drops_", (0, "n_hint_only"), "“right with the hint, wrong without it” by Hinted", "8 pairs"),
        ("Both ways", "drops_", (0, "gap"), f"suite {SUITE}, Hinted", "53 pairs"),
        ("By task", "drops_task", (3, "n_hint_only"), "Action questions", "8 pairs"),
        ("By level", "drops_level", (1, "gap"), "level composition", "14 pairs"),
        ("By cue", "drops_cue", (0, "original"), "cue none", "6 pairs"),
        ("All scores", "scores", (0, "accuracy"), f"suite {SUITE}, Hinted", "53 pairs"),
        ("Both ways", "ablation", (1, "text_only"), "Action questions", "8 pairs"),
    ):
        app.query_params["table"] = name
        app.session_state[key] = chosen_cell(*cell)
        app.run()
        app.button(key=f"{key}_open").click().run()
        assert not app.exception
        assert words in told_of(app, count), (key, cell)


def test_counts_of_what_has_no_list_open_nothing(page: AppTest) -> None:
    app = opened(page, suite=SUITE, table="All scores")
    app.session_state["scores"] = chosen_cell(0, "n_missing")
    app.run()
    assert app.button(key="scores_open").disabled


def test_all_metrics_and_all_that_was_not_answered_stand_in_the_table(page: AppTest) -> None:
    rows = table(opened(page, suite=SUITE, table="All scores"), "macro_f1_union")
    silent = [row for row in rows if row["label"] == f"{SILENT}, fine-tuned"]
    assert [(row["variant"], row["n_missing"], row["n_failed"]) for row in silent] == [
        ("original", 0, 1), ("less-biased", 8, 0),
    ]  # fmt: skip
    hinted = next(row for row in rows if row["variant"] == "less-biased" and "Hinted" in row["label"])
    assert (hinted["judge"], hinted["judge_mean"], hinted["judge_accuracy"], hinted["n_unscored"]) == ("Judge", 1, 0, 0)
    assert next(row for row in rows if "Hinted" in row["label"])["n_unscored"] == 1
    assert [row["variant"] for row in rows if row["label"].startswith(STEADY)].count("image withheld") == 1


def test_a_count_of_answers_apart_opens_as_many_pairs(page: AppTest) -> None:
    app = opened(page, suite=SUITE, table="All scores")
    rows = table(app, "n_missing")
    lacking = [row["label"].startswith(SILENT) and row["variant"] == "less-biased" for row in rows].index(True)
    app.session_state["scores"] = chosen_cell(lacking, "n_missing")
    app.run()
    app.button(key="scores_open").click().run()
    assert not app.exception
    said = f"with a missing answer to the less-biased question by {SILENT}, fine-tuned"
    assert said in told_of(app, f"{rows[lacking]['n_missing']} pairs")


def test_answers_apart_are_chosen_by_a_chip_and_change_no_figure(page: AppTest) -> None:
    unread = {"suite": SUITE, "statuses": "failed", "variant": "original", "table": "All scores"}
    app = opened(page, **unread)
    assert "with a failed call to the original question:" in html_of(app) and "<b>1 pair</b>" in html_of(app)
    assert [row["n_missing"] for row in table(app, "n_missing") if row["n_missing"]] == [8]
    app.multiselect(key="pairs_statuses").set_value(["missing"]).run()
    assert (link(app)["statuses"], link(app)["variant"]) == ("missing", "original")
    app.multiselect(key="pairs_statuses").set_value([]).run()
    assert not {"statuses", "variant"} & set(link(app)), "what goes with it goes, too"


def test_missing_answers_are_told_as_wrong(page: AppTest) -> None:
    assert f"count as wrong: of {SILENT}, fine-tuned, 9 of 106." in html_of(opened(page, suite=SUITE))


def test_failures_show_the_words_that_differ_and_can_be_turned_round(page: AppTest) -> None:
    app = opened(page, suite=SUITE)
    drawn = html_of(app)
    assert drawn.count('class="pair-card"') == 6
    assert "What action is the <mark>grasper</mark> indicated by the red arrow" in drawn
    assert "What action is the <mark>tool</mark> indicated by the red arrow" in drawn
    app.query_params["failures"] = "pointed_only"
    app.run()
    assert "There is no such pair." in texts_of(app)
    app.query_params["failures"] = "nonsense"
    app.run()
    assert html_of(app).count('class="pair-card"') == 6


def test_the_choice_of_whose_failures_lives_in_the_link(page: AppTest) -> None:
    app = opened(page, suite=SUITE, of="no such run")
    assert app.selectbox(key="failures_of").value == HINT, "first who loses most"
    app.selectbox(key="failures_of").set_value(run_id(SILENT)).run()
    assert link(app)["of"] == run_id(SILENT)
    assert "no answer on file" in html_of(app)


def test_a_vlm_s_name_is_text_wherever_it_stands(page: AppTest) -> None:
    app = opened(page, suite=SUITE, runs=HINT, pair_outcomes="hint_only")
    assert "<b>VLM</b>" not in html_of(app)


def test_as_many_pairs_are_listed_as_are_counted(page: AppTest) -> None:
    rows = table(opened(page, suite=SUITE), "n_hint_only")
    with_hint = {row["label"].removesuffix(", fine-tuned"): row["n_hint_only"] for row in rows}
    assert with_hint == {HINTED: 8, SILENT: 7, STEADY: 0}
    for vlm, count in with_hint.items():
        behind = pairs_behind(run_id(vlm), PairFilter(suite=SUITE), outcome=PairOutcome.HINT_ONLY)
        assert pair_count(the_store(), behind) == count


def test_a_card_escapes_what_a_data_set_and_a_vlm_say(store_file: Path, page: AppTest) -> None:
    opened(page, suite=SUITE)
    [row] = records(answered_pairs(the_store(), PairFilter(suite=SUITE, tasks=("Action",)), HINT, offset=0, limit=1))
    drawn = card_html(
        row | {"original": "Is <i>it</i> a hook?", "reference": "<u>", "less_biased_answer": "<s>" + "x" * 200}
    )
    assert "&lt;i&gt;it&lt;/i&gt;" in drawn and "&lt;u&gt;" in drawn and "&lt;s&gt;" in drawn
    assert "x …" in drawn, "a long answer is cut"


def drop(label: str, gap: float | None, **more: Any) -> dict[str, Any]:
    about = {"run_id": label, "series": label, "label": label, "vlm": label, "vlm_group": None, "metric": "accuracy"}
    low, high = (None, None) if gap is None else (gap - 0.01, gap + 0.01)
    values = {"original": 0.5, "less_biased": None if gap is None else 0.5 - gap}
    return {**about, **values, "gap": gap, "gap_low": low, "gap_high": high, "n_pairs": 9, "n_images": 3, **more}


def test_the_headline_counts_those_that_clearly_lose_and_leaves_the_blind_out() -> None:
    rows = [drop("A", 0.1), drop("B", 0.005), drop("C", None), drop("blind", 0.4, vlm_group="blind")]
    assert headline(rows, "accuracy") == (
        "1 of 2 runs clearly loses when a question only points. A loses most: it answers 50.0 % of original questions "
        "right and 40.0 % of less-biased ones, a drop of 10.0 points (9.0 to 11.0; 9 pairs, 3 frames)."
    )


@pytest.mark.parametrize(
    ("gap", "words"),
    [(-0.1, "a gain of 10.0 points (9.0 to 11.0; 9 pairs, 3 frames)"), (0.0, "no drop (−1.0 to 1.0; 9 pairs")],
)
def test_the_headline_of_one_run_tells_a_gain_from_a_drop(gap: float, words: str) -> None:
    assert words in headline([drop("A", gap)], "accuracy")
    assert headline([drop("A", gap)], "accuracy").startswith("A answers")


def test_the_headline_says_that_nothing_was_asked_in_both_ways() -> None:
    assert headline([drop("A", None)], "accuracy").startswith("No VLM was asked these pairs in both ways")


def test_what_makes_up_a_drop_is_opened_and_of_a_gain_the_reverse() -> None:
    assert flips_of(drop("A", 0.1)) is PairOutcome.HINT_ONLY
    assert flips_of(drop("A", -0.1)) is PairOutcome.POINTED_ONLY
    assert flips_of(drop("A", 0.1, metric="judge_accuracy")) is None


def test_of_each_vlm_the_best_setting_is_drawn_unless_runs_are_chosen() -> None:
    rows = [drop("A", 0.1), drop("A again", 0.1, vlm="A", original=0.2), drop("blind", 0.4, vlm_group="blind")]
    assert readable(rows, chosen=False) == {"A", "blind"}
    assert readable(rows, chosen=True) == {"A", "A again", "blind"}
    many = [drop(f"VLM {at}", 0.1, original=at / 10) for at in range(9)]
    assert readable(many, chosen=False) == {f"VLM {at}" for at in range(3, 9)}


def test_what_lacks_answers_is_named_and_then_counted() -> None:
    rows = [{"label": f"VLM {at}", "n_missing": 1, "n_failed": 2, "n_empty": 0, "n": 10} for at in range(5)]
    assert gaps_sentence(rows).endswith("of VLM 0, 3 of 10; of VLM 1, 3 of 10; of VLM 2, 3 of 10; and 2 more.")
    assert gaps_sentence([{"label": "A", "n_missing": 0, "n_failed": 0, "n_empty": 0, "n": 10}]) == ""


def test_what_was_never_asked_is_told() -> None:
    rows = [{"run_id": "a", "variant": "less_biased", "cue": "box", "n": n} for n in (2, 3)]
    assert unasked_sentence(rows, {"a": "A"}).endswith("left out: of A, 5 less-biased with red box.")
    assert unasked_sentence([], {}) == ""


def test_the_ablation_names_the_task_that_needs_the_image_least() -> None:
    row = {"label": "A", "metric": "accuracy", "text_only_n": 8, "image_gain_low": 0.1, "image_gain_high": 0.3}
    rows = [
        {**row, "task": "Action", "original": 0.8, "text_only": 0.6, "image_gain": 0.2},
        {**row, "task": "Target", "original": 0.8, "text_only": 0.1, "image_gain": 0.7},
        {**row, "task": "Triplet", "original": None, "text_only": 0.1, "image_gain": None},
    ]
    assert ablation_sentence(rows) == (
        "Without the image A still reaches 60.0 % accuracy in action questions (with it 80.0 %, n = 8); the image adds "
        "+20.0 points (+10.0 to +30.0)."
    )
    assert ablation_sentence(rows[2:]) == ""


def test_commands_name_the_suite_and_quote_it() -> None:
    predict, brought, look_up = text_only_commands("my suite", Path("data/other.duckdb"))
    assert "--suite 'my suite' --without-image --out data/runs/VLM.my-suite.text-only" in predict
    assert "import run data/runs/VLM.my-suite.text-only" in brought
    assert look_up.endswith("blind surgcheck --learn SUITE --answer 'my suite' --store data/other.duckdb")
    assert "judge --model LLM --run VLM --suite a --out data/runs/LLM.a.judged" in judge_commands("a", Path("x"))[0]
