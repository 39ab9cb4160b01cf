"""Making the shipped runs: the VLM in the box and the blind baseline answer the test split.

Everything goes through the runner that any run goes through; this module only plans.
"""

__all__ = ["BATCH", "BLIND", "device_of", "learn_endoscopy", "make_blind_runs", "make_vlm_runs", "replayed"]

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from shutil import copy
from typing import TYPE_CHECKING

import numpy as np

from backend.demo import files
from backend.demo.endoscopy import draw_endoscopy
from backend.demo.endoscopy_questions import DEMO_CLASSES, complex_answer, complex_questions, facts_of
from backend.demo.held_out import PER_COMPLEXITY
from backend.demo.laparoscopy import draw_laparoscopy
from backend.demo.scenes import Split, seed_of
from backend.demo.surgical_questions import scene_of
from backend.domain.progress import Report
from backend.domain.records import Origin, Role, RunKey, Stage, System
from backend.domain.vlm import Decoding, Reply, Vlm
from backend.endoca.asr import DECODINGS, StepName
from backend.endoca.vocabulary import canonical_reference
from backend.services.cue_pictures import cue_picture
from backend.services.demo.questions import samples, surgical_pairs, verifications
from backend.services.demo.shipped import (
    BLIND_DIRECT,
    BLIND_SURGICAL,
    DEMO,
    DIRECT,
    FRAMES,
    RECONCILED,
    RUNS,
    SURGICAL,
    SURGICAL_FRAMES,
    SURGICAL_LOOKUP,
    SURGICAL_SUITE,
    SURGICAL_TEXT_ONLY,
    VERIFICATION,
    VERIFICATION_SUITE,
)
from backend.services.runs.direct_answers import folder_base
from backend.services.runs.manifest import read_manifest_plan
from backend.services.runs.plan import Item, Plan, VlmIdentity, item_id, templates_sha256
from backend.services.runs.reconciliation_run import run_reconciliation
from backend.services.runs.runner import run_plan
from backend.surgcheck import prompts as surgcheck
from backend.surgcheck.question_pairs import Pair, all_pairs
from backend.surgcheck.tasks import Task
from backend.surgcheck.text_lookups import LOOKUP_VERSION, LOOKUP_VLM, TextLookups
from backend.surgcheck.text_lookups import Example as LookupExample
from backend.verimap import prompts as verimap
from backend.verimap.verifier import Verdict
from backend.vlm.blind import BLIND_VERSION, BLIND_VLM, BlindBaseline, Example
from backend.vlm.replay import Replay, StoredAnswer

if TYPE_CHECKING:
    from backend.vlm.transformers_local import TransformersLocal

LEARNED_FRAMES = 1_000
"""Training frames of each kind whose references the blind baseline learns from."""

BLIND = VlmIdentity(BLIND_VLM, "blind", {"learned on": f"{LEARNED_FRAMES:,} training frames", "rule": BLIND_VERSION})

LOOKUP = VlmIdentity(LOOKUP_VLM, "blind", {**BLIND.details, "rule": LOOKUP_VERSION})

BATCH = 64
"""Calls at once, whatever the machine's pace, so that a run made anew asks in the same company."""

ANSWER = DECODINGS[StepName.DIRECT]
VERIFY = Decoding(max_new_tokens=120, watched=tuple(Verdict))


def make_vlm_runs(vlm: "TransformersLocal", identity: VlmIdentity, report: Report) -> None:
    """Let the VLM in the box answer the test split; go on where a folder is not finished.

    Args:
        vlm: The VLM in the box, loaded.
        identity: What makes it this one.
        report: Told of progress.
    """
    device = partial(device_of, vlm)
    run = partial(run_plan, vlm=vlm, resume=True, batch=BATCH, device=device, report=report)
    direct = _direct_plan(identity, report)
    run(direct, folder=RUNS / DIRECT)
    answers = folder_base(RUNS / DIRECT, direct)
    for variant, (revise, select) in RECONCILED.items():
        run_reconciliation(
            direct, answers, vlm, RUNS / revise, RUNS / select, variant,
            resume=True, batch=BATCH, device=device, report=lambda stage: report,
        )  # fmt: skip
    run(_verification_plan(identity), folder=RUNS / VERIFICATION)
    with tempfile.TemporaryDirectory(prefix="parallax-cues-") as folder:
        run(_surgical_plan(identity, _draw_cues(Path(folder))), folder=RUNS / SURGICAL)
    run(_text_only_plan(identity), folder=RUNS / SURGICAL_TEXT_ONLY)


def device_of(vlm: "TransformersLocal") -> dict[str, str]:
    """Return what a record says of the machine the VLM in the box ran on."""
    return {"device": vlm.device_facts().name, **vlm.facts()}


def make_blind_runs(report: Report) -> None:
    """Let the blind baseline answer the test split; go on where a folder is not finished."""
    direct = _direct_plan(BLIND, report)
    run_plan(direct, _blind_endoscopy(direct, report), RUNS / BLIND_DIRECT, resume=True, report=report)
    with tempfile.TemporaryDirectory(prefix="parallax-cues-") as folder:
        pictures = _draw_cues(Path(folder))
        learned = _surgical_examples(report)
        surgical = _surgical_plan(BLIND, pictures)
        run_plan(surgical, _blind_surgical(surgical, learned), RUNS / BLIND_SURGICAL, resume=True, report=report)
        looked_up = _surgical_plan(LOOKUP, pictures)
        run_plan(looked_up, _text_lookup(looked_up, learned), RUNS / SURGICAL_LOOKUP, resume=True, report=report)


def _direct_plan(identity: VlmIdentity, report: Report) -> Plan:
    return read_manifest_plan(DEMO / files.MANIFEST, FRAMES, identity, ANSWER, report=report)


def _verification_plan(identity: VlmIdentity) -> Plan:
    key = _key(identity, System.VERIMAP, VERIFICATION_SUITE, Stage.VERIFY, verimap.PROMPT_VERSION, VERIFY)
    items = tuple(
        _item(key, identity, one.id, verimap.verify_prompt(one.question, one.answer), DEMO / one.image)
        for one in verifications()
    )
    return Plan(key, identity, VERIFY, templates_sha256(verimap.TEMPLATES), items)


def _surgical_plan(identity: VlmIdentity, pictures: Path) -> Plan:
    key = _key(identity, System.SURGCHECK, SURGICAL_SUITE, Stage.DIRECT, surgcheck.PROMPT_VERSION, ANSWER)
    pairs = sorted(surgical_pairs().items(), key=lambda entry: entry[1][0].image)
    items = tuple(
        _item(key, identity, probe_id, surgcheck.answer_prompt(question), pictures / pair.image)
        for probe_id, (pair, question) in pairs
    )
    return Plan(key, identity, ANSWER, templates_sha256(surgcheck.TEMPLATES), items)


def _text_only_plan(identity: VlmIdentity) -> Plan:
    """Plan the original questions with the image withheld."""
    key = _key(identity, System.SURGCHECK, SURGICAL_SUITE, Stage.TEXT_ONLY, surgcheck.PROMPT_VERSION, ANSWER)
    items = tuple(
        _item(key, identity, probe_id, surgcheck.answer_prompt(question), None)
        for probe_id, (pair, question) in surgical_pairs().items()
        if probe_id.endswith(f"::{Role.ORIGINAL}")
    )
    return Plan(key, identity, ANSWER, templates_sha256(surgcheck.TEMPLATES), items)


def _draw_cues(folder: Path) -> Path:
    """Write each picture the surgical questions are about, as a store draws it, or the frame as it is.

    Returns:
        The folder.
    """
    pictures = {pair.image: pair for pair, _ in surgical_pairs().values()}
    for name, pair in pictures.items():
        frame = SURGICAL_FRAMES / pair.frame
        if pair.drawing is None:
            copy(frame, folder / name)
        else:
            (folder / name).write_bytes(cue_picture(frame, pair.drawing))
    return folder


def learn_endoscopy(report: Report) -> BlindBaseline:
    """Return the blind baseline, learned on the questions asked of training frames."""
    examples = []
    for number in range(LEARNED_FRAMES):
        report("the blind baseline learns", number, LEARNED_FRAMES)
        facts = facts_of(draw_endoscopy(Split.TRAIN, number))
        values = {name: canonical_reference(name, facts[name]) for name in DEMO_CLASSES}
        rng = np.random.default_rng(seed_of("questions", Split.TRAIN, number))
        for asked in complex_questions(facts, rng, PER_COMPLEXITY):
            classes = asked.question_classes
            parts = tuple(values[name] for name in classes)
            examples.append(Example(Role.COMPLEX, classes, parts, complex_answer(facts, classes)))
            examples += [Example(Role.ATOMIC, (name,), (values[name],), facts[name]) for name in classes]
    return BlindBaseline.learn(examples)


def _blind_endoscopy(plan: Plan, report: Report) -> Vlm:
    """Return the blind baseline as a VLM that knows the plan's questions."""
    baseline = learn_endoscopy(report)
    said = {}
    for question, *atoms in samples():
        classes = tuple(atom.question_class for atom in atoms)
        said[question.probe_id] = baseline.answer(Role.COMPLEX, classes)
        said |= {atom.probe_id: baseline.answer(Role.ATOMIC, (atom.question_class,)) for atom in atoms}
    return replayed(plan, said)


def _surgical_examples(report: Report) -> list[Pair]:
    """Return every pair that can be asked of the training frames."""
    pairs: list[Pair] = []
    for number in range(LEARNED_FRAMES):
        report("the blind baseline learns", number, LEARNED_FRAMES)
        pairs += all_pairs(scene_of(draw_laparoscopy(Split.TRAIN, number), f"{number + 1}_1.webp")).pairs
    return pairs


def _blind_surgical(plan: Plan, learned: Sequence[Pair]) -> Vlm:
    """Return the blind baseline of the surgical questions: the commonest reference of each task and CVS question."""
    baseline = BlindBaseline.learn(
        Example(Role.ATOMIC, (_asked_for(pair),), (pair.reference,), pair.reference) for pair in learned
    )
    said = {
        probe_id: baseline.answer(Role.ATOMIC, (_asked_for(pair),)) for probe_id, (pair, _) in surgical_pairs().items()
    }
    return replayed(plan, said)


def _text_lookup(plan: Plan, learned: Sequence[Pair]) -> Vlm:
    """Return SurgCheck's text look-ups, learned on original questions."""
    lookups = TextLookups.learn(LookupExample(pair.task, pair.original, pair.reference) for pair in learned)
    asked = surgical_pairs().items()
    return replayed(plan, {probe_id: lookups.answer(pair.task, question) for probe_id, (pair, question) in asked})


def _asked_for(pair: Pair) -> str:
    return pair.original if pair.task is Task.CVS else pair.task


def replayed(plan: Plan, said: Mapping[str, str]) -> Vlm:
    """Return a VLM that says these answers.

    A complex question of one part can have the words of its atomic question. To a VLM the two
    are one question; the atomic answer, which stands later in the plan, is then given to both.
    """
    replies = {(Path(item.image_name).name, item.prompt): Reply(said[item.probe_id]) for item in plan.items}
    return Replay(plan.vlm.name, [StoredAnswer(image, prompt, reply) for (image, prompt), reply in replies.items()])


def _key(
    identity: VlmIdentity, system: System, suite: str, stage: Stage, prompt_version: str, decoding: Decoding
) -> RunKey:
    return RunKey(
        system=system,
        suite=suite,
        vlm=identity.name,
        stage=stage,
        origin=Origin.PRECOMPUTED,
        prompt_version=prompt_version,
        decoding=decoding.label,
    )


def _item(key: RunKey, identity: VlmIdentity, probe_id: str, prompt: str, image: Path | None) -> Item:
    name, sha256 = (image.name, _sha256(image)) if image else ("", None)
    return Item(
        item_id=item_id(key, identity, probe_id, prompt, name, sha256),
        probe_id=probe_id,
        unit_id=probe_id.partition("::")[0],
        prompt=prompt,
        image_id=name,
        image_name=name,
        image=image,
        image_sha256=sha256,
    )


@cache
def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
