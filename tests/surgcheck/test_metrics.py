"""SurgCheck's metrics are those worked out by hand, and those of the paper's own prediction files."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.surgcheck.metrics import METRICS, Variant, score_table
from tests.surgcheck.answers import FULL_TEST, an_answer, judged, pairs, read_predictions

SMALL = pairs(
    ("1", "a", "hook", "hook", "hook"),
    ("2", "a", "hook", "Hook ", "grasper"),
    ("3", "b", "grasper", "grasper", "hook"),
    ("4", "b", "grasper", "scissors", "grasper"),
    ("5", "c", "clipper", "hook", None),
)
"""Original: 3 of 5 right. F1 hook 2·2/(3+2), grasper 2·1/(1+2), clipper 0; scissors is a label of no reference."""


def rows_of(answers: pd.DataFrame, *by: str, intervals: bool = True) -> list[dict[str, Any]]:
    table = score_table(answers, by, intervals=intervals)
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def test_accuracy_and_the_three_averages_of_f1_are_those_of_hand() -> None:
    original, less_biased = rows_of(SMALL)
    assert (original["variant"], original["n"], original["n_images"], original["accuracy_k"]) == ("original", 5, 3, 3)
    assert original["accuracy"] == pytest.approx(3 / 5)
    assert original["macro_f1"] == pytest.approx((4 / 5 + 2 / 3 + 0) / 3)
    assert original["macro_f1_union"] == pytest.approx((4 / 5 + 2 / 3 + 0 + 0) / 4)
    assert original["weighted_f1"] == pytest.approx((2 * 4 / 5 + 2 * 2 / 3) / 5)
    # Less-biased: hook 2·1/(2+2), grasper 2·1/(2+2), clipper 0, nothing else said.
    assert less_biased["macro_f1"] == less_biased["macro_f1_union"] == pytest.approx(1 / 3)
    assert (less_biased["accuracy"], less_biased["n_missing"]) == (pytest.approx(2 / 5), 1)


def test_the_gap_is_over_the_pairs_asked_in_both_ways() -> None:
    original, less_biased = rows_of(SMALL)
    assert original["gap"] is None and original["n_pairs"] is None
    assert less_biased["gap"] == pytest.approx(1 / 5)
    assert (less_biased["n_pairs"], less_biased["n_hint_only"], less_biased["n_pointed_only"]) == (5, 2, 1)
    assert less_biased["p_mcnemar"] == 1.0
    # Frames: a +1, b 0, c 0: the one frame that speaks may have either sign.
    assert less_biased["p_value"] == 1.0
    [one_way] = rows_of(SMALL[SMALL["variant"] == "less_biased"])
    assert (one_way["n_pairs"], one_way["gap"], one_way["p_value"]) == (0, None, None)
    half = SMALL[(SMALL["variant"] == "less_biased") | SMALL["unit_id"].isin(["2", "3"])]
    assert (rows_of(half)[1]["n_pairs"], rows_of(half)[1]["gap"]) == (2, 1.0)


def test_what_is_missing_failed_or_empty_is_wrong_counted_apart_and_no_label() -> None:
    said = pd.DataFrame(
        [
            an_answer("1", "original", "hook", "hook"),
            an_answer("2", "original", "hook", None),
            an_answer("3", "original", "hook", ""),
            an_answer("4", "original", "hook", "the call broke off", status="failed", correct=False),
        ]
    )
    [row] = rows_of(said)
    assert (row["n"], row["n_missing"], row["n_failed"], row["n_empty"], row["accuracy"]) == (4, 1, 1, 1, 0.25)
    assert row["macro_f1"] == row["macro_f1_union"] == pytest.approx(2 / 5), "2·1 / (1 answered + 4 referred to)"


def test_unscored_is_not_wrong() -> None:
    [row] = rows_of(pd.DataFrame([*judged([5, 4, 3, None]), an_answer("9", "original", "hook", "hook")]))
    assert (row["n"], row["n_judged"], row["n_unscored"]) == (5, 4, 1)
    assert row["judge_mean"] == pytest.approx(4.0)
    assert (row["judge_accuracy"], row["judge_accuracy_k"]) == (pytest.approx(2 / 3), 2)
    assert row["judge_accuracy_low"] < row["judge_accuracy"] < row["judge_accuracy_high"]


def test_without_a_judge_its_metrics_are_undefined_and_not_zero() -> None:
    [row, _] = rows_of(SMALL)
    assert [row[key] for key in ("judge_mean", "judge_mean_low", "judge_accuracy", "judge_gap")] == [None] * 4
    assert (row["n_judged"], row["n_unscored"]) == (0, 0)
    [unscored] = rows_of(pd.DataFrame(judged([None, None])))
    assert (unscored["judge_mean"], unscored["judge_accuracy"], unscored["n_unscored"]) == (None, None, 2)


def test_the_judge_s_gap_is_over_the_pairs_scored_in_both_ways() -> None:
    answers = [*judged([5, 4, 2, 5, None]), *judged([5, 1, 4, None, 1], "less_biased")]
    row = rows_of(pd.DataFrame(answers))[1]
    assert (row["n_pairs"], row["n_judged_pairs"]) == (5, 3)
    assert row["judge_gap"] == pytest.approx((2 - 2) / 3)


def test_a_text_only_run_has_its_own_row_and_no_gap() -> None:
    withheld = pairs(("1", "a", "hook", "hook", None), ("2", "b", "hook", "clip", None)).query("variant == 'original'")
    [row] = rows_of(withheld.assign(variant="text_only"))
    assert (row["variant"], row["accuracy"], row["n_missing"], row["gap"]) == ("text_only", 0.5, 0, None)


def test_each_group_has_its_rows_sorted_with_the_original_first() -> None:
    both = pd.concat([SMALL.assign(task="Target"), SMALL.assign(task="Action", correct=True)])
    assert [(row["task"], row["variant"]) for row in rows_of(both, "task")] == [
        ("Action", "original"),
        ("Action", "less_biased"),
        ("Target", "original"),
        ("Target", "less_biased"),
    ]
    assert score_table(SMALL.iloc[:0], []).empty


def test_nothing_in_the_table_is_nan(shared: Path) -> None:
    read = read_predictions(
        shared / f"data/surgcheck_predictions/full_test/{FULL_TEST['PaliGemma2'][0]}.jsonl.gz", "original"
    )
    for answers in (SMALL, pd.DataFrame(judged([5, 1])), SMALL.iloc[:1], read):
        table = score_table(answers, [])
        assert not [value for value in table.to_numpy().ravel() if value is not None and pd.isna(value)]


def test_one_frame_gives_values_and_no_interval() -> None:
    row = rows_of(SMALL[SMALL["image_id"] == "a"])[1]
    assert row["gap"] == pytest.approx(0.5)
    assert [row[f"{key}_low"] for key in ("accuracy", "macro_f1", "gap")] == [None] * 3


@pytest.mark.parametrize("key", ["accuracy", "macro_f1", "weighted_f1", "gap", "macro_f1_gap"])
def test_intervals_hold_their_value_and_can_be_left_out(key: str) -> None:
    random = np.random.default_rng(7)
    labels = np.array(["hook", "grasper", "clipper", "bipolar"])
    rows = []
    for unit, frame in enumerate(np.repeat(np.arange(60), 3)):
        reference = str(random.choice(labels, p=[0.6, 0.25, 0.1, 0.05]))
        one, other = (reference if random.random() < right else str(random.choice(labels)) for right in (0.8, 0.5))
        rows.append((str(unit), str(frame), reference, one, other))
    row = rows_of(pairs(*rows))[1]
    assert row[f"{key}_low"] < row[key] < row[f"{key}_high"]
    bare = rows_of(pairs(*rows), intervals=False)[1]
    assert (bare[key], bare[f"{key}_low"], bare[f"{key}_high"]) == (row[key], None, None)


@pytest.mark.parametrize(
    ("answers", "gap"), [(("hook", "hook"), 0.0), (("clip", "clip"), 0.0), (("hook", "clip"), 1.0)]
)
def test_a_gap_that_all_frames_share_is_not_certain(answers: tuple[str, str], gap: float) -> None:
    """Wilson's bound of no frame in 30: z² / (30 + z²) = 0.1135; each such frame could be at the far end."""
    row = rows_of(pairs(*((str(at), str(at), "hook", *answers) for at in range(30))))[1]
    other = 3.8415 / (30 + 3.8415)
    assert row["gap"] == gap
    assert row["gap_low"] == pytest.approx(gap - other * (1 + gap), abs=1e-4)
    assert row["gap_high"] == pytest.approx(gap + other * (1 - gap), abs=1e-4)


def test_frames_that_move_together_make_intervals_wider() -> None:
    """Twelve pairs, ten right by the original alone: three frames of four pairs, or twelve of one."""
    said = [("hook", "clip")] * 8 + [("clip", "clip")] * 4
    together = pairs(*((str(at), str(at // 4), "hook", one, two) for at, (one, two) in enumerate(said)))
    apart = pairs(*((str(at), str(at), "hook", one, two) for at, (one, two) in enumerate(said)))
    wide, narrow = (rows_of(answers)[1] for answers in (together, apart))
    assert wide["gap"] == narrow["gap"] == pytest.approx(8 / 12)
    assert wide["gap_high"] - wide["gap_low"] > narrow["gap_high"] - narrow["gap_low"]
    assert wide["p_value"] > narrow["p_value"] == pytest.approx(wide["p_mcnemar"])


def test_every_metric_says_what_it_means_and_when_it_is_undefined() -> None:
    table = score_table(SMALL, [])
    for key, metric in METRICS.items():
        assert key == metric.key and key in table.columns
        assert metric.plain and metric.formula and metric.undefined_when
    assert [variant.value for variant in Variant] == ["original", "less_biased", "text_only"]


LABELS = st.sampled_from(["hook", "grasper", "clipper", "scissors"])


def f1_by_counting(references: list[str], answers: list[str], labels: set[str]) -> dict[str, float]:
    """F1 of each label by looking at every pair of reference and answer."""
    found = {}
    for label in labels:
        hits = sum(r == a == label for r, a in zip(references, answers, strict=True))
        found[label] = 2 * hits / (references.count(label) + answers.count(label))
    return found


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=30))
def test_f1_agrees_with_counting_label_by_label(said: list[tuple[str, str]]) -> None:
    references, answers = [one for one, _ in said], [other for _, other in said]
    frame = pd.DataFrame([an_answer(str(at), "original", *one) for at, one in enumerate(said)])
    [row] = rows_of(frame, intervals=False)
    f1 = f1_by_counting(references, answers, {*references, *answers})
    assert row["macro_f1"] == pytest.approx(np.mean([f1[label] for label in set(references)]))
    assert row["macro_f1_union"] == pytest.approx(np.mean(list(f1.values())))
    assert row["weighted_f1"] == pytest.approx(np.mean([f1[label] for label in references]))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=30))
def test_f1_agrees_with_scikit_learn_where_it_is_at_hand(said: list[tuple[str, str]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is no requirement of Parallax")
    references, answers = zip(*said, strict=True)
    frame = pd.DataFrame([an_answer(str(at), "original", *one) for at, one in enumerate(said)])
    [row] = rows_of(frame, intervals=False)
    score = {"zero_division": 0.0}
    own = metrics.f1_score(references, answers, average="macro", labels=sorted(set(references)), **score)
    assert row["macro_f1"] == pytest.approx(own)
    assert row["macro_f1_union"] == pytest.approx(metrics.f1_score(references, answers, average="macro", **score))
    assert row["weighted_f1"] == pytest.approx(metrics.f1_score(references, answers, average="weighted", **score))


def goldens(shared: Path) -> Any:
    return json.loads((shared / "data/endoscapes/derived/metric_goldens.json").read_text("utf-8"))


@pytest.mark.parametrize("vlm", FULL_TEST)
def test_the_fine_tuned_vlms_have_the_paper_s_accuracies_and_f1s(shared: Path, vlm: str) -> None:
    golden = goldens(shared)["full_test_3860"]
    answers = pd.concat(
        [
            read_predictions(shared / f"data/surgcheck_predictions/full_test/{file}.jsonl.gz", variant)
            for file, variant in zip(FULL_TEST[vlm], ("original", "less_biased"), strict=True)
        ]
    )
    keys = {"acc": "accuracy", "macro_gt": "macro_f1", "macro_union": "macro_f1_union", "weighted": "weighted_f1"}
    for row in rows_of(answers):
        printed = golden[f"{vlm} {row['variant']}"]
        assert {name: 100 * row[key] for name, key in keys.items()} == pytest.approx(printed, abs=0.01)
        assert row["n"] == 3860


def test_the_tasks_of_llava_have_their_golden_numbers(shared: Path) -> None:
    golden = goldens(shared)["llava_per_category"]
    answers = pd.concat(
        [
            read_predictions(shared / f"data/surgcheck_predictions/full_test/{file}.jsonl.gz", variant)
            for file, variant in zip(FULL_TEST["LLaVA-OV-1.5"], ("original", "less_biased"), strict=True)
        ]
    )
    rows = {(row["task"], row["variant"]): row for row in rows_of(answers, "task", intervals=False)}
    for task, printed in golden.items():
        original, less = rows[task, "original"], rows[task, "less_biased"]
        assert 100 * original["accuracy"] == pytest.approx(printed["orig_acc"], abs=0.01)
        assert 100 * original["macro_f1"] == pytest.approx(printed["orig_macro"], abs=0.01)
        assert 100 * less["accuracy"] == pytest.approx(printed["less_acc"], abs=0.01)
        macro = printed.get("less_macro", printed.get("less_macro_gt"))
        assert 100 * less["macro_f1"] == pytest.approx(macro, abs=0.01)
    union = rows["Triplet", "less_biased"]["macro_f1_union"]
    assert 100 * union == pytest.approx(golden["Triplet"]["less_macro_union"], abs=0.01)


@pytest.mark.parametrize(("variant", "expected"), [("general", 11.06), ("less_bias", 8.67)])
def test_the_judged_zero_shot_files_of_qwen_have_their_known_accuracy(
    shared: Path, variant: str, expected: float
) -> None:
    """11.06 and 8.67 % at score 4 and above, all four cues together (facts, section 6)."""
    folder = shared / "data/surgcheck_predictions/zero_shot_judged/qwen"
    answers = pd.concat(
        [
            read_predictions(folder / f"test_fair_{cue}_{variant}.jsonl.gz", "original")
            for cue in ("box", "arrow", "position", "word")
        ]
    )
    assert 100 * (answers["judge_score"] >= 4).mean() == pytest.approx(expected, abs=0.005)
    by_cue = rows_of(answers, "cue", intervals=False)
    assert [row["cue"] for row in by_cue] == ["Arrow_Cue", "Box_Cue", "Position_Cue", "Word_Cue"]
    assert sum(row["judge_accuracy_k"] for row in by_cue) / sum(row["n_judged"] for row in by_cue) == pytest.approx(
        expected / 100, abs=0.0001
    )


@pytest.mark.parametrize(("vlm", "variant"), list(product(("qwen", "llava", "pali"), ("general", "less_bias"))))
def test_judged_files_have_a_mean_and_an_accuracy_for_each_task(shared: Path, vlm: str, variant: str) -> None:
    path = shared / f"data/surgcheck_predictions/zero_shot_judged/{vlm}/test_fair_arrow_{variant}.jsonl.gz"
    answers = read_predictions(path, "original")
    for row in rows_of(answers, "task", intervals=False):
        scores = answers.loc[answers["task"] == row["task"], "judge_score"].dropna().tolist()
        assert row["judge_mean"] == pytest.approx(sum(scores) / len(scores))
        assert row["judge_accuracy"] == pytest.approx(sum(score >= 4 for score in scores) / len(scores))
        assert row["n_judged"] - row["n_unscored"] == len(scores)
