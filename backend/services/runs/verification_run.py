"""A chain of verification runs: first answers, verdicts on them, and in each turn answers given again and verdicts.

Each is a run folder of its own inside the chain's, and can be stopped and resumed. Every call is
made in a fresh context: what was said before reaches a VLM through its prompt alone.
"""

__all__ = ["GENERATE", "LOOK", "Chain", "Participant", "chain_folders", "loop_folder", "run_chain", "verify_folder"]

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from backend.domain.progress import Report, silent
from backend.domain.records import Stage
from backend.domain.vlm import Decoding, Vlm
from backend.errors import AppError
from backend.services.runs.direct_answers import RunAnswers, folder_answers
from backend.services.runs.plan import Base, Item, Plan, VlmIdentity
from backend.services.runs.record import RunRecord
from backend.services.runs.runner import Device, run_plan
from backend.services.runs.verification_plan import look_plan, loop_plan, verify_plan
from backend.verimap.conditions import Condition
from backend.verimap.feedback_loop import DECODINGS

GENERATE, LOOK = "generate", "look"
"""Names of run folders inside a chain's: first answers, and the first of two steps."""

_TURN = re.compile(r"turn-(0|[1-9]\d*)-(loop|verify)")


class Participant(NamedTuple):
    """A VLM that takes part in a chain."""

    identity: VlmIdentity
    vlm: Vlm
    device: Device = dict


@dataclass(frozen=True, slots=True)
class Chain:
    """What a chain does after the first answers."""

    condition: Condition = Condition.PLAIN
    turns: int = 0
    """Of the feedback loop; 0 verifies the first answers alone."""
    stop_at_correct: bool = False
    """Whether an answer whose verdict is CORRECT is final; the paper leaves it open."""
    decoding: Decoding = DECODINGS[Stage.VERIFY]
    """Of the verdicts; the first of two steps has as much room."""

    @property
    def look_decoding(self) -> Decoding:
        """Of the first of two steps."""
        return Decoding(self.decoding.max_new_tokens, self.decoding.reasoning_effort)


def verify_folder(turn: int) -> str:
    """Return the name of the folder with a turn's verdicts."""
    return f"turn-{turn}-verify"


def loop_folder(turn: int) -> str:
    """Return the name of the folder with the answers given again in a turn, from 1."""
    return f"turn-{turn}-loop"


def chain_folders(folder: Path) -> list[Path]:
    """Return the parts of a chain that may lie in a folder, each after what it is made from."""
    turns = {path: found for path in folder.glob("turn-*") if (found := _TURN.fullmatch(path.name))}
    ordered = sorted(turns, key=lambda path: (int(turns[path][1]), turns[path][2]))
    return [folder / GENERATE, folder / LOOK, *ordered]


def run_chain(
    first: Plan,
    answers: RunAnswers | None,
    verifier: Participant,
    folder: Path,
    chain: Chain,
    *,
    generator: Participant | None = None,
    images: Sequence[Item] = (),
    resume: bool = False,
    batch: int | None = None,
    report: Callable[[str], Report] = lambda part: silent,
) -> dict[str, RunRecord]:
    """Ask what the folders of a chain still lack.

    Args:
        first: The generator's plan of first answers.
        answers: What was said to each of its items; None has the generator asked first.
        verifier: Who judges.
        folder: Gets the run folders.
        chain: What is done.
        generator: Who answers; needed for turns, and where there are no answers.
        images: Items of the whole suite, for the condition `IMAGE_SWAPPED`.
        resume: As for `run_plan`.
        batch: As for `run_plan`.
        report: Gives each part, by its folder's name, a report as `run_plan` takes it.

    Returns:
        The records as they stand at the end, by folder. A loop whose answers were all accepted ends
        before its last turn, where CORRECT ends it.

    Raises:
        RunStopped: As `run_plan`.
        AppError: As `run_plan` and `verify_plan`.
    """
    records: dict[str, RunRecord] = {}

    def run(name: str, plan: Plan, who: Participant) -> RunAnswers:
        records[name] = run_plan(
            plan, who.vlm, folder / name, resume=resume, batch=batch, device=who.device, report=report(name)
        )
        key = plan.key
        return RunAnswers(
            Base(key.run_id, key.origin, key.prompt_version, key.decoding), folder_answers(folder / name, plan)
        )

    if answers is None:
        answers = run(GENERATE, first, _needed(generator))
    looked = None
    if chain.condition is Condition.TWO_STEP:
        looked = run(LOOK, look_plan(first, verifier.identity, chain.look_decoding), verifier)
    answered = first
    for turn in range(chain.turns + 1):
        asked = verify_plan(
            answered,
            answers,
            verifier.identity,
            condition=chain.condition,
            looked=looked,
            images=images,
            decoding=chain.decoding,
        )
        verdicts = run(verify_folder(turn), asked, verifier)
        if turn == chain.turns:
            break
        again = loop_plan(answered, answers, verdicts, verifier.identity.name, stop_at_correct=chain.stop_at_correct)
        if not again.items:
            break
        answers = run(loop_folder(turn + 1), again, _needed(generator))
        answered = again
    return records


def _needed(generator: Participant | None) -> Participant:
    if generator is None:
        raise AppError("The generator has to answer, and is not there.", "Name a VLM that can be asked from here.")
    return generator
