"""What a direct run said, from its run folder or from the store: what other runs are made from.

Revise and Select are made from it in EndoCA, verdicts in VeriMap. It must be the VLM's own, to the same
questions about the same images, and to all of them that a plan asks: an answer that is not there cannot be
revised or verified, and no other is put in its place.
"""

__all__ = [
    "RunAnswers",
    "Said",
    "folder_answers",
    "folder_base",
    "folder_record",
    "stored_base",
    "stored_record",
    "stored_setting",
]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from backend.domain.records import Stage, System
from backend.errors import AppError
from backend.services.runs.folder import read_record, read_shards
from backend.services.runs.plan import Base, Item, Plan
from backend.services.runs.record import RunRecord, new_record
from backend.store.store import Store

_HOW_MANY = 10
_STARTS = {System.ENDOCA: "ASR starts from", System.VERIMAP: "verified are"}
_OR_ANEW = {
    System.ENDOCA: ", or leave --from out: the VLM then answers the questions itself first",
    System.VERIMAP: ", or name a VLM for --generator: it then answers the questions first",
}


class Said(NamedTuple):
    """What became of one probe."""

    answer: str
    """Verbatim; empty when the VLM said nothing."""
    error: str
    """Empty when the call went well."""


@dataclass(frozen=True, slots=True)
class RunAnswers:
    """What one run said, to the items of a plan."""

    base: Base
    """The run."""
    said: Mapping[str, Said]
    """By probe id."""


def folder_answers(folder: Path, plan: Plan) -> dict[str, Said]:
    """Return by probe id what a run folder says to the items of its plan; what it lacks is left out.

    Raises:
        AppError: The folder is none, or damaged.
    """
    shards = read_shards(folder, folder_record(folder))
    if shards.lost:
        raise AppError(
            f"Damaged or gone from {folder}: {', '.join(shards.lost)}.",
            "Go on with the run (its command and --resume): it asks again what was lost.",
        )
    columns = (shards.answers.column(name).to_pylist() for name in ("item_id", "answer", "error"))
    rows = {item_id: Said(answer, error) for item_id, answer, error in zip(*columns, strict=True)}
    return {item.probe_id: rows[item.item_id] for item in plan.items if item.item_id in rows}


def folder_base(folder: Path, direct: Plan) -> RunAnswers:
    """Return what a direct run's folder says to a plan.

    Args:
        folder: As `run_plan` leaves it.
        direct: A direct plan of the same VLM, with the folder's own decoding and setting.

    Raises:
        AppError: The folder is none or damaged, holds another VLM's answers or another suite's, or
            those under other wordings, or lacks an answer to the plan.
    """
    record = folder_record(folder)
    different = record.differences(new_record(direct, record.batch))
    if different:
        raise AppError(
            f"{folder} holds no direct answers of this VLM to {direct.key.suite} that a run can start from: "
            f"{'; '.join(different)}.",
            f"Name a run folder that predict wrote for the same VLM and suite{_OR_ANEW[direct.key.system]}.",
        )
    said = folder_answers(folder, direct)
    _check_whole(
        said,
        direct,
        f"The run in {folder}",
        "Go on with that run first (its command and --resume). Answers about other image files than today's do not "
        "count either.",
    )
    key = record.key
    return RunAnswers(Base(key.run_id, key.origin, key.prompt_version, key.decoding), said)


def stored_setting(store: Store, run_id: str, system: System = System.ENDOCA) -> str:
    """Return the setting of a stored direct run.

    Raises:
        AppError: The system has no such run, or it is none of direct answers.
    """
    found = store.rows("SELECT setting, stage FROM runs WHERE run_id = ? AND system = ?", [run_id, system])
    if not found or found[0][1] != Stage.DIRECT:
        what = f"is of stage {found[0][1]}" if found else "is not in this store"
        raise AppError(f"The run {run_id} {what}; {_STARTS[system]} direct answers.", _direct_runs(store, system))
    return str(found[0][0])


def stored_record(store: Store, run_id: str) -> RunRecord:
    """Return what the folder of a generator's stored run said of it.

    Raises:
        AppError: VeriMap has no such run, or it is none of first answers or came from no run folder.
    """
    stored_setting(store, run_id, System.VERIMAP)
    found = store.value("SELECT record FROM run_facts WHERE run_id = ?", [run_id])
    if found is None:
        raise AppError(
            f"Of the run {run_id} it is not known how it was asked: it came from no run folder.",
            "Name a VLM for --generator: it then answers the questions first.",
        )
    return RunRecord.model_validate_json(found)


def stored_base(store: Store, run_id: str, direct: Plan) -> RunAnswers:
    """Return what a stored direct run, of any origin, says to a plan.

    An answer to another question, or about another image file, than the plan's is none to the plan.
    What was asked is known of runs of Parallax, word by word and file by file; of those given under other
    prompts, and of imported ones, the question and the image's name in the store are compared.

    Args:
        store: Holds the run.
        run_id: Its id.
        direct: A direct plan of the same VLM.

    Raises:
        AppError: As `stored_setting`; or the run is another VLM's or another build's, over another
            suite, or lacks an answer to the plan; how many it gave to something else is said.
    """
    system = direct.key.system
    stored_setting(store, run_id, system)
    [(vlm, suite, origin, prompt_version, decoding)] = store.rows(
        "SELECT vlm, suite, origin, prompt_version, decoding FROM runs WHERE run_id = ?", [run_id]
    )
    if (vlm, suite) != (direct.key.vlm, direct.key.suite):
        raise AppError(
            f"The run {run_id} holds the answers of {vlm} to {suite}; asked for are those of {direct.key.vlm} to "
            f"{direct.key.suite}.",
            _direct_runs(store, system),
        )
    _check_build(store, run_id, direct)
    items = {item.probe_id: item for item in direct.items}
    said, n_other = {}, 0
    for probe_id, answer, error, *asked in store.rows(_STORED, {"run": run_id}):
        if (item := items.get(probe_id)) is None:
            continue
        if _is_asked(item, _Asked(*asked), same_prompts=prompt_version == direct.key.prompt_version):
            said[probe_id] = Said(answer, error)
        else:
            n_other += 1
    _check_whole(
        said,
        direct,
        f"The run {run_id}",
        f"Attach the image files that it was asked about{_OR_ANEW[system]}."
        if n_other
        else "Import what it lacks first, or ask only for the first units that it has whole, with --limit.",
        n_other,
    )
    return RunAnswers(Base(run_id, origin, prompt_version, decoding), said)


def folder_record(folder: Path) -> RunRecord:
    """Return the record of a run folder.

    Raises:
        AppError: There is none.
    """
    record = read_record(folder)
    if record is None:
        raise AppError(
            f"{folder} is no run folder (no run.json in it).",
            "Name the folder that predict, asr run, verify run or saliency run wrote.",
        )
    return record


_STORED = """
    SELECT a.probe_id, a.answer, a.error, p.question, u.image_id, c.prompt, c.image_sha256
    FROM answers a JOIN probes p ON p.probe_id = a.probe_id JOIN units u ON u.unit_id = p.unit_id
    LEFT JOIN calls c ON c.run_id = a.run_id AND c.probe_id = a.probe_id
    WHERE a.run_id = $run
"""


class _Asked(NamedTuple):
    """What a stored answer was given to."""

    question: str
    image_id: str
    prompt: str | None
    """None where the run came without its calls."""
    image_sha256: str | None


def _is_asked(item: Item, asked: _Asked, *, same_prompts: bool) -> bool:
    """Return whether an item of a plan asks what was asked."""
    if asked.prompt is not None and item.image_sha256 != asked.image_sha256:
        return False
    if asked.prompt is not None and same_prompts:
        return item.prompt == asked.prompt
    return (item.question, item.image_id) == (asked.question, asked.image_id)


def _check_build(store: Store, run_id: str, direct: Plan) -> None:
    found = store.rows("SELECT record FROM run_facts WHERE run_id = ?", [run_id])
    if not found:
        return
    vlm = direct.vlm
    before = RunRecord.model_validate_json(found[0][0]).vlm.details
    names = sorted({*before, *vlm.details})
    different = [name for name in names if before.get(name) != vlm.details.get(name)]
    if different:
        told = "; ".join(
            f"{name}: {before.get(name, 'none')} there, {vlm.details.get(name, 'none')} here" for name in different
        )
        raise AppError(
            f"The answers of {run_id} are of another build of {vlm.name} ({told}).",
            f"Name answers of this build{_OR_ANEW[direct.key.system]}.",
        )


def _check_whole(said: Mapping[str, Said], direct: Plan, what: str, hint: str, n_other: int = 0) -> None:
    lacking = [item.probe_id for item in direct.items if item.probe_id not in said]
    if lacking:
        other = (
            f" It holds {n_other:,} that were given to another question, or about another image file or none."
            if n_other
            else ""
        )
        raise AppError(
            f"{what} lacks {len(lacking):,} of the {len(direct.items):,} direct and atomic answers asked for, that to "
            f"{lacking[0]} among them.{other}",
            hint,
        )


def _direct_runs(store: Store, system: System) -> str:
    known: Sequence[tuple[str]] = store.rows(
        "SELECT run_id FROM runs WHERE system = ? AND stage = ? ORDER BY run_id", [system, Stage.DIRECT]
    )
    listed = ", ".join(run_id for (run_id,) in known[:_HOW_MANY])
    return f"Runs of direct answers in the store: {listed or 'none'}{' …' if len(known) > _HOW_MANY else ''}."
