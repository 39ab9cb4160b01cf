"""Lists of chosen units: a page of one, what a run answered to its units, and a unit's neighbours in it."""

__all__ = ["Neighbours", "neighbours", "neighbours_in", "unit_answers", "unit_count", "unit_page"]

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from backend.store.filters import UnitFilter
from backend.store.store import Store
from backend.store.unit_sources import of_outcomes, of_units

if TYPE_CHECKING:
    import pandas as pd

_ORDER = "suite, try_cast(source_id AS BIGINT), source_id"
"""The order of cases: a suite's samples by their own id, numbers as numbers."""


def unit_page(store: Store, chosen: UnitFilter, *, offset: int, limit: int) -> "pd.DataFrame":
    """Return one page of the chosen units, a row a unit, whatever the number of runs.

    Returns:
        unit_id, suite, source_id, image_id, split, complexity, question_classes, n_runs (chosen
        runs that answered it), n_right (of these, complex answer right), n_inconsistent (of these,
        right with a wrong part), question, reference, image_at_hand.
    """
    units, answers = of_units(chosen), of_outcomes(chosen)
    return store.read(
        f"""
        WITH page AS (
            SELECT * FROM units WHERE unit_id IN (SELECT u.unit_id FROM {units.tables} WHERE {units.where})
            ORDER BY {_ORDER} LIMIT $limit OFFSET $offset
        ), answered AS (
            SELECT o.unit_id, count(*) AS n_runs, count(*) FILTER (o.complex_correct) AS n_right,
                   count(*) FILTER (o.outcome = 'inconsistent') AS n_inconsistent
            FROM {answers.tables} WHERE {answers.where} AND o.unit_id IN (SELECT unit_id FROM page)
            GROUP BY o.unit_id
        )
        SELECT page.unit_id, page.suite, page.source_id, page.image_id, page.split, page.complexity,
               page.question_classes, coalesce(n_runs, 0) AS n_runs, coalesce(n_right, 0) AS n_right,
               coalesce(n_inconsistent, 0) AS n_inconsistent, p.question, p.reference,
               i.path IS NOT NULL AS image_at_hand
        FROM page LEFT JOIN answered ON answered.unit_id = page.unit_id
        JOIN probes p ON p.unit_id = page.unit_id AND p.role = 'complex'
        LEFT JOIN images i ON i.image_id = page.image_id
        ORDER BY {_ORDER.replace("suite", "page.suite").replace("source_id", "page.source_id")}
        """,
        {**units.parameters, "limit": limit, "offset": offset},
    )


def unit_count(store: Store, chosen: UnitFilter) -> int:
    """Return how many units are chosen; one that several runs answered counts once."""
    source, where, parameters = of_units(chosen)
    return int(store.value(f"SELECT count(DISTINCT u.unit_id) FROM {source} WHERE {where}", parameters))


def unit_answers(store: Store, run_id: str, unit_ids: Sequence[str]) -> "pd.DataFrame":
    """Return what one run answered to the complex questions of some units.

    Returns:
        One row a unit: unit_id, answer (verbatim; None where none is on file), outcome,
        n_atoms, n_atoms_correct.
    """
    return store.read(
        """
        SELECT o.unit_id, a.answer, o.outcome, o.n_atoms, o.n_atoms_correct
        FROM outcomes o
        JOIN runs r ON r.run_id = o.run_id AND r.scorer = o.scorer AND r.scorer_version = o.scorer_version
        JOIN probes p ON p.unit_id = o.unit_id AND p.role = 'complex'
        LEFT JOIN answers a ON a.run_id = o.run_id AND a.probe_id = p.probe_id
        WHERE o.run_id = $run AND list_contains($units, o.unit_id)
        """,
        {"run": run_id, "units": list(unit_ids)},
    )


class Neighbours(NamedTuple):
    """Where a unit stands in a list of chosen units."""

    total: int
    """Units in the list."""
    position: int | None
    """1-based place of the unit; None where it is not in the list."""
    previous: str | None
    next: str | None


def neighbours(store: Store, chosen: UnitFilter, unit_id: str) -> Neighbours:
    """Return the units before and after one in the chosen list, and the list's length."""
    source, where, parameters = of_units(chosen)
    listed = f"SELECT DISTINCT u.unit_id, u.suite, u.source_id FROM {source} WHERE {where}"
    return neighbours_in(store, listed, _ORDER, parameters, unit_id)


def neighbours_in(store: Store, listed: str, order: str, parameters: Mapping[str, object], unit_id: str) -> Neighbours:
    """Return the units before and after one in any list, and the list's length.

    Args:
        store: The store.
        listed: SQL of the list: unit_id, each once, and the columns of ``order``.
        order: SQL of its order.
        parameters: Named parameters of the list.
        unit_id: The unit.
    """
    rows = store.rows(
        f"""
        WITH placed AS (
            SELECT unit_id, row_number() OVER w AS place, lag(unit_id) OVER w AS before,
                   lead(unit_id) OVER w AS after, count(*) OVER () AS total
            FROM ({listed})
            WINDOW w AS (ORDER BY {order})
        )
        SELECT total, unit_id = $unit, place, before, after FROM placed
        ORDER BY unit_id = $unit DESC LIMIT 1
        """,
        {**parameters, "unit": unit_id},
    )
    if not rows:
        return Neighbours(0, None, None, None)
    total, listed_here, place, before, after = rows[0]
    return Neighbours(total, place, before, after) if listed_here else Neighbours(total, None, None, None)
