"""Feedback loops as the store holds them: which verifier runs make one loop, and the fate of each of its answers.

A computed loop is a chain of runs (`run_bases`), an imported one a single run that holds all its turns. A loop is
known by the run of its last turn. Loops are never pooled here, and plain verifications alone make them. The fate is
`backend.verimap.fates.fate_of` as SQL.
"""

__all__ = ["FATES", "loop_clause", "loop_fates", "loop_runs", "loop_turns"]

from collections.abc import Sequence
from typing import TYPE_CHECKING

from backend.errors import AppError
from backend.store.filters import Clause
from backend.store.store import Store
from backend.verimap.fates import Fate, LoopRule, NoFate

if TYPE_CHECKING:
    import pandas as pd

FATES = (*Fate, *NoFate)
"""What can become of a loop, reasons for no fate included."""

_LOOPED = """
    WITH RECURSIVE verifying AS (
        SELECT DISTINCT run_id FROM verifications WHERE condition = 'plain'
    ), ancestry AS (
        SELECT run_id AS loop_id, run_id FROM verifying
        UNION
        SELECT a.loop_id, b.base_run_id FROM ancestry a JOIN run_bases b ON b.run_id = a.run_id
    ), inner_runs AS (
        SELECT DISTINCT run_id FROM ancestry WHERE run_id <> loop_id
    ), turns AS (
        SELECT a.loop_id, v.*, max(v.turn) OVER (PARTITION BY a.loop_id) AS longest
        FROM ancestry a JOIN verifications v ON v.run_id = a.run_id AND v.condition = 'plain'
        WHERE a.loop_id NOT IN (SELECT run_id FROM inner_runs)
        QUALIFY longest > 0
    )
"""
"""Every verification of a loop: ``loop_id`` is the run that no later turn was made from, ``longest`` its last turn."""

_FATES = f"""{_LOOPED}
    , chains AS (
        SELECT loop_id, unit_id, place, coalesce($last_turn::INT, any_value(longest)) AS last,
               min(turn) FILTER (verdict = 'CORRECT' AND turn <= coalesce($last_turn::INT, longest)) AS accepted,
               max(turn) FILTER (verdict = 'CORRECT' AND turn <= coalesce($last_turn::INT, longest)) AS last_accepted,
               max(turn) FILTER (turn <= coalesce($last_turn::INT, longest)) AS recorded
        FROM turns GROUP BY loop_id, unit_id, place
    ), ended AS (
        SELECT loop_id, unit_id, place, last,
               CASE WHEN $loop_end = 'at-acceptance' THEN coalesce(accepted, last)
                    WHEN $loop_end = 'as-recorded' AND last_accepted = recorded THEN recorded
                    ELSE last END AS ends
        FROM chains
    ), known AS (
        SELECT e.loop_id, e.unit_id, e.place, e.last, e.ends,
               any_value(t.suite) AS suite, any_value(t.image_id) AS image_id,
               any_value(t.generator) AS generator, any_value(t.verifier) AS verifier,
               count(DISTINCT t.turn) FILTER (t.turn <= e.ends) = e.ends + 1 AS whole,
               bool_or(t.oracle_correct) FILTER (t.turn = 0) AS first_right,
               bool_or(t.oracle_correct) FILTER (t.turn = e.ends) AS last_right,
               coalesce(bool_or(t.verdict = 'CORRECT') FILTER (t.turn = e.ends), false) AS is_accepted,
               max(t.turn) AS recorded
        FROM ended e JOIN turns t ON t.loop_id = e.loop_id AND t.unit_id = e.unit_id AND t.place = e.place
        GROUP BY e.loop_id, e.unit_id, e.place, e.last, e.ends
    ), fates AS (
        SELECT loop_id, unit_id, place, suite, image_id, generator, verifier, last, ends,
               CASE WHEN NOT whole THEN 'unfinished'
                    WHEN first_right IS NULL OR last_right IS NULL THEN 'unjudged'
                    WHEN first_right THEN CASE WHEN last_right THEN 'kept' ELSE 'spoiled' END
                    WHEN last_right THEN 'corrected'
                    WHEN is_accepted THEN 'locked' ELSE 'still_wrong' END AS fate,
               CASE WHEN whole THEN ends ELSE recorded END AS shown
        FROM known
    )
"""


def loop_runs(store: Store) -> "pd.DataFrame":
    """Return all loops.

    Returns:
        One row a loop: loop_id, suite, generator, verifier, origin, setting (of its last run), n (examples, alike
        ones apart), longest (its last turn); by suite, generator, verifier and run.
    """
    return store.read(
        f"""{_LOOPED}
        SELECT t.loop_id, t.suite, t.generator, t.verifier, r.origin, r.setting,
               count(DISTINCT (t.unit_id, t.place)) AS n, any_value(t.longest) AS longest
        FROM turns t JOIN runs r ON r.run_id = t.loop_id
        GROUP BY ALL ORDER BY t.suite, t.generator, t.verifier, t.loop_id
        """
    )


def loop_fates(store: Store, suite: str, rule: LoopRule) -> "pd.DataFrame":
    """Return what became of each answer of a suite's loops.

    Args:
        store: The store.
        suite: The data set.
        rule: When loops end.

    Returns:
        One row a loop and example (alike ones apart): loop_id, generator, verifier, unit_id, image_id, place, task
        (None: not labelled), last (the last turn that the rule lets the loop have), ends (the turn it ends at), fate
        (a `Fate`, or a `NoFate`).
    """
    table = store.read(
        f"""{_FATES}
        SELECT f.loop_id, f.generator, f.verifier, f.unit_id, f.image_id, f.place, e.task, f.last, f.ends, f.fate
        FROM fates f JOIN examples e USING (unit_id) WHERE f.suite = $suite
        ORDER BY f.loop_id, f.unit_id, f.place
        """,
        {"suite": suite, **_rule_parameters(rule)},
    )
    return table.assign(task=table["task"].astype(object).where(table["task"].notna(), None))


def loop_turns(store: Store, suite: str) -> "pd.DataFrame":
    """Return every turn of a suite's loops.

    Returns:
        One row a turn: loop_id, unit_id, place, turn, oracle_correct (bool, None where not judged), verdict (None
        without one).
    """
    table = store.read(
        f"""{_LOOPED}
        SELECT loop_id, unit_id, place, turn, oracle_correct, verdict FROM turns WHERE suite = $suite
        ORDER BY loop_id, unit_id, place, turn
        """,
        {"suite": suite},
    )
    return table.assign(
        **{name: table[name].astype(object).where(table[name].notna(), None) for name in ("oracle_correct", "verdict")}
    )


def loop_clause(loop: str, fates: Sequence[str], rule: str = "", called: str = "") -> Clause:
    """Return the condition on verifications ``v`` that a loop and fates set.

    Args:
        loop: A loop's id; empty for all loops.
        fates: Of `FATES`: each loop with such a fate is then represented by its last verification. Empty: all
            verifications of the loop.
        rule: `LoopRule.key`.
        called: What to call the loop in the sentence.

    Raises:
        AppError: There is no such rule.
    """
    try:
        known = LoopRule.of_key(rule)
    except ValueError as error:
        raise AppError(f"The link asks for the loop rule {rule!r}.", "Open the page Loop again.") from error
    of_loop = f"in the loop {called or loop}" if loop else "in a loop"
    if not fates:
        sql = f"v.run_id IN ({_LOOPED} SELECT run_id FROM turns WHERE loop_id = $loop)"
        return Clause(sql, {"loop": loop}, of_loop)
    sql = (
        f"(v.run_id, v.unit_id, v.turn, v.place) IN ({_FATES} SELECT t.run_id, t.unit_id, t.turn, t.place "
        "FROM fates f JOIN turns t ON t.loop_id = f.loop_id AND t.unit_id = f.unit_id AND t.place = f.place "
        "AND t.turn = f.shown WHERE ($loop = '' OR f.loop_id = $loop) AND list_contains($fates::TEXT[], f.fate))"
    )
    told = " or ".join(f"“{_plain(fate)}”" for fate in fates)
    return Clause(sql, {"loop": loop, "fates": list(fates), **_rule_parameters(known)}, f"{told} {of_loop}")


def _rule_parameters(rule: LoopRule) -> dict[str, object]:
    return {"loop_end": rule.end.value, "last_turn": rule.last_turn}


def _plain(fate: str) -> str:
    return (NoFate(fate) if fate in tuple(NoFate) else Fate(fate)).plain
