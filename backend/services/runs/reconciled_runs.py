"""Revise and Select runs in the store: made of their own answers and, unchanged, of another run's.

Such a run is worth something only beside the very answers it was made from. So it comes in where
these are, and those are not replaced under it: what it was asked must at all times be what its
direct run's answers in the store would have it asked.
"""

__all__ = ["check_made_from", "dependents", "put_decisions", "revise_run_of", "whole_answers"]

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from backend.domain.records import Origin, Role, RunKey, System
from backend.endoca import prompts
from backend.endoca.asr import StepName
from backend.endoca.decision import failed_decision, read_decision
from backend.errors import AppError
from backend.services.ingest.answers import Answer
from backend.services.runs.direct_answers import Said
from backend.services.runs.plan import templates_sha256
from backend.services.runs.reconciliation_plan import STAGES, stage_of, unit_prompt
from backend.services.runs.record import RunRecord
from backend.store.arrow import arrow_table
from backend.store.store import insert

if TYPE_CHECKING:
    import duckdb


def whole_answers(cursor: "duckdb.DuckDBPyConnection", record: RunRecord, given: Sequence[Answer]) -> list[Answer]:
    """Return the answers of a Revise or Select run as the store keeps them, and note what it was made from.

    Complex answers are Revise's, which a Select run returns unchanged; the atomic ones of the same
    units are copied from the direct run.

    Args:
        cursor: The caller's write transaction.
        record: Of the run's folder.
        given: What the folder says to the complex questions.

    Raises:
        AppError: The folder names no direct run, the store lacks the direct or the Revise run, or
            the prompts are of another version than this Parallax's and cannot be checked.
    """
    base = _checked_base(cursor, record)
    units = dict(cursor.execute("SELECT probe_id, unit_id FROM probes WHERE suite = ?", [record.suite]).fetchall())
    asked = {units[answer.probe_id] for answer in given}
    rows = cursor.execute(
        "SELECT p.unit_id, p.probe_id, a.answer, a.error FROM answers a JOIN probes p USING (probe_id) "
        "WHERE a.run_id = ? AND p.role = ?",
        [base, Role.ATOMIC],
    ).fetchall()
    copied = [Answer(*row) for unit_id, *row in rows if unit_id in asked]
    if revise := revise_run_of(record.key):
        rows = cursor.execute("SELECT probe_id, answer, error FROM answers WHERE run_id = ?", [revise]).fetchall()
        revised = {row[0]: Answer(*row) for row in rows}
        given = [revised[answer.probe_id] for answer in given if answer.probe_id in revised]
    cursor.execute("DELETE FROM run_bases WHERE run_id = ?", [record.key.run_id])
    cursor.execute("INSERT INTO run_bases (run_id, base_run_id) VALUES (?, ?)", [record.key.run_id, base])
    return [*given, *copied]


def put_decisions(cursor: "duckdb.DuckDBPyConnection", run_id: str, given: Sequence[Answer]) -> int:
    """Write the decisions of a Select run, in the place of those on the same units.

    Args:
        cursor: The caller's write transaction.
        run_id: The run.
        given: The replies to its Select questions, verbatim. A failed call is an abstention.

    Returns:
        How many are new, or other than before.
    """
    units = dict(cursor.execute("SELECT probe_id, unit_id FROM probes WHERE role = ?", [Role.COMPLEX]).fetchall())
    decided = [failed_decision(one.error) if one.error else read_decision(one.answer) for one in given]
    columns = {
        "run_id": [run_id] * len(given),
        "unit_id": [units[one.probe_id] for one in given],
        "decision": [str(one.verdict) for one in decided],
        "consistency": [None if one.consistency is None else str(one.consistency) for one in decided],
        "echoed": [one.echoed for one in decided],
        "problem": [one.problem for one in decided],
        "reply": [one.answer for one in given],
    }
    names = ", ".join(columns)
    before = set(cursor.execute(f"SELECT {names} FROM decisions WHERE run_id = ?", [run_id]).fetchall())
    fresh = [row for row in zip(*columns.values(), strict=True) if row not in before]
    if fresh:
        replaced = "DELETE FROM decisions WHERE run_id = ? AND list_contains(?, unit_id)"
        cursor.execute(replaced, [run_id, [row[1] for row in fresh]])
        insert(cursor, "decisions", arrow_table({name: [row[at] for row in fresh] for at, name in enumerate(columns)}))
    return len(fresh)


def dependents(cursor: "duckdb.DuckDBPyConnection", run_id: str) -> list[str]:
    """Return the ids of the runs that were made from a run, or that decide on the answers of a Revise run."""
    found = cursor.execute("SELECT run_id, base_run_id FROM run_bases").fetchall()
    keys = {one: _key(cursor, one) for one, _ in found}
    return sorted({one for one, base in found if base == run_id or revise_run_of(keys[one]) == run_id})


def check_made_from(cursor: "duckdb.DuckDBPyConnection", run_ids: Iterable[str], written: Collection[str] = ()) -> None:
    """Refuse, at the end of a transaction, runs that do not fit the answers they were made from.

    Args:
        cursor: The caller's write transaction; an error rolls it back.
        run_ids: Revise and Select runs that were written, or whose direct or Revise run was.
        written: Those of them that were themselves written.

    Raises:
        AppError: A run was asked something else than these answers would have it asked, or holds other
            atomic answers than its direct run, or some that this lacks; or its wordings are another
            version's and cannot be made again.
    """
    unfit: dict[str, list[str]] = {}
    bases: dict[str, str] = {}
    for run_id in sorted(set(run_ids)):
        [(bases[run_id],)] = cursor.execute("SELECT base_run_id FROM run_bases WHERE run_id = ?", [run_id]).fetchall()
        units = _unfit_units(cursor, _key(cursor, run_id), bases[run_id])
        if units:
            unfit[run_id] = units
    if unfit:
        first, *others = unfit
        also = f" So it is with {', '.join(others)}." if others else ""
        raise AppError(
            f"The run {first} was not made from the answers of {bases[first]} as this import would leave them: "
            f"{len(unfit[first]):,} of its units differ, {unfit[first][0]} among them.{also} Nothing was changed.",
            _way_out(cursor, bases[first], [run_id for run_id in unfit if run_id not in written]),
        )


def revise_run_of(key: RunKey) -> str | None:
    """Return the id of the Revise run that a Select run decides on; None for any other run."""
    made = STAGES.get(key.stage)
    if made is None or made.step is not StepName.SELECT:
        return None
    return replace(key, stage=stage_of(made.variant, StepName.REVISE)).run_id


def _way_out(cursor: "duckdb.DuckDBPyConnection", base: str, stored: Sequence[str]) -> str:
    """Return what to do about runs that do not fit: what to import at once, or what to take out, Select before Revise.

    Args:
        cursor: The caller's write transaction.
        base: Their direct run.
        stored: Those of them that the import does not bring.
    """
    again = f"make them again: asr run --from {base}"
    leaving = {*stored, *(one for run_id in stored for one in dependents(cursor, run_id))}
    revised = {revise_run_of(_key(cursor, run_id)) for run_id in leaving}
    out = ", then ".join(
        f"python -m backend remove run {run_id}" for run_id in sorted(leaving, key=lambda one: (one in revised, one))
    )
    if _key(cursor, base).origin == Origin.IMPORTED:
        return f"Take out first, in this order: {out}. Then {again}" if out else f"Import its file first, or {again}"
    together = (
        "Import the folder of the direct run and those of all runs made from it in one command: python -m backend "
        "import run DIR DIR … (where one was stopped, go on with it before: asr run … --resume). "
    )
    return together + (f"Or take out first, in this order: {out}" if out else f"Or {again}")


def _checked_base(cursor: "duckdb.DuckDBPyConnection", record: RunRecord) -> str:
    known = {row[0] for row in cursor.execute("SELECT run_id FROM runs").fetchall()}
    if record.base is None:
        raise AppError(
            f"The folder of the {record.stage} run does not say which direct run it was made from.",
            "Make it again with asr run.",
        )
    if (record.prompt_version, record.prompts_sha256) != (prompts.PROMPT_VERSION, templates_sha256(prompts.TEMPLATES)):
        raise AppError(
            f"The prompts of the {record.stage} run (version {record.prompt_version}) are worded otherwise than this "
            f"Parallax's (version {prompts.PROMPT_VERSION}), so that it cannot be checked what it was made from.",
            "Import it with the Parallax that made it, or make it again with asr run.",
        )
    if record.base.run_id not in known:
        first = (
            "the prediction file with its answers"
            if record.base.origin == Origin.IMPORTED
            else "its run folder, or the whole ASR folder at once"
        )
        raise AppError(
            f"The {record.stage} run was made from the direct run {record.base.run_id}, which is not in this store.",
            f"Import {first}, then this one.",
        )
    revise = revise_run_of(record.key)
    if revise and revise not in known:
        raise AppError(
            f"The {record.stage} run decides on the answers of {revise}, which is not in this store.",
            "Import the folder of its Revise run first, or the whole ASR folder at once.",
        )
    return record.base.run_id


def _unfit_units(cursor: "duckdb.DuckDBPyConnection", key: RunKey, base: str) -> list[str]:
    """Return the units of a run that the answers of its direct run, and of its Revise run, do not explain.

    All atomic answers count, those too that the control's prompts leave out: its joint accuracy rests on them.
    """
    run_id, revise = key.run_id, revise_run_of(key)
    asked = cursor.execute(
        """
        SELECT q.unit_id, q.question, c.prompt, b.answer, b.error, r.answer, r.error
        FROM calls c JOIN probes q ON q.probe_id = c.probe_id
        LEFT JOIN answers b ON b.run_id = $base AND b.probe_id = c.probe_id
        LEFT JOIN answers r ON r.run_id = $revise AND r.probe_id = c.probe_id
        WHERE c.run_id = $run ORDER BY q.unit_id
        """,
        {"run": run_id, "base": base, "revise": revise},
    ).fetchall()
    if key.prompt_version != prompts.PROMPT_VERSION:
        return [row[0] for row in asked]
    parts: dict[str, list[tuple[str, Said]]] = {}
    unfit: set[str] = set()
    for unit_id, question, answer, error, *own in cursor.execute(
        """
        SELECT p.unit_id, p.question, b.answer, b.error, own.answer, own.error
        FROM probes p
        LEFT JOIN answers own ON own.run_id = $run AND own.probe_id = p.probe_id
        LEFT JOIN answers b ON b.run_id = $base AND b.probe_id = p.probe_id
        WHERE p.role = $role
          AND p.unit_id IN (SELECT q.unit_id FROM calls c JOIN probes q USING (probe_id) WHERE c.run_id = $run)
        ORDER BY p.unit_id, p.position
        """,
        {"run": run_id, "base": base, "role": Role.ATOMIC},
    ).fetchall():
        if answer is None or own != [answer, error]:
            unfit.add(unit_id)
        else:
            parts.setdefault(unit_id, []).append((question, Said(answer, error)))
    variant = STAGES[key.stage].variant
    for unit_id, question, prompt, answer, error, revised, revised_error in asked:
        if answer is None or (revise and revised is None):
            unfit.add(unit_id)
        elif unit_id not in unfit:
            before, after = Said(answer, error), Said(revised, revised_error) if revise else None
            if prompt != unit_prompt(variant, question, before, parts.get(unit_id, []), after).prompt:
                unfit.add(unit_id)
    return sorted(unfit)


def _key(cursor: "duckdb.DuckDBPyConnection", run_id: str) -> RunKey:
    [(system, suite, vlm, stage, origin, setting, prompt_version, decoding)] = cursor.execute(
        "SELECT system, suite, vlm, stage, origin, setting, prompt_version, decoding FROM runs WHERE run_id = ?",
        [run_id],
    ).fetchall()
    return RunKey(System(system), suite, vlm, stage, Origin(origin), setting, prompt_version, decoding)
