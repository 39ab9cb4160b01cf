"""The answers of a run that no value was read from, each with its question, and whose calls an error came from."""

__all__ = ["cases_of_errors", "unread_answers"]

from collections.abc import Sequence
from typing import TYPE_CHECKING

from backend.services.runs.statuses import STATUSES
from backend.store.store import Store

if TYPE_CHECKING:
    import pandas as pd


def unread_answers(store: Store, run_id: str, status: str, *, offset: int, limit: int) -> "pd.DataFrame":
    """Return a page of a run's answers of one status, by its present scorer.

    What a VeriMap run has not asked yet is not listed.

    Args:
        store: The store.
        run_id: Whose.
        status: An `AnswerStatus`.
        offset: Answers before the page.
        limit: Answers on it, at most.

    Returns:
        A row a question in the order of cases, the complex one before its parts: unit_id,
        source_id, role, position, question_class, question, reference, answer and error (verbatim;
        None where none is on file).
    """
    return store.read(
        f"""
        SELECT s.unit_id, u.source_id, p.role, p.position, p.question_class, p.question, p.reference,
               a.answer, a.error
        FROM ({STATUSES}) s
        JOIN units u ON u.unit_id = s.unit_id
        JOIN probes p ON p.probe_id = s.probe_id
        LEFT JOIN answers a ON a.run_id = s.run_id AND a.probe_id = s.probe_id
        WHERE s.run_id = $run AND s.status = $status
        ORDER BY try_cast(u.source_id AS BIGINT), u.source_id, p.role <> 'complex', p.position
        LIMIT $limit OFFSET $offset
        """,
        {"run": run_id, "status": status, "offset": offset, "limit": limit},
    )


def cases_of_errors(store: Store, run_id: str, errors: Sequence[str]) -> dict[str, str]:
    """Return, by error text, the id of a unit in which a call of the run ended in it."""
    rows = store.rows(
        "SELECT a.error, min(p.unit_id) FROM answers a JOIN probes p USING (probe_id) "
        "WHERE a.run_id = $run AND list_contains($errors, a.error) GROUP BY a.error",
        {"run": run_id, "errors": list(errors)},
    )
    return dict(rows)
