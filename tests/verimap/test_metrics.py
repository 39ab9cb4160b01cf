"""Tables of the VeriMap metrics."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.metric import Estimate
from backend.domain.statistics.intervals import wilson_interval
from backend.domain.statistics.ratio_table import estimate_of
from backend.verimap.counts import Counts
from backend.verimap.metrics import METRICS, SIGNED_METRICS, differences, score_table, tally
from backend.verimap.outcomes import Policy, Treatment, verdict_outcome
from backend.verimap.verification_records import parse_record
from backend.verimap.verifier import Verdict

YES, NO, UNSURE = Verdict
POLICIES = {
    "uncertain_is_reject": Policy(),
    "drop_uncertain_and_missing": Policy(uncertain=Treatment.DROP),
}
GOLDEN_NAMES = {"acc": "accuracy", "fpr": "fpr", "fnr": "fnr", "bias": "bias", "dskew": "dskew"}
GOLDEN_COUNTS = {"N": "n", "dropped": "n_dropped", "TP": "tp", "TN": "tn", "FP": "fp", "FN": "fn"}


def frame(*rows: tuple[str | None, bool | None, Verdict | None]) -> pd.DataFrame:
    """Return records as a frame: image, whether the answer is right, verdict."""
    return pd.DataFrame(
        {
            "image_id": pd.Series([row[0] for row in rows], dtype=object),
            "oracle_correct": pd.Series([row[1] for row in rows], dtype=object),
            "verdict": pd.Series([row[2] and row[2].value for row in rows], dtype=object),
        }
    )


def only(table: pd.DataFrame) -> dict[str, Any]:
    """Return the only row of a table."""
    [row] = table.to_dict("records")
    return {str(name): value for name, value in row.items()}


@pytest.mark.parametrize("policy", POLICIES)
def test_the_hand_made_records_give_the_golden_values_in_both_policies(shared: Path, policy: str) -> None:
    folder = shared / "data" / "medvqa"
    goldens = json.loads((folder / "handmade_verifier_goldens.json").read_text("utf-8"))["values"]
    lines = (folder / "handmade_verifier_records.jsonl").read_bytes().splitlines()
    records = [parse_record(line) for line in lines]
    columns = frame(*((None, record.oracle_correct, record.verdict) for record in records))
    columns["task"] = [json.loads(line)["task"] for line in lines]
    assert [record.task and record.task.value.split("_")[0][:4] for record in records] == [
        task[:4] for task in columns["task"]
    ]
    rows: list[dict[Any, Any]] = score_table(tally(columns, ["task"], POLICIES[policy]), ["task"]).to_dict("records")
    rows.append({"task": "ALL", **only(score_table(tally(columns, [], POLICIES[policy]), []))})
    assert {row["task"] for row in rows} == set(goldens)
    for row in rows:
        golden = goldens[row["task"]][policy]
        for name, column in GOLDEN_COUNTS.items():
            assert row[column] == golden[name], (row["task"], name)
        for name, column in GOLDEN_NAMES.items():
            value = row[column]
            assert (value if value is None else round(value, 6)) == golden[name], (row["task"], name)


records = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", None]),
        st.sampled_from([True, False, None]),
        st.sampled_from([*Verdict, None]),
    ),
    max_size=30,
)
policies = st.builds(Policy, uncertain=st.sampled_from(Treatment), unparsed=st.sampled_from(Treatment))


@given(records, policies)
@settings(deadline=None)
def test_a_table_counts_what_verdicts_one_by_one_come_to_and_loses_none(
    rows: list[tuple[str | None, bool | None, Verdict | None]], policy: Policy
) -> None:
    row = only(score_table(tally(frame(*rows), [], policy), [], intervals=False))
    judged = [(right, verdict) for _, right, verdict in rows if right is not None]
    outcomes = [verdict_outcome(right, verdict, policy) for right, verdict in judged]
    for cell in ("tp", "tn", "fp", "fn"):
        assert row[cell] == sum(outcome is not None and outcome.value == cell for outcome in outcomes)
    assert row["n_dropped"] == outcomes.count(None)
    assert row["n"] + row["n_dropped"] + row["n_unjudged"] == len(rows)
    assert row["n_uncertain"] == sum(verdict is UNSURE for _, verdict in judged)
    assert row["n_unparsed"] == sum(verdict is None for _, verdict in judged)
    counts = Counts(row["tp"], row["tn"], row["fp"], row["fn"])
    for key in METRICS:
        assert row[key] == getattr(counts, key)


def test_a_share_has_its_wilson_interval_and_reads_as_an_estimate() -> None:
    rows = [("a", False, YES), ("a", False, NO), ("b", False, NO), ("b", True, YES)]
    row = only(score_table(tally(frame(*rows), [], Policy()), []))
    expected = wilson_interval(1 / 3, 3)
    assert expected is not None
    assert estimate_of(row, "fpr") == Estimate(1 / 3, expected.low, expected.high, 1, 3, expected.method)


def test_bias_and_dskew_vary_with_the_images_and_have_no_interval_where_these_cannot_vary() -> None:
    mixed = [("a", False, YES), ("b", True, YES), ("c", True, NO), ("d", False, YES), ("e", False, NO)]
    row = only(score_table(tally(frame(*mixed), [], Policy()), []))
    for key in ("bias", "dskew", "signed_dskew"):
        assert row[f"{key}_low"] <= row[key] <= row[f"{key}_high"]
    alike = [(name, False, YES) for name in "abc"]
    row = only(score_table(tally(frame(*alike), [], Policy()), []))
    assert (row["bias"], row["bias_low"], row["bias_high"]) == (1.0, None, None)
    one_image = [("a", False, YES), ("a", True, YES)]
    row = only(score_table(tally(frame(*one_image), [], Policy()), []))
    assert (row["bias"], row["bias_low"]) == (0.5, None)


def test_undefined_rates_are_none_without_interval_and_never_zero() -> None:
    row = only(score_table(tally(frame(("a", True, YES), ("b", True, YES)), [], Policy()), []))
    for key in ("fpr", "dskew", "signed_dskew"):
        assert (row[key], row[f"{key}_low"], row[f"{key}_high"]) == (None, None, None)
    assert row["fpr_interval"] is None


def test_no_records_make_one_row_of_nothing_or_no_group() -> None:
    empty = frame()
    row = only(score_table(tally(empty, [], Policy()), []))
    assert (row["n"], row["accuracy"], row["n_images"]) == (0, None, 0)
    empty["task"] = pd.Series([], dtype=object)
    assert score_table(tally(empty, ["task"], Policy()), ["task"]).empty


def test_groups_are_sorted_and_a_missing_label_is_a_group_of_its_own() -> None:
    rows = frame(("a", True, YES), ("a", True, NO), ("b", False, NO))
    rows["task"] = ["spatial", "anatomy", None]
    table = score_table(tally(rows, ["task"], Policy()), ["task"])
    assert table["task"].tolist() == ["anatomy", "spatial", None]
    assert table["n"].tolist() == [1, 1, 1]


def test_records_without_an_image_stand_alone() -> None:
    row = only(score_table(tally(frame((None, True, YES), (None, False, YES)), [], Policy()), []))
    assert row["n_images"] == 2


def test_a_word_that_is_no_verdict_is_refused() -> None:
    rows = frame(("a", True, YES))
    rows["verdict"] = ["perhaps"]
    with pytest.raises(ValueError, match="perhaps"):
        tally(rows, [], Policy())


def test_a_difference_is_b_minus_a_over_the_images_of_both() -> None:
    self_rows = [(str(image), False, YES) for image in range(20)] + [(str(image), True, YES) for image in range(20)]
    cross_rows = [(str(image), False, NO if image % 2 else YES) for image in range(20)]
    cross_rows += [(str(image), True, YES) for image in range(20)]
    a, b = (tally(frame(*rows), [], Policy()) for rows in (self_rows, cross_rows))
    found = differences(a, b)
    assert set(found) == set(METRICS)
    fpr = found["fpr"]
    assert (fpr.a, fpr.b, fpr.difference) == (1.0, 0.5, -0.5)
    assert (fpr.n_a, fpr.n_b, fpr.n_images) == (40, 40, 20)
    assert fpr.low is not None
    assert fpr.high is not None
    assert fpr.low < -0.5 < fpr.high < 0
    assert (found["fnr"].difference, found["fnr"].low) == (0.0, None)  # 0 in every resample
    assert found["bias"].difference == pytest.approx(-0.25)


def test_a_verifier_compared_with_itself_parts_by_nothing() -> None:
    sums = tally(frame(("a", False, YES), ("b", True, NO), ("c", True, YES)), [], Policy())
    for difference in differences(sums, sums).values():
        assert (difference.difference, difference.low, difference.high) == (0, None, None)


def test_a_difference_from_what_is_undefined_is_undefined() -> None:
    a = tally(frame(("a", True, YES), ("b", True, YES)), [], Policy())
    b = tally(frame(("a", False, YES), ("b", True, YES)), [], Policy())
    assert differences(a, b)["fpr"].difference is None
    assert differences(a, b)["error"].difference == 0.5


def test_the_metrics_that_can_be_negative_are_named() -> None:
    one_sided = Counts(fn=1, tp=1)
    assert {key for key in METRICS if (getattr(one_sided, key) or 0) < 0} == set(SIGNED_METRICS)
