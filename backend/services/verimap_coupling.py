"""Generator–verifier coupling in the store's own cells, or in those the paper prints (section 4.3, Appendix D).

Plain verdicts on first answers count. A VLM of the models is a generator verified by itself; where cross-verification
is asked for, each pair of generator and verifier. Questions without a task are left out, and counted.
"""

__all__ = [
    "CellSource",
    "CouplingCells",
    "cell_points",
    "count_fits",
    "coupling_cells",
    "fitted_line",
    "metric_fits",
    "self_cross_tests",
    "task_slopes",
    "task_tests",
]

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from backend.services.verimap_cells import verdict_table
from backend.services.verimap_published import printed_cells
from backend.store.store import Store
from backend.store.verification_filters import PAIRINGS, VerificationFilter
from backend.verimap.cell_rates import METRICS, cell_metrics
from backend.verimap.conditions import Condition
from backend.verimap.counts import Counts
from backend.verimap.coupling import CellFit, Coupling, fit_cells, fit_counts
from backend.verimap.effect_sizes import paired_difference
from backend.verimap.metrics import tally
from backend.verimap.rank_tests import Alternative, kruskal_wallis, wilcoxon_signed_rank
from backend.verimap.slopes import Slope, slopes_by
from backend.verimap.undefined_rates import Undefined
from backend.verimap.vocabulary import dataset_of_name

if TYPE_CHECKING:
    import pandas as pd

COMPARED = ("error", "fpr", "bias", "dskew")
"""Metrics in which self- and cross-verification are compared (Fig. 6)."""

_STEPS = 40
"""Pieces of a drawn line."""
_SELF_CROSS = [
    "metric", "hypothesis", "n_pairs", "n_equal", "n_undefined", "p", "exact", "mean", "d_paired", "d_pooled",
]  # fmt: skip
_CELL = ["run_id", "suite", "task", "generator", "verifier"]


class CellSource(StrEnum):
    """Where cells come from."""

    STORE = "store"
    PRINTED = "printed"


@dataclass(frozen=True, slots=True)
class CouplingCells:
    """Cells and what was left out of them."""

    table: "pd.DataFrame"
    """One row a cell: task, model, dataset, generator_accuracy, fpr, fnr (percent, NaN where undefined);
    generator and verifier; suite, n, tp, tn, fp, fn (of printed ones suite and n are None, and there are no counts)."""
    n_unlabelled: int
    """Verdicts on questions without a task."""


def coupling_cells(store: Store, chosen: VerificationFilter, source: CellSource) -> CouplingCells:
    """Return the cells that coupling is fitted to.

    Args:
        store: The store.
        chosen: Which verifications; turns, conditions and outcomes are put aside. Of the printed cells it leaves those
            of its tasks alone.
        source: Whose cells.
    """
    import pandas as pd

    if source is CellSource.PRINTED:
        printed = printed_cells().drop(columns="verifier_accuracy")
        vlms = {"generator": printed["model"], "verifier": printed["model"]}
        return CouplingCells(printed.assign(**vlms, suite=None, n=None), 0)
    sums, n_unlabelled = _first_verdicts(store, chosen)
    rows = []
    for row in sums.to_dict("records"):
        counts = Counts(*(int(row[name]) for name in ("tp", "tn", "fp", "fn")))
        if counts.n:
            rows.append(
                {
                    "task": row["task"],
                    "model": _model_name(row),
                    "dataset": known.label if (known := dataset_of_name(row["suite"])) else row["suite"],
                    "generator_accuracy": 100 * counts.n_right / counts.n,
                    "fpr": _in_percent(counts.fpr),
                    "fnr": _in_percent(counts.fnr),
                    "n": counts.n,
                    "tp": counts.tp,
                    "tn": counts.tn,
                    "fp": counts.fp,
                    "fn": counts.fn,
                    **{name: row[name] for name in ("suite", "generator", "verifier")},
                }
            )
    columns = [
        "task", "model", "dataset", "generator_accuracy", "fpr", "fnr", "n", "tp", "tn", "fp", "fn", "suite",
        "generator", "verifier",
    ]  # fmt: skip
    return CouplingCells(pd.DataFrame(rows, columns=columns), n_unlabelled)


def cell_points(cells: CouplingCells, undefined: Undefined) -> "pd.DataFrame":
    """Return the cells with their metrics as fractions, None where undefined: the points of Fig. B1.

    Returns:
        task, model, dataset, n and suite (None where printed), generator, verifier, p_g and `cell_rates.METRICS`.
    """
    table = cell_metrics(cells.table, undefined)
    names = ["task", "model", "dataset", "n", "suite", "generator", "verifier", "p_g", *METRICS]
    return table[names].astype(object).where(table[names].notna(), None)


def metric_fits(cells: CouplingCells, undefined: Undefined) -> dict[str, CellFit]:
    """Return the cell-level mixed model of each metric; empty without a cell."""
    return fit_cells(cells.table, undefined) if len(cells.table) else {}


def fitted_line(fit: CellFit, low: float, high: float) -> list[tuple[float, float, float, float]]:
    """Return the population's line with its 95 % band (Fig. B1): generator error, value, lower and upper bound.

    Args:
        fit: One that converged; any other has no line.
        low: Least generator error.
        high: Largest.
    """
    found = fit.fit.estimates
    if found is None:
        return []
    steps = [low + (high - low) * step / _STEPS for step in range(_STEPS + 1)]
    line = [(x, found.predicted(x)) for x in steps]
    return [(x, at.value, at.low, at.high) for x, at in line]


def task_slopes(cells: CouplingCells, undefined: Undefined) -> dict[str, dict[str, Slope | None]]:
    """Return the least-squares slope of each metric on the generator's error, by metric and task (Fig. 4)."""
    table = cell_metrics(cells.table, undefined)
    return {metric: slopes_by(table, metric) for metric in METRICS}


def count_fits(cells: CouplingCells) -> Coupling | None:
    """Return the answer-level models M0, M1 and M2; None without a verdict, as of printed cells.

    A verifier error is a false acceptance of a wrong answer, or a false rejection of a right one.
    """
    import pandas as pd

    table = cells.table
    if table.empty or table["n"].isna().any():
        return None
    about = table[["task", "model", "dataset"]]
    wrong = about.assign(gen_err=1, ver_err=table["fp"], n=table["fp"] + table["tn"])
    right = about.assign(gen_err=0, ver_err=table["fn"], n=table["fn"] + table["tp"])
    return fit_counts(pd.concat([wrong, right], ignore_index=True))


def self_cross_tests(store: Store, chosen: VerificationFilter) -> "pd.DataFrame":
    """Return whether self-verification errs and leans more than cross-verification (section 4.5).

    A pair is one generator's answers to one task of one data set: its own cell, and the unweighted mean of the cells of
    all other verifiers of those answers, undefined ones left out.

    Returns:
        One row a metric of `COMPARED`: metric, hypothesis, n_pairs, n_equal, n_undefined, p (Wilcoxon's, one-sided),
        exact, mean (self − cross), d_paired, d_pooled (None where undefined). Empty without a pair.
    """
    import pandas as pd

    sums, _ = _first_verdicts(store, replace(chosen, pairing="", verifiers=()))
    asked = set(chosen.verifiers)
    own: dict[tuple[Any, ...], list[Counts]] = {}
    others: dict[tuple[Any, ...], list[Counts]] = {}
    for row in sums.to_dict("records"):
        counts = Counts(*(int(row[name]) for name in ("tp", "tn", "fp", "fn")))
        key = (row["suite"], row["task"], row["generator"])
        if row["generator"] == row["verifier"]:
            own.setdefault(key, []).append(counts)
        elif not asked or row["verifier"] in asked:
            others.setdefault(key, []).append(counts)
    keys = [key for key in own if key in others]
    rows = []
    for metric in COMPARED if keys else ():
        first = [_mean(own[key], metric) for key in keys]
        second = [_mean(others[key], metric) for key in keys]
        test = wilcoxon_signed_rank(first, second, names=("self", "cross"), alternative=Alternative.GREATER)
        effect = paired_difference(first, second)
        if test is not None:
            rows.append(
                {
                    "metric": metric,
                    "hypothesis": test.hypothesis,
                    "n_pairs": test.n_pairs,
                    "n_equal": test.n_equal,
                    "n_undefined": test.n_undefined,
                    "p": test.p,
                    "exact": test.exact,
                    "mean": effect.mean if effect else None,
                    "d_paired": effect.d_paired if effect else None,
                    "d_pooled": effect.d_pooled if effect else None,
                }
            )
    columns = [
        "metric",
        "hypothesis",
        "n_pairs",
        "n_equal",
        "n_undefined",
        "p",
        "exact",
        "mean",
        "d_paired",
        "d_pooled",
    ]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def task_tests(cells: CouplingCells, undefined: Undefined) -> "pd.DataFrame":
    """Return whether cells differ between tasks, by Kruskal and Wallis' test.

    Returns:
        One row a metric: metric, hypothesis, n (cells), n_tasks, statistic, df, p. Empty with fewer than two tasks.
    """
    import pandas as pd

    table = cell_metrics(cells.table, undefined)
    rows = []
    for metric in METRICS:
        groups = {str(task): part[metric].tolist() for task, part in table.groupby("task")}
        test = kruskal_wallis(groups)
        if test is not None:
            rows.append(
                {
                    "metric": metric,
                    "hypothesis": test.hypothesis,
                    "n": sum(test.groups.values()),
                    "n_tasks": len(test.groups),
                    "statistic": test.statistic,
                    "df": test.df,
                    "p": test.p,
                }
            )
    return pd.DataFrame(rows, columns=["metric", "hypothesis", "n", "n_tasks", "statistic", "df", "p"], dtype=object)


def _first_verdicts(store: Store, chosen: VerificationFilter) -> tuple["pd.DataFrame", int]:
    """Return the counts of each run and task, and how many verdicts are on questions without a task."""
    verdicts = verdict_table(store, replace(chosen, turns=(0,), runs=(), loop="", fates=()))
    verdicts = verdicts[verdicts["condition"] == Condition.PLAIN.value]
    own = (verdicts["generator"].astype(object) == verdicts["verifier"].astype(object)).to_numpy()
    if chosen.pairing in PAIRINGS:
        verdicts = verdicts[own if chosen.pairing == "self" else ~own]
    labelled = verdicts["task"].notna().to_numpy()
    judged = verdicts["oracle_correct"].notna().to_numpy()
    sums = tally(verdicts[labelled], _CELL, chosen.policy)
    added = sums.groupby(_CELL, observed=True)[["tp", "tn", "fp", "fn"]].sum().reset_index()
    return added.astype(dict.fromkeys(_CELL, object)), int((~labelled & judged).sum())


def _model_name(row: Mapping[Any, Any]) -> str:
    is_self = row["generator"] == row["verifier"]
    return str(row["generator"]) if is_self else f"{row['generator']} by {row['verifier']}"


def _mean(cells: list[Counts], metric: str) -> float | None:
    values = [value for value in (getattr(counts, metric) for counts in cells) if value is not None]
    return sum(values) / len(values) if values else None


def _in_percent(share: float | None) -> float:
    return float("nan") if share is None else 100 * share
