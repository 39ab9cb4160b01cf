"""Tables of shares: from what each image adds, to values with counts and intervals.

Most metrics of the three systems are a ratio of two sums over answers. They need no answers,
only the sums of each cluster (image), which the store finds by GROUP BY. `ratio_table` adds
them up within each group and resamples the clusters for the intervals.
"""

__all__ = ["RatioMetric", "estimate_of", "ratio_table"]

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from backend.domain.metric import Estimate, Metric
from backend.domain.statistics.intervals import Interval, IntervalMethod
from backend.domain.statistics.resampling import Ratio, ratio_intervals


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioMetric(Metric):
    """A metric that is one sum over another."""

    numerator: str
    """Column of sums above the line."""
    denominator: str
    """Column of sums below the line; the metric is undefined where it is 0."""


def ratio_table(
    sums: pd.DataFrame,
    by: Sequence[str],
    metrics: Sequence[RatioMetric],
    *,
    cluster: str = "image_id",
    cluster_count: str = "n_images",
    counts: Sequence[str] = (),
    intervals: bool = True,
) -> pd.DataFrame:
    """Return one row a group: counts, then each metric with its counts and interval.

    Args:
        sums: One or more rows a (group, cluster): `by`, `cluster`, `counts` and the columns
            the metrics name. Rows of one group and cluster are added up.
        by: Columns that make a group; empty for one group of everything.
        metrics: What to compute.
        cluster: Column whose values are resampled as a whole.
        cluster_count: Name of the column that says how many clusters a group has.
        counts: Columns of sums to show as they are.
        intervals: False saves the resampling; the bounds are None then.

    Returns:
        Sorted by `by`: `by`, `counts`, `cluster_count`, and for each metric with key M:
        ``M`` (fraction or None), ``M_low``, ``M_high`` (fraction or None), ``M_k``, ``M_n``
        (numerator, denominator), ``M_interval`` (an `IntervalMethod` or None). Columns that
        can be None are of dtype object and never hold NaN.
    """
    named = dict.fromkeys([*counts, *(c for m in metrics for c in (m.numerator, m.denominator))])
    columns = list(named)
    keys = [*by, cluster]
    clusters = sums.groupby(keys, dropna=False, observed=True, sort=True)[columns].sum().reset_index()
    values = clusters[columns].to_numpy(dtype=np.float64)
    spans = _group_spans(clusters, by)
    starts = [span.start for span in spans]
    totals = np.array([values[span].sum(axis=0) for span in spans], dtype=np.int64).reshape(-1, len(columns))

    table = clusters.loc[starts, list(by)].reset_index(drop=True) if by else pd.DataFrame(index=range(1))
    for name in counts:
        table[name] = totals[:, columns.index(name)]
    table[cluster_count] = np.array([span.stop - span.start for span in spans], dtype=np.int64)

    ratios = [Ratio(columns.index(m.numerator), columns.index(m.denominator)) for m in metrics]
    bounds = _intervals(values, spans, ratios) if intervals else [[None] * len(metrics) for _ in spans]
    for at, (metric, ratio) in enumerate(zip(metrics, ratios, strict=True)):
        k, n = totals[:, ratio.numerator], totals[:, ratio.denominator]
        found = [row[at] for row in bounds]
        key = metric.key
        table[key] = _objects([int(up) / int(down) if down else None for up, down in zip(k, n, strict=True)])
        table[f"{key}_low"] = _objects([interval.low if interval else None for interval in found])
        table[f"{key}_high"] = _objects([interval.high if interval else None for interval in found])
        table[f"{key}_k"] = k
        table[f"{key}_n"] = n
        table[f"{key}_interval"] = _objects([interval.method if interval else None for interval in found])
    return table


def estimate_of(row: Mapping[str, Any], key: str) -> Estimate:
    """Return a metric of one row of a `ratio_table` as an `Estimate`.

    Args:
        row: A row as a mapping, for example from ``table.to_dict("records")``.
        key: The metric's key.
    """
    method = row[f"{key}_interval"]
    return Estimate(
        value=row[key],
        low=row[f"{key}_low"],
        high=row[f"{key}_high"],
        k=int(row[f"{key}_k"]),
        n=int(row[f"{key}_n"]),
        method=None if method is None else IntervalMethod(method),
    )


def _group_spans(clusters: pd.DataFrame, by: Sequence[str]) -> list[slice]:
    """Return the rows of each group; the frame is sorted, so they lie together."""
    if not by:
        return [slice(0, len(clusters))]
    group = clusters.groupby(list(by), dropna=False, observed=True, sort=True).ngroup().to_numpy()
    edges = np.flatnonzero(np.diff(group, prepend=-1, append=-1)) if len(group) else np.array([], dtype=int)
    return [slice(int(start), int(stop)) for start, stop in pairwise(edges)]


def _intervals(
    values: np.ndarray[Any, np.dtype[np.float64]], spans: Sequence[slice], ratios: Sequence[Ratio]
) -> list[list[Interval | None]]:
    """Return the intervals of each group; groups of one size share one matrix product."""
    by_size: dict[int, list[int]] = defaultdict(list)
    for at, span in enumerate(spans):
        by_size[span.stop - span.start].append(at)
    width = values.shape[1]
    found: list[list[Interval | None]] = [[] for _ in spans]
    for members in by_size.values():
        stacked = np.hstack([values[spans[at]] for at in members])
        shifted = [
            Ratio(ratio.numerator + width * place, ratio.denominator + width * place)
            for place in range(len(members))
            for ratio in ratios
        ]
        intervals = ratio_intervals(stacked, shifted)
        for place, at in enumerate(members):
            found[at] = intervals[place * len(ratios) : (place + 1) * len(ratios)]
    return found


def _objects(values: Sequence[object]) -> "pd.Series[Any]":
    """Return a column that keeps None as None."""
    return pd.Series(list(values), dtype=object)
