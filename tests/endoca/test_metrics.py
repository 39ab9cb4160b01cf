"""The EndoCA metrics are the paper's equations, worked out by hand and held by its identities."""

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.endoca.metrics import (
    ATOM_SUMS,
    IMAGE_SUMS,
    METRICS,
    UNIT_COLUMNS,
    atom_metrics_from_image_sums,
    compare_runs,
    image_sums,
    metric_table,
    metrics_from_image_sums,
)
from backend.errors import AppError

# unit, image, m, C, right parts, missing, failed, empty, unparsed
SIX_UNITS = [
    ("u1", "p", 1, True, 1, 0, 0, 0, 0),  # supported
    ("u2", "p", 2, True, 1, 0, 0, 0, 0),  # inconsistent
    ("u3", "q", 2, False, 2, 0, 0, 0, 1),  # composition failure, complex answer not readable
    ("u4", "q", 2, False, 1, 0, 0, 0, 0),  # mixed
    ("u5", "r", 1, False, 0, 0, 0, 1, 0),  # visual-fact failure, atomic answer empty
    ("u6", "r", 3, False, 0, 1, 2, 0, 0),  # complex answer missing, two atomic calls failed
]


def unit_frame(rows: list[tuple[Any, ...]], run_id: str = "run", **more: list[Any]) -> pd.DataFrame:
    names = [name for name in UNIT_COLUMNS if name not in ("run_id", "complexity")]
    order = ["unit_id", "image_id", "n_atoms", "complex_correct", "n_atoms_correct", *names[-4:]]
    frame = pd.DataFrame(rows, columns=order).astype({"complex_correct": bool, "n_atoms": int})
    frame = frame.astype(dict.fromkeys(["n_atoms_correct", *names[-4:]], int))
    return frame.assign(run_id=run_id, complexity=frame["n_atoms"], **more)


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as they reach JSON; NaN anywhere is an error."""
    rows: list[dict[str, Any]] = json.loads(json.dumps(table.to_dict("records"), allow_nan=False))
    return rows


unit_rows = st.lists(
    st.tuples(st.integers(1, 3), st.booleans(), st.integers(0, 3), st.integers(0, 4)).filter(lambda u: u[2] <= u[0]),
    max_size=25,
).map(
    lambda units: [
        (f"u{at}", f"image {image}", m, right, parts, 0, 0, 0, 0) for at, (m, right, parts, image) in enumerate(units)
    ]
)


def test_six_units_give_what_was_worked_out_by_hand() -> None:
    [row] = records(metric_table(unit_frame(SIX_UNITS), ["run_id"]))
    assert row["run_id"] == "run"
    counts = {name: row[name] for name in row if name.startswith("n_")}
    assert counts == {
        "n_units": 6, "n_images": 3, "n_atomic": 11,
        "n_missing": 1, "n_failed": 2, "n_empty": 1, "n_unparsed": 1,
    }  # fmt: skip
    by_hand = {
        "complex_accuracy": (2, 6),  # u1 u2
        "atomic_accuracy": (5, 11),  # 1 + 1 + 2 + 1 + 0 + 0 of 1 + 2 + 2 + 2 + 1 + 3
        "all_atomic_accuracy": (2, 6),  # u1 u3
        "joint_accuracy": (1, 6),  # u1
        "inconsistency": (1, 2),  # u2 of u1 u2
        "missing_rate": (1, 17),  # of 6 complex and 11 atomic questions
        "failed_rate": (2, 17),
        "empty_rate": (1, 17),
        "unparsed_rate": (1, 17),
    }
    for key, (k, n) in by_hand.items():
        assert (row[f"{key}_k"], row[f"{key}_n"]) == (k, n), key
        assert row[key] == pytest.approx(k / n), key
    for key in ("coverage", "selective_accuracy"):
        assert (row[key], row[f"{key}_low"], row[f"{key}_n"]) == (None, None, 0)


def test_complexity_is_a_group_like_any_other() -> None:
    rows = records(metric_table(unit_frame(SIX_UNITS), ["run_id", "complexity"]))
    found = [
        (r["complexity"], r["n_units"], r["complex_accuracy"], r["all_atomic_accuracy"], r["inconsistency"])
        for r in rows
    ]
    assert found == [(1, 2, 1 / 2, 1 / 2, 0.0), (2, 3, 1 / 3, 1 / 3, 1.0), (3, 1, 0.0, 0.0, None)]


def test_inconsistency_without_a_right_complex_answer_is_none() -> None:
    [row] = records(metric_table(unit_frame(SIX_UNITS[2:]), ["run_id"]))
    assert row["complex_accuracy"] == 0.0
    assert (row["inconsistency"], row["inconsistency_low"], row["inconsistency_high"]) == (None, None, None)


def test_no_units_give_no_row_or_one_undefined_row() -> None:
    nothing = unit_frame([])
    assert records(metric_table(nothing, ["run_id"])) == []
    [row] = records(metric_table(nothing, []))
    assert row["n_units"] == 0
    assert all(row[key] is None for key in METRICS)


def test_sums_finer_than_the_table_serve_it_too() -> None:
    frame = unit_frame(SIX_UNITS)
    finer = image_sums(frame, ["run_id", "complexity"])
    assert list(finer.columns) == ["run_id", "complexity", "image_id", *IMAGE_SUMS]
    pd.testing.assert_frame_equal(metrics_from_image_sums(finer, ["run_id"]), metric_table(frame, ["run_id"]))


def test_the_table_has_every_metric_with_interval_and_counts() -> None:
    table = metric_table(unit_frame(SIX_UNITS), ["run_id"])
    for key in METRICS:
        for column in (key, f"{key}_low", f"{key}_high", f"{key}_k", f"{key}_n", f"{key}_interval"):
            assert column in table.columns


@settings(max_examples=60, deadline=None)
@given(unit_rows)
def test_the_identities_of_the_paper_hold(rows: list[tuple[Any, ...]]) -> None:
    for row in records(metric_table(unit_frame(rows), ["complexity"], intervals=False)):
        joint = row["joint_accuracy"]
        assert joint <= min(row["complex_accuracy"], row["all_atomic_accuracy"])
        assert (row["inconsistency"] is None) == (row["complex_accuracy"] == 0)
        if row["inconsistency"] is None:
            assert joint == 0
        else:
            assert joint == pytest.approx(row["complex_accuracy"] * (1 - row["inconsistency"]))
        if row["complexity"] == 1:
            assert row["atomic_accuracy"] == row["all_atomic_accuracy"]
        assert row["atomic_accuracy"] >= row["all_atomic_accuracy"]


@settings(max_examples=30, deadline=None)
@given(unit_rows)
def test_every_interval_lies_in_the_unit_interval_and_has_a_width(rows: list[tuple[Any, ...]]) -> None:
    [row] = records(metric_table(unit_frame(rows), []))
    for key in METRICS:
        low, high = row[f"{key}_low"], row[f"{key}_high"]
        assert (low is None) == (high is None) == (row[f"{key}_interval"] is None)
        if low is not None:
            assert 0 <= low < high <= 1


def test_a_selective_stage_has_coverage_and_accuracy_over_answered_units_alone() -> None:
    decisions = ["answer", "answer", "abstain", "answer", "abstain", None]
    frame = unit_frame(SIX_UNITS, decision=decisions)
    [row] = records(metric_table(frame, ["run_id"]))
    # answered: u1 u2 u4, of which u1 u2 are right; u6 has no decision and so abstains
    assert (row["coverage_k"], row["coverage_n"]) == (3, 6)
    assert (row["selective_accuracy_k"], row["selective_accuracy_n"]) == (2, 3)
    assert row["complex_accuracy_n"] == 6


def test_selective_accuracy_at_coverage_zero_is_none_and_coverage_is_zero() -> None:
    [row] = records(metric_table(unit_frame(SIX_UNITS, decision=["abstain"] * 6), ["run_id"]))
    assert row["coverage"] == 0.0
    assert row["selective_accuracy"] is None


def test_a_run_without_decisions_beside_one_with_them_has_no_coverage() -> None:
    direct = unit_frame(SIX_UNITS, run_id="direct", decision=[None] * 6)
    select = unit_frame(SIX_UNITS, run_id="select", decision=["answer"] * 6)
    rows = records(metric_table(pd.concat([direct, select]), ["run_id"]))
    assert [(r["run_id"], r["coverage"], r["selective_accuracy"]) for r in rows] == [
        ("direct", None, None),
        ("select", 1.0, pytest.approx(2 / 6)),
    ]


@pytest.mark.parametrize(("n_atoms", "n_atoms_correct"), [(0, 0), (1, 2)])
def test_a_unit_with_impossible_parts_is_refused(n_atoms: int, n_atoms_correct: int) -> None:
    frame = unit_frame([("u", "p", n_atoms, True, n_atoms_correct, 0, 0, 0, 0)])
    with pytest.raises(ValueError, match="n_atoms"):
        metric_table(frame, ["run_id"])


def test_an_answer_that_is_neither_right_nor_wrong_is_refused() -> None:
    unscored = unit_frame(SIX_UNITS).astype({"complex_correct": object})
    unscored.loc[0, "complex_correct"] = float("nan")
    with pytest.raises(ValueError, match="true or false"):
        metric_table(unscored, ["run_id"])


def test_metrics_are_described_in_full_and_point_at_sums_that_exist() -> None:
    derived = {"n_inconsistent", "n_probes"}
    for key, metric in METRICS.items():
        assert metric.key == key
        assert {metric.numerator, metric.denominator} <= set(IMAGE_SUMS) | derived
        for words in (metric.label, metric.term, metric.plain, metric.formula, metric.undefined_when):
            assert words
            assert "model" not in words
    worse_when_high = {key for key, metric in METRICS.items() if not metric.higher_is_better}
    assert worse_when_high == {"inconsistency", "missing_rate", "failed_rate", "empty_rate", "unparsed_rate"}


ATOM_ROWS = pd.DataFrame(
    [
        ("polyp_count", "p", 2, 1, 0, 0, 0, 1),
        ("polyp_count", "q", 1, 0, 1, 0, 0, 0),
        ("text_presence", "p", 1, 1, 0, 0, 0, 0),
        ("text_presence", "q", 1, 1, 0, 0, 0, 0),
    ],
    columns=["question_class", "image_id", *ATOM_SUMS],
)


def test_atomic_accuracy_by_question_class_is_as_worked_out_by_hand() -> None:
    count, text = records(atom_metrics_from_image_sums(ATOM_ROWS, ["question_class"]))
    assert (count["question_class"], count["n_atomic"], count["n_images"]) == ("polyp_count", 3, 2)
    assert (count["atomic_accuracy"], count["n_missing"]) == (pytest.approx(1 / 3), 1)
    assert (count["missing_rate"], count["unparsed_rate"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert (text["n_atomic"], text["atomic_accuracy"], text["atomic_accuracy_high"]) == (2, 1.0, 1.0)
    # all right on two images: Wilson over clusters, 2 / (2 + 1.96**2)
    assert text["atomic_accuracy_low"] == pytest.approx(0.3424, abs=1e-4)


OTHER_RUN = [
    ("u9", "s", 1, True, 1, 0, 0, 0, 0),
    ("u6", "r", 3, True, 3, 0, 0, 0, 0),
    ("u5", "r", 1, True, 0, 0, 0, 0, 0),
    ("u4", "q", 2, False, 0, 0, 0, 0, 0),
    ("u2", "p", 2, False, 2, 0, 0, 0, 0),
    ("u1", "p", 1, True, 1, 0, 0, 0, 0),
]


@pytest.mark.parametrize(
    ("metric", "cells"),
    [
        # shared: u1 u2 u4 u5 u6; a right on u1 u2, b on u1 u5 u6
        pytest.param("complex_accuracy", (1, 1, 2, 1), id="complex"),
        # a has every part on u1, b on u1 u2 u6
        pytest.param("all_atomic_accuracy", (1, 0, 2, 2), id="all-atomic"),
        # a jointly right on u1, b on u1 u6
        pytest.param("joint_accuracy", (1, 0, 1, 3), id="joint"),
    ],
)
def test_two_runs_are_compared_on_the_units_both_hold(metric: str, cells: tuple[int, int, int, int]) -> None:
    compared = compare_runs(unit_frame(SIX_UNITS, "a"), unit_frame(OTHER_RUN, "b"), metric)
    assert (compared.n, compared.n_clusters, compared.only_in_a, compared.only_in_b) == (5, 3, 1, 1)
    found = (
        compared.both_right,
        compared.a_right_b_wrong,
        compared.a_wrong_b_right,
        compared.both_wrong,
    )
    assert found == cells
    assert compared.difference == pytest.approx((cells[2] - cells[1]) / 5)


def test_runs_without_a_shared_unit_have_no_difference() -> None:
    compared = compare_runs(unit_frame(SIX_UNITS), unit_frame(OTHER_RUN[:1]))
    assert (compared.n, compared.only_in_a, compared.only_in_b) == (0, 6, 1)
    assert (compared.difference, compared.p_value) == (None, None)


def test_a_metric_that_judges_no_single_unit_is_answered_with_those_that_do() -> None:
    with pytest.raises(AppError, match="complex_accuracy, all_atomic_accuracy, joint_accuracy"):
        compare_runs(unit_frame(SIX_UNITS), unit_frame(SIX_UNITS), "inconsistency")


def test_rows_of_more_than_one_run_cannot_be_compared() -> None:
    twice = pd.concat([unit_frame(SIX_UNITS), unit_frame(SIX_UNITS)])
    with pytest.raises(ValueError, match="each unit once"):
        compare_runs(twice, unit_frame(SIX_UNITS))
