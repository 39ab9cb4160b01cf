"""Where questions about units, their outcomes and their atomic questions read: tables, conditions and parameters.

What the pages show are the scores of a run's present scorer; older scores stay beside them.
"""

__all__ = ["Source", "of_atomic_questions", "of_outcomes", "of_units"]

import re
from dataclasses import replace
from typing import NamedTuple

from backend.domain.records import Stage, System
from backend.store.filters import UnitFilter

_OUTCOMES = """
    outcomes o
    JOIN runs r ON r.run_id = o.run_id AND r.scorer = o.scorer AND r.scorer_version = o.scorer_version
"""

_ATOMIC = """
    scores s
    JOIN runs r ON r.run_id = s.run_id AND r.scorer = s.scorer AND r.scorer_version = s.scorer_version
        AND s.role = 'atomic'
"""


class Source(NamedTuple):
    """Where a query reads: no table is joined that neither the filter nor the answer asks for."""

    tables: str
    where: str
    parameters: dict[str, object]


def of_outcomes(chosen: UnitFilter, read: str = "") -> Source:
    """Return outcomes ``o`` with runs ``r``, and units ``u`` where the filter or ``read`` asks for them."""
    where, parameters = _by_run_suite(chosen)
    units = " JOIN units u ON u.unit_id = o.unit_id" if _names("u", where + read) else ""
    return Source(_OUTCOMES + units, where, parameters)


def of_atomic_questions(chosen: UnitFilter, read: str) -> Source:
    """Return scores ``s`` of atomic questions with runs ``r``, and outcomes and units where they are asked for."""
    where, parameters = _by_run_suite(chosen)
    if chosen.classes:
        where = f"{where} AND list_contains($classes, s.question_class)"
    tables = _ATOMIC
    if _names("o", where + read):
        tables += (
            " JOIN outcomes o ON o.run_id = s.run_id AND o.unit_id = s.unit_id AND o.scorer = s.scorer"
            " AND o.scorer_version = s.scorer_version"
        )
    if _names("u", where + read):
        tables += " JOIN units u ON u.unit_id = s.unit_id"
    return Source(tables, where, parameters)


def of_units(chosen: UnitFilter) -> Source:
    """Return units ``u``, those no VLM has answered yet too, until a condition asks for a run or its outcome."""
    where, parameters = chosen.where()
    where = f"u.suite IN (SELECT suite FROM suites WHERE system = '{System.ENDOCA}') AND {where}"
    if not _names("[or]", where):
        return Source("units u", where, parameters)
    return Source(f"units u LEFT JOIN ({_OUTCOMES}) ON o.unit_id = u.unit_id", _of_runs(chosen, where), parameters)


def _by_run_suite(chosen: UnitFilter) -> tuple[str, dict[str, object]]:
    """Return the conditions with the suite as the run's: a run answers units of its own suite."""
    where, parameters = replace(chosen, suite="").where()
    where = _of_runs(chosen, where)
    if not chosen.suite:
        return where, parameters
    return f"r.suite = $suite AND {where}", {**parameters, "suite": chosen.suite}


def _of_runs(chosen: UnitFilter, where: str) -> str:
    """Return the conditions on runs and their outcomes; a unit that no run has answered counts as if one had."""
    return (
        f"coalesce(r.stage, '{Stage.DIRECT}') = '{Stage.DIRECT}' AND {where}"
        if chosen.takes_direct_runs_only
        else where
    )


def _names(table: str, sql: str) -> bool:
    return re.search(rf"\b{table}\.", sql) is not None
