"""A run folder read for the store: whole, and each part fitting the others, or refused.

A folder comes from anywhere. Its items' ids are hashes of all that decides an answer; so plan,
record and answers say of each other whether one of them was changed.
"""

__all__ = ["CheckedFolder", "read_run_folder"]

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.errors import AppError
from backend.services.runs.direct_answers import folder_record
from backend.services.runs.folder import RECORD, read_plan_table, read_shards
from backend.services.runs.plan import item_id
from backend.services.runs.reconciliation_run import ASR_FOLDERS
from backend.services.runs.record import RunRecord
from backend.services.runs.saliency_run import SALIENCY_FOLDERS
from backend.services.runs.verification_run import chain_folders

if TYPE_CHECKING:
    import pyarrow as pa

_AS_IT_WAS = "Import the folder as the run left it, or get it again from whoever made it."


class CheckedFolder(NamedTuple):
    """What a run folder holds."""

    record: RunRecord
    answers: "pa.Table"
    """Of the items in the plan, as `read_shards` has them."""
    prompts: list[str]
    """Of each answer."""
    source: str
    """For people."""


def read_run_folder(folder: Path, notes: list[str]) -> list[CheckedFolder]:
    """Return the folder read, and those of an ASR run, of a chain of verification runs or of its looks inside it.

    Args:
        folder: A run folder, one that holds such folders, or both.
        notes: Gets a sentence on each of these that holds no answer yet.

    Raises:
        AppError: It is none, holds no answer, or a damaged file, or something in it was changed.
    """
    source = f"run folder {folder.resolve().name}"
    inside = (*(folder / name for name in (*ASR_FOLDERS, *SALIENCY_FOLDERS)), *chain_folders(folder))
    parts = [part for part in (folder, *inside) if (part / RECORD).is_file()] or [folder]
    read = {part: _read(part, source if part == folder else f"{source}/{part.name}") for part in parts}
    notes.extend(f"The folder {part.name} holds no answer yet." for part, one in read.items() if one is None)
    found = [one for one in read.values() if one]
    if not found:
        raise AppError(f"The run folder {parts[0]} holds no answer yet.", "Go on with it: its command and --resume.")
    return found


def _read(folder: Path, source: str) -> CheckedFolder | None:
    """Return what a run folder holds; None where there is no answer yet."""
    record = folder_record(folder)
    shards = read_shards(folder, record)
    if shards.lost:
        raise AppError(
            f"Damaged or gone from {folder}: {_listed(shards.lost)}. Nothing was imported.",
            "Go on with the run (its command and --resume): it asks again what was lost.",
        )
    plan = {row["item_id"]: row for row in read_plan_table(folder).to_pylist()}
    _check_plan(folder, record, plan)
    rows = shards.answers.to_pylist()
    kept = [at for at, row in enumerate(rows) if row["item_id"] in plan]
    if not kept:
        return None
    _check_answers(folder, record, [(rows[at], plan[rows[at]["item_id"]]) for at in kept])
    prompts = [plan[rows[at]["item_id"]]["prompt"] for at in kept]
    return CheckedFolder(record, shards.answers.take(kept), prompts, source)


def _check_plan(folder: Path, record: RunRecord, plan: Mapping[str, Mapping[str, Any]]) -> None:
    if len({row["probe_id"] for row in plan.values()}) < len(plan):
        raise AppError(
            f"{folder} was changed after its run: its plan asks some questions twice. Nothing was imported.", _AS_IT_WAS
        )
    key, vlm = record.key, record.vlm.identity
    asked = ("probe_id", "prompt", "image_id", "image_sha256")
    changed = [row for row in plan.values() if row["item_id"] != item_id(key, vlm, *(row[name] for name in asked))]
    if changed:
        raise AppError(
            f"{folder} was changed after its run: {len(changed):,} of {len(plan):,} rows of its plan, that of "
            f"{changed[0]['probe_id']} among them, are not what their ids were made from (VLM, decoding, prompts, "
            "stage, image and question). Nothing was imported.",
            _AS_IT_WAS,
        )


def _check_answers(folder: Path, record: RunRecord, rows: list[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> None:
    """Refuse rows that say something else than the plan of what was asked, or no probabilities in their place.

    Args:
        folder: For the message.
        record: Of the run.
        rows: Each answer, with its row of the plan.
    """
    changed = [
        answer["probe_id"]
        for answer, planned in rows
        if (answer["probe_id"], answer["stage"]) != (planned["probe_id"], record.stage)
        or answer["image_sha256"] not in {planned["image_sha256"], None if answer["error"] else planned["image_sha256"]}
        or not (planned["prompt"] or answer["error"])
        or not _are_probabilities(answer["probabilities"])
    ]
    if changed:
        raise AppError(
            f"{folder} was changed after its run: {len(changed):,} of {len(rows):,} answers, that to {changed[0]} "
            "among them, do not fit the plan. Nothing was imported.",
            _AS_IT_WAS,
        )


def _are_probabilities(text: str | None) -> bool:
    """Return whether a column's value is none, or a JSON object of numbers between 0 and 1."""
    try:
        told = {} if text is None else json.loads(text)
        return isinstance(told, dict) and all(0 <= share <= 1 for share in told.values())
    except (ValueError, TypeError):
        return False


def _listed(names: tuple[str, ...]) -> str:
    first = ", ".join(names[:10])
    return f"{first} and {len(names) - 10:,} more" if len(names) > 10 else first
