"""The questions asked of the store, as SQL; each returns a documented DataFrame.

What the pages show are the scores of a run's present scorer; older scores stay beside them.
Sums are made here, formulas in the systems' `metrics`.
"""

__all__ = [
    "Neighbours",
    "atom_sums",
    "image_sums",
    "neighbours",
    "neighbours_in",
    "outcome_counts",
    "run_groups",
    "run_table",
    "suite_table",
    "unit_answers",
    "unit_count",
    "unit_outcomes",
    "unit_page",
]

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.records import Stage, System
from backend.endoca.vocabulary import QUESTION_CLASSES
from backend.errors import AppError
from backend.store.filters import DECIDES, UnitFilter
from backend.store.store import Store

if TYPE_CHECKING:
    import pandas as pd

_OUTCOMES = """
    outcomes o
    JOIN runs r ON r.run_id = o.run_id AND r.scorer = o.scorer AND r.scorer_version = o.scorer_version
"""

_ATOMIC = """
    scores s
    JOIN runs r ON r.run_id = s.run_id AND r.scorer = s.scorer AND r.scorer_version = s.scorer_version
        AND s.role = 'atomic'
"""

_DECIDED = "LEFT JOIN decisions d ON d.run_id = o.run_id AND d.unit_id = o.unit_id"

_ORDER = "suite, try_cast(source_id AS BIGINT), source_id"
"""The order of cases: a suite's samples by their own id, numbers as numbers."""

_TYPE = (
    "CASE {column} "
    + " ".join(f"WHEN '{known.name}' THEN '{known.type}'" for known in QUESTION_CLASSES)
    + " ELSE 'other' END"
)
"""Question class → question type; the names are our own vocabulary, no user's text."""

_UNIT_GROUPS = {
    "run_id": "o.run_id",
    "vlm_group": "coalesce(r.vlm_group, 'not known')",
    "origin": "r.origin",
    "suite": "r.suite",
    "split": "u.split",
    "complexity": "o.complexity",
    "outcome": "o.outcome",
    "question_class": "c.question_class",
    "question_type": _TYPE.format(column="c.question_class"),
}
"""Columns a table of metrics can be broken down by."""


def run_table(store: Store) -> "pd.DataFrame":
    """Return all runs.

    Returns:
        One row a run: run_id, system, suite, vlm, vlm_group (None: not known), setting, stage,
        prompt_version, decoding, origin, source, scorer, scorer_version, created_at, n_answers (of a
        verifier's run its verdicts).
    """
    return store.read(
        "SELECT r.*, coalesce(v.n, a.n, 0) AS n_answers FROM runs r "
        "LEFT JOIN (SELECT run_id, count(*) AS n FROM answers GROUP BY run_id) a USING (run_id) "
        "LEFT JOIN (SELECT run_id, count(*) AS n FROM verifications GROUP BY run_id) v USING (run_id) "
        "ORDER BY r.system, r.suite, r.vlm, r.stage, r.run_id"
    )


def suite_table(store: Store) -> "pd.DataFrame":
    """Return all suites.

    Returns:
        One row a suite: suite, system, source, report (JSON or None), created_at, n_units, n_atomic,
        n_images, n_images_at_hand, n_runs.
    """
    return store.read("""
        SELECT s.suite, s.system, s.source, s.report, s.created_at,
               count(u.unit_id) AS n_units,
               coalesce(sum(u.complexity), 0)::BIGINT AS n_atomic,
               count(DISTINCT CASE WHEN i.file <> '' THEN u.image_id END) AS n_images,
               count(DISTINCT CASE WHEN i.path IS NOT NULL THEN u.image_id END) AS n_images_at_hand,
               (SELECT count(*) FROM runs r WHERE r.suite = s.suite) AS n_runs
        FROM suites s LEFT JOIN units u USING (suite) LEFT JOIN images i USING (image_id)
        GROUP BY s.suite, s.system, s.source, s.report, s.created_at
        ORDER BY s.suite
    """)


def image_sums(store: Store, chosen: UnitFilter, by: Sequence[str]) -> "pd.DataFrame":
    """Return what each image adds to each group of units; text columns are categories.

    Args:
        store: The store.
        chosen: Which units of which runs.
        by: Columns of the breakdown. A unit whose parts are of several classes (or types) stands
            in each of their groups, once.

    Returns:
        `by`, image_id, and the columns of `backend.endoca.metrics.IMAGE_SUMS`.

    Raises:
        AppError: An unknown column in ``by``.
    """
    groups = _groups(by, _UNIT_GROUPS)
    classes = ""
    if {"question_class", "question_type"} & set(by):
        kinds = ", ".join(f"{groups[name]} AS {name}" for name in groups if name.startswith("question_"))
        classes = (
            f"CROSS JOIN LATERAL (SELECT DISTINCT {kinds} "
            "FROM (SELECT unnest(u.question_classes) AS question_class) c) k"
        )
        groups = {name: f"k.{name}" if name.startswith("question_") else sql for name, sql in groups.items()}
    select = "".join(f"{sql} AS {name}, " for name, sql in groups.items())
    source, where, parameters = _of_outcomes(chosen, select + classes)
    return store.read_categories(
        f"""
        SELECT {select}o.image_id,
            count(*) AS n_units,
            sum(o.n_atoms)::BIGINT AS n_atomic,
            count(*) FILTER (o.complex_correct) AS n_complex_correct,
            sum(o.n_atoms_correct)::BIGINT AS n_atomic_correct,
            count(*) FILTER (o.n_atoms_correct = o.n_atoms) AS n_all_atomic_correct,
            count(*) FILTER (o.complex_correct AND o.n_atoms_correct = o.n_atoms) AS n_joint_correct,
            sum(o.n_missing)::BIGINT AS n_missing,
            sum(o.n_failed)::BIGINT AS n_failed,
            sum(o.n_empty)::BIGINT AS n_empty,
            sum(o.n_unparsed)::BIGINT AS n_unparsed,
            count(*) FILTER ({DECIDES}) AS n_selective,
            count(*) FILTER (d.decision = 'answer') AS n_selected,
            count(*) FILTER (d.decision = 'answer' AND o.complex_correct) AS n_selected_correct
        FROM {source} {_DECIDED} {classes}
        WHERE {where}
        GROUP BY ALL
        """,
        parameters,
    )


def atom_sums(store: Store, chosen: UnitFilter, by: Sequence[str], *, by_image: bool = True) -> "pd.DataFrame":
    """Return what each image adds to each group of atomic questions; text columns are categories.

    Args:
        store: The store.
        chosen: Which units of which runs; ``classes`` restricts the atomic questions too.
        by: Columns of the breakdown; a class is the atomic question's own.
        by_image: False adds all images up, as one without a name: several times faster, and
            enough where no interval is wanted.

    Returns:
        `by`, image_id, and the columns of `backend.endoca.metrics.ATOM_SUMS`.

    Raises:
        AppError: An unknown column in ``by``.
    """
    atom_groups = {
        **_UNIT_GROUPS,
        "run_id": "s.run_id",
        "question_class": "s.question_class",
        "question_type": _TYPE.format(column="s.question_class"),
    }
    groups = _groups(by, atom_groups)
    select = "".join(f"{sql} AS {name}, " for name, sql in groups.items())
    source, where, parameters = _of_atomic_questions(chosen, select)
    return store.read_categories(
        f"""
        SELECT {select}{"s.image_id" if by_image else "''"} AS image_id,
            count(*) AS n_atomic,
            count(*) FILTER (s.correct) AS n_atomic_correct,
            count(*) FILTER (s.status = 'missing') AS n_missing,
            count(*) FILTER (s.status = 'failed') AS n_failed,
            count(*) FILTER (s.status = 'empty') AS n_empty,
            count(*) FILTER (s.status = 'unparsed') AS n_unparsed
        FROM {source}
        WHERE {where}
        GROUP BY ALL
        """,
        parameters,
    )


def unit_outcomes(store: Store, chosen: UnitFilter) -> "pd.DataFrame":
    """Return the outcomes themselves: the columns of `backend.endoca.metrics.UNIT_COLUMNS`, and decision.

    decision is null outside the stages that make one.
    """
    source, where, parameters = _of_outcomes(chosen)
    return store.read(
        "SELECT o.run_id, o.unit_id, o.image_id, o.complexity, o.complex_correct, o.n_atoms, o.n_atoms_correct, "
        "o.n_missing, o.n_failed, o.n_empty, o.n_unparsed, "
        f"CASE WHEN {DECIDES} THEN coalesce(d.decision, 'abstain') END AS decision "
        f"FROM {source} {_DECIDED} WHERE {where}",
        parameters,
    )


def outcome_counts(store: Store, chosen: UnitFilter) -> "pd.DataFrame":
    """Return run_id, outcome and n_units for the chosen units."""
    source, where, parameters = _of_outcomes(chosen)
    return store.read(
        f"SELECT o.run_id, o.outcome, count(*) AS n_units FROM {source} WHERE {where} GROUP BY ALL ORDER BY ALL",
        parameters,
    )


def run_groups(store: Store, chosen: UnitFilter) -> "pd.DataFrame":
    """Return run_id, origin and vlm_group ("not known" where it is not) of the runs with chosen units."""
    groups = ", ".join(f"{_UNIT_GROUPS[name]} AS {name}" for name in ("run_id", "origin", "vlm_group"))
    source, where, parameters = _of_outcomes(chosen)
    return store.read(f"SELECT DISTINCT {groups} FROM {source} WHERE {where} ORDER BY ALL", parameters)


def unit_page(store: Store, chosen: UnitFilter, *, offset: int, limit: int) -> "pd.DataFrame":
    """Return one page of the chosen units, a row a unit, whatever the number of runs.

    Returns:
        unit_id, suite, source_id, image_id, split, complexity, question_classes, n_runs (chosen
        runs that answered it), n_right (of these, complex answer right), n_inconsistent (of these,
        right with a wrong part), question, reference, image_at_hand.
    """
    units, answers = _of_units(chosen), _of_outcomes(chosen)
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
    source, where, parameters = _of_units(chosen)
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
    source, where, parameters = _of_units(chosen)
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


class _Source(NamedTuple):
    """Where a query reads: no table is joined that neither the filter nor the answer asks for."""

    tables: str
    where: str
    parameters: dict[str, object]


def _of_outcomes(chosen: UnitFilter, read: str = "") -> _Source:
    """Return outcomes ``o`` with runs ``r``, and units ``u`` where the filter or ``read`` asks for them."""
    where, parameters = _by_run_suite(chosen)
    units = " JOIN units u ON u.unit_id = o.unit_id" if _names("u", where + read) else ""
    return _Source(_OUTCOMES + units, where, parameters)


def _of_atomic_questions(chosen: UnitFilter, read: str) -> _Source:
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
    return _Source(tables, where, parameters)


def _of_units(chosen: UnitFilter) -> _Source:
    """Return units ``u``, those no VLM has answered yet too, until a condition asks for a run or its outcome."""
    where, parameters = chosen.where()
    where = f"u.suite IN (SELECT suite FROM suites WHERE system = '{System.ENDOCA}') AND {where}"
    if not _names("[or]", where):
        return _Source("units u", where, parameters)
    return _Source(f"units u LEFT JOIN ({_OUTCOMES}) ON o.unit_id = u.unit_id", _of_runs(chosen, where), parameters)


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


def _groups(by: Sequence[str], known: dict[str, str]) -> dict[str, str]:
    unknown = [name for name in by if name not in known]
    if unknown:
        raise AppError(f"There is no breakdown by {unknown[0]}.", f"Known: {', '.join(known)}.")
    return {name: known[name] for name in by}
