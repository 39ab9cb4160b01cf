"""Saliency in the store: of answers of runs, and of replies that somebody watched.

A look belongs to one answer. Where a run's answer was replaced since, the look at the old one is not
shown any more; it is as if nobody had looked.
"""

__all__ = [
    "LookRow",
    "LookedInto",
    "StoredLook",
    "looked_into",
    "put_looks",
    "put_trace_look",
    "run_looks",
    "trace_looks",
]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from backend.errors import AppError
from backend.services.runs.record import RunRecord
from backend.store.arrow import arrow_table
from backend.store.store import Store, insert
from backend.vlm.saliency.kept import KeptSaliency

if TYPE_CHECKING:
    import duckdb


class LookRow(NamedTuple):
    """A look at one answer of a run, as it is written."""

    probe_id: str
    answer: str
    """The run's, verbatim."""
    kept: KeptSaliency | None
    """None where it could not be had."""
    error: str
    """Why; empty where it could."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredLook:
    """What the store holds of a look."""

    kept: KeptSaliency | None
    """None where it could not be had."""
    error: str
    """Why; empty where it could."""


def put_looks(cursor: "duckdb.DuckDBPyConnection", run_id: str, facts: str, looks: Sequence[LookRow]) -> int:
    """Write looks at answers of a run, in the place of those at the same answers before.

    One that failed leaves a good one of the same answer where it is.

    Args:
        cursor: The caller's write transaction.
        run_id: Whose answers.
        facts: The ``run.json`` of the folder the looks come from.
        looks: At most one a probe.

    Returns:
        How many are new or other than before.
    """
    columns: dict[str, list[object]] = {
        "run_id": [run_id] * len(looks),
        "probe_id": [look.probe_id for look in looks],
        "answer": [look.answer for look in looks],
        "n_tokens": [len(look.kept.tokens) if look.kept else None for look in looks],
        "fraction": [look.kept.fraction if look.kept else None for look in looks],
        "uniform_fraction": [look.kept.uniform_fraction if look.kept else None for look in looks],
        "gradient_mean": [look.kept.gradient_mean if look.kept else None for look in looks],
        "record": [look.kept.to_json() if look.kept else None for look in looks],
        "error": [look.error for look in looks],
    }
    rows = arrow_table(columns)
    cursor.register("incoming_looks", rows)
    same = "n.probe_id = o.probe_id AND o.run_id = n.run_id"
    is_better = f"EXISTS (SELECT 1 FROM saliency o WHERE {same} AND o.answer = n.answer AND o.error = '')"
    rows = cursor.sql(f"SELECT * FROM incoming_looks n WHERE n.error = '' OR NOT {is_better}").to_arrow_table()
    cursor.unregister("incoming_looks")
    cursor.register("incoming_looks", rows)
    [(n_changed,)] = cursor.execute(
        f"SELECT count(*) FROM incoming_looks n LEFT JOIN saliency o ON {same} "
        "WHERE (n.answer, n.record, n.error) IS DISTINCT FROM (o.answer, o.record, o.error)"
    ).fetchall()
    cursor.execute(f"DELETE FROM saliency o USING incoming_looks n WHERE {same}")
    cursor.unregister("incoming_looks")
    insert(cursor, "saliency", rows)
    cursor.execute("DELETE FROM saliency_facts WHERE run_id = ?", [run_id])
    cursor.execute("INSERT INTO saliency_facts (run_id, record) VALUES (?, ?)", [run_id, facts])
    return int(n_changed)


def run_looks(store: Store, probe_ids: Sequence[str]) -> dict[tuple[str, str], StoredLook]:
    """Return the looks at present answers to the given probes, by run id and probe id."""
    rows = store.rows(
        "SELECT s.run_id, s.probe_id, s.record, s.error "
        "FROM saliency s JOIN answers a USING (run_id, probe_id, answer) "
        "WHERE list_contains(?, s.probe_id) ORDER BY s.run_id, s.probe_id",
        [list(probe_ids)],
    )
    return {(run_id, probe_id): _look(record, error) for run_id, probe_id, record, error in rows}


class LookedInto(NamedTuple):
    """How far a run was looked into."""

    n: int
    """Looks at its present answers, failed ones among them."""
    n_failed: int
    record: RunRecord
    """Of the folder that the last looks came from."""


def looked_into(store: Store, run_id: str) -> LookedInto | None:
    """Return how far a run was looked into, and how; None where nobody looked."""
    rows = store.rows(
        "SELECT count(*), count(*) FILTER (s.error <> ''), any_value(f.record) FROM saliency s "
        "JOIN answers a USING (run_id, probe_id, answer) JOIN saliency_facts f ON f.run_id = s.run_id "
        "WHERE s.run_id = ? HAVING count(*) > 0",
        [run_id],
    )
    return next((LookedInto(n, n_failed, RunRecord.model_validate_json(held)) for n, n_failed, held in rows), None)


def put_trace_look(store: Store, trace_id: str, step: str, position: int, kept: KeptSaliency) -> None:
    """Keep the saliency of one reply of a stored trace, in the place of what was kept of it before.

    Raises:
        AppError: There is no such trace any more.
    """
    with store.write() as cursor:
        if not cursor.execute("SELECT 1 FROM traces WHERE trace_id = ?", [trace_id]).fetchall():
            raise AppError("This trace was removed meanwhile.", "Ask again, and look into the new answer.")
        key = [trace_id, step, position]
        cursor.execute("DELETE FROM trace_saliency WHERE trace_id = ? AND step = ? AND position = ?", key)
        cursor.execute("INSERT INTO trace_saliency VALUES (?, ?, ?, ?)", [*key, kept.to_json()])


def trace_looks(store: Store, trace_id: str) -> Mapping[tuple[str, int], KeptSaliency]:
    """Return what is kept of a trace's replies, by step and position."""
    rows = store.rows(
        "SELECT step, position, record FROM trace_saliency WHERE trace_id = ? ORDER BY step, position", [trace_id]
    )
    return {(step, position): KeptSaliency.from_json(record) for step, position, record in rows}


def _look(record: str | None, error: str) -> StoredLook:
    return StoredLook(KeptSaliency.from_json(record) if record else None, error)
