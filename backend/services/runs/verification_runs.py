"""VeriMap's batch runs in the store: verdicts beside the answers they are on, turns beside the verdicts before them.

Such a run is worth something only beside the very runs it was made from. So it comes in where these
are, and those are not replaced under it: what it was asked must at all times be what the answers and
verdicts in the store would have it asked.
"""

__all__ = ["check_chain", "check_has_bases", "put_in_chain"]

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.records import AnswerStatus, Stage
from backend.errors import AppError
from backend.services.ingest.report import RunReport
from backend.services.ingest.verifications import StoredVerification, put_verifications
from backend.services.oracle import refresh_verifications
from backend.services.runs.direct_answers import Said
from backend.services.runs.plan import shown_question, templates_sha256
from backend.services.runs.reconciled_runs import dependents
from backend.services.runs.record import RunRecord
from backend.services.runs.verification_plan import answer_of, generator_prompt, verifier_prompt
from backend.verimap import prompts
from backend.verimap.conditions import Condition
from backend.verimap.verifier import read_review

if TYPE_CHECKING:
    import duckdb

_WORDINGS = {
    prompts.PROMPT_VERSION: templates_sha256(prompts.TEMPLATES),
    prompts.TWO_STEP_VERSION: templates_sha256(prompts.TWO_STEP_TEMPLATES),
}
"""Hash of this Parallax's wordings, by version."""

_MADE_FROM = (Stage.VERIFY, Stage.LOOP)


def check_has_bases(cursor: "duckdb.DuckDBPyConnection", record: RunRecord) -> None:
    """Refuse a run of verdicts, or of a turn, whose answers or verdicts before are not in the store.

    Args:
        cursor: The caller's write transaction.
        record: Of the run's folder.

    Raises:
        AppError: They are not, or the folder does not say which they are, or says of them what they are
            not, or its prompts are of another version than this Parallax's and cannot be checked.
    """
    if record.stage not in _MADE_FROM:
        return
    setup = record.setup
    if record.base is None or setup is None or (record.stage == Stage.VERIFY and setup.condition is None):
        raise AppError(
            f"The folder of the {record.stage} run does not say which run it was made from.",
            "Make it again with verify run.",
        )
    if _WORDINGS.get(record.prompt_version) != record.prompts_sha256:
        raise AppError(
            f"The prompts of the {record.stage} run (version {record.prompt_version}) are worded otherwise than this "
            "Parallax's, so that it cannot be checked what it was made from.",
            "Import it with the Parallax that made it, or make it again with verify run.",
        )
    if record.setting != setup.setup.setting(record.stage, record.base.run_id):
        raise _changed(record)
    base = _check_there(cursor, record, record.base.run_id)
    if record.stage == Stage.VERIFY:
        said_of = base.vlm == setup.generator and record.vlm.name == setup.verifier
        fits = said_of and base.stage in (Stage.DIRECT, Stage.LOOP) and base.turn == setup.turn
        fits = fits and bool(setup.looked) == (setup.condition is Condition.TWO_STEP)
    else:
        said_of = base.vlm == setup.verifier and record.vlm.name == setup.generator
        fits = said_of and base.stage == Stage.VERIFY and base.turn + 1 == setup.turn
    if setup.looked:
        look = _check_there(cursor, record, setup.looked)
        fits = fits and (look.stage, look.vlm) == (Stage.LOOK, record.vlm.name)
    if not fits:
        raise _changed(record)


def _changed(record: RunRecord) -> AppError:
    return AppError(
        f"The folder of the {record.stage} run of {record.vlm.name} was changed after its run: what it says of turn, "
        f"generator, verifier and the run it was made from ({record.base_run_id}) does not fit together.",
        "Import the folder as the run left it, or get it again from whoever made it.",
    )


class _Base(NamedTuple):
    """A run that another was made from."""

    stage: str
    vlm: str
    turn: int


def _check_there(cursor: "duckdb.DuckDBPyConnection", record: RunRecord, run_id: str) -> _Base:
    found = cursor.execute(
        "SELECT stage, vlm, coalesce(json_extract(record, '$.setup.turn')::INTEGER, 0) "
        "FROM runs LEFT JOIN run_facts USING (run_id) WHERE run_id = ?",
        [run_id],
    ).fetchall()
    if not found:
        raise AppError(
            f"The {record.stage} run was made from the run {run_id}, which is not in this store.",
            "Import its run folder first, or the whole folder of verify run at once.",
        )
    return _Base(*found[0])


def put_in_chain(cursor: "duckdb.DuckDBPyConnection", record: RunRecord, done: RunReport) -> RunReport:
    """Write what follows from a VeriMap run's answers: what it was made from, and verdicts.

    Args:
        cursor: The caller's write transaction; the answers are in it.
        record: Of the run's folder.
        done: What became of its answers.

    Returns:
        The same with the counts of the run as it now stands; missing is what it was to ask and did not yet.
    """
    run_id = record.key.run_id
    cursor.execute("DELETE FROM run_bases WHERE run_id = ?", [run_id])
    for base in filter(None, (record.base_run_id, record.setup.looked if record.setup else "")):
        cursor.execute("INSERT INTO run_bases (run_id, base_run_id) VALUES (?, ?)", [run_id, base])
    if record.stage == Stage.VERIFY:
        _put_verdicts(cursor, record)
    replies = cursor.execute("SELECT answer, error FROM answers WHERE run_id = ?", [run_id]).fetchall()
    statuses = [_status(record.stage, Said(*row)) for row in replies]
    return replace(
        done,
        n_missing=max(0, record.counts.planned - len(replies)),
        n_failed=statuses.count(AnswerStatus.FAILED),
        n_empty=statuses.count(AnswerStatus.EMPTY),
        n_unparsed=statuses.count(AnswerStatus.UNPARSED),
    )


def check_chain(cursor: "duckdb.DuckDBPyConnection", run_ids: Iterable[str], written: Collection[str] = ()) -> None:
    """Refuse, at the end of a transaction, runs that do not fit the answers and verdicts they were made from.

    Args:
        cursor: The caller's write transaction; an error rolls it back.
        run_ids: Runs of verdicts or of turns that were written, or that were made from one that was.
        written: Those of them that were themselves written.

    Raises:
        AppError: A run was asked something else than these would have it asked.
    """
    unfit = {run_id: probes for run_id in sorted(set(run_ids)) if (probes := _unfit_probes(cursor, run_id))}
    if not unfit:
        return
    first, *others = unfit
    also = f" So it is with {', '.join(others)}." if others else ""
    stored = [run_id for run_id in unfit if run_id not in written]
    leaving = _with_dependents(cursor, stored)
    out = ", then ".join(f"python -m backend remove run {run_id}" for run_id in leaving)
    raise AppError(
        f"The run {first} was not made from the answers and verdicts before it as this import would leave them: "
        f"{len(unfit[first]):,} of its questions differ, {unfit[first][0]} among them.{also} Nothing was changed.",
        "Import the whole folder of verify run at once, and beside it every folder made from the same answers: "
        "python -m backend import run DIR DIR … (where one was stopped, go on with it before: verify run … --resume). "
        + (f"Or take out first, in this order: {out}" if out else "Or make it again: verify run --generator …"),
    )


def _put_verdicts(cursor: "duckdb.DuckDBPyConnection", record: RunRecord) -> None:
    run_id, base, setup = record.key.run_id, record.base_run_id, record.setup
    assert setup is not None and setup.condition is not None, "checked by check_has_bases"
    rows = cursor.execute(
        """
        SELECT p.unit_id, u.image_id, r.stage, b.answer, b.error, v.answer, v.error
        FROM answers v JOIN probes p ON p.probe_id = v.probe_id JOIN units u ON u.unit_id = p.unit_id
        JOIN runs r ON r.run_id = $base JOIN answers b ON b.run_id = $base AND b.probe_id = v.probe_id
        WHERE v.run_id = $run
        """,
        {"run": run_id, "base": base},
    ).fetchall()
    verdicts = []
    for unit_id, image_id, stage, answer, answer_error, reply, error in rows:
        review = read_review(reply)
        verdicts.append(
            StoredVerification(
                unit_id=unit_id,
                image_id=image_id,
                turn=setup.turn,
                place=0,
                answer=None if answer_error else answer_of(stage, answer),
                oracle_correct=None,
                oracle=None,
                verdict=None if error else review.verdict,
                explanation=None if error else review.explanation or None,
                status=_status(Stage.VERIFY, Said(reply, error)),
                error=error,
            )
        )
    put_verifications(cursor, run_id, record.suite, setup.generator, record.vlm.name, setup.condition, verdicts)
    refresh_verifications(cursor, str(base))


def _status(stage: Stage, said: Said) -> AnswerStatus:
    """Return what became of a call; of a verifier's reply that says something, whether it holds a verdict."""
    if said.error:
        return AnswerStatus.FAILED
    if not re.search(r"\w", answer_of(stage, said.answer)):
        return AnswerStatus.EMPTY
    if stage == Stage.VERIFY and read_review(said.answer).verdict is None:
        return AnswerStatus.UNPARSED
    return AnswerStatus.READ


def _unfit_probes(cursor: "duckdb.DuckDBPyConnection", run_id: str) -> list[str]:
    """Return the questions whose prompts do not follow from the runs that a run was made from."""
    [(text,)] = cursor.execute("SELECT record FROM run_facts WHERE run_id = ?", [run_id]).fetchall()
    record = RunRecord.model_validate_json(text)
    setup, base = record.setup, record.base_run_id
    assert setup is not None, "as every run in a chain"
    if _WORDINGS.get(record.prompt_version) != record.prompts_sha256:
        rows = cursor.execute("SELECT probe_id FROM calls WHERE run_id = ? ORDER BY 1", [run_id]).fetchall()
        return [row[0] for row in rows]
    asked = cursor.execute(
        """
        SELECT c.probe_id, c.prompt, p.question, e.options
        FROM calls c JOIN probes p ON p.probe_id = c.probe_id LEFT JOIN examples e ON e.unit_id = p.unit_id
        WHERE c.run_id = ? ORDER BY c.probe_id
        """,
        [run_id],
    ).fetchall()
    answered = base if record.stage == Stage.VERIFY else _answers_of(cursor, base)
    [(stage,)] = cursor.execute("SELECT stage FROM runs WHERE run_id = ?", [answered]).fetchall()
    other_run = base if record.stage == Stage.LOOP else setup.looked
    before = [_said(cursor, run_id) for run_id in (answered, other_run) if run_id]
    unfit = []
    for probe_id, prompt, question, choices in asked:
        if any(probe_id not in said for said in before):
            unfit.append(probe_id)
            continue
        shown = shown_question(question, choices, setup.options)
        answer, *other = (said[probe_id] for said in before)
        if record.stage == Stage.VERIFY:
            expected, _ = verifier_prompt(shown, stage, answer, other[0] if other else None)
        else:
            expected, _ = generator_prompt(shown, stage, answer, other[0])
        if prompt != expected:
            unfit.append(probe_id)
    return unfit


def _answers_of(cursor: "duckdb.DuckDBPyConnection", verdicts: str | None) -> str:
    """Return the id of the run whose answers a run of verdicts is on."""
    [(answered,)] = cursor.execute(
        "SELECT b.base_run_id FROM run_bases b JOIN runs r ON r.run_id = b.base_run_id "
        "WHERE b.run_id = ? AND r.stage <> ?",
        [verdicts, Stage.LOOK],
    ).fetchall()
    return str(answered)


def _said(cursor: "duckdb.DuckDBPyConnection", run_id: str | None) -> dict[str, Said]:
    rows = cursor.execute("SELECT probe_id, answer, error FROM answers WHERE run_id = ?", [run_id]).fetchall()
    return {probe_id: Said(answer, error) for probe_id, answer, error in rows}


def _with_dependents(cursor: "duckdb.DuckDBPyConnection", run_ids: Iterable[str]) -> list[str]:
    """Return runs and all that was made from them, in an order in which they can be taken out."""
    ordered: list[str] = []
    for run_id in run_ids:
        for one in (*_with_dependents(cursor, dependents(cursor, run_id)), run_id):
            if one not in ordered:
                ordered.append(one)
    return ordered
