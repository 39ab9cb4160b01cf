"""Workflow 1 of the paper, call by call, with a VLM whose replies are scripted."""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.progress import Cancelled
from backend.domain.vlm import Ask, Decoding, OnText, Reply
from backend.endoca.asr import Step, StepName, Variant, reconcile
from backend.endoca.decision import Verdict
from backend.endoca.prompts import (
    answer_prompt,
    revise_prompt,
    select_prompt,
    self_revise_prompt,
    self_select_prompt,
)

IMAGE = Path("frame.webp")
QUESTION = "How many polyps are there, and is there text?"
PARTS = ("How many polyps are in the image?", "Is there text?")
PREMISES = [(PARTS[0], "2"), (PARTS[1], "no")]
GIVEN = '{"answer": "two polyps; no text", "consistency": "consistent", "decision": "answer"}'
WITHHELD = '{"answer": "two polyps; no text", "consistency": "inconsistent", "decision": "abstain"}'
ECHOED = '{"answer": "three polyps", "consistency": "consistent", "decision": "answer"}'

SAID = {
    answer_prompt(QUESTION): "one polyp; no text",
    answer_prompt(PARTS[0]): "2",
    answer_prompt(PARTS[1]): "no",
    revise_prompt(QUESTION, "one polyp; no text", PREMISES): "two polyps; no text",
    select_prompt(QUESTION, "two polyps; no text", PREMISES): GIVEN,
    self_revise_prompt(QUESTION, "one polyp; no text"): "two polyps; no text",
    self_select_prompt(QUESTION, "two polyps; no text"): WITHHELD,
}


class ScriptedVlm:
    """Says what its script says to a prompt, and fails where it says `FAILS`."""

    name = "Scripted VLM"

    def __init__(self, said: Mapping[str, str | Reply] = SAID) -> None:
        self.said = said
        self.asked: list[Ask] = []

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        [reply] = self.answer_all([Ask(image, prompt)], decoding)
        on_text(reply.text)
        return reply

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        self.asked += asks
        found = [self.said.get(ask.prompt, "whatever") for ask in asks]
        return [reply if isinstance(reply, Reply) else Reply(reply) for reply in found]


class Told:
    """A watcher that keeps what it is told, and cancels where it is asked to."""

    def __init__(self, stop_before: StepName | None = None) -> None:
        self.begun: list[tuple[StepName, int, str]] = []
        self.pieces: list[str] = []
        self.steps: list[Step] = []
        self.stop_before = stop_before

    def begins(self, name: StepName, position: int, question: str, prompt: str) -> None:
        if name is self.stop_before:
            raise Cancelled
        self.begun.append((name, position, prompt))

    def says(self, text: str) -> None:
        self.pieces.append(text)

    def ends(self, step: Step) -> None:
        self.steps.append(step)


def test_the_calls_are_those_of_workflow_1_in_its_order_about_one_image() -> None:
    vlm, told = ScriptedVlm(), Told()
    trace = reconcile(vlm, IMAGE, QUESTION, PARTS, told)
    asked = [
        (StepName.DIRECT, 0, answer_prompt(QUESTION)),
        (StepName.ATOMIC, 0, answer_prompt(PARTS[0])),
        (StepName.ATOMIC, 1, answer_prompt(PARTS[1])),
        (StepName.REVISE, 0, revise_prompt(QUESTION, "one polyp; no text", PREMISES)),
        (StepName.SELECT, 0, select_prompt(QUESTION, "two polyps; no text", PREMISES)),
    ]
    assert vlm.asked == [Ask(IMAGE, prompt) for *_, prompt in asked]
    assert told.begun == asked
    assert [(step.name, step.position, step.prompt) for step in trace.steps] == asked
    assert told.steps == list(trace.steps)
    assert (trace.direct, trace.premises, trace.revised) == ("one polyp; no text", PREMISES, "two polyps; no text")
    assert trace.final == "two polyps; no text"
    assert trace.failed_step is None


def test_the_control_asks_no_atomic_question_and_is_told_no_premise() -> None:
    vlm = ScriptedVlm()
    trace = reconcile(vlm, IMAGE, QUESTION, PARTS, Told(), Variant.SELF)
    assert [step.name for step in trace.steps] == [StepName.DIRECT, StepName.REVISE, StepName.SELECT]
    assert trace.premises == []
    assert not any(part in ask.prompt for ask in vlm.asked for part in PARTS)
    assert trace.decision is not None
    assert trace.decision.verdict is Verdict.ABSTAIN
    assert trace.final is None
    assert trace.revised == "two polyps; no text"


def test_the_final_answer_is_revises_whatever_the_decision_object_repeats() -> None:
    said = {**SAID, select_prompt(QUESTION, "two polyps; no text", PREMISES): ECHOED}
    trace = reconcile(ScriptedVlm(said), IMAGE, QUESTION, PARTS, Told())
    assert trace.final == "two polyps; no text"
    assert trace.decision is not None
    assert trace.decision.echoes_another(trace.final)


def test_a_decision_that_cannot_be_read_withholds_the_answer_and_keeps_the_text() -> None:
    said = {**SAID, select_prompt(QUESTION, "two polyps; no text", PREMISES): "I would answer."}
    trace = reconcile(ScriptedVlm(said), IMAGE, QUESTION, PARTS, Told())
    assert trace.final is None
    assert trace.decision is not None
    assert trace.decision.problem
    assert trace.steps[-1].reply.text == "I would answer."


@pytest.mark.parametrize(
    ("failing", "last", "revised"),
    [
        (answer_prompt(QUESTION), StepName.DIRECT, None),
        (answer_prompt(PARTS[0]), StepName.ATOMIC, None),
        (revise_prompt(QUESTION, "one polyp; no text", PREMISES), StepName.REVISE, None),
        (select_prompt(QUESTION, "two polyps; no text", PREMISES), StepName.SELECT, "two polyps; no text"),
    ],
)
def test_after_a_call_that_failed_no_later_step_is_asked(failing: str, last: StepName, revised: str | None) -> None:
    trace = reconcile(ScriptedVlm({**SAID, failing: Reply("", "The server is gone.")}), IMAGE, QUESTION, PARTS, Told())
    assert trace.steps[-1].name is last
    assert trace.failed_step is not None
    assert trace.failed_step.reply.error == "The server is gone."
    assert trace.revised == revised
    assert trace.final is None
    if last is StepName.SELECT:
        assert trace.decision is not None
        assert trace.decision.problem == "The server is gone."
    else:
        assert trace.decision is None


def test_beside_an_atomic_call_that_failed_the_other_atomic_answers_stand() -> None:
    said: dict[str, str | Reply] = {**SAID, answer_prompt(PARTS[0]): Reply("", error="The server is gone.")}
    trace = reconcile(ScriptedVlm(said), IMAGE, QUESTION, PARTS, Told())
    assert [(step.name, bool(step.reply.error)) for step in trace.steps] == [
        (StepName.DIRECT, False),
        (StepName.ATOMIC, True),
        (StepName.ATOMIC, False),
    ]
    assert trace.failed_step == trace.steps[1]
    assert trace.premises == PREMISES[1:]


def test_an_answer_of_nothing_goes_on() -> None:
    said = {**SAID, answer_prompt(PARTS[1]): ""}
    trace = reconcile(ScriptedVlm(said), IMAGE, QUESTION, PARTS, Told())
    assert [step.name for step in trace.steps][-1] is StepName.SELECT
    assert trace.premises == [(PARTS[0], "2"), (PARTS[1], "")]


def test_what_was_done_is_kept_by_the_watcher_that_cancels() -> None:
    told = Told(stop_before=StepName.REVISE)
    with pytest.raises(Cancelled):
        reconcile(ScriptedVlm(), IMAGE, QUESTION, PARTS, told)
    assert [step.reply.text for step in told.steps] == ["one polyp; no text", "2", "no"]


def test_pieces_of_a_reply_are_told_while_it_is_said() -> None:
    told = Told()
    reconcile(ScriptedVlm(), IMAGE, QUESTION, PARTS, told)
    assert told.pieces == ["one polyp; no text", "two polyps; no text", GIVEN]


def test_a_reconciliation_cannot_be_told_a_reference() -> None:
    assert list(inspect.signature(reconcile).parameters) == ["vlm", "image", "question", "atomic", "watcher", "variant"]


@given(
    said=st.lists(st.text(alphabet="abc .,", max_size=20), min_size=5, max_size=5),
    variant=st.sampled_from(Variant),
    parts=st.lists(st.text(alphabet="xyz ?", min_size=1, max_size=20), min_size=1, max_size=4),
)
def test_a_prompt_holds_the_questions_and_the_vlms_own_words_alone(
    said: list[str], variant: Variant, parts: list[str]
) -> None:
    class Talker(ScriptedVlm):
        def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
            self.asked += asks
            return [Reply(said[(len(self.asked) + place) % 5]) for place in range(len(asks))]

    vlm = Talker()
    trace = reconcile(vlm, IMAGE, QUESTION, parts, Told(), variant)
    *_, revise, select = trace.steps
    premises = [(step.question, step.reply.text) for step in trace.steps if step.name is StepName.ATOMIC]
    direct = trace.steps[0].reply.text
    if variant is Variant.ASR:
        assert revise.prompt == revise_prompt(QUESTION, direct, premises)
        assert select.prompt == select_prompt(QUESTION, revise.reply.text, premises)
    else:
        assert revise.prompt == self_revise_prompt(QUESTION, direct)
        assert select.prompt == self_select_prompt(QUESTION, revise.reply.text)
