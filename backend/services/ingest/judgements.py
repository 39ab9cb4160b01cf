"""What judges said of a run's answers: brought in a prediction file, or by a judge's run folder."""

__all__ = ["Judged", "put_judgements"]

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from backend.store.arrow import arrow_table
from backend.store.store import insert

if TYPE_CHECKING:
    import duckdb


class Judged(NamedTuple):
    """What a judge said of an answer."""

    judge: str
    score: int | None
    """From 1 to 5; None: unscored."""
    reason: str
    error: str
    """Why there is no score; empty otherwise."""


def put_judgements(cursor: "duckdb.DuckDBPyConnection", run_id: str, judged: Mapping[str, Judged]) -> int:
    """Write judgements by probe, in the place of what the same judges said before; return how many are news."""
    import pyarrow as pa

    held = {
        tuple(row[:2]): tuple(row[2:])
        for row in cursor.execute(
            "SELECT probe_id, judge, score, reason, error FROM judgements WHERE run_id = ?", [run_id]
        ).fetchall()
    }
    news = {probe_id: said for probe_id, said in judged.items() if held.get((probe_id, said.judge)) != said[1:]}
    if not news:
        return 0
    table = arrow_table(
        {
            "run_id": [run_id] * len(news),
            "probe_id": list(news),
            "judge": [said.judge for said in news.values()],
            "score": pa.array([said.score for said in news.values()], pa.int64()),
            "reason": [said.reason for said in news.values()],
            "error": [said.error for said in news.values()],
        }
    )
    cursor.register("incoming_judged", table)
    cursor.execute(
        "DELETE FROM judgements o USING incoming_judged n "
        "WHERE o.run_id = n.run_id AND o.probe_id = n.probe_id AND o.judge = n.judge"
    )
    cursor.unregister("incoming_judged")
    insert(cursor, "judgements", table)
    return len(news)
