"""What a chain of generating and verifying asks: the verifier's look, verdicts on answers, and answers given again.

Each plan is made from the one before it and from what was said to that; it sees questions and
answers of VLMs, never a reference. What a failed call stands before is not asked: it becomes an error
row that says so. Item ids hang on the prompts, so another answer before is another question after.
"""

__all__ = ["SWAP_SEED", "answer_of", "look_plan", "loop_plan", "swapped", "verify_plan"]

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from backend.domain.records import Origin, RunKey, Stage, System
from backend.domain.vlm import Decoding
from backend.errors import AppError
from backend.services.runs.direct_answers import RunAnswers, Said
from backend.services.runs.plan import Item, Plan, VlmIdentity, item_id, templates_sha256
from backend.verimap import prompts
from backend.verimap.conditions import Condition
from backend.verimap.feedback_loop import DECODINGS, final_answer, first_look, given_answer, goes_on, revision_prompt
from backend.verimap.setups import Setup
from backend.verimap.verifier import read_review

SWAP_SEED = 0
"""Of the exchange of images in the control; recorded with each such run."""


def answer_of(stage: str, reply: str) -> str:
    """Return the answer in a generator's reply, as it is verified and judged: of a revision turn its last line."""
    return final_answer(reply) if stage == Stage.LOOP else given_answer(reply)


def look_plan(asked: Plan, verifier: VlmIdentity, decoding: Decoding = DECODINGS[Stage.LOOK]) -> Plan:
    """Plan the first of two steps: what the verifier says of each image before it sees an answer.

    Args:
        asked: The generator's plan of first answers; its suite, questions and images are kept.
        verifier: Who looks.
        decoding: How.
    """
    options = asked.setup.options if asked.setup else None
    setup = Setup(verifier=verifier.name, options=options)
    key = _key(asked, verifier, Stage.LOOK, setup.setting(Stage.LOOK), prompts.TWO_STEP_VERSION, decoding)
    items = [
        _item(item, key, verifier, "" if item.not_asked else prompts.look_prompt(item.question), item.not_asked)
        for item in asked.items
    ]
    return Plan(key, verifier, decoding, templates_sha256(prompts.TWO_STEP_TEMPLATES), tuple(items), setup=setup)


def verify_plan(
    answered: Plan,
    answers: RunAnswers,
    verifier: VlmIdentity,
    *,
    condition: Condition = Condition.PLAIN,
    looked: RunAnswers | None = None,
    images: Sequence[Item] = (),
    decoding: Decoding = DECODINGS[Stage.VERIFY],
) -> Plan:
    """Plan the verdicts on a generator's answers, first ones or those of a turn.

    Args:
        answered: The generator's plan.
        answers: What was said to each of its items.
        verifier: Who judges: the generator's VLM itself, or any other.
        condition: What it is shown.
        looked: What it said in the first of two steps; with that condition alone.
        images: Items with the images that are exchanged in the condition `IMAGE_SWAPPED`: those of the
            whole suite, so that a limit changes nothing.
        decoding: How.

    Raises:
        AppError: Images are to be exchanged, and there are no two of different content.
    """
    before = answered.setup or Setup(generator=answered.key.vlm)
    is_swapped, in_two = condition is Condition.IMAGE_SWAPPED, condition is Condition.TWO_STEP
    setup = Setup(
        generator=before.generator,
        verifier=verifier.name,
        turn=before.turn,
        condition=condition,
        options=before.options,
        looked=looked.base.run_id if looked else "",
        swap_seed=SWAP_SEED if is_swapped else None,
    )
    version = prompts.TWO_STEP_VERSION if in_two else prompts.PROMPT_VERSION
    templates = prompts.TWO_STEP_TEMPLATES if in_two else prompts.TEMPLATES
    key = _key(answered, verifier, Stage.VERIFY, setup.setting(Stage.VERIFY, answers.base.run_id), version, decoding)
    others = swapped((*images, *answered.items), SWAP_SEED) if is_swapped else {}
    items = []
    for item in answered.items:
        prompt, why_not = verifier_prompt(
            item.question,
            answered.key.stage,
            answers.said[item.probe_id],
            looked.said[item.probe_id] if looked else None,
        )
        if condition is Condition.IMAGE_WITHHELD:
            item = replace(item, image_id="", image_name="", image=None, image_sha256=None)
        elif other := others.get(item.image_sha256 or ""):
            item = replace(
                item,
                image_id=other.image_id,
                image_name=other.image_name,
                image=other.image,
                image_sha256=other.image_sha256,
            )
        items.append(_item(item, key, verifier, prompt, why_not))
    return Plan(key, verifier, decoding, templates_sha256(templates), tuple(items), answers.base, setup)


def loop_plan(
    answered: Plan,
    answers: RunAnswers,
    verdicts: RunAnswers,
    verifier: str,
    *,
    stop_at_correct: bool = False,
    decoding: Decoding = DECODINGS[Stage.LOOP],
) -> Plan:
    """Plan the next turn: each question again, with the generator's own answer and the review of it.

    Args:
        answered: The generator's plan of the turn before.
        answers: What it said to each of its items.
        verdicts: What the verifier replied to each.
        verifier: Who that was.
        stop_at_correct: Leave out answers whose verdict was CORRECT; the plan may then have no item.
        decoding: How.
    """
    before = answered.setup or Setup(generator=answered.key.vlm)
    setup = Setup(
        generator=before.generator,
        verifier=verifier,
        turn=before.turn + 1,
        options=before.options,
        stop_at_correct=stop_at_correct,
    )
    setting = setup.setting(Stage.LOOP, verdicts.base.run_id)
    key = _key(answered, answered.vlm, Stage.LOOP, setting, prompts.PROMPT_VERSION, decoding)
    items = []
    for item in answered.items:
        said, verdict = answers.said[item.probe_id], verdicts.said[item.probe_id]
        failed = bool(said.error or verdict.error)
        if failed or goes_on(read_review(verdict.answer), stop_at_correct=stop_at_correct):
            prompt, why_not = generator_prompt(item.question, answered.key.stage, said, verdict)
            items.append(_item(item, key, answered.vlm, prompt, why_not))
    return Plan(key, answered.vlm, decoding, templates_sha256(prompts.TEMPLATES), tuple(items), verdicts.base, setup)


def verifier_prompt(question: str, stage: str, said: Said, looked: Said | None) -> tuple[str, str]:
    """Return what a verifier is asked about one answer, and why it is not; one of the two is empty.

    Args:
        question: As the generator was asked it.
        stage: Of the run that answered.
        said: What it said.
        looked: What the verifier said in the first of two steps; None in one step.
    """
    if said.error:
        return "", "Not asked: the call for the answer failed. Once that is answered, resume."
    answer = answer_of(stage, said.answer)
    if looked is None:
        return prompts.verify_prompt(question, answer), ""
    if looked.error:
        return "", "Not asked: the call for the verifier's first look failed. Once that is answered, resume."
    return prompts.two_step_prompt(question, answer, first_look(looked.answer)), ""


def generator_prompt(question: str, stage: str, said: Said, verdict: Said) -> tuple[str, str]:
    """Return what a generator is asked in the next turn, and why it is not; one of the two is empty.

    Args:
        question: As it was asked before.
        stage: Of the run that answered.
        said: What it said.
        verdict: What the verifier replied.
    """
    if said.error or verdict.error:
        which = "answer" if said.error else "verdict"
        return "", f"Not asked: the call for the {which} before failed. Once that is answered, resume."
    return revision_prompt(question, answer_of(stage, said.answer), read_review(verdict.answer)), ""


def swapped(images: Sequence[Item], seed: int) -> Mapping[str, Item]:
    """Return for the content of each image another one's item: a derangement that the seed alone decides.

    The images are put in an order that hangs on seed and content, and each gets the next one. So a
    further image changes the exchange of one other.

    Args:
        images: Items whose files are at hand; the others are passed over.
        seed: Any whole number.

    Raises:
        AppError: There are no two images of different content.
    """
    held: dict[str, Item] = {}
    for item in sorted(images, key=lambda item: item.image_id):
        if item.image is not None and item.image_sha256:
            held[item.image_sha256] = item
    if len(held) < 2:
        raise AppError(
            "Images cannot be exchanged: fewer than two different ones are on this machine.",
            "Attach them to the store with import images DIR, or choose another --condition.",
        )
    order = sorted(held, key=lambda content: hashlib.sha256(f"{seed}:{content}".encode()).hexdigest())
    return {content: held[other] for content, other in zip(order, [*order[1:], order[0]], strict=True)}


def _key(before: Plan, vlm: VlmIdentity, stage: Stage, setting: str, version: str, decoding: Decoding) -> RunKey:
    return RunKey(
        system=System.VERIMAP,
        suite=before.key.suite,
        vlm=vlm.name,
        stage=stage,
        origin=Origin.PRECOMPUTED,
        setting=setting,
        prompt_version=version,
        decoding=decoding.label,
    )


def _item(item: Item, key: RunKey, vlm: VlmIdentity, prompt: str, not_asked: str) -> Item:
    """Return an item as the run of a key asks it."""
    new = item_id(key, vlm, item.probe_id, prompt, item.image_id, item.image_sha256)
    return replace(item, item_id=new, prompt=prompt, not_asked=not_asked)
