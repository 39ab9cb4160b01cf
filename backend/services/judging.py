"""Judging a run's answers in a batch: a plan from the store, a run folder, and its scores into the store again.

A judge's folder is a run folder whose stage is ``judge`` and whose setting is the id of the run it
judges: the same runner fills it, so it can be stopped, killed and resumed. Its scores belong to the
judged run; a judge makes no run of its own.
"""

__all__ = ["judge_label", "judged_run", "open_judge", "plan_judging", "put_judged"]

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.records import Origin, RunKey, Stage, System
from backend.domain.vlm import Decoding, Reply, Vlm
from backend.errors import AppError
from backend.services.ingest.judgements import Judged, put_judgements
from backend.services.ingest.report import RunReport
from backend.services.runs.folder import read_plan_table, read_record, read_shards
from backend.services.runs.plan import Item, Plan, VlmIdentity, item_id, templates_sha256
from backend.store.store import Store
from backend.surgcheck.judge_rubric import RUBRIC_VERSION, TEMPLATES, read_judgement, rubric_prompt
from backend.vlm.judge import Judge

if TYPE_CHECKING:
    import duckdb

    from backend.services.runs.checked_folder import CheckedFolder

_ANSWERS = """
    SELECT s.probe_id, s.unit_id, q.question, q.reference, json_extract_string(s.parts, '$[0].parsed') AS text
    FROM scores s JOIN runs r USING (run_id, scorer, scorer_version)
    JOIN units u USING (unit_id) JOIN probes q ON q.probe_id = s.probe_id
    WHERE s.run_id = ? AND s.status IN ('read', 'empty')
    ORDER BY try_cast(u.source_id AS BIGINT), u.source_id, s.role DESC
"""
"""What can be judged, the original before the less-biased answer; what is missing or failed says nothing."""


class JudgedRun(NamedTuple):
    """The run whose answers a folder's judge scores."""

    run_id: str
    vlm: str
    suite: str
    setting: str


def judge_label(judge: str, prompt_version: str) -> str:
    """Return what a judge's scores are called in the store: scores of another rubric stand beside them."""
    return f"{judge}, {prompt_version}"


def plan_judging(
    store: Store, run_id: str, judge: VlmIdentity, decoding: Decoding, *, limit: int | None = None
) -> Plan:
    """Plan a judge's calls on a run's answers. Once this returns the store is not needed any more.

    Args:
        store: Holds the run.
        run_id: A run over a suite of pairs.
        judge: Who judges.
        decoding: How.
        limit: Only the answers to so many pairs, from the first.

    Raises:
        AppError: There is no such run, or it holds no answer.
    """
    run = judged_run(
        store.rows("SELECT run_id, vlm, suite, setting, system FROM runs WHERE run_id = ?", [run_id]), run_id
    )
    key = RunKey(
        system=System.SURGCHECK,
        suite=run.suite,
        vlm=judge.name,
        stage=Stage.JUDGE,
        origin=Origin.PRECOMPUTED,
        setting=run_id,
        prompt_version=RUBRIC_VERSION,
        decoding=decoding.label,
    )
    items: list[Item] = []
    units: set[str] = set()
    for probe_id, unit_id, question, reference, text in store.rows(_ANSWERS, [run_id]):
        units.add(unit_id)
        if limit is not None and len(units) > limit:
            break
        prompt = rubric_prompt(question, reference, text or "")
        items.append(
            Item(
                item_id=item_id(key, judge, probe_id, prompt, "", None),
                probe_id=probe_id,
                unit_id=unit_id,
                prompt=prompt,
                image_id="",
                image_name="",
                image=None,
                image_sha256=None,
            )
        )
    if not items:
        raise AppError(f"The run {run_id} holds no answer to judge.", "Import its answers first.")
    return Plan(key, judge, decoding, templates_sha256(TEMPLATES), tuple(items))


def open_judge(vlm: Vlm, folder: Path) -> Judge:
    """Return a judge that knows what a folder holds already: an answer said twice is judged once."""
    record = read_record(folder) if folder.is_dir() else None
    if record is None:
        return Judge(vlm)
    prompts = {row["item_id"]: row["prompt"] for row in read_plan_table(folder).to_pylist()}
    known = {
        prompts[row["item_id"]]: Reply(row["answer"])
        for row in read_shards(folder, record).answers.to_pylist()
        if row["item_id"] in prompts and not row["error"]
    }
    return Judge(vlm, known)


def put_judged(cursor: "duckdb.DuckDBPyConnection", read: "CheckedFolder") -> RunReport:
    """Write a judge's scores, inside the caller's transaction, in the place of what it said before of the same answers.

    A reply without a score is unscored, with what was replied; so is an answer whose call failed, with
    its error.

    Returns:
        What became of them: n_answers judged, n_new that are new or other than before, n_unparsed
        unscored because no reply could be read, n_failed because of an error.

    Raises:
        AppError: The store lacks the judged run, or what was judged is not what the run holds now.
    """
    record, answers, prompts, _ = read
    run_id = record.setting
    run = judged_run(
        cursor.execute("SELECT run_id, vlm, suite, setting, system FROM runs WHERE run_id = ?", [run_id]).fetchall(),
        run_id,
    )
    now = {
        probe_id: rubric_prompt(question, reference, text or "")
        for probe_id, _, question, reference, text in cursor.execute(_ANSWERS, [run_id]).fetchall()
    }
    probe_ids, replies, errors = (answers.column(name).to_pylist() for name in ("probe_id", "answer", "error"))
    others = [probe_id for probe_id, prompt in zip(probe_ids, prompts, strict=True) if now.get(probe_id) != prompt]
    if others and record.prompt_version == RUBRIC_VERSION:
        raise AppError(
            f"The judge {record.vlm.name} was asked about {len(others):,} answers that the run {run_id} does not hold "
            f"now, that to {others[0]} among them.",
            "Judge the run's present answers, in another folder.",
        )
    label = judge_label(record.vlm.name, record.prompt_version)
    judged = {
        probe_id: _judged(label, reply, error)
        for probe_id, reply, error in zip(probe_ids, replies, errors, strict=True)
    }
    return RunReport(
        run_id=run_id,
        vlm=run.vlm,
        suite=run.suite,
        n_answers=len(judged),
        n_new=0,
        n_replaced=0,
        n_unchanged=0,
        n_missing=0,
        n_failed=sum(bool(error) for error in errors),
        n_empty=0,
        n_unparsed=sum(one.score is None for one in judged.values()) - sum(bool(error) for error in errors),
        n_judged_changed=put_judgements(cursor, run_id, judged),
        stage=Stage.JUDGE,
        setting=run.setting,
    )


def judged_run(found: list[tuple[str, ...]], run_id: str) -> JudgedRun:
    """Return the run that is judged, from its row.

    Raises:
        AppError: There is none, or it answers no pairs.
    """
    if not found:
        raise AppError(f"There is no run {run_id} in this store.", "Import the run whose answers were judged first.")
    *run, system = found[0]
    if system != System.SURGCHECK:
        raise AppError(
            f"The run {run_id} is of {system}; the rubric is for answers to pairs of SurgCheck.",
            "Name one of its runs.",
        )
    return JudgedRun(*run)


def _judged(label: str, reply: str, error: str) -> Judged:
    if error:
        return Judged(label, None, "", error)
    judgement = read_judgement(reply)
    if judgement is None:
        return Judged(
            label, None, "", f"no score from 1 to 5 in the reply: {reply[:200]}" if reply else "an empty reply"
        )
    return Judged(label, judgement.score, judgement.reason, "")
