"""ASR over a whole run: Revise, then Select, each a run folder of its own that can be stopped and resumed."""

__all__ = ["ASR_FOLDERS", "Reconciled", "run_reconciliation"]

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from backend.domain.progress import Report, silent
from backend.domain.vlm import Vlm
from backend.endoca.asr import Variant
from backend.services.runs.direct_answers import RunAnswers, folder_answers
from backend.services.runs.plan import Plan
from backend.services.runs.reconciliation_plan import revise_plan, select_plan
from backend.services.runs.record import RunRecord
from backend.services.runs.runner import Device, run_plan

ASR_FOLDERS = DIRECT, REVISE, SELECT = "direct", "revise", "select"
"""Names of the run folders inside the folder of one ASR run, in their order."""


class Reconciled(NamedTuple):
    """The records of both stages, as they stand at the end."""

    revise: RunRecord
    select: RunRecord


def run_reconciliation(
    direct: Plan,
    answers: RunAnswers,
    vlm: Vlm,
    revise: Path,
    select: Path,
    variant: Variant,
    *,
    resume: bool = False,
    batch: int | None = None,
    device: Device = dict,
    report: Callable[[str], Report] = lambda stage: silent,
) -> Reconciled:
    """Ask what the two run folders still lack.

    Args:
        direct: The plan of the direct run.
        answers: What was said to each of its items.
        vlm: Who said it.
        revise: Run folder of the Revise stage.
        select: Run folder of the Select stage.
        variant: With premises or without.
        resume: As for `run_plan`.
        batch: As for `run_plan`.
        device: As for `run_plan`.
        report: Gives each stage, by its name, a report as `run_plan` takes it.

    Raises:
        RunStopped: As `run_plan`.
        AppError: As `run_plan`.
    """
    first = revise_plan(direct, answers, variant)
    revised = run_plan(first, vlm, revise, resume=resume, batch=batch, device=device, report=report(REVISE))
    second = select_plan(direct, answers, folder_answers(revise, first), variant)
    selected = run_plan(second, vlm, select, resume=resume, batch=batch, device=device, report=report(SELECT))
    return Reconciled(revised, selected)
