"""The VeriMap metrics: how well a verifier tells right answers from wrong ones, and which way it leans.

Everything is made of four counts (`Counts`), and the counts of the outcomes of single verdicts.
Verdicts that a policy drops, and answers the oracle has not judged, are counted apart and never
enter a rate. Shares have Wilson intervals; Bias and dSkew, which are no shares of counted things,
and all differences have intervals by resampling whole images.
"""

__all__ = ["METRICS", "SIGNED_METRICS", "Difference", "differences", "score_table", "tally"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from backend.domain.metric import Metric
from backend.domain.statistics.intervals import Interval, wilson_interval
from backend.domain.statistics.resampling import percentile_interval, resampled_sums
from backend.verimap.counts import Counts
from backend.verimap.outcomes import Policy, Treatment
from backend.verimap.verifier import Verdict

METRICS: dict[str, Metric] = {
    metric.key: metric
    for metric in (
        Metric(
            key="accuracy",
            label="Verifier accuracy",
            term="Acc",
            plain="verdicts that agree with the reference",
            formula="(TP + TN) / N",
            higher_is_better=True,
            undefined_when="there are no verdicts",
        ),
        Metric(
            key="error",
            label="Verifier error",
            term="1 − Acc",
            plain="verdicts that part from the reference",
            formula="(FP + FN) / N",
            higher_is_better=False,
            undefined_when="there are no verdicts",
        ),
        Metric(
            key="fpr",
            label="FPR",
            term="false-positive rate",
            plain="wrong answers that the verifier accepts",
            formula="FP / (FP + TN)",
            higher_is_better=False,
            undefined_when="no answer is wrong",
        ),
        Metric(
            key="fnr",
            label="FNR",
            term="false-negative rate",
            plain="right answers that the verifier rejects",
            formula="FN / (FN + TP)",
            higher_is_better=False,
            undefined_when="no answer is right",
        ),
        Metric(
            key="bias",
            label="Bias",
            term="Bias",
            plain="how much more often the verifier wrongly accepts than wrongly rejects",
            formula="(FP − FN) / N",
            higher_is_better=False,
            undefined_when="there are no verdicts",
        ),
        Metric(
            key="dskew",
            label="dSkew",
            term="dSkew",
            plain="how one-sided the verifier's mistakes are, to whichever side",
            formula="(FP − FN)² / (N (FP + FN) − 2 FP FN)",
            higher_is_better=False,
            undefined_when="no verdict is wrong",
        ),
        Metric(
            key="signed_dskew",
            label="Signed dSkew",
            term="sign(Bias) × dSkew",
            plain="how one-sided the verifier's mistakes are; above 0 they are acceptances",
            formula="sign(FP − FN) × dSkew",
            higher_is_better=False,
            undefined_when="no verdict is wrong",
        ),
        Metric(
            key="generator_error",
            label="Generator error",
            term="p_g",
            plain="answers that are wrong, among those verified",
            formula="(FP + TN) / N",
            higher_is_better=False,
            undefined_when="there are no verdicts",
        ),
    )
}
"""All VeriMap metrics by key, in the order of the tables."""

SIGNED_METRICS = ("bias", "signed_dskew")
"""Metrics in [-1, 1], best at 0; the others are in [0, 1]."""

_CELLS = ("tp", "tn", "fp", "fn")
_APART = ("n_dropped", "n_uncertain", "n_unparsed", "n_unjudged")
_SHARES: dict[str, Callable[[Counts], tuple[int, int]]] = {
    "accuracy": lambda c: (c.tp + c.tn, c.n),
    "error": lambda c: (c.n_errors, c.n),
    "fpr": lambda c: (c.fp, c.n_wrong),
    "fnr": lambda c: (c.fn, c.n_right),
    "generator_error": lambda c: (c.n_wrong, c.n),
}
"""Metrics that are shares of verdicts: numerator and denominator."""

Floats = npt.NDArray[np.float64]


def tally(records: pd.DataFrame, by: Sequence[str], policy: Policy, *, cluster: str = "image_id") -> pd.DataFrame:
    """Return how many verdicts of each outcome each image adds to each group.

    Args:
        records: One row a verification: ``by``, ``cluster``, ``oracle_correct`` (bool, None where
            the answer has not been judged) and ``verdict`` (a `Verdict`'s value, None for a reply
            without one). A row without a cluster stands alone.
        by: Columns that make a group; None is a value like any other.
        policy: What to make of UNCERTAIN and unparsed replies.
        cluster: Column of images.

    Returns:
        One row a (group, cluster): ``by``, ``cluster``, tp, tn, fp, fn; n_uncertain and n_unparsed
        (verdicts of either kind, whatever becomes of them), n_dropped (those of them that the policy
        drops), n_unjudged (all rows without an oracle's word; they are in none of the others).

    Raises:
        ValueError: A verdict is none of the three.
    """
    said = records["verdict"]
    unparsed = said.isna().to_numpy()
    unknown = set(said[~unparsed]) - set(Verdict)
    if unknown:
        raise ValueError(f"no verdicts: {', '.join(sorted(map(str, unknown)))}")
    judged = records["oracle_correct"].notna().to_numpy()
    right = records["oracle_correct"].fillna(False).astype(bool).to_numpy()
    accepted = (said == Verdict.CORRECT).to_numpy()
    uncertain = (said == Verdict.UNCERTAIN).to_numpy()
    dropped = np.zeros(len(records), dtype=bool)
    for which, treatment in ((uncertain, policy.uncertain), (unparsed, policy.unparsed)):
        if treatment is Treatment.DROP:
            dropped |= which
    counted = judged & ~dropped
    marks = {
        "tp": counted & right & accepted,
        "tn": counted & ~right & ~accepted,
        "fp": counted & ~right & accepted,
        "fn": counted & right & ~accepted,
        "n_dropped": judged & dropped,
        "n_uncertain": judged & uncertain,
        "n_unparsed": judged & unparsed,
        "n_unjudged": ~judged,
    }
    frame = records[[*by, cluster]].copy()
    alone = frame[cluster].isna().to_numpy()
    frame[cluster] = [
        f"\x00{place}" if single else value
        for place, (single, value) in enumerate(zip(alone, frame[cluster].tolist(), strict=True))
    ]
    for name, mark in marks.items():
        frame[name] = mark.astype(np.int64)
    return frame.groupby([*by, cluster], sort=True, dropna=False, observed=True).sum().reset_index()


def score_table(
    sums: pd.DataFrame, by: Sequence[str], *, cluster: str = "image_id", intervals: bool = True
) -> pd.DataFrame:
    """Return the metrics of each group.

    Args:
        sums: From `tally`, or summed alike by the store.
        by: Columns that make a group; empty for one group of everything.
        cluster: Column of images.
        intervals: False leaves the bounds None.

    Returns:
        Sorted by ``by``: ``by``, n (verdicts counted), n_images, n_dropped, n_uncertain, n_unparsed,
        n_unjudged, tp, tn, fp, fn; then each of `METRICS` (None where undefined) with ``…_low`` and
        ``…_high``. Shares have ``…_k``, ``…_n`` and ``…_interval`` besides, as `estimate_of` reads
        them, and Wilson intervals; bias, dskew and signed_dskew have percentiles over resampled
        images, and none where resampling cannot vary. Columns that can be None are of dtype object.
    """
    added = sums.groupby([*by, cluster], sort=True, dropna=False, observed=True)[[*_CELLS, *_APART]].sum().reset_index()
    spans = [slice(0, len(added))]
    if by:
        place = added.groupby(list(by), sort=False, dropna=False, observed=True).ngroup().to_numpy()
        edges = np.flatnonzero(np.diff(place, prepend=-1, append=-1)).tolist()
        spans = [slice(start, stop) for start, stop in pairwise(edges)]
    values = added[[*_CELLS, *_APART]].to_numpy(dtype=np.int64)
    named = {name: added[name].tolist() for name in by}
    rows = [
        {
            **{name: None if pd.isna(named[name][span.start]) else named[name][span.start] for name in by},
            **_row(values[span], intervals),
        }
        for span in spans
    ]
    return pd.DataFrame(rows, columns=[*by, *_COLUMNS], dtype=object)


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of two verifiers, and by how much they part."""

    key: str
    """Key of the metric."""
    a: float | None
    b: float | None
    difference: float | None
    """b - a; None where either is undefined."""
    low: float | None
    """Lower 95 % bound, images resampled for both together; None where resampling cannot vary."""
    high: float | None
    """Upper 95 % bound."""
    n_a: int
    """Verdicts of a."""
    n_b: int
    """Verdicts of b."""
    n_images: int
    """Images of either, each resampled as a whole."""


def differences(a: pd.DataFrame, b: pd.DataFrame, *, cluster: str = "image_id") -> dict[str, Difference]:
    """Compare two verifiers, for example self- with cross-verification of the same answers.

    An image that only one of them has seen stays in: it is resampled too, and adds nothing to the
    other. What a resample leaves undefined on either side is left out.

    Args:
        a: From `tally`, of one group.
        b: The same of another group.
        cluster: Column of images.

    Returns:
        A difference for each of `METRICS`, by key.
    """
    sums = [frame.groupby(cluster, dropna=False)[list(_CELLS)].sum() for frame in (a, b)]
    images = sums[0].index.union(sums[1].index)
    both = np.hstack([part.reindex(images, fill_value=0).to_numpy(dtype=np.float64) for part in sums])
    totals = [Counts(*(int(total) for total in part.sum())) for part in sums]
    resampled = resampled_sums(both) if len(images) > 1 else None
    found: dict[str, Difference] = {}
    for key in METRICS:
        one, two = (getattr(counts, key) for counts in totals)
        defined = one is not None and two is not None
        interval = None
        if defined and resampled is not None:
            interval = percentile_interval(_resampled(resampled[:, 4:], key) - _resampled(resampled[:, :4], key))
        low, high = _bounds(interval)
        found[key] = Difference(
            key=key,
            a=one,
            b=two,
            difference=two - one if defined else None,
            low=low,
            high=high,
            n_a=totals[0].n,
            n_b=totals[1].n,
            n_images=len(images),
        )
    return found


def _row(by_image: npt.NDArray[np.int64], intervals: bool) -> dict[str, Any]:
    """Return the counts and metrics of one group.

    Args:
        by_image: Shape (images, counts): `_CELLS`, then `_APART`.
        intervals: False leaves the bounds None.
    """
    totals = dict(zip((*_CELLS, *_APART), by_image.sum(axis=0).tolist(), strict=True))
    counts = Counts(*(totals[cell] for cell in _CELLS))
    row: dict[str, Any] = {"n": counts.n, "n_images": len(by_image), **totals}
    several = intervals and len(by_image) > 1
    resampled = resampled_sums(by_image[:, : len(_CELLS)]) if several else None
    for key in METRICS:
        value: float | None = getattr(counts, key)
        interval: Interval | None = None
        if key in _SHARES:
            k, n = _SHARES[key](counts)
            interval = wilson_interval(value, n) if intervals and value is not None else None
            row |= {f"{key}_k": k, f"{key}_n": n, f"{key}_interval": interval.method if interval else None}
        elif value is not None and resampled is not None:
            interval = percentile_interval(_resampled(resampled, key))
        row[key] = value
        row[f"{key}_low"], row[f"{key}_high"] = _bounds(interval)
    return row


def _resampled(totals: Floats, key: str) -> Floats:
    """Return a metric of each resample.

    Args:
        totals: Shape (resamples, 4): tp, tn, fp, fn.
        key: Of the metric.

    Returns:
        Shape (resamples,); NaN, as `percentile_interval` takes it, where it is undefined.
    """
    tp, tn, fp, fn = totals.T
    n, wrong = tp + tn + fp + fn, fp + fn
    if key in ("dskew", "signed_dskew"):
        skew = _quotient((fp - fn) ** 2, n * wrong - 2 * fp * fn)
        return skew if key == "dskew" else np.sign(fp - fn) * skew
    parts = {
        "accuracy": (tp + tn, n),
        "error": (wrong, n),
        "fpr": (fp, fp + tn),
        "fnr": (fn, fn + tp),
        "bias": (fp - fn, n),
        "generator_error": (fp + tn, n),
    }
    return _quotient(*parts[key])


def _quotient(part: Floats, whole: Floats) -> Floats:
    quotient = np.full(len(whole), np.nan)
    np.divide(part, whole, out=quotient, where=whole > 0)
    return quotient


def _bounds(interval: Interval | None) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if interval else (None, None)


def _columns_of(key: str) -> tuple[str, ...]:
    endings = ("", "_low", "_high", "_k", "_n", "_interval") if key in _SHARES else ("", "_low", "_high")
    return tuple(f"{key}{ending}" for ending in endings)


_COLUMNS = ("n", "n_images", *_APART, *_CELLS, *(column for key in METRICS for column in _columns_of(key)))
