"""Keeping a verification that a command made: its image, its question, and all that was answered."""

__all__ = ["keep_verification"]

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backend.store.store import Store
    from backend.verimap.verification import Verification
    from backend.vlm.entries import VlmEntry


def keep_verification(
    store: "Store",
    image: Path,
    image_sha256: str,
    verification: "Verification",
    judging: "VlmEntry",
    answering: "VlmEntry | None",
    *,
    reference: str = "",
    was_cancelled: bool = False,
    problem: str = "",
) -> str:
    """Keep image, question and what was answered in the store; return the trace's id.

    Args:
        store: Where to.
        image: The file that was shown.
        image_sha256: Of it.
        verification: What was asked and answered.
        judging: The verifier.
        answering: The generator; None where it was not asked.
        reference: The right answer; empty where none is given.
        was_cancelled: Whether somebody stopped it.
        problem: Why it could not go on; empty where it could.

    Raises:
        AppError: It cannot be kept.
    """
    from backend.services.live_examples import live_example
    from backend.services.live_traces import new_trace_id
    from backend.services.live_units import keep_image
    from backend.services.runs.identity import identity_of
    from backend.services.verification_traces import Asked, store_verification_trace

    unit_id = live_example(store, keep_image(store, image.read_bytes()), verification.question, reference)
    trace_id = new_trace_id()
    store_verification_trace(
        store,
        trace_id,
        unit_id,
        verification,
        Asked(identity_of(judging)),
        Asked(identity_of(answering)) if answering else None,
        image_sha256,
        was_cancelled=was_cancelled,
        problem=problem,
    )
    return trace_id
