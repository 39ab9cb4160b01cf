"""One verification, call after call: who is asked what, and where it ends."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from backend.domain.progress import Cancelled
from backend.domain.records import Stage
from backend.domain.vlm import Ask, Decoding, OnText, Reply
from backend.verimap.feedback_loop import DECODINGS, revision_prompt
from backend.verimap.prompts import generate_prompt, look_prompt, two_step_prompt, verify_prompt
from backend.verimap.verification import Course, Step, Verification, verify
from backend.verimap.verifier import Review, Verdict

IMAGE, QUESTION = Path("frame.png"), "How many polyps are in the image?"
WRONG = "EXPLANATION: I see two.\nVERDICT: INCORRECT"
RIGHT = "EXPLANATION: There are two.\nVERDICT: CORRECT"


class Scripted:
    """Says one thing after another, and remembers what it was asked."""

    def __init__(self, name: str, *replies: str | Reply | BaseException) -> None:
        self.name = name
        self._replies = list(replies)
        self.asked: list[str] = []
        self.decodings: list[Decoding] = []
        self._image = IMAGE

    def sees(self, image: Path) -> None:
        """Expect another image than `IMAGE`."""
        self._image = image

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        assert image == self._image
        self.asked.append(prompt)
        self.decodings.append(decoding)
        said = self._replies.pop(0)
        if isinstance(said, BaseException):
            raise said
        return said if isinstance(said, Reply) else Reply(said)

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        raise NotImplementedError


class Notes:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.begun: list[tuple[Stage, int]] = []
        self.steps: list[Step] = []

    def begins(self, name: Stage, turn: int, question: str, prompt: str) -> None:
        assert question == QUESTION
        self.begun.append((name, turn))

    def says(self, text: str) -> None:
        raise AssertionError("nobody streams here")

    def ends(self, step: Step) -> None:
        self.steps.append(step)


def told(generator: Scripted | None, verifier: Scripted, course: Course) -> Verification:
    notes = Notes()
    found = verify(generator, verifier, IMAGE, QUESTION, notes, course)
    assert notes.steps == list(found.steps)
    assert notes.begun == [(step.name, step.turn) for step in found.steps]
    return found


def test_a_generator_answers_and_a_verifier_judges_it_in_a_fresh_context() -> None:
    generator, verifier = Scripted("G", "<think>hm</think>one"), Scripted("V", RIGHT)
    found = told(generator, verifier, Course())
    assert generator.asked == [generate_prompt(QUESTION)]
    assert verifier.asked == [verify_prompt(QUESTION, "one")]
    assert found.turns == ((0, "one", Review(Verdict.CORRECT, "There are two.")),)
    assert found.is_whole
    assert verifier.decodings == [DECODINGS[Stage.VERIFY]]


def test_the_review_goes_back_as_often_as_asked_and_each_turn_is_judged_anew() -> None:
    both = Scripted("B", "one", WRONG, "ANSWER: two", RIGHT, "ANSWER: three", WRONG)
    found = told(both, both, Course(turns=2))
    assert [(turn.number, turn.answer) for turn in found.turns] == [(0, "one"), (1, "two"), (2, "three")]
    assert [turn.review and turn.review.verdict for turn in found.turns] == ["INCORRECT", "CORRECT", "INCORRECT"]
    assert both.asked[2] == revision_prompt(QUESTION, "one", Review(Verdict.INCORRECT, "I see two."))
    assert both.asked[3] == verify_prompt(QUESTION, "two")
    assert found.is_whole


def test_correct_ends_it_where_that_is_asked_for_and_it_is_whole() -> None:
    both = Scripted("B", "one", WRONG, "ANSWER: two", RIGHT)
    found = told(both, both, Course(turns=4, stop_at_correct=True))
    assert [turn.number for turn in found.turns] == [0, 1]
    assert found.is_whole


def test_the_two_step_verifier_looks_once_and_is_reminded_in_every_turn() -> None:
    generator, verifier = Scripted("G", "one", "ANSWER: two"), Scripted("V", "Two bumps.", WRONG, RIGHT)
    told(generator, verifier, Course(two_step=True, turns=1))
    assert verifier.asked == [
        look_prompt(QUESTION),
        two_step_prompt(QUESTION, "one", "Two bumps."),
        two_step_prompt(QUESTION, "two", "Two bumps."),
    ]


def test_an_answer_of_a_person_is_verified_and_no_generator_is_needed_until_it_goes_back() -> None:
    verifier = Scripted("V", WRONG)
    found = told(None, verifier, Course(answer="one"))
    assert verifier.asked == [verify_prompt(QUESTION, "one")]
    assert found.turns[0].answer == "one"
    assert not Course(answer="one").asks_generator and Course(answer="one", turns=1).asks_generator
    with pytest.raises(ValueError, match="nobody is there to answer"):
        told(None, Scripted("V", WRONG), Course(answer="one", turns=1))


@pytest.mark.parametrize(
    ("generator", "verifier", "course", "steps", "n_turns"),
    [
        ([Reply("", error="gone")], [], Course(), ["direct"], 0),
        (["one"], [Reply("", error="gone")], Course(turns=2), ["direct", "verify"], 1),
        (["one"], [Reply("", error="gone")], Course(two_step=True), ["direct", "look"], 1),
        (["one", Reply("", error="gone")], [WRONG], Course(turns=2), ["direct", "verify", "loop"], 1),
    ],
)
def test_after_a_call_that_failed_no_later_one_is_made(
    generator: list[str | Reply], verifier: list[str | Reply], course: Course, steps: list[str], n_turns: int
) -> None:
    found = told(Scripted("G", *generator), Scripted("V", *verifier), course)
    assert [str(step.name) for step in found.steps] == steps
    assert found.failed_step is found.steps[-1]
    assert len(found.turns) == n_turns
    assert not found.is_whole


def test_an_unreadable_verdict_goes_back_as_what_was_written() -> None:
    both = Scripted("B", "one", "Perhaps.", "ANSWER: one", "")
    found = told(both, both, Course(turns=1))
    assert "Reviewer's verdict: none\nReviewer's explanation: Perhaps." in both.asked[2]
    assert [turn.review for turn in found.turns] == [Review(None, "Perhaps."), Review(None, "")]
    assert found.is_whole


def test_what_was_done_before_somebody_stopped_it_stays_with_the_watcher() -> None:
    notes = Notes()
    with pytest.raises(Cancelled):
        verify(Scripted("G", "one"), Scripted("V", Cancelled()), IMAGE, QUESTION, notes, Course())
    assert [step.name for step in notes.steps] == [Stage.DIRECT]
    assert not Verification(QUESTION, Course(), tuple(notes.steps)).is_whole
