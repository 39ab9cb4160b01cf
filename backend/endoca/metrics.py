"""The EndoCA metrics: equations 3 to 6 of the paper, and selective answering, in one place.

Every metric is a ratio of two sums over paired units, so all of them follow from what each
image adds: `IMAGE_SUMS`. The store finds these by GROUP BY; `image_sums` finds them from a
frame of unit outcomes. Symbols: C_i complex answer right, A_ij atomic answer j right, m_i
number of atomic questions, A*_i all of them right (equation 2).

A missing, failed, empty or unreadable answer is wrong in every metric, and counted apart.
"""

__all__ = [
    "ATOM_METRICS",
    "ATOM_SUMS",
    "COMPARED_METRICS",
    "IMAGE_SUMS",
    "METRICS",
    "UNIT_COLUMNS",
    "atom_metrics_from_image_sums",
    "check_units",
    "compare_runs",
    "image_sums",
    "metric_table",
    "metrics_from_image_sums",
]

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from backend.domain.statistics.paired_tests import PairedComparison, compare_paired
from backend.domain.statistics.ratio_table import RatioMetric, ratio_table
from backend.errors import AppError

COMPLEX_ACCURACY = RatioMetric(
    key="complex_accuracy",
    label="Complex accuracy",
    term="complex-answer accuracy",
    plain="complex questions answered right",
    formula="right complex answers / units (equation 3)",
    higher_is_better=True,
    undefined_when="there are no units",
    numerator="n_complex_correct",
    denominator="n_units",
)
ATOMIC_ACCURACY = RatioMetric(
    key="atomic_accuracy",
    label="Atomic accuracy",
    term="atomic-answer accuracy",
    plain="parts answered right when asked alone",
    formula="right atomic answers / atomic questions (equation 4)",
    higher_is_better=True,
    undefined_when="there are no atomic questions",
    numerator="n_atomic_correct",
    denominator="n_atomic",
)
ALL_ATOMIC_ACCURACY = RatioMetric(
    key="all_atomic_accuracy",
    label="All-atomic accuracy",
    term="all-atomic accuracy",
    plain="units with every part right",
    formula="units with every atomic answer right / units (mean of A*, equation 2)",
    higher_is_better=True,
    undefined_when="there are no units",
    numerator="n_all_atomic_correct",
    denominator="n_units",
)
JOINT_ACCURACY = RatioMetric(
    key="joint_accuracy",
    label="Joint accuracy",
    term="joint accuracy",
    plain="right answers that stand on right parts",
    formula="units with the complex and every atomic answer right / units (equation 5)",
    higher_is_better=True,
    undefined_when="there are no units",
    numerator="n_joint_correct",
    denominator="n_units",
)
INCONSISTENCY = RatioMetric(
    key="inconsistency",
    label="Inconsistency",
    term="complex-atomic inconsistency",
    plain="right answers that rest on a wrong part",
    formula="right complex answers with a wrong atomic answer / right complex answers (equation 6)",
    higher_is_better=False,
    undefined_when="no complex answer is right",
    numerator="n_inconsistent",
    denominator="n_complex_correct",
)


def _answer_rate(kind: str, plain: str) -> RatioMetric:
    """Return the share of probes, complex and atomic, whose answer is of a kind."""
    return RatioMetric(
        key=f"{kind}_rate",
        label=f"{kind.capitalize()} answers",
        term=f"{kind} answers",
        plain=plain,
        formula=f"{kind} answers / questions, complex and atomic",
        higher_is_better=False,
        undefined_when="there are no units",
        numerator=f"n_{kind}",
        denominator="n_probes",
    )


COVERAGE = RatioMetric(
    key="coverage",
    label="Coverage",
    term="selective-answering coverage",
    plain="questions answered rather than withheld",
    formula="units with the decision to answer / units",
    higher_is_better=True,
    undefined_when="the stage makes no decision to answer or abstain",
    numerator="n_selected",
    denominator="n_selective",
)
SELECTIVE_ACCURACY = RatioMetric(
    key="selective_accuracy",
    label="Selective accuracy",
    term="selective complex-answer accuracy",
    plain="right among the questions it chose to answer",
    formula="right complex answers with the decision to answer / units with the decision to answer",
    higher_is_better=True,
    undefined_when="no question was answered (coverage 0), or the stage makes no decision",
    numerator="n_selected_correct",
    denominator="n_selected",
)

METRICS: dict[str, RatioMetric] = {
    metric.key: metric
    for metric in (
        COMPLEX_ACCURACY,
        ATOMIC_ACCURACY,
        ALL_ATOMIC_ACCURACY,
        JOINT_ACCURACY,
        INCONSISTENCY,
        COVERAGE,
        SELECTIVE_ACCURACY,
        _answer_rate("missing", "questions without an answer on file"),
        _answer_rate("failed", "questions whose call ended in an error"),
        _answer_rate("empty", "questions answered with nothing"),
        _answer_rate("unparsed", "answers that could not be read"),
    )
}
"""All EndoCA metrics by key, in the order of the tables."""

UNIT_COLUMNS = (
    "run_id",
    "unit_id",
    "image_id",
    "complexity",
    "complex_correct",
    "n_atoms",
    "n_atoms_correct",
    "n_missing",
    "n_failed",
    "n_empty",
    "n_unparsed",
)
"""Columns of a frame of unit outcomes, one row a (run, unit).

complexity and n_atoms are m_i (at least 1), complex_correct is C_i (bool), n_atoms_correct
the sum of A_ij; the last four count the unit's probes, complex and atomic, each probe in at
most one of them: no answer on file, call ended in an error, empty answer, answer not readable.
Optional: decision, 'answer' or 'abstain' (None elsewhere). In a run that holds any decision,
a unit without one is an abstention.
"""

IMAGE_SUMS = {
    "n_units": "units: count(*)",
    "n_atomic": "atomic questions: sum of m",
    "n_complex_correct": "sum of C",
    "n_atomic_correct": "sum of A over all atomic questions",
    "n_all_atomic_correct": "sum of A*: units with n_atoms_correct = n_atoms",
    "n_joint_correct": "sum of C A*",
    "n_missing": "probes without an answer on file",
    "n_failed": "probes whose call ended in an error",
    "n_empty": "probes answered with nothing",
    "n_unparsed": "probes whose answer could not be read",
    "n_selective": "units in a stage that decides to answer or abstain: n_units there, 0 elsewhere",
    "n_selected": "units with the decision 'answer'",
    "n_selected_correct": "sum of C over units with the decision 'answer'",
}
"""What one image adds to a group: integer columns beside the group columns and image_id.

The contract with the store. Finer rows (by complexity as well) serve coarser tables too.
Every unit has at least one atomic question (paper, Benchmark Construction).
"""

ATOM_SUMS = {
    "n_atomic": "atomic questions: count(*)",
    "n_atomic_correct": "sum of A",
    "n_missing": "atomic questions without an answer on file",
    "n_failed": "atomic questions whose call ended in an error",
    "n_empty": "atomic questions answered with nothing",
    "n_unparsed": "atomic questions whose answer could not be read",
}
"""What one image adds to a group of atomic questions, beside the group columns and image_id."""

ATOM_METRICS = {
    key: METRICS[key] for key in ("atomic_accuracy", "missing_rate", "failed_rate", "empty_rate", "unparsed_rate")
}
"""The metrics that atomic questions alone make up."""

COMPARED_METRICS = (COMPLEX_ACCURACY, ALL_ATOMIC_ACCURACY, JOINT_ACCURACY)
"""The metrics that judge a unit right or wrong, so that two runs can be paired on them."""


def image_sums(units: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return what each image adds to each group: `by`, image_id and `IMAGE_SUMS`.

    Args:
        units: `UNIT_COLUMNS`, with decision where the stage makes one.
        by: Columns that make a group.

    Raises:
        ValueError: As `check_units`.
    """
    check_units(units)
    right = units["complex_correct"].to_numpy(dtype=bool)
    every_part = (units["n_atoms_correct"] == units["n_atoms"]).to_numpy()
    selective, selected = _decisions(units)
    parts: dict[str, Any] = {
        "n_units": np.ones(len(units), dtype=np.int64),
        "n_atomic": units["n_atoms"],
        "n_complex_correct": right,
        "n_atomic_correct": units["n_atoms_correct"],
        "n_all_atomic_correct": every_part,
        "n_joint_correct": right & every_part,
        **{name: units[name] for name in ("n_missing", "n_failed", "n_empty", "n_unparsed")},
        "n_selective": selective,
        "n_selected": selected,
        "n_selected_correct": selected & right,
    }
    keys = [*by, "image_id"]
    rows = units[keys].assign(**{name: np.asarray(part, dtype=np.int64) for name, part in parts.items()})
    return rows.groupby(keys, dropna=False, observed=True)[list(IMAGE_SUMS)].sum().reset_index()


def metrics_from_image_sums(
    sums: pd.DataFrame, by: Sequence[str], *, intervals: bool = True, metrics: Sequence[str] = tuple(METRICS)
) -> pd.DataFrame:
    """Return the table of metrics from what each image adds.

    Args:
        sums: `by`, image_id and `IMAGE_SUMS`; rows of one group and image are added up.
        by: Columns that make a row of the table; empty for one row over everything.
        intervals: False saves the resampling; all bounds are None then.
        metrics: Keys of `METRICS`; all where not said.

    Returns:
        `by`, n_units, n_atomic, n_missing, n_failed, n_empty, n_unparsed, n_images, then for
        each key M of ``metrics``: M, M_low, M_high, M_k, M_n, M_interval, as in `ratio_table`.
    """
    sums = sums.assign(
        n_inconsistent=sums["n_complex_correct"] - sums["n_joint_correct"],
        n_probes=sums["n_units"] + sums["n_atomic"],
    )
    counts = ["n_units", "n_atomic", "n_missing", "n_failed", "n_empty", "n_unparsed"]
    return ratio_table(sums, by, [METRICS[key] for key in metrics], counts=counts, intervals=intervals)


def metric_table(units: pd.DataFrame, by: Sequence[str], intervals: bool = True) -> pd.DataFrame:
    """Return the table of all metrics from a frame of unit outcomes.

    Args:
        units: `UNIT_COLUMNS`, with decision where the stage makes one.
        by: Columns that make a row of the table; empty for one row over everything.
        intervals: False saves the resampling; all bounds are None then.

    Returns:
        As `metrics_from_image_sums`.

    Raises:
        ValueError: As `check_units`.
    """
    return metrics_from_image_sums(image_sums(units, by), by, intervals=intervals)


def atom_metrics_from_image_sums(sums: pd.DataFrame, by: Sequence[str], *, intervals: bool = True) -> pd.DataFrame:
    """Return atomic accuracy by group (question class) from what each image adds.

    Args:
        sums: `by`, image_id and `ATOM_SUMS`; rows of one group and image are added up.
        by: Columns that make a row of the table; empty for one row over everything.
        intervals: False saves the resampling; all bounds are None then.

    Returns:
        `by`, n_atomic, n_missing, n_failed, n_empty, n_unparsed, n_images, then for each key M of
        `ATOM_METRICS`: M, M_low, M_high, M_k, M_n, M_interval, as in `ratio_table`. Counts and
        rates are of the group's atomic questions alone.
    """
    counts = ["n_atomic", "n_missing", "n_failed", "n_empty", "n_unparsed"]
    asked = sums.assign(n_probes=sums["n_atomic"])
    return ratio_table(asked, by, list(ATOM_METRICS.values()), counts=counts, intervals=intervals)


def compare_runs(a: pd.DataFrame, b: pd.DataFrame, metric: str = COMPLEX_ACCURACY.key) -> PairedComparison:
    """Compare two runs on the units that both hold; differences are b minus a.

    Args:
        a: `UNIT_COLUMNS` of one run (unit_id, image_id and those the metric needs).
        b: The same of the other run.
        metric: A key of `COMPARED_METRICS`.

    Raises:
        AppError: The metric does not judge single units.
        ValueError: A frame holds a unit twice, or as `check_units`.
    """
    known = [compared.key for compared in COMPARED_METRICS]
    if metric not in known:
        raise AppError(f"Two runs cannot be paired on {metric!r}.", f"Choose one of: {', '.join(known)}.")
    rights = []
    for units in (a, b):
        check_units(units)
        if units["unit_id"].duplicated().any():
            raise ValueError("a run holds each unit once: pass the rows of one run at a time")
        rights.append(pd.Series(_unit_right(units, metric), index=pd.Index(units["unit_id"])))
    shared = a[a["unit_id"].isin(b["unit_id"])]
    return compare_paired(
        rights[0].loc[shared["unit_id"]].to_numpy(dtype=bool),
        rights[1].loc[shared["unit_id"]].to_numpy(dtype=bool),
        shared["image_id"].to_numpy(),
        only_in_a=len(a) - len(shared),
        only_in_b=len(b) - len(shared),
    )


def check_units(units: pd.DataFrame) -> None:
    """Refuse a frame of unit outcomes that would make every metric after it wrong.

    Raises:
        ValueError: A unit that is neither right nor wrong (a missing value would read as
            right), has no atomic question, or more right atomic answers than questions.
    """
    if units["complex_correct"].isna().any():
        raise ValueError("complex_correct is true or false for every unit; what has no answer is wrong")
    right, asked = units["n_atoms_correct"], units["n_atoms"]
    wrong = (asked < 1) | (right < 0) | (right > asked)
    if wrong.any():
        raise ValueError(f"{int(wrong.sum())} units break 0 <= n_atoms_correct <= n_atoms, n_atoms >= 1")


def _unit_right(units: pd.DataFrame, metric: str) -> npt.NDArray[np.bool_]:
    """Return for each unit whether it counts as right under one of `COMPARED_METRICS`."""
    right = units["complex_correct"].to_numpy(dtype=bool)
    every_part = (units["n_atoms_correct"] == units["n_atoms"]).to_numpy()
    return {
        COMPLEX_ACCURACY.key: right,
        ALL_ATOMIC_ACCURACY.key: every_part,
        JOINT_ACCURACY.key: right & every_part,
    }[metric]


def _decisions(units: pd.DataFrame) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return which units stand in a run that decides, and which it decided to answer."""
    if "decision" not in units:
        none = np.zeros(len(units), dtype=bool)
        return none, none
    selective = units["decision"].notna().groupby(units["run_id"]).transform("any")
    return selective.to_numpy(dtype=bool), units["decision"].isin(["answer"]).to_numpy(dtype=bool)
