"""Two looks of one verification: whose prompt and whose words each is of, and what it says where it cannot be had."""

from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from backend.domain.records import Stage
from backend.domain.vlm import Reply
from backend.services.looks import SaliencyVlm, generator_look, two_looks, verifier_look
from backend.verimap.prompts import generate_prompt, two_step_prompt, verify_prompt
from backend.verimap.verification import Course, Step, Verification, verify
from backend.vlm.registry import Registry
from backend.vlm.saliency.result import Saliency, SaliencyError
from tests.conftest import ROOT
from tests.verimap.test_verification import IMAGE, QUESTION, RIGHT, WRONG, Notes, Scripted
from tests.vlm.saliency.test_result import saliency

FRAME = ROOT / "data/demo/endoscopy/synthetic-0028.webp"
WEIGHTS = ROOT / "data/demo/vlm/model.safetensors"

needs_box_vlm = pytest.mark.skipif(
    not (WEIGHTS.exists() and FRAME.exists()), reason="the VLM in the box is not trained yet"
)


class LookedInto(Scripted):
    """Says what it is told to, and remembers what was looked at; an answer that is empty is refused."""

    def __init__(self, name: str, *replies: str | Reply | BaseException, gives: Saliency | None = None) -> None:
        super().__init__(name, *replies)
        self.looks: list[tuple[str, str]] = []
        self._gives = gives or saliency()

    def saliency(self, image: Path, prompt: str, answer: str) -> Saliency:
        assert image == self._image
        self.looks.append((prompt, answer))
        if not answer:
            raise SaliencyError("There is no answer.", "Choose another.")
        return self._gives


class Broken(LookedInto):
    """Its look is a fault of its own."""

    def saliency(self, image: Path, prompt: str, answer: str) -> NoReturn:
        raise ZeroDivisionError


class Silent(Notes):
    """Streams may come."""

    def says(self, text: str) -> None:
        pass


def verified(
    generator: SaliencyVlm, verifier: SaliencyVlm, image: Path = IMAGE, course: Course | None = None
) -> Verification:
    return verify(generator, verifier, image, QUESTION, Silent(), course or Course())


def test_each_vlm_is_looked_into_with_its_own_prompt_and_its_own_words_without_thinking() -> None:
    generator, verifier = LookedInto("G", "<think>hm</think> one"), LookedInto("V", f"<think>ah</think>{RIGHT}\n")
    looks = two_looks(generator, verifier, IMAGE, verified(generator, verifier))
    assert generator.looks == [(generate_prompt(QUESTION), "one")] == [(looks.generator.prompt, looks.generator.said)]
    assert verifier.looks == [(verify_prompt(QUESTION, "one"), RIGHT)] == [(looks.verifier.prompt, looks.verifier.said)]


def test_nothing_new_is_asked() -> None:
    both = LookedInto("G", "one", RIGHT)
    found = verified(both, both)
    two_looks(both, both, IMAGE, found)
    assert len(both.asked) == 2


def test_an_answer_that_is_given_is_looked_at_as_if_the_generator_had_given_it() -> None:
    both = LookedInto("G", WRONG)
    looks = two_looks(both, both, IMAGE, verified(both, both, course=Course(answer="two")))
    assert both.asked == [verify_prompt(QUESTION, "two")]
    assert (looks.generator.prompt, looks.generator.said) == (generate_prompt(QUESTION), "two")


def test_of_a_loop_the_first_answer_and_the_first_word_on_it_count() -> None:
    both = LookedInto("G", "one", WRONG, "ANSWER: two", RIGHT)
    looks = two_looks(both, both, IMAGE, verified(both, both, course=Course(turns=1)))
    assert (looks.generator.said, looks.verifier.said) == ("one", WRONG)


def test_a_two_step_verifier_is_looked_into_with_what_it_was_reminded_of() -> None:
    both = LookedInto("G", "one", "Two bumps.", WRONG)
    look = verifier_look(both, IMAGE, verified(both, both, course=Course(two_step=True)))
    assert look.prompt == two_step_prompt(QUESTION, "one", "Two bumps.")


@pytest.mark.parametrize(
    ("replies", "whose"), [(["", WRONG], "the generator's answer"), (["one", ""], "the verifier's reply")]
)
def test_a_look_that_cannot_be_had_says_whose_and_keeps_the_hint(replies: list[str], whose: str) -> None:
    both = LookedInto("G", *replies)
    found = verified(both, both)
    with pytest.raises(SaliencyError) as refused:
        two_looks(both, both, IMAGE, found)
    assert refused.value.message == f"Saliency of {whose}: There is no answer."
    assert refused.value.hint == "Choose another."


def test_a_fault_is_no_refusal() -> None:
    both = Broken("G", "one", RIGHT)
    found = verified(both, both)
    with pytest.raises(ZeroDivisionError):
        two_looks(both, both, IMAGE, found)


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [Step(Stage.DIRECT, 0, "P", Reply("", error="Gone."))],
        [Step(Stage.DIRECT, 0, "P", Reply("one"))],
        [Step(Stage.DIRECT, 0, "P", Reply("one")), Step(Stage.VERIFY, 0, "P", Reply("", error="Gone."))],
    ],
    ids=["nothing", "a failed answer", "no verdict", "a failed verdict"],
)
def test_a_verification_that_was_not_answered_has_no_two_looks(steps: list[Step]) -> None:
    vlm, found = LookedInto("G"), Verification(QUESTION, Course(), tuple(steps))
    with pytest.raises(ValueError, match=r"there is no answer yet|the verifier has not replied"):
        two_looks(vlm, vlm, IMAGE, found)


def test_the_generator_can_be_looked_into_before_anybody_judged() -> None:
    vlm, step = LookedInto("G"), Step(Stage.DIRECT, 0, "P", Reply("one"))
    assert generator_look(vlm, IMAGE, Verification(QUESTION, Course(), (step,))).prompt == "P"


def test_a_vlm_without_saliency_is_known_as_such() -> None:
    assert isinstance(LookedInto("G"), SaliencyVlm)
    assert not isinstance(Scripted("G"), SaliencyVlm)


@needs_box_vlm
def test_looks_of_the_vlm_in_the_box_are_its_own_saliency_and_change_nothing_it_says() -> None:
    vlm = Registry.load().open_vlm("demo", in_worker=False)
    assert isinstance(vlm, SaliencyVlm)
    found = verified(vlm, vlm, FRAME)
    looks = two_looks(vlm, vlm, FRAME, found)
    for look in (looks.generator, looks.verifier):
        assert look.saliency.answer == look.said
        again = vlm.saliency(FRAME, look.prompt, look.said)
        np.testing.assert_array_equal(look.saliency.shares, again.shares)
        np.testing.assert_array_equal(look.saliency.maps, again.maps)
        np.testing.assert_array_equal(look.saliency.gradient, again.gradient)
        assert look.saliency.maps.sum(axis=2) == pytest.approx(look.saliency.shares.mean(axis=1), rel=1e-5)
    assert [step.reply.text for step in verified(vlm, vlm, FRAME).steps] == [step.reply.text for step in found.steps]
