"""The cells of the plane: what each verifier made of each generator's answers, task by task.

All figures of VeriMap start from `verdict_table`, one row a verification. A cell is one run of a verifier over one
task in one turn, so neither data sets, nor VLMs, nor self- and cross-verification, nor two measurements of the same
pair are ever pooled in it.
"""

__all__ = [
    "AXES",
    "CELL",
    "VerificationChoices",
    "any_verification",
    "cell_key",
    "cell_table",
    "placed",
    "verdict_table",
    "verification_choices",
    "verifier_places",
]

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.services.endoca_series import records
from backend.services.verimap_plane import printed_vlms
from backend.store.store import Store
from backend.store.verification_filters import UNLABELLED, VERIFICATIONS, VerificationFilter
from backend.verimap.conditions import Condition
from backend.verimap.metrics import score_table, tally
from backend.verimap.outcomes import Policy
from backend.verimap.quadrants import BiasAxis, PlaneThresholds, quadrant, too_small
from backend.verimap.vocabulary import Dataset, Task

if TYPE_CHECKING:
    import pandas as pd

AXES = (BiasAxis.FPR, BiasAxis.BIAS, BiasAxis.DSKEW)
"""The three panels of the plane (Fig. 2)."""

CELL = ("run_id", "suite", "task", "generator", "verifier", "condition", "turn")
"""What makes a cell."""


def any_verification(store: Store) -> bool:
    """Return whether the store holds a verdict."""
    return bool(store.value("SELECT EXISTS (SELECT 1 FROM verifications)"))


class VerificationChoices(NamedTuple):
    """What the verifications of a store can be chosen by, each in the order of lists."""

    suites: tuple[str, ...]
    tasks: tuple[str, ...]
    """`UNLABELLED` last, where questions have no task."""
    generators: tuple[str, ...]
    verifiers: tuple[str, ...]
    conditions: tuple[str, ...]
    turns: tuple[int, ...]
    origins: tuple[str, ...]


def verification_choices(store: Store) -> VerificationChoices:
    """Return what there is to choose from."""
    [(suites, tasks, generators, verifiers, conditions, turns, origins)] = store.rows(
        f"""
        SELECT list(DISTINCT v.suite), list(DISTINCT coalesce(e.task, '{UNLABELLED}')), list(DISTINCT v.generator),
               list(DISTINCT v.verifier), list(DISTINCT v.condition), list(DISTINCT v.turn), list(DISTINCT r.origin)
        FROM {VERIFICATIONS} JOIN runs r ON r.run_id = v.run_id
        """
    )
    places = verifier_places(store)
    return VerificationChoices(
        suites=tuple(sorted(suites or (), key=suite_place)),
        tasks=tuple(sorted(tasks or (), key=task_place)),
        generators=tuple(sorted(generators or (), key=lambda vlm: (places.get(vlm, len(places)), vlm))),
        verifiers=tuple(sorted(verifiers or (), key=lambda vlm: (places.get(vlm, len(places)), vlm))),
        conditions=tuple(one.value for one in Condition if one in (conditions or ())),
        turns=tuple(sorted(turns or ())),
        origins=tuple(sorted(origins or ())),
    )


def verifier_places(store: Store) -> dict[str, int]:
    """Return each VLM's place among those that answered or verified: printed ones as printed, then by first import.

    A VLM keeps its place when others are imported later, and so its shape.
    """
    rows = store.rows(
        "SELECT v.vlm FROM (SELECT verifier AS vlm, run_id FROM verifications UNION "
        "SELECT generator, run_id FROM verifications) v JOIN runs r USING (run_id) "
        "GROUP BY v.vlm ORDER BY min(r.created_at), v.vlm"
    )
    return {vlm: place for place, vlm in enumerate(dict.fromkeys([*printed_vlms(), *(vlm for (vlm,) in rows)]))}


def verdict_table(store: Store, chosen: VerificationFilter) -> "pd.DataFrame":
    """Return the chosen verifications, of all conditions; what is chosen by outcome, fate or words is put aside.

    A rate over verifications that were chosen by their outcome says nothing.

    Returns:
        One row a verification: `CELL`, image_id, answer_key (a hash of 64 bits: rows with one key judge one and the
        same answer), asked_key (likewise, by the same verifier), oracle_correct (bool or None) and verdict (None:
        none). Text columns are categories.
    """
    every = replace(
        chosen,
        conditions=tuple(Condition),
        pairing="",
        verdict_outcomes=(),
        text="",
        loop="",
        fates=(),
        loop_rule="",
    )
    where, parameters = every.where()
    return store.read_categories(
        f"""
        SELECT v.run_id, v.suite, e.task, v.generator, v.verifier, v.condition, v.turn, v.image_id,
               hash(v.unit_id, v.generator, v.turn, v.place, v.answer) AS answer_key,
               hash(v.unit_id, v.generator, v.turn, v.place, v.answer, v.verifier) AS asked_key,
               v.oracle_correct, v.verdict
        FROM {VERIFICATIONS} WHERE {where}
        """,
        parameters,
    )


def cell_table(store: Store, verdicts: "pd.DataFrame", policy: Policy, *, intervals: bool = True) -> "pd.DataFrame":
    """Return the cells with all their metrics.

    Args:
        store: Knows the runs.
        verdicts: As `verdict_table`, or part of it.
        policy: What to make of undecided verdicts.
        intervals: False saves the resampling.

    Returns:
        One row a cell, data sets and tasks in the paper's order, verifiers as lists have them: key (see
        `cell_key`), `CELL` (task None where the question has none), group (of the task; None without), is_self,
        origin, vlm_group (the verifier's; None: not known), place (the verifier's), then as
        `backend.verimap.metrics.score_table`.
    """
    import pandas as pd

    table = score_table(tally(verdicts, CELL, policy), CELL, intervals=intervals)
    runs = {run_id: rest for run_id, *rest in store.rows("SELECT run_id, origin, vlm_group FROM runs")}
    places = verifier_places(store)
    rows: list[dict[str, Any]] = []
    for row in records(table):
        origin, vlm_group = runs[row["run_id"]]
        about = {name: row[name] for name in CELL} | {
            "group": None if row["task"] is None else Task(row["task"]).group.value,
            "is_self": row["generator"] == row["verifier"],
            "origin": origin,
            "vlm_group": vlm_group,
            "place": places.get(row["verifier"], len(places)),
        }
        rows.append({"key": cell_key(row), **about, **row})
    rows.sort(
        key=lambda row: (
            suite_place(row["suite"]), task_place(row["task"] or UNLABELLED), row["place"], row["verifier"],
            not row["is_self"], row["generator"], row["turn"], row["run_id"],
        )
    )  # fmt: skip
    columns = list(dict.fromkeys(["key", *CELL, *_ABOUT, *table.columns]))
    return pd.DataFrame(rows, columns=columns, dtype=object)


_ABOUT = ("group", "is_self", "origin", "vlm_group", "place")


def cell_key(row: Mapping[str, Any]) -> str:
    """Return what a click on a cell brings back: a run has one cell a task and turn."""
    return f"{row['run_id']}/{row['task'] or UNLABELLED}/{row['turn']}"


def placed(cells: "pd.DataFrame", thresholds: PlaneThresholds) -> "pd.DataFrame":
    """Return cells, or printed points, with their place on the plane.

    Returns:
        Their columns, then ``quadrant_…`` of each of `AXES` (a `Quadrant` value; None where error or axis is
        undefined) and too_small.
    """
    import pandas as pd

    more: dict[str, list[Any]] = {f"quadrant_{axis}": [] for axis in AXES} | {"too_small": []}
    for row in cells.to_dict("records"):
        for axis in AXES:
            found = quadrant(row["error"], row[axis.value], axis, thresholds)
            more[f"quadrant_{axis}"].append(found.value if found else None)
        more["too_small"].append(too_small(row.get("n"), thresholds))
    return cells.assign(**{name: pd.Series(values, cells.index, dtype=object) for name, values in more.items()})


def suite_place(suite: str) -> tuple[int, str]:
    """Return a key to sort data sets by: the paper's first, then by name."""
    known = list(Dataset)
    return (known.index(Dataset(suite)), "") if suite in known else (len(known), suite)


def task_place(task: str) -> int:
    """Return a key to sort tasks by, `UNLABELLED` last."""
    return list(Task).index(Task(task)) if task in tuple(Task) else len(Task)
