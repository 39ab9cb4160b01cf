"""Original and less-biased answers stand side by side, by run, with figures worked out by hand."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from backend.domain.records import Origin
from backend.services.endoca_series import records
from backend.services.opening import open_store
from backend.services.surgcheck_answers import answer_table, flipped, judges_of, of_questions, unasked_table
from backend.services.surgcheck_series import (
    ablation_table,
    drop_table,
    printed_drops,
    score_table,
    vlm_places,
)
from backend.services.surgcheck_suites import (
    ceiling_table,
    is_balanced,
    is_full_test,
    repeats,
    surgcheck_suites,
)
from backend.store.pair_filters import PairFilter, pair_page
from backend.store.store import Store
from backend.surgcheck.outcomes import PairOutcome
from tests.services.surgcheck_store import PAIRS, SUITE, APair, put_answered, put_judgements, put_pairs, references

WHOLE = PairFilter(suite=SUITE)
RIGHT = references()
LEANS = RIGHT | {"1:less_biased": "grasper", "2:less_biased": "retract", "4:original": "three", "5:less_biased": "hook"}
"""Original: 4 of 5 right, all but the count. Less-biased: 2 of 5, of which the count is the one gained."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Five pairs; 'Steady' answers all right, 'Leaning' as `LEANS`."""
    with open_store(tmp_path / "store.duckdb") as opened:
        put_pairs(opened)
        put_answered(opened, "Steady", RIGHT)
        put_answered(opened, "Leaning", LEANS)
        yield opened


def run_id(store: Store, vlm: str, stage: str = "direct") -> str:
    return str(store.value("SELECT run_id FROM runs WHERE vlm = ? AND stage = ?", [vlm, stage]))


def scores(store: Store, chosen: PairFilter = WHOLE, *by: str) -> pd.DataFrame:
    return score_table(store, answer_table(store, chosen), by)


def by_vlm(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    return {row["vlm"]: row for row in records(table)}


def test_the_answers_are_one_row_a_run_and_question_with_what_was_scored(store: Store) -> None:
    table = answer_table(store, WHOLE)
    assert list(table.columns) == [
        "run_id", "vlm", "vlm_group", "setting", "stage", "origin", "suite", "unit_id", "image_id", "task", "level",
        "cue", "reference", "answer", "status", "correct", "judge_score", "judged", "judge", "variant",
    ]  # fmt: skip
    assert len(table) == 20
    [row] = records(
        table[(table["vlm"] == "Leaning") & (table["unit_id"] == "small:2") & (table["variant"] == "less_biased")]
    )
    assert (row["task"], row["level"], row["cue"], row["reference"]) == ("Action", "observation", "position", "dissect")
    assert (row["answer"], row["correct"], row["judge_score"], row["judged"], row["judge"]) == (
        "retract", False, None, False, None,
    )  # fmt: skip


def test_a_run_s_loss_is_that_of_hand(store: Store) -> None:
    drops = by_vlm(drop_table(scores(store)))
    leaning = drops["Leaning"]
    assert (leaning["original"], leaning["less_biased"]) == (pytest.approx(0.8), pytest.approx(0.4))
    assert leaning["gap"] == pytest.approx(0.4)
    assert (leaning["n_pairs"], leaning["n_images"], leaning["n_hint_only"], leaning["n_pointed_only"]) == (5, 3, 3, 1)
    # Frames lose 2, −1 and 1: totals of the eight sign combinations are 4, 2, 2, 0 and their negatives.
    assert leaning["p_value"] == pytest.approx(6 / 8)
    assert (drops["Steady"]["gap"], drops["Steady"]["p_value"]) == (0, 1)
    assert (leaning["label"], leaning["origin"], leaning["vlm_group"]) == (
        "Leaning, fine-tuned",
        "imported",
        "general_open",
    )


def test_groups_stand_in_the_paper_s_order(store: Store) -> None:
    by_task = drop_table(scores(store, WHOLE, "task"), by=["task"])
    of_one = [row["task"] for row in records(by_task) if row["vlm"] == "Leaning"]
    assert of_one == ["Instrument_Count", "Instrument", "Action", "Triplet"]
    levels = {
        row["level"]: row["gap"]
        for row in records(drop_table(scores(store, WHOLE, "level"), by=["level"]))
        if row["vlm"] == "Leaning"
    }
    assert levels == {"observation": pytest.approx(1 / 4), "composition": 1.0}
    cues = [
        row["cue"] for row in records(drop_table(scores(store, WHOLE, "cue"), by=["cue"])) if row["vlm"] == "Leaning"
    ]
    assert cues == ["none", "box", "position"]


def test_a_part_of_the_questions_can_be_chosen_and_conditions_on_answers_are_put_aside(store: Store) -> None:
    chosen = PairFilter(suite=SUITE, tasks=("Action",), pair_outcomes=("hint_only",), text="hook")
    assert of_questions(chosen) == PairFilter(suite=SUITE, tasks=("Action",))
    assert set(answer_table(store, chosen)["unit_id"]) == {"small:2", "small:3"}
    alone = answer_table(store, PairFilter(suite=SUITE, runs=(run_id(store, "Steady"),)))
    assert set(alone["vlm"]) == {"Steady"}


def test_the_failure_lists_are_those_of_the_filter(store: Store) -> None:
    table, leaning = answer_table(store, WHOLE), run_id(store, "Leaning")
    assert flipped(table, leaning, PairOutcome.HINT_ONLY) == ["small:1", "small:2", "small:5"]
    assert flipped(table, leaning, PairOutcome.POINTED_ONLY) == ["small:4"]
    assert flipped(table, leaning, PairOutcome.BOTH_RIGHT) == ["small:3"]
    assert flipped(table, leaning, PairOutcome.BOTH_WRONG) == []
    for outcome in PairOutcome:
        chosen = PairFilter(suite=SUITE, runs=(leaning,), pair_outcomes=(outcome.value,))
        assert list(pair_page(store, chosen, offset=0, limit=9)["unit_id"]) == flipped(table, leaning, outcome)


def test_an_answer_that_is_missing_is_wrong_and_counted(store: Store) -> None:
    put_answered(store, "Gaps", {probe: text for probe, text in RIGHT.items() if probe != "1:less_biased"})
    rows = {row["variant"]: row for row in records(scores(store)) if row["vlm"] == "Gaps"}
    assert (rows["less_biased"]["n"], rows["less_biased"]["n_missing"], rows["less_biased"]["accuracy"]) == (5, 1, 0.8)
    assert rows["less_biased"]["gap"] == pytest.approx(0.2)


def test_what_a_run_was_never_asked_is_left_out_and_told(store: Store) -> None:
    """It holds box questions and original position ones: no less-biased position, nothing without a cue."""
    asked = {probe: text for probe, text in RIGHT.items() if probe[0] in "135" or probe == "2:original"}
    put_answered(store, "Part", asked)
    rows = {row["variant"]: row for row in records(scores(store)) if row["vlm"] == "Part"}
    assert (rows["original"]["n"], rows["less_biased"]["n"], rows["less_biased"]["n_pairs"]) == (4, 3, 3)
    assert rows["original"]["n_missing"] == rows["less_biased"]["n_missing"] == 0
    left_out = [(row["variant"], row["cue"], row["n"]) for row in records(unasked_table(store, WHOLE))]
    assert left_out == [("less_biased", "none", 1), ("less_biased", "position", 1), ("original", "none", 1)]
    # Whether a kind was asked does not depend on what is looked at.
    narrowed = PairFilter(suite=SUITE, tasks=("Triplet",))
    put_answered(store, "No triplet", {probe: text for probe, text in RIGHT.items() if probe[0] != "5"})
    rows = {row["variant"]: row for row in records(scores(store, narrowed)) if row["vlm"] == "No triplet"}
    assert (rows["original"]["n"], rows["original"]["n_missing"]) == (1, 1)


def test_a_run_without_any_answer_to_less_biased_questions_has_no_gap(store: Store) -> None:
    put_answered(store, "Half", {probe: text for probe, text in RIGHT.items() if "original" in probe})
    half = by_vlm(drop_table(scores(store)))["Half"]
    assert (half["original"], half["less_biased"], half["gap"], half["n_pairs"]) == (1.0, None, None, None)


def test_judges_are_never_pooled_and_unscored_is_not_wrong(store: Store) -> None:
    leaning = run_id(store, "Leaning")
    put_judgements(store, leaning, {"1:original": 5, "1:less_biased": 2, "2:original": 4, "2:less_biased": None}, "GPT")
    put_judgements(store, leaning, {"1:original": 1}, "Another")
    assert judges_of(store, leaning) == {"GPT": 3, "Another": 1}
    rows = {row["variant"]: row for row in records(scores(store)) if row["vlm"] == "Leaning"}
    assert (rows["original"]["judge"], rows["original"]["judge_mean"], rows["original"]["judge_accuracy"]) == (
        "GPT",
        4.5,
        1.0,
    )
    less = rows["less_biased"]
    assert (less["n_judged"], less["n_unscored"], less["judge_accuracy"]) == (2, 1, 0.0)
    assert (less["n_judged_pairs"], less["judge_gap"]) == (1, 1.0)
    drop = by_vlm(drop_table(scores(store), "judge_accuracy"))
    assert set(drop) == {"Leaning"}, "a run that was not judged has no judged row"
    assert (drop["Leaning"]["original_n"], drop["Leaning"]["less_biased_n"], drop["Leaning"]["n_pairs"]) == (2, 1, 1)
    other = score_table(store, answer_table(store, WHOLE, judge="Another"))
    assert {
        row["judge_mean"] for row in records(other) if row["vlm"] == "Leaning" and row["variant"] == "original"
    } == {1.0}


def test_a_text_only_run_stands_beside_the_direct_run_it_is_an_ablation_of(store: Store) -> None:
    withheld = {f"{n}:original": RIGHT[f"{n}:original"] for n in "2345"} | {"1:original": "grasper"}
    put_answered(store, "Leaning", withheld, stage="text_only")
    put_answered(
        store,
        "Text look-up",
        RIGHT | {"3:less_biased": "clip"},
        group="blind",
        origin=Origin.PRECOMPUTED,
        setting="learned",
    )
    table = ablation_table(store, answer_table(store, WHOLE))
    rows = {(row["vlm"], row["task"]): row for row in records(table)}
    assert {vlm for vlm, _ in rows} == {"Leaning", "Text look-up"}
    instrument = rows["Leaning", "Instrument"]
    assert [instrument[key] for key in ("original", "less_biased", "text_only", "image_gain")] == [1.0, 0.0, 0.0, 1.0]
    action = rows["Leaning", "Action"]
    assert [action[key] for key in ("original", "less_biased", "text_only", "image_gain")] == [1.0, 0.5, 1.0, 0.0]
    assert (action["text_only_n"], action["text_run_id"]) == (2, run_id(store, "Leaning", "text_only"))
    look_up = rows["Text look-up", "Action"]
    assert (look_up["original"], look_up["less_biased"], look_up["text_only"], look_up["text_run_id"]) == (
        1.0,
        0.5,
        None,
        None,
    )
    assert ("Leaning", "Instrument_Count") not in rows, (
        "a shared baseline has no text of its own to withhold the image from"
    )


def test_text_only_answers_do_not_enter_a_direct_run_s_scores(store: Store) -> None:
    before = by_vlm(drop_table(scores(store)))["Leaning"]
    put_answered(store, "Leaning", {"1:original": "nothing"}, stage="text_only")
    after = [row for row in records(drop_table(scores(store))) if row["vlm"] == "Leaning"]
    assert after == [before]
    [row] = [row for row in records(scores(store)) if row["stage"] == "text_only"]
    assert (row["variant"], row["label"]) == ("text_only", "Leaning, fine-tuned, text only")


def test_the_blind_ones_come_last_and_have_no_place(store: Store) -> None:
    put_answered(store, "Blind baseline", RIGHT, group="blind", setting="")
    table = drop_table(scores(store))
    assert table["vlm"].iloc[-1] == "Blind baseline" and table["place"].iloc[-1] == -1


def test_printed_figures_stand_beside_runs_with_their_own_origin(store: Store) -> None:
    put_answered(store, "LLaVA-OneVision-1.5-8B", RIGHT)
    printed = by_vlm(printed_drops(store, "accuracy"))
    assert len(printed) == 5
    llava = printed["LLaVA-OneVision-1.5-8B"]
    assert (llava["original"], llava["less_biased"], llava["gap"]) == (0.7119, 0.6319, 0.08)
    assert [llava[key] for key in ("run_id", "gap_low", "original_n", "n_pairs", "p_value")] == [None] * 5
    assert llava["origin"] == "published" and llava["label"].endswith("printed")
    assert llava["place"] == by_vlm(drop_table(scores(store)))["LLaVA-OneVision-1.5-8B"]["place"], "one VLM, one colour"
    assert printed["PaliGemma2-10B-Mix"]["less_biased"] is None
    assert printed_drops(store, "macro_f1").empty
    places = vlm_places(store)
    assert len(set(places.values())) == len(places)


def test_nothing_in_a_table_is_nan(store: Store) -> None:
    put_judgements(store, run_id(store, "Leaning"), {"1:original": 5, "2:original": None})
    long = scores(store, WHOLE, "task")
    for table in (answer_table(store, WHOLE), long, drop_table(long, by=["task"]), printed_drops(store, "accuracy")):
        assert not [value for row in records(table) for value in row.values() if value is not None and pd.isna(value)]


def test_a_suite_without_answers_has_empty_tables(tmp_path: Path) -> None:
    with open_store(tmp_path / "empty.duckdb") as store:
        put_pairs(store)
        assert answer_table(store, WHOLE).empty
        assert scores(store).empty and drop_table(scores(store)).empty
        assert ablation_table(store, answer_table(store, WHOLE)).empty
        assert surgcheck_suites(store) == [SUITE]


def test_the_full_test_comes_before_the_other_answered_suites(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, pairs in (("a", PAIRS[:3]), ("z", PAIRS[:4]), ("0", PAIRS[:4])):
        put_pairs(store, pairs, suite=name)
    put_answered(store, "Mine", RIGHT, suite="a")
    put_answered(store, "Mine", RIGHT, suite="z")
    monkeypatch.setattr("backend.services.surgcheck_suites.PRINTED_PAIRS", 4)
    assert surgcheck_suites(store) == ["z", "a", SUITE, "0"]


def test_the_ceiling_is_what_the_commoner_answer_to_a_question_reaches(store: Store) -> None:
    hop = "Which anatomical structure lies immediately left of the structure that the {} in the red box is acting on?"
    asked = [("6", "cystic_duct"), ("7", "cystic_duct"), ("8", "gallbladder")]
    pairs = [APair(n, "a", "anatomy_hop", "box", hop.format("hook"), hop.format("tool"), answer) for n, answer in asked]
    other = APair("9", "b", "anatomy_hop", "box", hop.format("clipper"), hop.format("tool"), "Cystic_Duct ")
    put_pairs(store, [*pairs, other], suite="hops")
    [original, less] = records(ceiling_table(store, "hops"))
    assert (original["variant"], less["variant"]) == ("original", "less_biased")
    for row in (original, less):
        assert (row["task"], row["cue"], row["n"], row["n_conflicting"], row["n_reachable"]) == (
            "anatomy_hop",
            "box",
            4,
            3,
            3,
        )
        assert row["ceiling"] == pytest.approx(3 / 4)
    assert ceiling_table(store, SUITE).empty
    assert (repeats(store, "hops"), repeats(store, SUITE)) == (1, 0)


def test_a_suite_is_balanced_where_nothing_but_the_cue_differs(store: Store) -> None:
    cues = ("box", "arrow", "position", "periphrasis")
    four = [APair(f"{cue}{n}", n, "Action", cue, "a", "b", "clip") for cue in cues for n in ("a", "b")]
    put_pairs(store, four, suite="four")
    put_pairs(store, [*four[:-1], four[-1]._replace(reference="grasp")], suite="not quite")
    assert is_balanced(store, "four")
    assert not is_balanced(store, "not quite")
    assert not is_balanced(store, SUITE)
    assert not is_full_test(store, SUITE)
    assert len(PAIRS) == 5
