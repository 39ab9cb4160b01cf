"""The metrics of the store's verifiers as tables by task, VLMs and data set.

Turns, self- and cross-verification, and origins are never added up, whatever a table is by. Plain verifications
alone count.
"""

__all__ = ["GROUPS", "verimap_metrics"]

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from backend.errors import AppError
from backend.services.verimap_cells import suite_place, task_place, verdict_table
from backend.store.store import Store
from backend.store.verification_filters import VerificationFilter
from backend.verimap.conditions import Condition
from backend.verimap.metrics import score_table, tally
from backend.verimap.outcomes import Policy

if TYPE_CHECKING:
    import pandas as pd

GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"task": ("task",), "model": ("generator", "verifier"), "dataset": ("suite",)}
)
"""What a table can be by → columns. A model is a generator with its verifier."""

_APART = ("pairing", "origin", "turn")
_RUN = ("run_id", "setting")
_SHOWN = ("task", "generator", "verifier", "suite", *_RUN)


def verimap_metrics(store: Store, by: Sequence[str], policy: Policy) -> "pd.DataFrame":
    """Return the metrics of each group.

    Args:
        store: The store.
        by: Of `GROUPS`. Where both model and dataset are there, each run is a row of its own.
        policy: What to make of undecided verdicts.

    Returns:
        One row a group: task, generator, verifier, suite, run_id, setting (None: added up over; task None as well
        where questions have none), pairing (``self`` or ``cross``), origin, turn, n_runs, then as
        `backend.verimap.metrics.score_table`; by data set, task, verifier, generator, turn.

    Raises:
        AppError: There is no such breakdown.
    """
    import pandas as pd

    unknown = [name for name in by if name not in GROUPS]
    if unknown:
        raise AppError(f"There is no breakdown by {unknown[0]}.", f"Known: {', '.join(GROUPS)}.")
    verdicts = verdict_table(store, VerificationFilter())
    verdicts = verdicts[verdicts["condition"] == Condition.PLAIN]
    runs = {row[0]: row[1:] for row in store.rows("SELECT run_id, setting, origin FROM runs")}
    run_ids = verdicts["run_id"].tolist()
    vlms = zip(verdicts["generator"].tolist(), verdicts["verifier"].tolist(), strict=True)
    verdicts = verdicts.assign(
        setting=[runs[run_id][0] for run_id in run_ids],
        origin=[runs[run_id][1] for run_id in run_ids],
        pairing=["self" if generator == verifier else "cross" for generator, verifier in vlms],
    )
    columns = [column for name in by for column in GROUPS[name]]
    if {"model", "dataset"} <= set(by):
        columns += _RUN
    columns += _APART
    table = score_table(tally(verdicts, columns, policy), columns)
    runs_of = verdicts[list(dict.fromkeys([*columns, "run_id"]))].drop_duplicates()
    n_runs = Counter(_keys(runs_of, columns))
    table = table.assign(
        n_runs=[n_runs[key] for key in _keys(table, columns)],
        **{name: None for name in _SHOWN if name not in columns},
    )
    rows = sorted(table.to_dict("records"), key=_order)
    shown = [*_SHOWN, *_APART, "n_runs"]
    return pd.DataFrame(rows, columns=[*shown, *(name for name in table.columns if name not in shown)], dtype=object)


def _keys(table: "pd.DataFrame", columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return what makes the group of each row, with None where it has no task."""
    plain = [table[name].astype(object).where(table[name].notna(), None) for name in columns]
    return list(zip(*plain, strict=True))


def _order(row: Mapping[Any, Any]) -> tuple[Any, ...]:
    return (
        suite_place(row["suite"] or ""),
        task_place(row["task"] or ""),
        *(row[name] or "" for name in ("verifier", "generator", "pairing", "origin", "setting", "run_id")),
        row["turn"],
    )
