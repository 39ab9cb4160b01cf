"""A ratio table adds up, keeps undefined as None, and depends on no order of rows."""

import json

import numpy as np
import pandas as pd
import pytest

from backend.domain.statistics.intervals import IntervalMethod
from backend.domain.statistics.ratio_table import RatioMetric, estimate_of, ratio_table
from backend.domain.statistics.resampling import Ratio, ratio_intervals

ACCURACY = RatioMetric(
    key="accuracy",
    label="Accuracy",
    term="accuracy",
    plain="answers right",
    formula="right answers / answers",
    higher_is_better=True,
    undefined_when="there is no answer",
    numerator="right",
    denominator="asked",
)


def sums(rows: list[tuple[str, str, int, int]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["vlm", "image_id", "right", "asked"])


def random_sums(vlms: int, images: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    asked = rng.integers(1, 5, size=vlms * images)
    return pd.DataFrame(
        {
            "vlm": np.repeat([f"vlm {v}" for v in range(vlms)], images),
            "image_id": np.tile([f"image {i:03d}" for i in range(images)], vlms),
            "right": rng.binomial(asked, 0.6),
            "asked": asked,
        }
    )


def test_rows_of_one_group_and_cluster_are_added_up() -> None:
    split = sums([("x", "p", 1, 1), ("x", "p", 0, 2), ("x", "q", 1, 3)])
    whole = sums([("x", "p", 1, 3), ("x", "q", 1, 3)])
    pd.testing.assert_frame_equal(ratio_table(split, ["vlm"], [ACCURACY]), ratio_table(whole, ["vlm"], [ACCURACY]))


def test_a_row_holds_counts_value_and_interval() -> None:
    frame = random_sums(vlms=2, images=30, seed=1)
    table = ratio_table(frame, ["vlm"], [ACCURACY], counts=["asked"])
    assert list(table.columns) == [
        "vlm", "asked", "n_images",
        "accuracy", "accuracy_low", "accuracy_high", "accuracy_k", "accuracy_n", "accuracy_interval",
    ]  # fmt: skip
    for row in table.to_dict("records"):
        mine = frame[frame["vlm"] == row["vlm"]]
        [interval] = ratio_intervals(mine[["right", "asked"]].to_numpy(), [Ratio(0, 1)])
        assert interval is not None
        assert row["n_images"] == 30
        assert (row["accuracy_k"], row["accuracy_n"]) == (mine["right"].sum(), mine["asked"].sum())
        assert row["accuracy"] == row["accuracy_k"] / row["accuracy_n"]
        assert (row["accuracy_low"], row["accuracy_high"]) == (interval.low, interval.high)
        assert row["accuracy_interval"] == "cluster bootstrap"


def test_the_order_of_rows_changes_nothing() -> None:
    frame = random_sums(vlms=3, images=25, seed=2)
    shuffled = frame.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(ratio_table(frame, ["vlm"], [ACCURACY]), ratio_table(shuffled, ["vlm"], [ACCURACY]))


def test_text_may_come_as_categories_in_any_order() -> None:
    frame = random_sums(vlms=3, images=25, seed=2)
    coded = frame.assign(
        vlm=pd.Categorical(frame["vlm"], ["vlm 2", "nobody", "vlm 0", "vlm 1"]),
        image_id=pd.Categorical(frame["image_id"], frame["image_id"].unique()[::-1]),
    )
    pd.testing.assert_frame_equal(ratio_table(coded, ["vlm"], [ACCURACY]), ratio_table(frame, ["vlm"], [ACCURACY]))


def test_a_group_has_the_same_bounds_beside_others_as_alone() -> None:
    frame = random_sums(vlms=3, images=25, seed=4)
    frame = frame[(frame["vlm"] != "vlm 1") | (frame["image_id"] < "image 011")]
    together = ratio_table(frame, ["vlm"], [ACCURACY])
    for at, vlm in enumerate(together["vlm"]):
        alone = ratio_table(frame[frame["vlm"] == vlm], ["vlm"], [ACCURACY])
        pd.testing.assert_frame_equal(together.iloc[[at]].reset_index(drop=True), alone)


def test_undefined_is_none_in_json_and_never_nan() -> None:
    table = ratio_table(sums([("x", "p", 0, 0), ("y", "p", 1, 2)]), ["vlm"], [ACCURACY])
    undefined, single = json.loads(json.dumps(table.to_dict("records"), allow_nan=False))
    assert undefined["accuracy"] is None
    assert (undefined["accuracy_k"], undefined["accuracy_n"]) == (0, 0)
    assert single["accuracy"] == 0.5
    for row in (undefined, single):
        assert (row["accuracy_low"], row["accuracy_high"], row["accuracy_interval"]) == (None, None, None)


def test_sums_from_sql_may_come_as_floats() -> None:
    frame = random_sums(vlms=2, images=9, seed=5)
    as_floats = frame.astype({"right": float, "asked": float})
    pd.testing.assert_frame_equal(
        ratio_table(frame, ["vlm"], [ACCURACY], counts=["asked"]),
        ratio_table(as_floats, ["vlm"], [ACCURACY], counts=["asked"]),
    )


def test_a_missing_group_value_is_a_group_of_its_own() -> None:
    frame = sums([("x", "p", 1, 1), ("x", "q", 0, 1)]).assign(
        question_class=pd.Series(["polyp_count", None], dtype=object)
    )
    table = ratio_table(frame, ["vlm", "question_class"], [ACCURACY])
    assert table["accuracy_n"].tolist() == [1, 1]


def test_nothing_in_gives_an_empty_table_or_one_undefined_row() -> None:
    nothing = sums([])
    assert len(ratio_table(nothing, ["vlm"], [ACCURACY])) == 0
    [row] = ratio_table(nothing, [], [ACCURACY]).to_dict("records")
    assert (row["n_images"], row["accuracy"], row["accuracy_n"]) == (0, None, 0)


def test_without_groups_everything_is_one_row() -> None:
    [row] = ratio_table(sums([("x", "p", 1, 2), ("y", "q", 2, 2)]), [], [ACCURACY]).to_dict("records")
    assert (row["n_images"], row["accuracy"]) == (2, 0.75)


def test_intervals_can_be_left_out() -> None:
    table = ratio_table(random_sums(vlms=1, images=9, seed=6), ["vlm"], [ACCURACY], intervals=False)
    assert table["accuracy_low"].tolist() == [None]
    assert table["accuracy"].notna().all()


def test_a_row_becomes_an_estimate() -> None:
    [row] = ratio_table(sums([("x", "p", 2, 2), ("x", "q", 1, 1)]), ["vlm"], [ACCURACY]).to_dict("records")
    estimate = estimate_of({str(name): value for name, value in row.items()}, "accuracy")
    assert (estimate.value, estimate.k, estimate.n) == (1.0, 3, 3)
    assert estimate.method is IntervalMethod.WILSON_OVER_CLUSTERS
    # Wilson, two clusters all right: 2 / (2 + 1.96**2)
    assert estimate.low == pytest.approx(0.3424, abs=1e-4)
