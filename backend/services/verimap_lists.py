"""Verifications as a list, the failures first: a page of them, and the examples they are of, one after another.

A row is one verdict; a case is one example, which may have many. So whoever goes through the list case by
case meets each example once, where the first of its rows stands.
"""

__all__ = [
    "UnverifiedRun",
    "case_at",
    "unverified_runs",
    "verdicts_of_runs",
    "verification_neighbours",
    "verification_page",
]

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from backend.errors import AppError
from backend.store.store import Store
from backend.store.unit_lists import Neighbours, neighbours_in
from backend.store.verification_filters import VERIFICATIONS, VerificationFilter, outcome_sql
from backend.verimap.conditions import Condition

if TYPE_CHECKING:
    import pandas as pd

_BY_EXAMPLE = "suite, try_cast(source_id AS BIGINT), source_id"
_ORDER = f"rank, {_BY_EXAMPLE}, generator, verifier, condition, turn, run_id, place"


def verification_page(store: Store, chosen: VerificationFilter, *, offset: int, limit: int) -> "pd.DataFrame":
    """Return one page of the chosen verifications: false acceptances, false rejections, no verdict, the rest.

    Returns:
        One row a verification: unit_id, suite, source_id, image_id, image_file ("" where none is named),
        image_at_hand, task (None: not labelled), question, reference, answer (None: not known), generator,
        verifier, condition, turn, oracle_correct (None: not judged), verdict (None: none), status, outcome
        (a `VerdictOutcome` under the filter's policy; None: left out, or not judged), origin.
    """
    listed, parameters = _listed(chosen)
    page = store.read(
        f"""
        WITH page AS (SELECT * FROM ({listed}) ORDER BY {_ORDER} LIMIT $limit OFFSET $offset)
        SELECT page.unit_id, page.suite, page.source_id, page.image_id, coalesce(i.file, '') AS image_file,
               i.path IS NOT NULL AS image_at_hand, page.task, p.question, p.reference, page.answer, page.generator,
               page.verifier, page.condition, page.turn, page.oracle_correct, page.verdict, page.status, page.outcome,
               r.origin
        FROM page JOIN probes p ON p.unit_id = page.unit_id JOIN runs r ON r.run_id = page.run_id
        LEFT JOIN images i ON i.image_id = page.image_id
        ORDER BY {
            _ORDER.replace("suite", "page.suite")
            .replace("source_id", "page.source_id")
            .replace("run_id", "page.run_id")
        }
        """,
        {**parameters, "limit": limit, "offset": offset},
    )
    for name in ("task", "answer", "oracle_correct", "verdict", "outcome"):
        page[name] = page[name].astype(object).where(page[name].notna(), None)
    return page


def verification_neighbours(store: Store, chosen: VerificationFilter, unit_id: str) -> Neighbours:
    """Return the examples before and after one in the chosen list, each counted once."""
    examples, parameters = _examples(chosen)
    return neighbours_in(store, examples, f"rank, {_BY_EXAMPLE}", parameters, unit_id)


def case_at(store: Store, chosen: VerificationFilter, position: int) -> str:
    """Return the unit of the example at a position of the chosen list, from 1.

    Raises:
        AppError: The list has no such position, as after an import.
    """
    examples, parameters = _examples(chosen)
    rows = store.rows(
        f"SELECT unit_id FROM ({examples}) ORDER BY rank, {_BY_EXAMPLE} LIMIT 1 OFFSET $before",
        {**parameters, "before": position - 1},
    )
    if not rows:
        raise AppError(f"The list has no case {position}.", "It changed meanwhile. Go back to the list.")
    return str(rows[0][0])


def _examples(chosen: VerificationFilter) -> tuple[str, dict[str, object]]:
    """Return SQL of the chosen examples, each with the rank of its first row, and its parameters."""
    listed, parameters = _listed(chosen)
    return f"SELECT unit_id, suite, source_id, min(rank) AS rank FROM ({listed}) GROUP BY ALL", parameters


def _listed(chosen: VerificationFilter) -> tuple[str, dict[str, object]]:
    """Return SQL of the chosen verifications, each with its outcome and its rank in the list, and its parameters."""
    where, parameters = chosen.where()
    sql = f"""
        SELECT *, CASE WHEN outcome = 'fp' THEN 0 WHEN outcome = 'fn' THEN 1
                       WHEN oracle_correct IS NOT NULL AND verdict IS NULL THEN 2 ELSE 3 END AS rank
        FROM (SELECT v.*, e.task, u.source_id, {outcome_sql(chosen.policy)} AS outcome
              FROM {VERIFICATIONS} JOIN units u ON u.unit_id = v.unit_id WHERE {where})
    """
    return sql, parameters


def verdicts_of_runs(store: Store, suites: Sequence[str], runs: Sequence[str]) -> VerificationFilter:
    """Return the verdicts behind runs: a verifier's own, and those on the answers of a generator.

    A filter shows plain verdicts where nothing else is said, so a run that verified with the image withheld names
    its condition. Where some of the verdicts are plain, controls are left out, as everywhere. Answers that nobody
    verified have no verdicts, and the filter then chooses nothing.
    """
    asked = list(runs)
    found = store.rows(
        """
        SELECT DISTINCT run_id, condition FROM verifications
        WHERE list_contains($runs, run_id)
           OR run_id IN (SELECT run_id FROM run_bases WHERE list_contains($runs, base_run_id))
        ORDER BY ALL
        """,
        {"runs": asked},
    )
    own = [row for row in found if row[0] in asked] or found
    plain = [row for row in own if row[1] == Condition.PLAIN] or own
    conditions = tuple(one.value for one in Condition if one in {condition for _, condition in plain})
    return VerificationFilter(
        suites=tuple(suites),
        runs=tuple(dict.fromkeys(run_id for run_id, _ in plain)) or tuple(runs),
        conditions=() if conditions == (Condition.PLAIN,) else conditions,
    )


class UnverifiedRun(NamedTuple):
    """A run of a generator, or of a first step, on whose answers there is no verdict."""

    run_id: str
    suite: str
    stage: str
    n_answers: int
    first_unit: str
    """The first example it answered, in the order of cases."""


def unverified_runs(store: Store, runs: Sequence[str]) -> list[UnverifiedRun]:
    """Return which of some runs hold answers, none of which anybody verified; in order of their ids."""
    rows = store.rows(
        """
        SELECT r.run_id, r.suite, r.stage, count(*),
               first(u.unit_id ORDER BY try_cast(u.source_id AS BIGINT), u.source_id)
        FROM runs r JOIN answers a USING (run_id) JOIN probes p USING (probe_id) JOIN units u USING (unit_id)
        WHERE r.system = 'verimap' AND list_contains($runs, r.run_id)
          AND NOT EXISTS (SELECT 1 FROM verifications v WHERE v.run_id = r.run_id)
          AND NOT EXISTS (SELECT 1 FROM run_bases b JOIN verifications v ON v.run_id = b.run_id
                          WHERE b.base_run_id = r.run_id)
        GROUP BY ALL ORDER BY r.run_id
        """,
        {"runs": list(runs)},
    )
    return [UnverifiedRun(*row) for row in rows]
