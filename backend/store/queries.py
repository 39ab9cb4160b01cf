"""Sums over runs and units, and the tables of runs and suites, as SQL; each returns a documented DataFrame.

What the pages show are the scores of a run's present scorer; older scores stay beside them.
Sums are made here, formulas in the systems' `metrics`.
"""

__all__ = [
    "atom_sums",
    "image_sums",
    "outcome_counts",
    "run_groups",
    "run_table",
    "suite_table",
    "unit_outcomes",
]

from collections.abc import Sequence
from typing import TYPE_CHECKING

from backend.endoca.vocabulary import QUESTION_CLASSES
from backend.errors import AppError
from backend.store.filters import DECIDES, UnitFilter
from backend.store.store import Store
from backend.store.unit_sources import of_atomic_questions, of_outcomes

if TYPE_CHECKING:
    import pandas as pd

_DECIDED = "LEFT JOIN decisions d ON d.run_id = o.run_id AND d.unit_id = o.unit_id"

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
        "ORDER BY r.system, r.suite, r.vlm, r.stage, r.setting, r.run_id"
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
    source, where, parameters = of_outcomes(chosen, select + classes)
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
    source, where, parameters = of_atomic_questions(chosen, select)
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
    source, where, parameters = of_outcomes(chosen)
    return store.read(
        "SELECT o.run_id, o.unit_id, o.image_id, o.complexity, o.complex_correct, o.n_atoms, o.n_atoms_correct, "
        "o.n_missing, o.n_failed, o.n_empty, o.n_unparsed, "
        f"CASE WHEN {DECIDES} THEN coalesce(d.decision, 'abstain') END AS decision "
        f"FROM {source} {_DECIDED} WHERE {where}",
        parameters,
    )


def outcome_counts(store: Store, chosen: UnitFilter) -> "pd.DataFrame":
    """Return run_id, outcome and n_units for the chosen units."""
    source, where, parameters = of_outcomes(chosen)
    return store.read(
        f"SELECT o.run_id, o.outcome, count(*) AS n_units FROM {source} WHERE {where} GROUP BY ALL ORDER BY ALL",
        parameters,
    )


def run_groups(store: Store, chosen: UnitFilter) -> "pd.DataFrame":
    """Return run_id, origin and vlm_group ("not known" where it is not) of the runs with chosen units."""
    groups = ", ".join(f"{_UNIT_GROUPS[name]} AS {name}" for name in ("run_id", "origin", "vlm_group"))
    source, where, parameters = of_outcomes(chosen)
    return store.read(f"SELECT DISTINCT {groups} FROM {source} WHERE {where} ORDER BY ALL", parameters)


def _groups(by: Sequence[str], known: dict[str, str]) -> dict[str, str]:
    unknown = [name for name in by if name not in known]
    if unknown:
        raise AppError(f"There is no breakdown by {unknown[0]}.", f"Known: {', '.join(known)}.")
    return {name: known[name] for name in by}
