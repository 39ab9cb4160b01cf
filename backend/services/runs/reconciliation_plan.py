"""What ASR asks over a whole run: one Revise question a unit, then one Select question a unit.

A plan is made from the plan of the direct run and from what was said to it; it sees questions
and answers of the VLM, never a reference. A unit with a failed call before it is not asked: it
becomes an error row that says so. Item ids hang on the prompts, so another answer before is
another question after.
"""

__all__ = ["STAGES", "revise_plan", "select_plan", "stage_of", "unit_prompt"]

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from backend.domain.records import Origin, Role, RunKey, Stage, System
from backend.endoca import prompts
from backend.endoca.asr import DECODINGS, StepName, Variant, revise_step, select_step
from backend.services.runs.direct_answers import RunAnswers, Said
from backend.services.runs.plan import Item, Plan, item_id, templates_sha256


class Reconciling(NamedTuple):
    """What a run of a stage does."""

    variant: Variant
    step: StepName
    """REVISE or SELECT."""


STAGES: Mapping[str, Reconciling] = MappingProxyType(
    {
        Stage.REVISE: Reconciling(Variant.ASR, StepName.REVISE),
        Stage.SELECT: Reconciling(Variant.ASR, StepName.SELECT),
        Stage.SELF_REVISE: Reconciling(Variant.SELF, StepName.REVISE),
        Stage.SELF_SELECT: Reconciling(Variant.SELF, StepName.SELECT),
    }
)
"""The stages of Revise and Select runs."""


def stage_of(variant: Variant, step: StepName) -> str:
    """Return the stage in which a variant revises, or selects."""
    return next(stage for stage, one in STAGES.items() if one == (variant, step))


class UnitPrompt(NamedTuple):
    """What a unit is asked."""

    prompt: str
    """Empty where it is not asked."""
    not_asked: str = ""
    """Why; empty where it is."""


def revise_plan(direct: Plan, answers: RunAnswers, variant: Variant) -> Plan:
    """Plan the Revise stage: the complex questions of a direct plan, each with the answer given to it.

    Args:
        direct: The direct plan; its VLM, setting and images are kept.
        answers: What was said to each of its items.
        variant: With premises or without.
    """
    return _plan(direct, answers, variant, None)


def select_plan(direct: Plan, answers: RunAnswers, revised: Mapping[str, Said], variant: Variant) -> Plan:
    """Plan the Select stage: the complex questions of a direct plan, each with the revised answer to it.

    Args:
        direct: As for `revise_plan`.
        answers: As for `revise_plan`.
        revised: What the Revise stage said, by probe id of the complex questions.
        variant: As for `revise_plan`.
    """
    return _plan(direct, answers, variant, revised)


def unit_prompt(
    variant: Variant, question: str, direct: Said, parts: Sequence[tuple[str, Said]], revised: Said | None
) -> UnitPrompt:
    """Return what one unit is asked: the Select question where a revised answer is given, else the Revise question.

    A unit is asked where all calls before went well; for the control those to the atomic
    questions too, so that both variants are asked about the same units.

    Args:
        variant: With premises or without.
        question: The complex question.
        direct: What was said to it.
        parts: Its atomic questions with what was said to each.
        revised: What Revise said; None for the Revise question itself.
    """
    if direct.error or any(said.error for _, said in parts):
        which = "direct" if direct.error else "atomic"
        return UnitPrompt("", f"Not asked: the call for its {which} answer failed. Once that is answered, resume.")
    if revised is not None and revised.error:
        return UnitPrompt("", "Not asked: the call for its revised answer failed. Once that is answered, resume.")
    premises = [(part, said.answer) for part, said in parts]
    if revised is None:
        return UnitPrompt(revise_step(variant, question, direct.answer, premises))
    return UnitPrompt(select_step(variant, question, revised.answer, premises))


def _plan(direct: Plan, answers: RunAnswers, variant: Variant, revised: Mapping[str, Said] | None) -> Plan:
    step = StepName.REVISE if revised is None else StepName.SELECT
    decoding = DECODINGS[step]
    key = RunKey(
        system=System.ENDOCA,
        suite=direct.key.suite,
        vlm=direct.key.vlm,
        stage=stage_of(variant, step),
        origin=Origin.PRECOMPUTED,
        setting=direct.key.setting,
        prompt_version=prompts.PROMPT_VERSION,
        decoding=decoding.label,
    )
    items = []
    for item, atoms in _units(direct):
        parts = [(atom.question, answers.said[atom.probe_id]) for atom in atoms]
        said = None if revised is None else revised[item.probe_id]
        asked = unit_prompt(variant, item.question, answers.said[item.probe_id], parts, said)
        new = item_id(key, direct.vlm, item.probe_id, asked.prompt, item.image_id, item.image_sha256)
        items.append(replace(item, item_id=new, prompt=asked.prompt, not_asked=asked.not_asked))
    return Plan(key, direct.vlm, decoding, templates_sha256(prompts.TEMPLATES), tuple(items), answers.base)


def _units(direct: Plan) -> Iterator[tuple[Item, list[Item]]]:
    """Yield each unit's complex question and its atomic ones, in the order of the plan."""
    for _, items in groupby(direct.items, key=lambda item: item.unit_id):
        together = list(items)
        [question] = [item for item in together if item.role == Role.COMPLEX]
        yield question, [item for item in together if item.role == Role.ATOMIC]
