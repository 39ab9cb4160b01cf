"""A run folder into the store: its answers as those of a precomputed run, scored, with all it knows of them."""

__all__ = ["import_run"]

import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from backend.domain.progress import Report, silent
from backend.domain.records import Stage, System
from backend.domain.stage_words import stage_words
from backend.endoca.asr import StepName
from backend.errors import AppError
from backend.services.ingest.answers import Answer, put_answers
from backend.services.ingest.log import write_log
from backend.services.ingest.report import ImportReport, RunReport
from backend.services.judging import put_judged
from backend.services.runs.checked_folder import CheckedFolder, read_run_folder
from backend.services.runs.reconciled_runs import (
    check_made_from,
    dependents,
    put_decisions,
    revise_run_of,
    whole_answers,
)
from backend.services.runs.reconciliation_plan import STAGES
from backend.services.runs.record import RunRecord
from backend.services.runs.saliency_import import put_looked
from backend.services.runs.verification_runs import check_chain, check_has_bases, put_in_chain
from backend.services.scoring import Memo
from backend.store.arrow import arrow_array, arrow_table
from backend.store.store import Store, insert

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


def import_run(store: Store, *folders: Path, report: Report = silent) -> ImportReport:
    """Import run folders, in one transaction. Importing them again changes nothing.

    A run that is not finished goes in as far as it is; what it lacks counts as missing, and a
    later import adds it. The answers must be those of the store's own questions: a probe that
    the suite lacks, or asks in other words, refuses the whole folder. The folder of an ASR run
    holds up to three of these, which go in together. A Revise or Select run must have been made
    from the answers of its direct run as the store then has them; so where a direct run has changed, all
    runs made from it go in at once. So it is with verdicts and with answers given again (VeriMap), whose
    oracle's words are brought up to date.

    Args:
        store: Holds the suite.
        folders: At least one, in any order: each as `run_plan` leaves it, or one that holds such folders of
            an ASR run or of a chain of verification runs; a run that is still at work may be read too.
        report: Told of progress; may raise `Cancelled`.

    Raises:
        AppError: A folder is none, holds no answer or a damaged file, or was changed after its run; the
            store lacks its suite or what it was made from, or holds the same run by another build of the
            VLM or with other wordings, or one that was made from answers that this import would replace;
            or two folders give other answers of one run.
    """
    names = ", ".join(folder.resolve().name for folder in folders)
    outcome = ImportReport("run", f"run folder{'s' if len(folders) > 1 else ''} {names}")
    found: list[CheckedFolder] = []
    for folder in folders:
        report(f"reading {folder.name}", 0, None)
        found += read_run_folder(folder, outcome.notes)
    found.sort(key=_place)
    n_answers = sum(len(one.prompts) for one in found)
    memo: Memo = {}
    with store.write() as cursor:
        n_done = 0
        checked: set[str] = set()
        for one in found:
            report("scoring", n_done, n_answers)
            done = _put(cursor, one, memo)
            _check_said_once(done, outcome.runs)
            outcome.runs.append(done)
            outcome.notes.extend(_notes(cursor, one.record))
            checked.update([done.run_id] if one.record.base else ())
            checked.update(dependents(cursor, done.run_id) if done.n_replaced or done.n_new else ())
            n_done += len(one.prompts)
        written = {run.run_id for run in outcome.runs}
        in_chains = _of_verimap(cursor, checked)
        check_made_from(cursor, checked - in_chains, written)
        check_chain(cursor, in_chains, written)
        outcome.notes.extend(_base_notes(cursor, [one.record for one in found], each=len(folders) == 1))
        write_log(cursor, outcome)
    report("scoring", n_answers, n_answers)
    return outcome


def _place(one: CheckedFolder) -> int:
    """Return where a folder stands among others: after those it is made from; judges and looks come last."""
    record = one.record
    if record.stage in (Stage.JUDGE, Stage.SALIENCY):
        return sys.maxsize
    if record.setup:
        return 2 * record.setup.turn + (record.stage == Stage.VERIFY)
    made = STAGES.get(record.stage)
    return 0 if made is None else 1 + (made.step is StepName.SELECT)


def _put(cursor: "duckdb.DuckDBPyConnection", read: CheckedFolder, memo: Memo) -> RunReport:
    """Write one run, and return what became of its answers; what was scored in another folder is not scored again."""
    record, answers, prompts, source = read
    if record.stage == Stage.JUDGE:
        return put_judged(cursor, read)
    if record.stage == Stage.SALIENCY:
        return put_looked(cursor, read)
    if record.stage == Stage.LABEL:
        raise AppError(
            f"{source} holds task labels, which are no answers.",
            f"Take its labels.csv in: python -m backend import verimap --dataset {record.suite} --labels FILE",
        )
    _check_suite(cursor, record)
    answers = _under_stored_ids(cursor, record.suite, answers)
    columns = [answers.column(name).to_pylist() for name in ("probe_id", "answer", "error")]
    _check_questions(cursor, record.suite, columns[0], prompts)
    _check_same_run(cursor, record)
    if record.system == System.VERIMAP:
        check_has_bases(cursor, record)
    given = [Answer(*row) for row in zip(*columns, strict=True)]
    kept = whole_answers(cursor, record, given) if record.stage in STAGES else given
    done = put_answers(cursor, record.key, kept, source, record.vlm.group, memo)
    _put_facts(cursor, record, answers, prompts)
    if record.system == System.VERIMAP:
        return put_in_chain(cursor, record, done)
    if revise_run_of(record.key):
        return replace(done, n_decisions_changed=put_decisions(cursor, done.run_id, given))
    return done


def _of_verimap(cursor: "duckdb.DuckDBPyConnection", run_ids: Collection[str]) -> set[str]:
    rows = cursor.execute("SELECT run_id FROM runs WHERE system = ?", [System.VERIMAP]).fetchall()
    return {row[0] for row in rows} & set(run_ids)


def _check_said_once(done: RunReport, before: Sequence[RunReport]) -> None:
    if done.n_replaced and any(run.run_id == done.run_id for run in before):
        raise AppError(
            f"Two of these folders hold the run {done.run_id}, and differ in {done.n_replaced:,} of its answers. "
            "Nothing was changed.",
            "Name the one that the other runs were made from, and leave the other out.",
        )


def _check_suite(cursor: "duckdb.DuckDBPyConnection", record: RunRecord) -> None:
    found = cursor.execute("SELECT system FROM suites WHERE suite = ?", [record.suite]).fetchall()
    if not found:
        raise AppError(
            f"The run answers suite {record.suite}, which is not in this store.",
            f"Import the suite first: python -m backend import {record.system} FILE --suite {record.suite}",
        )
    if found[0][0] != record.system:
        raise AppError(
            f"The run answers {record.system} suite {record.suite}; in this store that is a suite of {found[0][0]}.",
            "Import it into a store that holds the suite it answers.",
        )


def _under_stored_ids(cursor: "duckdb.DuckDBPyConnection", suite: str, answers: "pa.Table") -> "pa.Table":
    """Return answers by the store's ids of their probes; a plan made without a store has the ids of a file."""
    rows = cursor.execute("SELECT probe_id, source_id FROM probes WHERE suite = ?", [suite]).fetchall()
    by_source = {source_id: probe_id for probe_id, source_id in rows}
    stored = {probe_id for probe_id, _ in rows}
    named = answers.column("probe_id").to_pylist()
    if stored.issuperset(named):
        return answers
    probe_ids = [name if name in stored else by_source.get(name, name) for name in named]
    return answers.set_column(answers.column_names.index("probe_id"), "probe_id", arrow_array(probe_ids))


def _check_questions(cursor: "duckdb.DuckDBPyConnection", suite: str, probe_ids: list[str], prompts: list[str]) -> None:
    questions = dict(cursor.execute("SELECT probe_id, question FROM probes WHERE suite = ?", [suite]).fetchall())
    unknown = [probe for probe in probe_ids if probe not in questions]
    if unknown:
        raise AppError(
            f"{len(unknown):,} of the run's {len(probe_ids):,} answers are to probes that suite {suite} of this store "
            f"lacks, {unknown[0]} among them.",
            "Import the manifest that the run was planned with into this suite first.",
        )
    asked = [(probe, prompt) for probe, prompt in zip(probe_ids, prompts, strict=True) if prompt]
    others = [probe for probe, prompt in asked if questions[probe].strip() not in prompt]
    if others:
        raise AppError(
            f"Suite {suite} of this store asks {len(others):,} of the run's questions in other words, {others[0]} "
            "among them.",
            "Import the run into a store that holds the manifest it was planned with.",
        )


def _check_same_run(cursor: "duckdb.DuckDBPyConnection", record: RunRecord) -> None:
    """Refuse answers of another build under a run's name: the two would be mixed."""
    run_id = record.key.run_id
    found = cursor.execute(
        "SELECT f.record FROM run_facts f JOIN runs r USING (run_id) WHERE run_id = ?", [run_id]
    ).fetchall()
    if found:
        different = RunRecord.model_validate_json(found[0][0]).differences(record)
        if different:
            raise AppError(
                f"The store holds this run from elsewhere: {'; '.join(different)}.",
                f"Take that one out first (python -m backend remove run {run_id}), or give one of the two VLMs "
                "another name.",
            )


def _put_facts(cursor: "duckdb.DuckDBPyConnection", record: RunRecord, answers: "pa.Table", prompts: list[str]) -> None:
    """Write what the run knows beyond its answers, in the place of what was there for the same probes."""
    run_id = record.key.run_id
    cursor.execute("DELETE FROM run_facts WHERE run_id = ?", [run_id])
    cursor.execute("INSERT INTO run_facts (run_id, record) VALUES (?, ?)", [run_id, record.model_dump_json()])
    kept = ("probe_id", "item_id", "image_sha256", "n_tokens", "was_cut", "seconds", "probabilities")
    calls = arrow_table({"run_id": [run_id] * len(prompts), "prompt": prompts})
    for name in kept:
        calls = calls.append_column(name, answers.column(name))
    cursor.register("incoming_calls", calls)
    cursor.execute("DELETE FROM calls o USING incoming_calls n WHERE o.run_id = n.run_id AND o.probe_id = n.probe_id")
    cursor.unregister("incoming_calls")
    insert(cursor, "calls", calls)


def _base_notes(cursor: "duckdb.DuckDBPyConnection", records: Sequence[RunRecord], *, each: bool) -> list[str]:
    """Return what runs were made from: a sentence a run, or one a kind where there are several and not ``each``.

    A run that asks under another version than its direct run's is named in any case.
    """
    notes: list[str] = []
    alike: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for record in records:
        base = record.base
        if base is None:
            continue
        answers = "" if record.setup else "the direct answers of "
        made_from = f"The {stage_words(record.stage)} run was made from {_called(cursor, base.run_id)}."
        if not record.setup and base.prompt_version != record.prompt_version:
            notes += [
                made_from,
                f"Those were given under prompts {base.prompt_version} ({base.origin}), and the {record.stage} run "
                f"asks under {record.prompt_version}: the two are no run of one version.",
            ]
        elif each:
            notes.append(made_from)
        else:
            alike[answers].append((record.stage, made_from))
    for answers, runs in alike.items():
        stages = Counter(stage for stage, _ in runs)
        listed = ", ".join(f"{n:,} {stage_words(stage)}" for stage, n in stages.items())
        counted = f"{len(runs):,} runs were made from {answers}others: {listed}."
        notes.append(counted if len(runs) > 1 else runs[0][1])
    return notes


def _called(cursor: "duckdb.DuckDBPyConnection", run_id: str) -> str:
    """Return what to call a stored run in a sentence, with its id in brackets."""
    [(vlm, suite, stage)] = cursor.execute("SELECT vlm, suite, stage FROM runs WHERE run_id = ?", [run_id]).fetchall()
    what = "direct answers" if stage == Stage.DIRECT else f"{stage} run"
    return f"the {what} of {vlm} on {suite} ({run_id})"


def _notes(cursor: "duckdb.DuckDBPyConnection", record: RunRecord) -> list[str]:
    notes = []
    counts = record.counts
    if counts.missing:
        notes.append(f"The run is not finished: {counts.missing:,} of {counts.planned:,} probes were not asked yet.")
    if record.lost_shards:
        notes.append(f"Asked again, because their first answers were lost: those of {', '.join(record.lost_shards)}.")
    if record.setup and record.setup.swap_seed is not None:
        return notes
    [(n_other,)] = cursor.execute(
        "SELECT count(*) FROM calls c JOIN probes p USING (probe_id) JOIN units u USING (unit_id) "
        "LEFT JOIN pairs d USING (unit_id) JOIN images i ON i.image_id = coalesce(d.picture_id, u.image_id) "
        "WHERE c.run_id = ? AND c.image_sha256 <> i.sha256 AND d.drawing IS NULL",
        [record.key.run_id],
    ).fetchall()
    if n_other:
        notes.append(f"{n_other:,} answers were given about other files than those attached to this store's images.")
    return notes
