"""Reconciliations that somebody watched: each is stored once, whole, and found again by its id.

A trace keeps every call verbatim, with who answered, in which wordings and how decoded. It keeps no
scores: whoever shows it scores it by the references its unit has then (`trace_scores`).
"""

__all__ = ["Ending", "StoredTrace", "load_trace", "new_trace_id", "store_trace", "unit_traces"]

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import uuid4

from backend.domain.records import Origin
from backend.domain.vlm import Reply
from backend.endoca.asr import DECODINGS, Step, StepName, Trace, Variant
from backend.endoca.prompts import PROMPT_VERSION, TEMPLATES
from backend.errors import AppError
from backend.services.runs.plan import VlmIdentity, templates_sha256
from backend.store.store import Store


class Ending(StrEnum):
    """How a reconciliation ended."""

    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """A reconciliation of one unit, as it is shown: watched live, or put together from batch runs."""

    trace_id: str
    """Safe in a link; empty for one of batch runs, which has no link of its own."""
    unit_id: str
    vlm: VlmIdentity
    trace: Trace
    origin: str
    prompt_version: str
    decodings: Mapping[str, str]
    """Step → how it was decoded, in words."""
    created_at: datetime | None
    """When it was stored, UTC; None for one of batch runs."""
    image_sha256: str = ""
    """Of the file the VLM was shown; empty where it is not known."""
    device: str = ""
    """What the VLM ran on; empty where it is not known."""
    was_cancelled: bool = False
    problem: str = ""
    """Why the VLM could not go on, in words; empty where it could, or the last call says why."""

    @property
    def ending(self) -> Ending:
        """How it ended; one without a decision that nobody cancelled has failed."""
        if self.trace.decision is not None and not self.trace.failed_step:
            return Ending.DONE
        return Ending.CANCELLED if self.was_cancelled else Ending.FAILED


def new_trace_id() -> str:
    """Return an id that nobody has, safe in a link."""
    return uuid4().hex[:12]


def store_trace(
    store: Store,
    unit_id: str,
    trace: Trace,
    vlm: VlmIdentity,
    image_sha256: str,
    *,
    trace_id: str = "",
    device: str = "",
    was_cancelled: bool = False,
    problem: str = "",
) -> str:
    """Store a trace, and return its id.

    Args:
        store: The store.
        unit_id: What was asked about (`live_units.live_unit` makes one).
        trace: What was asked and answered.
        vlm: Who answered.
        image_sha256: Of the file that was shown.
        trace_id: As `new_trace_id` makes it; empty makes one.
        device: What the VLM ran on; empty where it is not known.
        was_cancelled: Whether somebody stopped it.
        problem: Why the VLM could not go on, where that is not in the trace.

    Raises:
        AppError: The unit is not there, or no call of the trace was answered: there is nothing to keep.
    """
    if not any(not step.reply.error for step in trace.steps):
        raise AppError("No call was answered, so there is no trace to keep.", "Ask again.")
    if not store.rows("SELECT 1 FROM units WHERE unit_id = ?", [unit_id]):
        raise AppError(f"There is no case {unit_id!r} in this store any more.", "Choose another, and ask again.")
    record = {
        "question": trace.question,
        "vlm": dict(vlm.details),
        "device": device,
        "image_sha256": image_sha256,
        "prompts_sha256": templates_sha256(TEMPLATES),
        "decodings": {str(name): decoding.label for name, decoding in DECODINGS.items()},
        "was_cancelled": was_cancelled,
        "problem": problem,
        "steps": [_step_record(step) for step in trace.steps],
    }
    trace_id = trace_id or new_trace_id()
    with store.write() as cursor:
        cursor.execute(
            "INSERT INTO traces (trace_id, unit_id, vlm, vlm_group, variant, prompt_version, origin, record) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                trace_id, unit_id, vlm.name, vlm.group, trace.variant, PROMPT_VERSION, Origin.LIVE, json.dumps(record),
            ],
        )  # fmt: skip
    return trace_id


def load_trace(store: Store, trace_id: str) -> StoredTrace | None:
    """Return a stored trace; None where there is none of that id."""
    return next(iter(_traces(store, "trace_id", trace_id)), None)


def unit_traces(store: Store, unit_id: str) -> list[StoredTrace]:
    """Return the traces of a unit, oldest first."""
    return _traces(store, "unit_id", unit_id)


def _traces(store: Store, column: str, value: str) -> list[StoredTrace]:
    rows = store.rows(
        "SELECT trace_id, unit_id, vlm, vlm_group, variant, origin, prompt_version, created_at, record FROM traces "
        f"WHERE {column} = ? AND list_contains(?, variant) ORDER BY created_at, trace_id",
        [value, list(Variant)],
    )
    return [_stored(*row) for row in rows]


def _stored(
    trace_id: str,
    unit_id: str,
    vlm: str,
    group: str | None,
    variant: str,
    origin: str,
    prompt_version: str,
    created_at: datetime,
    record: str,
) -> StoredTrace:
    held = json.loads(record)
    return StoredTrace(
        trace_id=trace_id,
        unit_id=unit_id,
        vlm=VlmIdentity(vlm, group, held["vlm"]),
        trace=Trace(held["question"], Variant(variant), tuple(_step(one) for one in held["steps"])),
        origin=origin,
        prompt_version=prompt_version,
        decodings=held["decodings"],
        created_at=created_at,
        image_sha256=held["image_sha256"],
        device=held["device"],
        was_cancelled=held["was_cancelled"],
        problem=held["problem"],
    )


def _step_record(step: Step) -> dict[str, Any]:
    reply = step.reply
    return {
        "name": str(step.name),
        "position": step.position,
        "question": step.question,
        "prompt": step.prompt,
        "output": reply.text,
        "error": reply.error,
        "seconds": reply.seconds,
        "n_tokens": reply.n_tokens,
        "was_cut": reply.was_cut,
    }


def _step(held: dict[str, Any]) -> Step:
    reply = Reply(held["output"], held["error"], held["n_tokens"], held["was_cut"], held["seconds"])
    return Step(StepName(held["name"]), held["position"], held["question"], held["prompt"], reply)
