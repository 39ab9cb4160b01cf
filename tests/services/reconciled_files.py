"""A VLM that reconciles the three drawn samples by rote, and the run folders that come of it.

It says what `tests.services.reconciled_store` holds: what its parts make it revise, and what it decides.
"""

from collections.abc import Sequence
from pathlib import Path

from backend.domain.vlm import Ask, Decoding, OnText, Reply
from backend.endoca.asr import Variant
from backend.services.runs.direct_answers import folder_base
from backend.services.runs.plan import Plan
from backend.services.runs.reconciliation_run import ASR_FOLDERS, Reconciled, run_reconciliation
from backend.services.runs.runner import run_plan
from tests.services.endoca_files import SAMPLES
from tests.services.reconciled_store import (
    ATOMIC,
    DECISIONS,
    DIRECT,
    REVISED,
    SELF_DECISIONS,
    SELF_REVISED,
    decision_reply,
)
from tests.services.run_files import PARROT

COMPLEX = {question: sample for sample, _, question, _, _ in SAMPLES}
PARTS = {
    (image, question): f"{sample}::atomic::{at}"
    for sample, image, _, _, atoms in SAMPLES
    for at, (_, question, _) in enumerate(atoms)
}


class Reconciler:
    """Answers by rote, each prompt by its step.

    Args:
        fails: Calls whose prompt holds this text fail, while it is set.
    """

    name = PARROT.name

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.asked: list[str] = []

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        self.asked.append(prompt)
        if self.fails and self.fails in prompt:
            return Reply("", error="The call timed out after 30 s. Try again.")
        assert image is not None
        return Reply(_said(image, prompt))

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        return [self.answer(ask.image, ask.prompt, decoding, lambda piece: None) for ask in asks]


def reconcile_into(
    folder: Path, plan: Plan, vlm: Reconciler, variant: Variant = Variant.ASR, *, resume: bool = False
) -> Reconciled:
    """Run a whole ASR run from scratch, as the command does."""
    direct, revise, select = (folder / name for name in ASR_FOLDERS)
    run_plan(plan, vlm, direct, resume=resume)
    return run_reconciliation(plan, folder_base(direct, plan), vlm, revise, select, variant, resume=resume)


def _said(image: Path, prompt: str) -> str:
    question = prompt.partition("Question: ")[2].partition("\n")[0]
    if "\n" not in prompt and (image.stem, question) in PARTS:
        return ATOMIC[PARTS[image.stem, question]]
    sample = COMPLEX[question]
    with_premises = "\nPremises:\n" in prompt
    if prompt.startswith("Check"):
        return decision_reply((DECISIONS if with_premises else SELF_DECISIONS)[sample])
    if prompt.startswith("Look"):
        return (REVISED if with_premises else SELF_REVISED)[sample]
    return DIRECT[sample]
