"""Writing verifications: what every way to get verdicts shares, records in a file and batch runs alike."""

__all__ = ["StoredVerification", "put_verifications"]

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.records import AnswerStatus
from backend.store.arrow import arrow_array, arrow_table
from backend.store.store import insert
from backend.verimap.conditions import Condition
from backend.verimap.verifier import Verdict

if TYPE_CHECKING:
    import duckdb


class StoredVerification(NamedTuple):
    """One row of the table ``verifications`` without its run's own facts; see the migration for its columns."""

    unit_id: str
    image_id: str
    turn: int
    place: int
    answer: str | None
    oracle_correct: bool | None
    oracle: str | None
    verdict: Verdict | None
    explanation: str | None
    status: AnswerStatus
    error: str


def put_verifications(
    cursor: "duckdb.DuckDBPyConnection",
    run_id: str,
    suite: str,
    generator: str,
    verifier: str,
    condition: Condition,
    rows: Sequence[StoredVerification],
) -> None:
    """Write verifications of one run in the place of those it holds of the same units, turns and places.

    Args:
        cursor: The caller's write transaction.
        run_id: The verifier's run, which is there.
        suite: The data set.
        generator: Whose answers were verified.
        verifier: Who verified them.
        condition: Under which condition.
        rows: At most one a unit, turn and place.
    """
    n = len(rows)
    table = arrow_table(
        {
            "run_id": [run_id] * n,
            "unit_id": [row.unit_id for row in rows],
            "suite": [suite] * n,
            "image_id": [row.image_id for row in rows],
            "generator": [generator] * n,
            "verifier": [verifier] * n,
            "condition": [condition] * n,
            "turn": arrow_array([row.turn for row in rows]).cast("int32"),
            "place": arrow_array([row.place for row in rows]).cast("int32"),
            "answer": [row.answer for row in rows],
            "oracle_correct": arrow_array([_bool_word(row.oracle_correct) for row in rows]).cast("bool"),
            "oracle": [row.oracle for row in rows],
            "verdict": [row.verdict for row in rows],
            "explanation": [row.explanation for row in rows],
            "status": [row.status for row in rows],
            "error": [row.error for row in rows],
        }
    )
    cursor.register("incoming_verifications", table)
    cursor.execute(
        "DELETE FROM verifications o USING incoming_verifications n "
        "WHERE o.run_id = n.run_id AND o.unit_id = n.unit_id AND o.turn = n.turn AND o.place = n.place"
    )
    cursor.unregister("incoming_verifications")
    insert(cursor, "verifications", table)


def _bool_word(value: bool | None) -> str | None:
    """Return a truth value as Arrow reads it from text: a column of bools cannot have gaps as a list."""
    return None if value is None else str(value).lower()
