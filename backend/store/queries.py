"""The questions asked of the store, as SQL; each returns a documented DataFrame.

What the pages show are the scores of a run's present scorer; older scores stay beside them.
Sums are made here, formulas in the systems' `metrics`.
"""

__all__ = [
    "atom_sums",
    "image_sums",
    "neighbours",
    "outcome_counts",
    "run_groups",
    "run_table",
    "suite_table",
    "unit_answers",
    "unit_count",
    "unit_outcomes",
    "unit_page",
]

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from backend.endoca.vocabulary import QUESTION_CLASSES
from backend.errors import AppError
from backend.store.filters import UnitFilter
from backend.store.store import Store

if TYPE_CHECKING:
    import pandas as pd

_FROM = """
    FROM outcomes o
    JOIN runs r ON r.run_id = o.run_id AND r.scorer = o.scorer AND r.scorer_version = o.scorer_version
    JOIN units u ON u.unit_id = o.unit_id
"""

_LISTED_FROM = """
    FROM units u
    LEFT JOIN (outcomes o JOIN runs r ON r.run_id = o.run_id AND r.scorer = o.scorer
        AND r.scorer_version = o.scorer_version) ON o.unit_id = u.unit_id
"""
"""For lists of units: those no VLM has answered yet are there too, until a run is asked for."""

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
        prompt_version, decoding, origin, source, scorer, scorer_version, created_at, n_answers.
    """
    return store.read(
        "SELECT r.*, coalesce(a.n, 0) AS n_answers FROM runs r "
        "LEFT JOIN (SELECT run_id, count(*) AS n FROM answers GROUP BY run_id) a USING (run_id) "
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
               count(DISTINCT u.image_id) AS n_images,
               count(DISTINCT CASE WHEN i.path IS NOT NULL THEN u.image_id END) AS n_images_at_hand,
               (SELECT count(*) FROM runs r WHERE r.suite = s.suite) AS n_runs
        FROM suites s LEFT JOIN units u USING (suite) LEFT JOIN images i USING (image_id)
        GROUP BY s.suite, s.system, s.source, s.report, s.created_at
        ORDER BY s.suite
    """)


def image_sums(store: Store, chosen: UnitFilter, by: Sequence[str]) -> "pd.DataFrame":
    """Return what each image adds to each group of units.

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
    where, parameters = chosen.where()
    groups = _groups(by, _UNIT_GROUPS)
    classes = ""
    if {"question_class", "question_type"} & set(by):
        kinds = ", ".join(f"{groups[name]} AS {name}" for name in groups if name.startswith("question_"))
        classes = (
            f"CROSS JOIN LATERAL (SELECT DISTINCT {kinds} "
            "FROM (SELECT unnest(u.question_classes) AS question_class) c) k"
        )
        groups = {name: f"k.{name}" if name.startswith("question_") else sql for name, sql in groups.items()}
    select = ", ".join(f"{sql} AS {name}" for name, sql in groups.items())
    return store.read(
        f"""
        SELECT {select}{', ' if select else ''}o.image_id,
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
            0 AS n_selective, 0 AS n_selected, 0 AS n_selected_correct
        {_FROM} {classes}
        WHERE {where}
        GROUP BY ALL
        """,
        parameters,
    )


def atom_sums(store: Store, chosen: UnitFilter, by: Sequence[str], *, by_image: bool = True) -> "pd.DataFrame":
    """Return what each image adds to each group of atomic questions.

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
    where, parameters = chosen.where()
    atom_groups = {
        **_UNIT_GROUPS,
        "question_class": "s.question_class",
        "question_type": _TYPE.format(column="s.question_class"),
    }
    groups = _groups(by, atom_groups)
    select = "".join(f"{sql} AS {name}, " for name, sql in groups.items())
    of_class = "AND list_contains($classes, s.question_class)" if chosen.classes else ""
    return store.read(
        f"""
        SELECT {select}{"s.image_id" if by_image else "''"} AS image_id,
            count(*) AS n_atomic,
            count(*) FILTER (s.correct) AS n_atomic_correct,
            count(*) FILTER (s.status IN ('missing', 'failed', 'empty')) AS n_not_answered
        {_FROM}
        JOIN scores s ON s.run_id = o.run_id AND s.unit_id = o.unit_id AND s.role = 'atomic'
            AND s.scorer = o.scorer AND s.scorer_version = o.scorer_version
        WHERE {where} {of_class}
        GROUP BY ALL
        """,
        parameters,
    )


def unit_outcomes(store: Store, chosen: UnitFilter) -> "pd.DataFrame":
    """Return the outcomes themselves: the columns of `backend.endoca.metrics.UNIT_COLUMNS`."""
    where, parameters = chosen.where()
    return store.read(
        "SELECT o.run_id, o.unit_id, o.image_id, o.complexity, o.complex_correct, o.n_atoms, o.n_atoms_correct, "
        f"o.n_missing, o.n_failed, o.n_empty, o.n_unparsed {_FROM} WHERE {where}",
        parameters,
    )


def outcome_counts(store: Store, chosen: UnitFilter) -> "pd.DataFrame":
    """Return run_id, outcome and n_units for the chosen units."""
    where, parameters = chosen.where()
    return store.read(
        f"SELECT o.run_id, o.outcome, count(*) AS n_units {_FROM} WHERE {where} GROUP BY ALL ORDER BY ALL",
        parameters,
    )


def run_groups(store: Store, chosen: UnitFilter) -> "pd.DataFrame":
    """Return run_id, origin and vlm_group ("not known" where it is not) of the runs with chosen units."""
    where, parameters = chosen.where()
    groups = ", ".join(f"{_UNIT_GROUPS[name]} AS {name}" for name in ("run_id", "origin", "vlm_group"))
    return store.read(f"SELECT DISTINCT {groups} {_FROM} WHERE {where} ORDER BY ALL", parameters)


def unit_page(store: Store, chosen: UnitFilter, *, offset: int, limit: int) -> "pd.DataFrame":
    """Return one page of the chosen units, a row a unit, whatever the number of runs.

    Returns:
        unit_id, suite, source_id, image_id, split, complexity, question_classes, n_runs (chosen
        runs that answered it), n_right (of these, complex answer right), n_inconsistent (of these,
        right with a wrong part), question, reference, image_at_hand.
    """
    where, parameters = chosen.where()
    return store.read(
        f"""
        WITH chosen AS (
            SELECT u.unit_id, u.suite, u.source_id, u.image_id, u.split, u.complexity, u.question_classes,
                   count(o.run_id) AS n_runs, count(*) FILTER (o.complex_correct) AS n_right,
                   count(*) FILTER (o.outcome = 'inconsistent') AS n_inconsistent
            {_LISTED_FROM} WHERE {where}
            GROUP BY ALL
        ), page AS (
            SELECT * FROM chosen ORDER BY {_ORDER} LIMIT $limit OFFSET $offset
        )
        SELECT page.*, p.question, p.reference, i.path IS NOT NULL AS image_at_hand
        FROM page JOIN probes p ON p.unit_id = page.unit_id AND p.role = 'complex'
        LEFT JOIN images i ON i.image_id = page.image_id
        ORDER BY {_ORDER.replace("suite", "page.suite").replace("source_id", "page.source_id")}
        """,
        {**parameters, "limit": limit, "offset": offset},
    )


def unit_count(store: Store, chosen: UnitFilter) -> int:
    """Return how many units are chosen; one that several runs answered counts once."""
    where, parameters = chosen.where()
    return int(store.value(f"SELECT count(DISTINCT u.unit_id) {_LISTED_FROM} WHERE {where}", parameters))


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
    where, parameters = chosen.where()
    rows = store.rows(
        f"""
        WITH placed AS (
            SELECT unit_id, row_number() OVER w AS place, lag(unit_id) OVER w AS before,
                   lead(unit_id) OVER w AS after, count(*) OVER () AS total
            FROM (SELECT DISTINCT u.unit_id, u.suite, u.source_id {_LISTED_FROM} WHERE {where})
            WINDOW w AS (ORDER BY {_ORDER})
        )
        SELECT total, unit_id = $unit, place, before, after FROM placed
        ORDER BY unit_id = $unit DESC LIMIT 1
        """,
        {**parameters, "unit": unit_id},
    )
    if not rows:
        return Neighbours(0, None, None, None)
    total, listed, place, before, after = rows[0]
    return Neighbours(total, place, before, after) if listed else Neighbours(total, None, None, None)


def _groups(by: Sequence[str], known: dict[str, str]) -> dict[str, str]:
    unknown = [name for name in by if name not in known]
    if unknown:
        raise AppError(f"There is no breakdown by {unknown[0]}.", f"Known: {', '.join(known)}.")
    return {name: known[name] for name in by}
