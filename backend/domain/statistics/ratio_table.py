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
import numpy.typing as npt
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
    values, spans, rows = _sums_by_cell(sums, by, cluster, columns)
    totals = np.array([values[span].sum(axis=0) for span in spans], dtype=np.int64).reshape(-1, len(columns))

    groups = sums[list(by)].iloc[rows].reset_index(drop=True)
    made: dict[str, Any] = {name: _plain(groups[name]) for name in by}
    made.update({name: totals[:, columns.index(name)] for name in counts})
    made[cluster_count] = np.array([span.stop - span.start for span in spans], dtype=np.int64)

    ratios = [Ratio(columns.index(m.numerator), columns.index(m.denominator)) for m in metrics]
    bounds = _intervals(values, spans, ratios) if intervals else [[None] * len(metrics) for _ in spans]
    for at, (metric, ratio) in enumerate(zip(metrics, ratios, strict=True)):
        k, n = totals[:, ratio.numerator], totals[:, ratio.denominator]
        found = [row[at] for row in bounds]
        key = metric.key
        made[key] = _objects([up / down if down else None for up, down in zip(k.tolist(), n.tolist(), strict=True)])
        made[f"{key}_low"] = _objects([interval.low if interval else None for interval in found])
        made[f"{key}_high"] = _objects([interval.high if interval else None for interval in found])
        made[f"{key}_k"] = k
        made[f"{key}_n"] = n
        made[f"{key}_interval"] = _objects([interval.method if interval else None for interval in found])
    return pd.DataFrame(made)


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


def _sums_by_cell(
    sums: pd.DataFrame, by: Sequence[str], cluster: str, columns: Sequence[str]
) -> tuple[npt.NDArray[np.float64], list[slice], list[int]]:
    """Add up the rows of each cell, that is of one group and cluster.

    Returns:
        The sums, shape (cells, columns), sorted by group and cluster; the cells of each group;
        and a row of ``sums`` in each group.
    """
    cell = np.zeros(len(sums), dtype=np.int64)
    n_clusters = 1
    for name in (*by, cluster):
        places, found = _places(sums[name])
        n_clusters = max(1, found)
        cell = cell * n_clusters + places
    cells, place = np.unique(cell, return_inverse=True)
    values = np.empty((len(cells), len(columns)), dtype=np.float64)
    for at, name in enumerate(columns):
        values[:, at] = np.bincount(place, weights=sums[name].to_numpy(dtype=np.float64), minlength=len(cells))
    if not by:
        return values, [slice(0, len(cells))], []
    edges = np.flatnonzero(np.diff(cells // n_clusters, prepend=-1, append=-1)) if len(cells) else np.array([], int)
    spans = [slice(int(start), int(stop)) for start, stop in pairwise(edges)]
    row_of = np.empty(len(cells), dtype=np.int64)
    row_of[place] = np.arange(len(sums))
    return values, spans, [int(row_of[span.start]) for span in spans]


def _intervals(
    values: npt.NDArray[np.float64], spans: Sequence[slice], ratios: Sequence[Ratio]
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


def _places(values: "pd.Series[Any]") -> tuple[npt.NDArray[np.int64], int]:
    """Return each value's place among the sorted distinct ones, and how many these are; None is the last.

    The order that categories come in means nothing.
    """
    codes, found = pd.factorize(values, use_na_sentinel=False)
    order, _ = pd.factorize(_plain(pd.Series(found)), sort=True, use_na_sentinel=False)
    return order[codes], len(found)


def _plain(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column of categories as the values themselves."""
    return values.astype(values.cat.categories.dtype) if isinstance(values.dtype, pd.CategoricalDtype) else values


def _objects(values: Sequence[object]) -> "pd.Series[Any]":
    """Return a column that keeps None as None."""
    return pd.Series(list(values), dtype=object)
