"""Verifications that somebody watched: each is stored once, every call verbatim, and found again by its id.

Two VLMs may have answered, and the trace names both. It keeps no truth: whoever shows it judges its answers by the
reference that the example has then (`live_verdicts`).
"""

__all__ = [
    "VERIFICATION",
    "Asked",
    "VerificationTrace",
    "load_verification_trace",
    "prompt_version",
    "store_verification_trace",
    "verification_traces",
]

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from backend.domain.records import Origin, Stage
from backend.domain.vlm import Reply
from backend.errors import AppError
from backend.services.live_traces import Ending
from backend.services.runs.plan import VlmIdentity, templates_sha256
from backend.store.store import Store
from backend.verimap.feedback_loop import DECODINGS
from backend.verimap.prompts import PROMPT_VERSION, TEMPLATES, TWO_STEP_TEMPLATES, TWO_STEP_VERSION
from backend.verimap.verification import Course, Step, Verification

VERIFICATION = "verification"
"""In the store's table of traces: what tells these from those of the other systems."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One who took part."""

    vlm: VlmIdentity
    device: str = ""
    """What it ran on; empty where that is not known."""


@dataclass(frozen=True, slots=True)
class VerificationTrace:
    """A verification of one example."""

    trace_id: str
    unit_id: str
    verification: Verification
    verifier: Asked
    generator: Asked | None
    """None where a person gave the answer and nothing went back."""
    prompt_version: str
    decodings: Mapping[str, str]
    """Step → how it was decoded, in words."""
    created_at: datetime
    """UTC."""
    image_sha256: str
    """Of the file that was shown."""
    was_cancelled: bool
    problem: str
    """Why a VLM could not go on; empty where it could, or the last call says why."""

    @property
    def ending(self) -> Ending:
        """How it ended."""
        if self.verification.is_whole:
            return Ending.DONE
        return Ending.CANCELLED if self.was_cancelled else Ending.FAILED


def prompt_version(course: Course) -> str:
    """Return the version of all wordings that a course uses."""
    return f"{PROMPT_VERSION}, {TWO_STEP_VERSION}" if course.two_step else PROMPT_VERSION


def store_verification_trace(
    store: Store,
    trace_id: str,
    unit_id: str,
    verification: Verification,
    verifier: Asked,
    generator: Asked | None,
    image_sha256: str,
    *,
    was_cancelled: bool = False,
    problem: str = "",
) -> None:
    """Store a trace; see `VerificationTrace`.

    Raises:
        AppError: The example is not there any more.
    """
    if not store.rows("SELECT 1 FROM units WHERE unit_id = ?", [unit_id]):
        raise AppError(f"There is no example {unit_id!r} in this store any more.", "Choose another, and ask again.")
    course = verification.course
    templates = {**TEMPLATES, **{f"two-step {name}": text for name, text in TWO_STEP_TEMPLATES.items()}}
    record = {
        "question": verification.question,
        "course": asdict(course),
        "verifier": _who(verifier),
        "generator": _who(generator) if generator else None,
        "image_sha256": image_sha256,
        "prompts_sha256": templates_sha256(templates if course.two_step else TEMPLATES),
        "decodings": {str(name): decoding.label for name, decoding in DECODINGS.items()},
        "was_cancelled": was_cancelled,
        "problem": problem,
        "steps": [_step_record(step) for step in verification.steps],
    }
    with store.write() as cursor:
        cursor.execute(
            "INSERT INTO traces (trace_id, unit_id, vlm, vlm_group, variant, prompt_version, origin, record) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                trace_id, unit_id, verifier.vlm.name, verifier.vlm.group, VERIFICATION, prompt_version(course),
                Origin.LIVE, json.dumps(record),
            ],
        )  # fmt: skip


def load_verification_trace(store: Store, trace_id: str) -> VerificationTrace | None:
    """Return a stored trace; None where there is none of that id."""
    return next(iter(_traces(store, "trace_id", trace_id)), None)


def verification_traces(store: Store, unit_id: str) -> list[VerificationTrace]:
    """Return the traces of an example, oldest first."""
    return _traces(store, "unit_id", unit_id)


def _traces(store: Store, column: str, value: str) -> list[VerificationTrace]:
    rows = store.rows(
        "SELECT trace_id, unit_id, prompt_version, created_at, record FROM traces "
        f"WHERE {column} = ? AND variant = ? ORDER BY created_at, trace_id",
        [value, VERIFICATION],
    )
    return [_trace(*row) for row in rows]


def _trace(trace_id: str, unit_id: str, version: str, created_at: datetime, record: str) -> VerificationTrace:
    held = json.loads(record)
    steps = tuple(_step(one) for one in held["steps"])
    return VerificationTrace(
        trace_id=trace_id,
        unit_id=unit_id,
        verification=Verification(held["question"], Course(**held["course"]), steps),
        verifier=_asked(held["verifier"]),
        generator=_asked(held["generator"]) if held["generator"] else None,
        prompt_version=version,
        decodings=held["decodings"],
        created_at=created_at,
        image_sha256=held["image_sha256"],
        was_cancelled=held["was_cancelled"],
        problem=held["problem"],
    )


def _who(asked: Asked) -> dict[str, Any]:
    vlm = asked.vlm
    return {"name": vlm.name, "group": vlm.group, "details": dict(vlm.details), "device": asked.device}


def _asked(held: Mapping[str, Any]) -> Asked:
    return Asked(VlmIdentity(held["name"], held["group"], held["details"]), held["device"])


def _step_record(step: Step) -> dict[str, Any]:
    reply = step.reply
    return {
        "name": str(step.name),
        "turn": step.turn,
        "prompt": step.prompt,
        "output": reply.text,
        "error": reply.error,
        "seconds": reply.seconds,
        "n_tokens": reply.n_tokens,
        "was_cut": reply.was_cut,
        "probabilities": dict(reply.probabilities),
    }


def _step(held: Mapping[str, Any]) -> Step:
    reply = Reply(
        held["output"], held["error"], held["n_tokens"], held["was_cut"], held["seconds"], held["probabilities"]
    )
    return Step(Stage(held["name"]), held["turn"], held["prompt"], reply)
