"""Judging a run's answers in a batch: a plan from the store, a run folder, and its words into the store again.

A judge's folder is a run folder whose stage is ``judge`` and whose setting is the id of the run it
judges: the same runner fills it, so it can be stopped, killed and resumed. Its words belong to the
judged run; a judge makes no run of its own. What is asked, and where the words go, is a system's own
(`backend.services.judge_kinds`).
"""

__all__ = ["find_judged_run", "judge_label", "open_judge", "plan_judging", "put_judged"]

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.records import Origin, RunKey, Stage, System
from backend.domain.vlm import Decoding, Reply, Vlm
from backend.errors import AppError
from backend.services.choosing import RunInfo, find_run
from backend.services.ingest.report import RunReport
from backend.services.judge_kinds import Fetch, JudgeKind
from backend.services.oracle_judging import ORACLE
from backend.services.pair_judging import PAIRS
from backend.services.runs.direct_answers import Said
from backend.services.runs.folder import read_plan_table, read_record, read_shards
from backend.services.runs.plan import Item, Plan, VlmIdentity, item_id, templates_sha256
from backend.store.store import Store
from backend.vlm.judge import Judge

if TYPE_CHECKING:
    import duckdb

    from backend.services.runs.checked_folder import CheckedFolder

_KINDS: Mapping[System, JudgeKind] = MappingProxyType({System.SURGCHECK: PAIRS, System.VERIMAP: ORACLE})
"""The systems whose answers are judged."""


class JudgedRun(NamedTuple):
    """The run whose answers are judged."""

    run_id: str
    vlm: str
    suite: str
    setting: str
    system: System

    @property
    def kind(self) -> JudgeKind:
        """How."""
        return _KINDS[self.system]


def judge_label(judge: str, prompt_version: str) -> str:
    """Return what a judge's words are called in the store: those by another rubric stand beside them."""
    return f"{judge}, {prompt_version}"


def find_judged_run(store: Store, name: str, *, suite: str | None = None) -> RunInfo:
    """Return the one run meant by a VLM's name (or a run id) and a suite, of a system whose answers are judged.

    Raises:
        AppError: There is none, or several could be meant.
    """
    runs = store.rows(
        "SELECT system, suite, vlm, run_id FROM runs "
        "WHERE list_contains(?, system) AND stage NOT IN ('verify', 'look') ORDER BY ALL",
        [list(_KINDS)],
    )
    of_name = [run for run in runs if name in run[2:]]
    if not of_name:
        known = ", ".join(sorted({vlm for _, _, vlm, _ in runs})) or "none yet; import a file first"
        raise AppError(f"There is no VLM {name!r} in this store whose answers can be judged.", f"VLMs: {known}.")
    answered = ", ".join(dict.fromkeys(run[1] for run in of_name))
    systems = {run[0] for run in of_name if suite in (None, run[1])}
    if not systems:
        raise AppError(f"{name} has not answered suite {suite}.", f"It has answered: {answered}.")
    if len(systems) > 1:
        raise AppError(f"{name} has answered several suites.", f"Choose one with --suite: {answered}.")
    return find_run(store, System(systems.pop()), name, suite=suite)


def plan_judging(
    store: Store, run_id: str, judge: VlmIdentity, decoding: Decoding, *, limit: int | None = None
) -> Plan:
    """Plan a judge's calls on a run's answers. Once this returns the store is not needed any more.

    Args:
        store: Holds the run.
        run_id: A run over a suite of pairs, or a generator's of VeriMap.
        judge: Who judges.
        decoding: How.
        limit: Only the answers to so many pairs or questions, from the first.

    Raises:
        AppError: There is no such run, or it holds no answer that needs a judge.
    """
    run = _judged_run(store.rows, run_id)
    key = RunKey(
        system=run.system,
        suite=run.suite,
        vlm=judge.name,
        stage=Stage.JUDGE,
        origin=Origin.PRECOMPUTED,
        setting=run_id,
        prompt_version=run.kind.version,
        decoding=decoding.label,
    )
    items: list[Item] = []
    units: set[str] = set()
    held = run.kind.answers(store.rows, run_id)
    for one in held:
        if one.is_settled:
            continue
        units.add(one.unit_id)
        if limit is not None and len(units) > limit:
            break
        items.append(
            Item(
                item_id=item_id(key, judge, one.probe_id, one.prompt, "", None),
                probe_id=one.probe_id,
                unit_id=one.unit_id,
                prompt=one.prompt,
                image_id="",
                image_name="",
                image=None,
                image_sha256=None,
            )
        )
    if held and not items:
        raise AppError(
            f"Matching has told of all {len(held):,} answers of the run {run_id} whether they are right.",
            "No judge is needed.",
        )
    if not items:
        raise AppError(f"The run {run_id} holds no answer to judge.", "Import its answers first.")
    return Plan(key, judge, decoding, templates_sha256(run.kind.templates), tuple(items))


def open_judge(vlm: Vlm, folder: Path, system: System) -> Judge:
    """Return a judge of a system's answers that knows what a folder holds already: one said twice is judged once."""
    rubric = _KINDS[system].rubric
    record = read_record(folder) if folder.is_dir() else None
    if record is None:
        return Judge(vlm, rubric)
    prompts = {row["item_id"]: row["prompt"] for row in read_plan_table(folder).to_pylist()}
    known = {
        prompts[row["item_id"]]: Reply(row["answer"])
        for row in read_shards(folder, record).answers.to_pylist()
        if row["item_id"] in prompts and not row["error"]
    }
    return Judge(vlm, rubric, known)


def put_judged(cursor: "duckdb.DuckDBPyConnection", read: "CheckedFolder") -> RunReport:
    """Write a judge's words, inside the caller's transaction, in the place of what it said before of the same answers.

    A reply that cannot be read leaves an answer unjudged, with what was replied; so does a failed call, with
    its error.

    Returns:
        What became of them: n_answers judged, n_judged_changed that are new or other than before, n_unparsed
        unjudged because no reply could be read, n_failed because of an error.

    Raises:
        AppError: The store lacks the judged run, or what was judged is not what the run holds now.
    """
    record, answers, prompts, _ = read

    def fetch(sql: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        return cursor.execute(sql, parameters).fetchall()

    run = _judged_run(fetch, record.setting)
    now = {one.probe_id: one.prompt for one in run.kind.answers(fetch, run.run_id)}
    probe_ids, replies, errors = (answers.column(name).to_pylist() for name in ("probe_id", "answer", "error"))
    others = [probe_id for probe_id, prompt in zip(probe_ids, prompts, strict=True) if now.get(probe_id) != prompt]
    if others and record.prompt_version == run.kind.version:
        raise AppError(
            f"The judge {record.vlm.name} was asked about {len(others):,} answers that the run {run.run_id} does not "
            f"hold now, that to {others[0]} among them.",
            "Judge the run's present answers, in another folder.",
        )
    said = dict(zip(probe_ids, map(Said, replies, errors), strict=True))
    written = run.kind.put(cursor, run.run_id, judge_label(record.vlm.name, record.prompt_version), said)
    return RunReport(
        run_id=run.run_id,
        vlm=run.vlm,
        suite=run.suite,
        n_answers=len(said),
        n_new=0,
        n_replaced=0,
        n_unchanged=0,
        n_missing=0,
        n_failed=sum(map(bool, errors)),
        n_empty=0,
        n_unparsed=written.n_unread,
        n_judged_changed=written.n_changed,
        stage=Stage.JUDGE,
        setting=run.setting,
    )


def _judged_run(fetch: Fetch, run_id: str) -> JudgedRun:
    """Return the run that is judged.

    Raises:
        AppError: There is none, or its system's answers are not judged.
    """
    found = fetch("SELECT run_id, vlm, suite, setting, system FROM runs WHERE run_id = ?", [run_id])
    if not found:
        raise AppError(f"There is no run {run_id} in this store.", "Import the run whose answers were judged first.")
    [(found_id, vlm, suite, setting, system)] = found
    if system not in _KINDS:
        raise AppError(
            f"The run {run_id} is of {system}, whose answers are scored and not judged.",
            f"Name a run of: {', '.join(_KINDS)}.",
        )
    return JudgedRun(found_id, vlm, suite, setting, System(system))
