"""What the pages and the command line read: tables of metrics, runs, suites and units.

Each function is one question to the store, answered as a documented DataFrame or a small
dataclass. Formulas are the systems'; here they meet the store's sums.
"""

__all__ = [
    "Comparison",
    "atomic_by_class",
    "compare",
    "endoca_metrics",
    "printed_endoca",
    "run_label",
    "run_labels",
    "run_names",
    "store_summary",
]

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.records import Stage
from backend.domain.stage_words import stage_words
from backend.endoca.metrics import (
    COMPARED_METRICS,
    atom_metrics_from_image_sums,
    compare_runs,
    metrics_from_image_sums,
)
from backend.errors import AppError
from backend.store import queries
from backend.store.filters import UnitFilter
from backend.store.store import Store
from backend.verimap.setups import setting_words

if TYPE_CHECKING:
    import pandas as pd

    from backend.domain.statistics.paired_tests import PairedComparison


def store_summary(store: Store) -> tuple[str, str]:
    """Return the store's name, and in one line what is in it."""
    [(suites, units, runs, answers, verdicts)] = store.rows(
        "SELECT (SELECT count(*) FROM suites), (SELECT count(*) FROM units), (SELECT count(*) FROM runs), "
        "(SELECT count(*) FROM answers), (SELECT count(*) FROM verifications)"
    )
    if not suites:
        return store.path.name, "empty"
    counts: tuple[tuple[int, str], ...] = ((suites, "suite"), (units, "unit"), (runs, "run"), (answers, "answer"))
    if verdicts:
        counts += ((verdicts, "verdict"),)
    return store.path.name, ", ".join(f"{n:,} {word}{'' if n == 1 else 's'}" for n, word in counts)


def run_label(run: Mapping[Any, object]) -> str:
    """Return what to call a run where its suite is said elsewhere: the VLM, its setting, its stage if not direct.

    All in words: what tells alike runs apart is left to `run_labels`.
    """
    parts = [str(run["vlm"])]
    if run["setting"]:
        parts.append(setting_words(str(run["setting"])))
    if run["stage"] != Stage.DIRECT:
        parts.append(stage_words(str(run["stage"])))
    return ", ".join(parts)


def run_labels(runs: Sequence[Mapping[Any, object]]) -> list[str]:
    """Return what to call each of several runs: as `run_label`; alike ones of a suite with the hash of their ids.

    Args:
        runs: Of each run_id, suite, vlm, setting, stage.
    """
    labels = [run_label(run) for run in runs]
    alike = Counter((run["suite"], label) for run, label in zip(runs, labels, strict=True))
    return [
        f"{label}, {str(run['run_id']).rpartition('.')[2]}" if alike[run["suite"], label] > 1 else label
        for run, label in zip(runs, labels, strict=True)
    ]


def run_names(store: Store) -> dict[str, str]:
    """Return what to call each run in a sentence, by run id: its label among all, and its suite."""
    columns = ("run_id", "suite", "vlm", "setting", "stage")
    runs = [dict(zip(columns, row, strict=True)) for row in store.rows(f"SELECT {', '.join(columns)} FROM runs")]
    return {run["run_id"]: f"{label} ({run['suite']})" for run, label in zip(runs, run_labels(runs), strict=True)}


def endoca_metrics(
    store: Store, chosen: UnitFilter, by: Sequence[str] = (), *, intervals: bool = True
) -> "pd.DataFrame":
    """Return EndoCA's metrics, a row a run and group.

    With a breakdown by question class or type, units count in each group they have a part of;
    the atomic figures, and what is missing, failed, empty or unparsed, are the group's own parts.

    Args:
        store: The store.
        chosen: Which units of which runs.
        by: Further columns: complexity, split, question_class, question_type, outcome, suite, vlm_group.
        intervals: Whether to compute 95 % intervals (bootstrap clustered by image).

    Returns:
        run_id, the columns of ``by``, then as `backend.endoca.metrics.metrics_from_image_sums`.

    Raises:
        AppError: An unknown column in ``by``.
    """
    groups = ["run_id", *by]
    table = metrics_from_image_sums(queries.image_sums(store, chosen, groups), groups, intervals=intervals)
    if not {"question_class", "question_type"} & set(by):
        return table
    atoms = atom_metrics_from_image_sums(queries.atom_sums(store, chosen, groups), groups, intervals=intervals)
    own = [name for name in atoms.columns if name not in (*groups, "n_images")]
    merged = table.drop(columns=own).merge(atoms[[*groups, *own]], on=groups, how="inner", validate="one_to_one")
    return merged[list(table.columns)]


def atomic_by_class(store: Store, chosen: UnitFilter, intervals: bool = True) -> "pd.DataFrame":
    """Return atomic accuracy by run and question class.

    Returns:
        As `atom_metrics_from_image_sums`, without n_images where no intervals are wanted.
    """
    groups = ["run_id", "question_class"]
    sums = queries.atom_sums(store, chosen, groups, by_image=intervals)
    table = atom_metrics_from_image_sums(sums, groups, intervals=intervals)
    return table if intervals else table.drop(columns="n_images")


def printed_endoca(store: Store, suite: str) -> "pd.DataFrame":
    """Return a paper's printed table for a suite.

    Returns:
        One row a VLM in the printed order: vlm, vlm_group, parameters (None where not printed), n,
        source, and a column a printed metric (fractions). Empty where nothing is printed for it.
    """
    import pandas as pd

    rows = store.rows(
        "SELECT vlm, vlm_group, parameters, n, source, metric, value FROM published "
        "WHERE system = 'endoca' AND suite = ? ORDER BY rowid",
        [suite],
    )
    keys = ["vlm", "vlm_group", "parameters", "n", "source"]
    printed: dict[str, dict[str, object]] = {}
    for *about, metric, value in rows:
        printed.setdefault(about[0], dict(zip(keys, about, strict=True)))[metric] = value
    metrics = sorted({metric for *_, metric, _ in rows})
    complete = [row for row in printed.values() if "complex_accuracy" in row]
    return pd.DataFrame(complete, columns=[*keys, *metrics], dtype=object).astype(dict.fromkeys(metrics, float))


class Comparison(NamedTuple):
    """Two runs compared on the units both hold, metric by metric."""

    metric: str
    result: "PairedComparison"


def compare(store: Store, run_a: str, run_b: str, chosen: UnitFilter) -> list[Comparison]:
    """Compare two runs of one suite on the same units.

    Args:
        store: The store.
        run_a: A run's id; differences are b minus a.
        run_b: Another's.
        chosen: Which units; its own choice of runs is put aside.

    Raises:
        AppError: The two runs are the same, or of different suites.
    """
    if run_a == run_b:
        raise AppError("A run cannot be compared with itself.", "Choose two different runs.")
    units = queries.unit_outcomes(store, replace(chosen, runs=(run_a, run_b), groups=(), origins=(), outcomes=()))
    a, b = units[units["run_id"] == run_a], units[units["run_id"] == run_b]
    if not set(a["unit_id"]) & set(b["unit_id"]):
        raise AppError("The two runs share no unit.", "Choose two runs of the same suite, or clear filters.")
    return [Comparison(metric.key, compare_runs(a, b, metric.key)) for metric in COMPARED_METRICS]
