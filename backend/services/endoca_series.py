"""EndoCA's VLMs side by side: runs in the store and the papers' printed tables, never pooled.

A *series* is what one figure draws as one thing: a run, or a VLM's printed row. Both stand in
one table with their origin, so that every figure and table of a page tells them apart alike.
"""

__all__ = [
    "BLIND",
    "MOST_UNANSWERED",
    "BlindFinding",
    "Choices",
    "PrintedShift",
    "SuiteFacts",
    "about_runs",
    "blind_finding",
    "choices",
    "complexity_table",
    "endoca_suites",
    "group_table",
    "lacks_answers",
    "of_questions",
    "outcome_table",
    "printed_shift",
    "records",
    "runs_of",
    "series_table",
    "suite_facts",
    "vlm_places",
]

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.records import LIVE_SUITE, Origin, System
from backend.endoca.metrics import metrics_from_image_sums
from backend.endoca.outcomes import Outcome
from backend.services.explore import printed_endoca, run_label
from backend.store import queries
from backend.store.filters import UnitFilter
from backend.store.store import Store

if TYPE_CHECKING:
    import pandas as pd

BLIND = "blind"
"""Group of the baseline that answers without looking."""

MOST_UNANSWERED = 0.05
"""A run with a larger share of missing or failed answers is told apart: its scores say as much about its file."""

LEVEL_METRICS = ("complex_accuracy", "all_atomic_accuracy")
"""What is shown by complexity."""

_ABOUT = ["series", "run_id", "suite", "stage", "label", "vlm", "vlm_group", "origin", "place", "source"]


def vlm_places(store: Store) -> dict[str, int]:
    """Return each VLM's place in the store: printed ones as printed, then by first import.

    A VLM keeps its place when others are imported later, and so its colour. The blind baseline
    is no VLM and has none.
    """
    rows = store.rows(
        "SELECT vlm FROM (SELECT vlm, 0 AS kind, min(rowid) AS place FROM published GROUP BY vlm UNION ALL "
        "SELECT vlm, 1, row_number() OVER (ORDER BY min(created_at), vlm) FROM runs "
        "WHERE coalesce(vlm_group, '') <> ? GROUP BY vlm) ORDER BY kind, place",
        [BLIND],
    )
    return {vlm: place for place, vlm in enumerate(dict.fromkeys(row[0] for row in rows))}


def endoca_suites(store: Store) -> list[str]:
    """Return the suites with units or printed figures: those with units first, that of live questions last."""
    rows = store.rows(
        "SELECT suite, min(kind) AS kind FROM (SELECT suite, 0 AS kind FROM suites WHERE system = 'endoca' "
        "UNION ALL SELECT DISTINCT suite, 1 FROM published WHERE system = 'endoca') GROUP BY suite "
        "ORDER BY suite = ?, kind, suite",
        [LIVE_SUITE],
    )
    return [row[0] for row in rows]


class Choices(NamedTuple):
    """What a suite offers to choose from, each sorted."""

    splits: tuple[str, ...]
    complexities: tuple[int, ...]
    classes: tuple[str, ...]
    groups: tuple[str, ...]
    """VLM groups of its runs and printed rows."""
    origins: tuple[str, ...]
    """Origins of its runs, and ``published`` where it has printed rows."""


def choices(store: Store, suite: str) -> Choices:
    """Return what there is to choose from in a suite."""
    listed = (
        "SELECT DISTINCT split FROM units WHERE suite = $suite ORDER BY ALL",
        "SELECT DISTINCT complexity FROM units WHERE suite = $suite ORDER BY ALL",
        "SELECT DISTINCT unnest(question_classes) AS class FROM units WHERE suite = $suite ORDER BY ALL",
        "SELECT vlm_group FROM runs WHERE suite = $suite AND vlm_group IS NOT NULL UNION "
        "SELECT vlm_group FROM published WHERE suite = $suite AND vlm_group IS NOT NULL ORDER BY ALL",
        "SELECT origin FROM runs WHERE suite = $suite UNION "
        f"SELECT '{Origin.PUBLISHED}' FROM published WHERE suite = $suite ORDER BY ALL",
    )
    return Choices(*(tuple(row[0] for row in store.rows(sql, {"suite": suite})) for sql in listed))


def of_questions(chosen: UnitFilter) -> UnitFilter:
    """Return the part of a filter that does not look at the answers.

    A score over units that were chosen by how they were answered says nothing, so figures rest
    on this; only lists of cases follow the whole filter.
    """
    return replace(
        chosen, outcomes=(), statuses=(), text="", right="", wrong="", part_wrong=False, decision="", consistency="",
        moved="",
    )  # fmt: skip


def series_table(store: Store, chosen: UnitFilter) -> "pd.DataFrame":
    """Return the scores of a suite's runs and of its printed table.

    Printed rows describe a whole suite, so they are left out where the filter takes a part of
    it (split, complexity, class).

    Args:
        store: The store.
        chosen: A suite and what else is chosen; conditions on answers are put aside.

    Returns:
        One row a series, runs first, printed rows after them as printed: series (its key), run_id
        (None: printed), suite, label, vlm, vlm_group (None: not known), origin, place (the VLM's
        place in `vlm_places`; −1 for the blind baseline), source, the columns of
        `metrics_from_image_sums`, and consistency, 1 − inconsistency. A printed row has the printed
        values, n_printed (questions, complex and atomic), and no units, counts or bounds.
    """
    import pandas as pd

    questions = of_questions(chosen)
    runs = _with_consistency(metrics_from_image_sums(queries.image_sums(store, questions, ["run_id"]), ["run_id"]))
    series = about_runs(store).merge(runs, on="run_id")
    printed = _printed(store, questions)
    if printed.empty:
        return series
    both = pd.concat([series.astype(object), printed.astype(object)], ignore_index=True)
    return _none_for_missing(both).astype({"place": int})


def complexity_table(store: Store, chosen: UnitFilter, run_ids: tuple[str, ...]) -> "pd.DataFrame":
    """Return complex and all-atomic accuracy of some runs by complexity.

    Returns:
        One row a run and complexity: the run's columns as in `series_table`, complexity, and of
        `metrics_from_image_sums` the counts and the columns of these two metrics.
    """
    by = ["run_id", "complexity"]
    sums = queries.image_sums(store, replace(of_questions(chosen), runs=run_ids), by)
    scores = metrics_from_image_sums(sums, by, metrics=LEVEL_METRICS)
    return about_runs(store).merge(scores, on="run_id")


def group_table(store: Store, chosen: UnitFilter) -> "pd.DataFrame":
    """Return the scores of VLM groups, all answers of a group's runs taken together, each origin apart.

    Returns:
        One row an origin and group: origin, vlm_group ("not known" where it is not), run_ids (a
        tuple), n_runs, and the columns of `metrics_from_image_sums`. Printed rows have no answers
        and are not in it.
    """
    import pandas as pd

    keys = ["origin", "vlm_group"]
    questions = of_questions(chosen)
    sums = queries.image_sums(store, questions, keys)
    table = metrics_from_image_sums(sums, keys)
    members = queries.run_groups(store, questions)
    found: dict[tuple[str, str], tuple[str, ...]] = {
        (str(origin), str(group)): tuple(rows["run_id"]) for (origin, group), rows in members.groupby(keys)
    }
    run_ids = [found[origin, group] for origin, group in zip(table["origin"], table["vlm_group"], strict=True)]
    table.insert(2, "run_ids", pd.Series(run_ids, index=table.index, dtype=object))
    table.insert(3, "n_runs", [len(ids) for ids in run_ids])
    return table


def lacks_answers(row: Mapping[str, Any]) -> bool:
    """Return whether more than `MOST_UNANSWERED` of a run's answers are missing or failed; never of a printed row."""
    if row["run_id"] is None:
        return False
    return bool(row["n_missing"] + row["n_failed"] > MOST_UNANSWERED * (row["n_units"] + row["n_atomic"]))


class BlindFinding(NamedTuple):
    """The blind baseline beside the best VLM, by joint accuracy."""

    baseline: Mapping[str, Any]
    """The baseline's row of `series_table`."""
    best: Mapping[str, Any] | None
    """The row of the best VLM among runs and printed rows; None where there is none."""

    @property
    def beats_all(self) -> bool:
        """Whether not looking is better than every VLM here."""
        return self.best is not None and bool(self.baseline["joint_accuracy"] > self.best["joint_accuracy"])


def blind_finding(series: Sequence[Mapping[str, Any]]) -> BlindFinding | None:
    """Return how the blind baseline compares in rows of `series_table`; None where the suite has no such run."""
    known = [row for row in series if row["joint_accuracy"] is not None]
    baselines = [row for row in known if row["vlm_group"] == BLIND]
    vlms = [row for row in known if row["vlm_group"] != BLIND]
    if not baselines:
        return None
    return BlindFinding(baselines[0], max(vlms, key=lambda row: row["joint_accuracy"], default=None))


class PrintedShift(NamedTuple):
    """The printed VLM whose atomic accuracy differs most between two printed suites."""

    vlm: str
    suites: tuple[str, str]
    values: tuple[float, float]
    next_largest: float
    """The largest difference of any other VLM, without sign."""


def printed_shift(store: Store) -> PrintedShift | None:
    """Return the largest change of printed atomic accuracy between the two printed suites.

    None where not exactly two suites are printed, or fewer than two VLMs stand in both.
    """
    rows = store.rows(
        "SELECT vlm, suite, value FROM published WHERE system = 'endoca' AND metric = 'atomic_accuracy' ORDER BY rowid"
    )
    suites = list(dict.fromkeys(suite for _, suite, _ in rows))
    if len(suites) != 2:
        return None
    first, second = ({vlm: value for vlm, suite, value in rows if suite == wanted} for wanted in suites)
    moved = sorted((vlm for vlm in first if vlm in second), key=lambda vlm: abs(second[vlm] - first[vlm]), reverse=True)
    if len(moved) < 2:
        return None
    most, other = moved[:2]
    values = (first[most], second[most])
    return PrintedShift(most, (suites[0], suites[1]), values, abs(second[other] - first[other]))


class SuiteFacts(NamedTuple):
    """What a suite is made of, where that bounds what its figures can say."""

    n_units: int
    n_one_part: int
    """Units with one atomic question: complex and atomic ask the same in other words."""
    n_train: int
    """Units whose split is ``train``; an adapted VLM may have seen them."""
    n_atomic: int
    n_distinct_atomic: int
    """Atomic questions that differ in image or words; the rest asks again."""


def suite_facts(store: Store, suite: str) -> SuiteFacts:
    """Return what a suite is made of; all zero for a suite without units."""
    [units] = store.rows(
        "SELECT count(*), count(*) FILTER (complexity = 1), count(*) FILTER (split = 'train') "
        "FROM units WHERE suite = ?",
        [suite],
    )
    [atomic] = store.rows(
        "SELECT count(*), count(DISTINCT (u.image_id, p.question)) FROM probes p JOIN units u USING (unit_id) "
        "WHERE u.suite = ? AND p.role = 'atomic'",
        [suite],
    )
    return SuiteFacts(*units, *atomic)


def outcome_table(store: Store, chosen: UnitFilter) -> "pd.DataFrame":
    """Return what became of the units of each run.

    Args:
        store: The store.
        chosen: A suite and what else is chosen; conditions on answers are put aside.

    Returns:
        One row a run and outcome that occurs: the run's columns as in `series_table`,
        outcome, plain (the outcome in words), n_units, n_total (units of the run).
    """
    counts = queries.outcome_counts(store, of_questions(chosen))
    counts["n_total"] = counts.groupby("run_id")["n_units"].transform("sum")
    counts["plain"] = [Outcome(outcome).plain for outcome in counts["outcome"]]
    return about_runs(store).merge(counts, on="run_id")


def runs_of(store: Store, suite: str) -> list[dict[str, Any]]:
    """Return a suite's runs as in `series_table`, without their metrics."""
    about = about_runs(store)
    return records(about[about["suite"] == suite])


def records(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows of a table as mappings by column name, with plain Python values."""
    names = [str(name) for name in table.columns]
    rows = zip(*(table[name].tolist() for name in table.columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def about_runs(store: Store, system: System = System.ENDOCA) -> "pd.DataFrame":
    """Return one row a system's run with what `series_table` says about it, the blind baselines' last."""
    import pandas as pd

    rows = store.rows(
        "SELECT run_id, suite, vlm, vlm_group, setting, stage, prompt_version, origin, source FROM runs "
        "WHERE system = $system ORDER BY coalesce(vlm_group, '') = $blind, suite, vlm, stage, run_id",
        {"system": system, "blind": BLIND},
    )
    names = ("run_id", "suite", "vlm", "vlm_group", "setting", "stage", "prompt_version", "origin", "source")
    runs = [dict(zip(names, row, strict=True)) for row in rows]
    alike = Counter((run["suite"], run_label(run)) for run in runs)
    places = vlm_places(store)
    for run in runs:
        label = run_label(run)
        told = f" ({run['origin']}, prompt {run['prompt_version']})" if alike[run["suite"], label] > 1 else ""
        run |= {"series": run["run_id"], "label": label + told, "place": places.get(run["vlm"], -1)}
    return pd.DataFrame(runs, columns=_ABOUT, dtype=object).astype({"place": int})


def _printed(store: Store, questions: UnitFilter) -> "pd.DataFrame":
    """Return the printed rows as series; none where the filter takes a part of the suite, or other origins."""
    printed = printed_endoca(store, questions.suite)
    unwanted = questions.origins and Origin.PUBLISHED not in questions.origins
    if printed.empty or unwanted or questions.splits or questions.complexities or questions.classes:
        return printed.iloc[:0]
    if questions.groups:
        printed = printed[printed["vlm_group"].isin(questions.groups)]
    places = vlm_places(store)
    return printed.rename(columns={"n": "n_printed"}).assign(
        series=[f"printed.{vlm}" for vlm in printed["vlm"]],
        run_id=None,
        suite=questions.suite,
        label=[f"{vlm}, printed" for vlm in printed["vlm"]],
        origin=Origin.PUBLISHED.value,
        place=[places.get(vlm, -1) for vlm in printed["vlm"]],
        consistency=1 - printed["inconsistency"],
    )


def _with_consistency(table: "pd.DataFrame") -> "pd.DataFrame":
    """Add consistency, 1 − inconsistency, with its bounds turned round."""
    import pandas as pd

    turned = {"": "", "_low": "_high", "_high": "_low"}
    columns = {
        f"consistency{bound}": pd.Series(
            [None if value is None else 1 - value for value in table[f"inconsistency{other}"]],
            index=table.index,
            dtype=object,
        )
        for bound, other in turned.items()
    }
    return table.assign(**columns, consistency_n=table["inconsistency_n"])


def _none_for_missing(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the table with None for every missing value, never NaN."""
    return table.astype(object).where(table.notna(), None)
