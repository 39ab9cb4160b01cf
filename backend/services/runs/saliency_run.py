"""Looks into run folders: a VLM reads again what it said, and what is kept of its saliency stands as the answer.

Each folder can be stopped, killed and resumed as any run's.
"""

__all__ = ["GENERATOR", "SALIENCY_FOLDERS", "VERIFIER", "LookingVlm", "Part", "run_saliency"]

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from backend.domain.progress import Report, silent
from backend.domain.vlm import Ask, Decoding, OnText, Reply
from backend.services.looks import SaliencyVlm
from backend.services.runs.plan import Plan
from backend.services.runs.record import RunRecord
from backend.services.runs.runner import Device, run_plan
from backend.services.runs.saliency_plan import read_look_text
from backend.vlm.saliency.kept import keep
from backend.vlm.saliency.result import SaliencyError

SALIENCY_FOLDERS = GENERATOR, VERIFIER = "generator", "verifier"
"""Names of the run folders inside the folder of a verification's looks."""


class LookingVlm:
    """A VLM that answers a look's prompt with what is kept of its saliency; a `Vlm`.

    Its first look is taken twice: a VLM loads when it is first asked, and that is no time of a look.
    """

    def __init__(self, vlm: SaliencyVlm) -> None:
        self._vlm = vlm
        self._is_loaded = False

    @property
    def name(self) -> str:
        """The VLM's name."""
        return self._vlm.name

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        """Return one look as JSON, or why it cannot be had; see `Vlm.answer`, whose errors are raised."""
        assert image is not None, "a plan asks for no look at an answer that had no image"
        told, said = read_look_text(prompt)
        began = time.perf_counter()
        try:
            text = keep(self._vlm.saliency(image, told, said)).to_json()
        except SaliencyError as error:
            return Reply("", error=str(error), seconds=time.perf_counter() - began)
        return Reply(text, seconds=time.perf_counter() - began)

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        """Return several looks, one after another."""

        def look(ask: Ask) -> Reply:
            return self.answer(ask.image, ask.prompt, decoding, lambda piece: None)

        if asks and not self._is_loaded:
            look(asks[0])
            self._is_loaded = True
        return [look(ask) for ask in asks]


class Part(NamedTuple):
    """One folder's looks."""

    plan: Plan
    vlm: LookingVlm
    device: Device = dict


def run_saliency(
    parts: Mapping[str, Part],
    folder: Path,
    *,
    resume: bool = False,
    report: Callable[[str], Report] = lambda part: silent,
) -> dict[str, RunRecord]:
    """Take the looks that the folders still lack.

    Args:
        parts: By the folder's name inside ``folder``; "" is that folder itself.
        folder: Gets the run folders.
        resume: As for `run_plan`.
        report: Gives each part, by its name, a report as `run_plan` takes it.

    Returns:
        The records as they stand at the end, by name.

    Raises:
        RunStopped: As `run_plan`.
        AppError: As `run_plan`.
    """
    return {
        name: run_plan(part.plan, part.vlm, folder / name, resume=resume, device=part.device, report=report(name))
        for name, part in parts.items()
    }
