"""Which answers a saliency run looks into: of a verification both sides, of a long run some units."""

__all__ = ["Sides", "choose_units", "find_verification", "sides_of"]

from typing import NamedTuple

from backend.domain.records import Stage, System
from backend.errors import AppError
from backend.store.store import Store
from backend.store.verification_looks import ANSWERED_IN
from backend.verimap.conditions import Condition


class Sides(NamedTuple):
    """The run whose words are looked into, and where these are verdicts the run that they are on."""

    run_id: str
    generator_run: str | None
    """None where the run is none of verdicts."""


def find_verification(
    store: Store, suite: str, generator: str, verifier: str, condition: Condition = Condition.PLAIN, turn: int = 0
) -> str:
    """Return the id of the one stored run of verdicts that is meant.

    Args:
        store: Holds it.
        suite: A data set of VeriMap.
        generator: Whose answers were judged.
        verifier: Who judged them.
        condition: What the verifier was shown.
        turn: Of the feedback loop; 0: the first answers.

    Raises:
        AppError: There is none, or several could be meant. Those of imported records do not count: it is not known
            what was said in them.
    """
    rows = store.rows(
        "SELECT DISTINCT v.suite, v.generator, v.verifier, v.condition, v.turn, v.run_id "
        "FROM verifications v WHERE v.run_id IN (SELECT run_id FROM calls) ORDER BY ALL"
    )
    found = [row[-1] for row in rows if row[:-1] == (suite, generator, verifier, condition, turn)]
    if len(found) > 1:
        raise AppError(
            f"Several runs hold the verdicts of {verifier} on the answers of {generator} to {suite}.",
            f"Choose one with --run: {', '.join(found)}.",
        )
    if not found:
        held = dict.fromkeys(f"{row[1]} by {row[2]} on {row[0]} ({row[3]}, turn {row[4]})" for row in rows)
        raise AppError(
            f"No run of this store holds verdicts of {verifier} on the answers of {generator} to {suite} "
            f"({condition.label}, turn {turn}) that can be looked into.",
            f"There are: {'; '.join(held) or 'none yet; make some with verify run, and import the folder'}.",
        )
    return str(found[0])


def sides_of(store: Store, run_id: str) -> Sides:
    """Return a run, and where it is one of verdicts the run whose answers these are on."""
    found = store.rows(
        f"SELECT b.base_run_id FROM ({ANSWERED_IN}) b JOIN runs v USING (run_id) WHERE v.run_id = ? AND v.stage = ?",
        [run_id, Stage.VERIFY],
    )
    return Sides(run_id, found[0][0] if found else None)


def choose_units(
    store: Store, run_id: str, *, limit: int | None = None, per_task: int | None = None
) -> tuple[str, ...] | None:
    """Return some of the units that a run answered, in the order of their suite; None where all are meant.

    Args:
        store: Holds the run.
        run_id: Its id.
        limit: So many units, from the first.
        per_task: Of each task at most so many, spread evenly over the suite; of VeriMap alone.

    Raises:
        AppError: Both are given, or the run's questions have no tasks.
    """
    if limit is not None and per_task is not None:
        raise AppError("--limit and --per-task are two ways to choose.", "Give one of them.")
    if limit is None and per_task is None:
        return None
    rows = store.rows(
        "SELECT u.unit_id, e.task, r.system FROM units u LEFT JOIN examples e USING (unit_id) "
        "JOIN runs r ON r.run_id = ? AND r.suite = u.suite WHERE u.unit_id IN "
        "(SELECT p.unit_id FROM calls c JOIN probes p ON p.probe_id = c.probe_id WHERE c.run_id = r.run_id) "
        "ORDER BY try_cast(u.source_id AS BIGINT), u.source_id",
        [run_id],
    )
    if per_task is None:
        return tuple(unit_id for unit_id, _, _ in rows[:limit])
    tasks = {task for _, task, _ in rows if task}
    if rows and (rows[0][2] != System.VERIMAP or not tasks):
        raise AppError(
            "The questions of this run have no tasks to choose by.",
            "Choose with --limit; those of VeriMap can be labelled first: python -m backend import verimap -h",
        )
    chosen: set[str] = set()
    for task in tasks:
        of_task = [unit_id for unit_id, its, _ in rows if its == task]
        n = min(per_task, len(of_task))
        chosen.update(of_task[place * len(of_task) // n] for place in range(n))
    return tuple(unit_id for unit_id, _, _ in rows if unit_id in chosen)
