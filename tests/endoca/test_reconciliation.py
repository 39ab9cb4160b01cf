"""What reconciliation did: moves, trust, coverage and changes, worked out by hand."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.endoca.metrics import metric_table
from backend.endoca.reconciliation import (
    PART_COLUMNS,
    Move,
    agreement,
    coverage_curve,
    inconsistency_change,
    move_of,
    moves_by_class,
    part_moves,
    track_decisions,
    trust,
    values_agree,
)

VALUES = st.one_of(st.none(), st.sampled_from(["yes", "no", "2", "not_applicable", "not_applicable or yes"]))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("yes", "yes", True),
        ("yes", "no", False),
        ("not_applicable or yes", "yes", True),
        ("not_applicable or yes", "no", False),
        (None, "yes", False),
        (None, None, False),
    ],
)
def test_values_agree_where_they_can_mean_the_same(one: str | None, other: str | None, expected: bool) -> None:
    assert values_agree(one, other) is expected
    assert values_agree(other, one) is expected


@pytest.mark.parametrize(
    ("direct", "revised", "premise", "expected"),
    [
        ("2", "2", "3", Move.KEPT),
        (None, None, None, Move.KEPT),
        ("2", "3", "3", Move.TO_PREMISE),
        (None, "3", "3", Move.TO_PREMISE),
        ("3", "2", "3", Move.FROM_PREMISE),
        ("3", None, "3", Move.FROM_PREMISE),
        ("2", "4", "3", Move.ELSEWHERE),
        ("2", "4", None, Move.ELSEWHERE),
        ("2", None, "3", Move.ELSEWHERE),
        ("not_applicable or yes", "yes", "yes", Move.ELSEWHERE),
    ],
)
def test_a_part_moves_to_its_premise_when_it_then_agrees_and_did_not_before(
    direct: str | None, revised: str | None, premise: str | None, expected: Move
) -> None:
    assert move_of(direct, revised, premise) is expected


@given(VALUES, VALUES, VALUES)
def test_turning_the_answers_round_turns_the_move_round(a: str | None, b: str | None, premise: str | None) -> None:
    turned = {Move.TO_PREMISE: Move.FROM_PREMISE, Move.FROM_PREMISE: Move.TO_PREMISE}
    there = move_of(a, b, premise)
    assert move_of(b, a, premise) is turned.get(there, there)


def parts(*rows: tuple[Any, ...]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(PART_COLUMNS), dtype=object)


PARTS = parts(
    ("u1", 0, "polyp_count", "2", "3", "3", False, True),
    ("u1", 1, "text_presence", "yes", "yes", "no", True, True),
    ("u2", 0, "polyp_count", "1", "0", "0", True, False),
    ("u3", 0, "polyp_count", "0", "0", "0", True, True),
)


def test_moves_are_counted_by_class_with_what_was_right_before_and_after() -> None:
    table = moves_by_class(part_moves(PARTS))
    rows = [tuple(row) for row in table.itertuples(index=False)]
    assert rows == [
        ("polyp_count", "kept", 1, 1, 1, 1),
        ("polyp_count", "to_premise", 2, 2, 1, 1),
        ("text_presence", "kept", 1, 1, 1, 1),
    ]


def test_agreement_is_the_share_of_parts_with_the_premises_value() -> None:
    assert agreement(part_moves(PARTS)).to_dict() == {"u1": 0.5, "u2": 1.0, "u3": 1.0}


def test_no_part_at_all_makes_empty_tables() -> None:
    moved = part_moves(parts())
    assert moves_by_class(moved).empty and agreement(moved).empty


def units(*rows: tuple[bool, str | None, str | None, float]) -> pd.DataFrame:
    """Return reconciled units: right, decision, consistency, agreement; each on an image of its own."""
    names = ["revised_correct", "decision", "consistency", "agreement"]
    frame = pd.DataFrame(list(rows), columns=names, dtype=object)
    names = [f"u{at}" for at in range(len(frame))]
    return frame.assign(unit_id=names, image_id=names, revised_correct=frame["revised_correct"].astype(bool))


EIGHT = units(
    (True, "answer", "consistent", 1.0),
    (True, "answer", "consistent", 1.0),
    (False, "answer", "consistent", 0.5),
    (True, "answer", "partly consistent", 1.0),
    (False, "answer", "inconsistent", 1.0),
    (True, "abstain", "consistent", 1.0),
    (False, "abstain", None, 1.0),
    (False, None, None, 0.0),
)


def test_the_decision_outranks_the_label_and_the_label_the_agreement() -> None:
    assert trust(EIGHT).tolist() == [6, 6, 5, 4, 3, 2, 1, 0]


def test_the_curve_lets_in_the_most_trusted_first_and_equals_together() -> None:
    curve = coverage_curve(EIGHT)
    assert curve["n"].tolist() == [2, 1, 1, 1, 1, 1, 1]
    assert curve["n_right"].tolist() == [2, 2, 3, 3, 4, 4, 4]
    assert curve["coverage"].tolist() == [2 / 8, 3 / 8, 4 / 8, 5 / 8, 6 / 8, 7 / 8, 1]
    assert curve["accuracy"].tolist() == pytest.approx([1, 2 / 3, 3 / 4, 3 / 5, 4 / 6, 4 / 7, 4 / 8])
    assert curve["decision"].tolist() == ["answer"] * 4 + ["abstain"] * 3
    assert curve["consistency"].tolist() == ["consistent"] * 2 + [
        "partly consistent",
        "inconsistent",
        "consistent",
        None,
        None,
    ]


def test_the_curve_of_no_unit_is_empty() -> None:
    assert coverage_curve(units()).empty


def test_decisions_stand_in_two_by_two_and_the_ordering_in_one_area() -> None:
    found = track_decisions(EIGHT)
    assert found[:4] == (3, 2, 1, 2)
    assert found.n == 8
    assert found.area is not None
    # 16 pairs; right units rank 6, 6, 4, 2, wrong ones 5, 3, 1, 0: 4 + 4 + 3 + 2 of them in the right order
    assert found.area.value == pytest.approx(13 / 16)
    assert (found.area.n_positive, found.area.n_negative) == (4, 4)


def test_no_area_where_all_are_right() -> None:
    assert track_decisions(units((True, "answer", "consistent", 1.0))).area is None


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.booleans(),
            st.sampled_from(["answer", "abstain", None]),
            st.sampled_from(["consistent", "partly consistent", "inconsistent", None]),
            st.sampled_from([0.0, 0.5, 1.0]),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_the_curve_ends_at_everything_and_passes_selectives_own_point(rows: list[tuple[bool, str, str, float]]) -> None:
    frame = units(*rows)
    curve = coverage_curve(frame)
    assert curve["coverage"].iloc[-1] == 1
    assert curve["n_right"].iloc[-1] == frame["revised_correct"].sum()
    answered = curve[curve["decision"] == "answer"]
    decided = frame["decision"].isin(["answer"])
    assert answered["n"].sum() == decided.sum()
    if len(answered):
        assert answered["n_right"].iloc[-1] == (decided & frame["revised_correct"]).sum()
    assert curve["coverage"].is_monotonic_increasing


def outcomes(*rows: tuple[str, bool, int, int], run: str = "r") -> pd.DataFrame:
    """Return unit outcomes: image, complex right, parts, parts right; the unit's name is its place."""
    frame = pd.DataFrame(list(rows), columns=["image_id", "complex_correct", "n_atoms", "n_atoms_correct"])
    counts = dict.fromkeys(("n_missing", "n_failed", "n_empty", "n_unparsed"), 0)
    return frame.assign(
        run_id=run, unit_id=[f"u{at}" for at in range(len(frame))], complexity=frame["n_atoms"], **counts
    )


def test_the_change_of_inconsistency_is_the_difference_of_the_two_shares() -> None:
    direct = outcomes(("a", True, 2, 1), ("a", True, 2, 2), ("b", True, 1, 0), ("c", False, 1, 1))
    revised = outcomes(("a", True, 2, 1), ("a", True, 2, 2), ("b", False, 1, 0), ("c", True, 1, 1))
    change = inconsistency_change(direct, revised)
    assert change.value == pytest.approx(1 / 3 - 2 / 3)
    before, after = (metric_table(frame, [])["inconsistency"].iloc[0] for frame in (direct, revised))
    assert change.value == pytest.approx(after - before)


def test_the_interval_of_the_change_resamples_images_of_both_at_once() -> None:
    rng = np.random.default_rng(4)
    images = [f"i{at // 2}" for at in range(120)]
    right = rng.random(120) < 0.7
    parts_right = (rng.random(120) < 0.6).astype(int)
    direct = outcomes(*zip(images, right.tolist(), [1] * 120, parts_right.tolist(), strict=True))
    mended = right & ((parts_right == 1) | (rng.random(120) < 0.5))
    revised = outcomes(*zip(images, mended.tolist(), [1] * 120, parts_right.tolist(), strict=True))
    change = inconsistency_change(direct, revised)
    assert change.value is not None and change.low is not None and change.high is not None
    assert change.low < change.value < change.high < 0
    nothing = inconsistency_change(direct, direct)
    assert nothing == (0.0, None, None), "equal runs cannot be resampled apart"


@pytest.mark.parametrize(
    ("direct", "revised"),
    [
        (outcomes(("a", False, 1, 1)), outcomes(("a", True, 1, 1))),
        (outcomes(("a", True, 1, 1)), outcomes(("a", False, 1, 1))),
        (outcomes(), outcomes()),
    ],
)
def test_the_change_is_undefined_where_one_share_is(direct: pd.DataFrame, revised: pd.DataFrame) -> None:
    assert inconsistency_change(direct, revised) == (None, None, None)
