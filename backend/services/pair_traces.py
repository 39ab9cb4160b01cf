"""Pairs that somebody watched being asked: each is stored once, with both calls verbatim, and found by its id.

A trace keeps no scores: whoever shows it scores it by the pair's reference.
"""

__all__ = ["PAIR_VARIANT", "PairTrace", "Told", "live_runs", "load_pair_trace", "store_pair_trace", "unit_pair_traces"]

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.records import AnswerStatus, Origin, Role, Stage
from backend.domain.vlm import Decoding, Reply
from backend.errors import AppError
from backend.services.cases import CaseAnswer, Part
from backend.services.runs.plan import VlmIdentity, templates_sha256
from backend.services.surgcheck_cases import PairAnswer, PairCase, PairRun
from backend.store.store import Store
from backend.surgcheck.prompts import PROMPT_VERSION, TEMPLATES
from backend.surgcheck.scoring import SCORER, SCORER_VERSION, exact_match

PAIR_VARIANT = "pair"
"""In the store's table of traces: what tells a pair's traces from those of reconciliations."""

DECODING = Decoding(max_new_tokens=80)


@dataclass(frozen=True, slots=True)
class Told:
    """One call and what came of it."""

    prompt: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class PairTrace:
    """Both questions of a pair, asked one after the other, each in a fresh context."""

    trace_id: str
    unit_id: str
    vlm: VlmIdentity
    calls: Mapping[str, Told]
    """By the question's role; fewer than two where somebody cancelled or the VLM could not go on."""
    prompt_version: str
    decoding: str
    created_at: datetime
    """UTC."""
    picture_sha256: str
    """Of the file the VLM was shown."""
    device: str
    """What the VLM ran on; empty where it is not known."""
    was_cancelled: bool
    problem: str
    """Why the VLM could not go on; empty where it could, or the last call says why."""


def store_pair_trace(
    store: Store,
    trace_id: str,
    unit_id: str,
    vlm: VlmIdentity,
    calls: Mapping[str, Told],
    picture_sha256: str,
    *,
    device: str = "",
    was_cancelled: bool = False,
    problem: str = "",
) -> None:
    """Store a trace; see `PairTrace`.

    Raises:
        AppError: The pair is not there any more.
    """
    if not store.rows("SELECT 1 FROM units WHERE unit_id = ?", [unit_id]):
        raise AppError(f"There is no pair {unit_id!r} in this store any more.", "Choose another, and ask again.")
    record = {
        "vlm": dict(vlm.details),
        "device": device,
        "picture_sha256": picture_sha256,
        "prompts_sha256": templates_sha256(TEMPLATES),
        "decoding": DECODING.label,
        "was_cancelled": was_cancelled,
        "problem": problem,
        "calls": {str(role): _record(told) for role, told in calls.items()},
    }
    with store.write() as cursor:
        cursor.execute(
            "INSERT INTO traces (trace_id, unit_id, vlm, vlm_group, variant, prompt_version, origin, record) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                trace_id, unit_id, vlm.name, vlm.group, PAIR_VARIANT, PROMPT_VERSION, Origin.LIVE, json.dumps(record),
            ],
        )  # fmt: skip


def load_pair_trace(store: Store, trace_id: str) -> PairTrace | None:
    """Return a stored trace; None where there is none of that id."""
    return next(iter(_traces(store, "trace_id", trace_id)), None)


def unit_pair_traces(store: Store, unit_id: str) -> list[PairTrace]:
    """Return the traces of a pair, oldest first."""
    return _traces(store, "unit_id", unit_id)


def live_runs(store: Store, pair: PairCase) -> tuple[PairRun, ...]:
    """Return what VLMs answered to a pair while somebody watched, oldest first, in the shape of its runs.

    The run's id is the trace's. A question that was not reached has no answer on file.
    """
    return tuple(_run(trace, pair) for trace in unit_pair_traces(store, pair.unit_id))


def _run(trace: PairTrace, pair: PairCase) -> PairRun:
    when = f"asked live, {trace.created_at:%Y-%m-%d %H:%M} UTC"
    return PairRun(
        run_id=trace.trace_id,
        vlm=trace.vlm.name,
        vlm_group=trace.vlm.group,
        setting="",
        stage=Stage.DIRECT,
        origin=Origin.LIVE,
        scorer=SCORER,
        scorer_version=SCORER_VERSION,
        prompt_version=trace.prompt_version,
        decoding=trace.decoding,
        source=f"{when} on {trace.device}" if trace.device else when,
        original=_answer(pair.original.probe_id, trace.calls.get(Role.ORIGINAL), pair.reference),
        less_biased=_answer(pair.less_biased.probe_id, trace.calls.get(Role.LESS_BIASED), pair.reference),
    )


def _answer(probe_id: str, told: Told | None, reference: str) -> PairAnswer:
    if told is None:
        return PairAnswer(CaseAnswer(probe_id, "", "", AnswerStatus.MISSING, False, ()))
    text, error = told.reply.text, told.reply.error
    if error or not text.strip():
        status = AnswerStatus.FAILED if error else AnswerStatus.EMPTY
        return PairAnswer(CaseAnswer(probe_id, text, error, status, False, ()))
    correct = exact_match(text, reference)
    part = Part(reference, text, correct, "exact match", "it is the reference" if correct else "it is another text")
    return PairAnswer(CaseAnswer(probe_id, text, "", AnswerStatus.READ, correct, (part,)))


def _traces(store: Store, column: str, value: str) -> list[PairTrace]:
    rows = store.rows(
        "SELECT trace_id, unit_id, vlm, vlm_group, prompt_version, created_at, record FROM traces "
        f"WHERE {column} = ? AND variant = ? ORDER BY created_at, trace_id",
        [value, PAIR_VARIANT],
    )
    return [_trace(*row) for row in rows]


def _trace(
    trace_id: str, unit_id: str, vlm: str, group: str | None, prompt_version: str, created_at: datetime, record: str
) -> PairTrace:
    held = json.loads(record)
    return PairTrace(
        trace_id=trace_id,
        unit_id=unit_id,
        vlm=VlmIdentity(vlm, group, held["vlm"]),
        calls={role: _told(one) for role, one in held["calls"].items()},
        prompt_version=prompt_version,
        decoding=held["decoding"],
        created_at=created_at,
        picture_sha256=held["picture_sha256"],
        device=held["device"],
        was_cancelled=held["was_cancelled"],
        problem=held["problem"],
    )


def _record(told: Told) -> dict[str, Any]:
    reply = told.reply
    return {
        "prompt": told.prompt,
        "output": reply.text,
        "error": reply.error,
        "seconds": reply.seconds,
        "n_tokens": reply.n_tokens,
        "was_cut": reply.was_cut,
    }


def _told(held: Mapping[str, Any]) -> Told:
    return Told(
        held["prompt"], Reply(held["output"], held["error"], held["n_tokens"], held["was_cut"], held["seconds"])
    )
