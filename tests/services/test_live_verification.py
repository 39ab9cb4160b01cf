"""Promises of live verifications: verdict beside truth, both VLMs named, and nothing that was answered is lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain.progress import Cancelled
from backend.domain.records import LIVE_EXAMPLES, LIVE_SUITES, AnswerStatus, Role, Stage
from backend.domain.vlm import Reply
from backend.errors import AppError
from backend.services.ingest.files import checked_suite_name
from backend.services.ingest.verimap_suites import SuiteExample, put_examples
from backend.services.live_examples import example_to_ask, examples_to_begin_with, live_example
from backend.services.live_traces import Ending
from backend.services.live_verdicts import PERSON, trace_verdicts
from backend.services.live_verification import VERIFICATIONS, Line, LiveVerification, find_verification
from backend.services.removal import remove_suite
from backend.services.runs.plan import VlmIdentity, read_plan
from backend.services.verification_traces import VerificationTrace, verification_traces
from backend.services.verimap_case_loading import load_verification_case
from backend.store.store import Store
from backend.verimap.feedback_loop import DECODINGS
from backend.verimap.verification import Course
from tests.services.run_files import draw_images, drawn_store
from tests.verimap.test_verification import RIGHT, WRONG, Scripted

IMAGE = "drawn:frame-a"
OTHER = "drawn:frame-b"
QUESTION = "How many polyps are in the image?"
GENERATOR, VERIFIER = VlmIdentity("G", "demo", {"weights": "a"}), VlmIdentity("V", None, {"weights": "b"})
CHOICES = '[{"letter": "A", "text": "CT"}, {"letter": "B", "text": "MRI"}]'


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Two frames, one of which has its file, and three examples of a data set on them."""
    with drawn_store(tmp_path, images=draw_images(tmp_path / "images", ["frame-a"])) as made:
        with made.write() as cursor:
            examples = [
                SuiteExample("1", ("frame-a.png",), "Which modality is it?", "CT", "", CHOICES, "A"),
                SuiteExample("2", ("frame-b.png",), "Is it a CT?", "yes"),
                SuiteExample("3", ("frame-a.png",)),
            ]
            put_examples(cursor, "vqa-rad", examples, {}, "a file", dataset="drawn")
        yield made


def line(vlm: Scripted, identity: VlmIdentity) -> Line:
    return Line(vlm, lambda: identity)


def asked(
    store: Store, unit_id: str, generator: Scripted | None, verifier: Scripted, course: Course
) -> LiveVerification:
    """Verify, and wait until it is over."""
    example = example_to_ask(store, unit_id)
    for vlm in (generator, verifier):
        if vlm is not None:
            vlm.sees(example.image)
    judging = line(verifier, GENERATOR if generator is verifier else VERIFIER)
    answering = judging if generator is verifier else line(generator, GENERATOR) if generator else None
    live = LiveVerification(store, example, course, judging, answering)
    VERIFICATIONS.begin(live, judging.identify)
    assert live.wait(20)
    return live


def stored(store: Store, live: LiveVerification) -> VerificationTrace:
    found = find_verification(store, live.id)
    assert isinstance(found, VerificationTrace)
    return found


def test_one_vlm_answers_another_judges_and_both_are_on_file(store: Store) -> None:
    unit_id = live_example(store, IMAGE, QUESTION, "2")
    live = asked(store, unit_id, Scripted("G", "one", "ANSWER: 2"), Scripted("V", RIGHT, WRONG), Course(turns=1))
    trace = stored(store, live)
    assert (trace.generator and trace.generator.vlm, trace.verifier.vlm) == (GENERATOR, VERIFIER)
    assert trace.ending is Ending.DONE
    assert trace.verification == live.verification
    assert trace.decodings[Stage.LOOP] == DECODINGS[Stage.LOOP].label
    assert [one.trace_id for one in verification_traces(store, unit_id)] == [live.id]
    first, second = trace_verdicts(load_verification_case(store, unit_id), trace)
    assert (first.answer, first.oracle_correct, first.verdict, first.contradicts) == ("one", False, "CORRECT", True)
    assert (second.answer, second.oracle_correct, second.verdict) == ("2", True, "INCORRECT")
    assert first.oracle == "matching"
    assert not first.is_self


def test_a_vlm_that_judges_itself_is_asked_on_one_line(store: Store) -> None:
    both = Scripted("G", "two", RIGHT)
    trace = stored(store, asked(store, live_example(store, IMAGE, QUESTION, "2"), both, both, Course()))
    assert trace.generator is not None and trace.generator.vlm == trace.verifier.vlm == GENERATOR


def test_an_answer_of_a_person_has_no_generator(store: Store) -> None:
    unit_id = live_example(store, IMAGE, QUESTION, "2")
    trace = stored(store, asked(store, unit_id, None, Scripted("V", WRONG), Course(answer="two")))
    assert trace.generator is None
    [verdict] = trace_verdicts(load_verification_case(store, unit_id), trace)
    assert (verdict.generator, verdict.oracle_correct, verdict.contradicts) == (PERSON, True, True)


@pytest.mark.parametrize(
    ("reference", "answer", "correct", "why"),
    [
        ("", "one", None, ""),
        ("a mass in the left lobe", "a mass", None, ""),
        ("yes", "It may be.", None, "the answer cannot be read"),
        ("yes", "Yes.", True, ""),
        ("2", "three", False, ""),
    ],
)
def test_the_truth_is_told_by_matching_or_not_at_all(
    store: Store, reference: str, answer: str, correct: bool | None, why: str
) -> None:
    unit_id = live_example(store, IMAGE, "What is it?", reference)
    trace = stored(store, asked(store, unit_id, Scripted("G", answer), Scripted("V", RIGHT), Course()))
    [verdict] = trace_verdicts(load_verification_case(store, unit_id), trace)
    assert verdict.oracle_correct is correct
    assert why in "".join(one.error for one in verdict.judgements)


def test_a_reference_given_later_judges_earlier_traces_too(store: Store) -> None:
    unit_id = live_example(store, IMAGE, QUESTION)
    trace = stored(store, asked(store, unit_id, Scripted("G", "one"), Scripted("V", RIGHT), Course()))
    assert live_example(store, IMAGE, f"  {QUESTION} ", "2") == unit_id
    [verdict] = trace_verdicts(load_verification_case(store, unit_id), trace)
    assert verdict.oracle_correct is False
    assert live_example(store, IMAGE, QUESTION) == unit_id
    assert load_verification_case(store, unit_id).reference == "2"


def test_a_stored_example_is_asked_with_its_options_and_judged_by_its_letter(store: Store) -> None:
    generator = Scripted("G", "B")
    trace = stored(store, asked(store, "vqa-rad:1", generator, Scripted("V", RIGHT), Course()))
    assert generator.asked[0].endswith("Which modality is it?\nA: CT\nB: MRI")
    [verdict] = trace_verdicts(load_verification_case(store, "vqa-rad:1"), trace)
    assert verdict.oracle_correct is False


def test_what_was_answered_before_somebody_cancelled_is_kept(store: Store) -> None:
    unit_id = live_example(store, IMAGE, QUESTION, "2")
    trace = stored(store, asked(store, unit_id, Scripted("G", "one"), Scripted("V", Cancelled()), Course()))
    assert (trace.ending, trace.was_cancelled) == (Ending.CANCELLED, True)
    [verdict] = trace_verdicts(load_verification_case(store, unit_id), trace)
    assert (verdict.answer, verdict.verdict, verdict.status) == ("one", None, AnswerStatus.MISSING)


def test_a_verifier_that_is_gone_leaves_the_answer_and_says_why(store: Store) -> None:
    gone = AppError("The key is refused.", "Give another.")
    live = asked(store, live_example(store, IMAGE, QUESTION), Scripted("G", "one"), Scripted("V", gone), Course())
    trace = stored(store, live)
    assert (trace.ending, "The key is refused." in trace.problem) == (Ending.FAILED, True)


def test_where_nothing_was_answered_nothing_is_kept(store: Store) -> None:
    unit_id = live_example(store, IMAGE, QUESTION)
    failed = Reply("", error="timed out")
    live = asked(store, unit_id, Scripted("G", failed), Scripted("V"), Course())
    assert not live.is_stored
    assert find_verification(store, live.id) is live
    assert not verification_traces(store, unit_id)
    assert find_verification(store, "nobody") is None


def test_examples_made_on_the_spot_are_no_data_set(store: Store) -> None:
    unit_id = live_example(store, IMAGE, QUESTION, "2")
    assert unit_id.startswith(f"{LIVE_EXAMPLES}:") and LIVE_EXAMPLES in LIVE_SUITES
    assert store.rows("SELECT role, question FROM probes WHERE unit_id = ?", [unit_id]) == [(Role.GENERATE, QUESTION)]
    assert not store.value("SELECT count(*) FROM verifications")
    with pytest.raises(AppError, match="asked live"):
        read_plan(store, LIVE_EXAMPLES, GENERATOR, DECODINGS[Stage.DIRECT])
    with pytest.raises(AppError, match="asked live"):
        checked_suite_name(LIVE_EXAMPLES)
    asked(store, unit_id, Scripted("G", "one"), Scripted("V", RIGHT), Course())
    remove_suite(store, LIVE_EXAMPLES)
    assert not store.value("SELECT count(*) FROM traces")
    assert not store.value("SELECT count(*) FROM examples WHERE suite = ?", [LIVE_EXAMPLES])


@pytest.mark.parametrize(
    ("unit_id", "words"),
    [("nobody", "There is no example"), ("vqa-rad:2", "not at hand"), ("vqa-rad:3", "question .* is not known")],
)
def test_what_cannot_be_asked_is_said(store: Store, unit_id: str, words: str) -> None:
    with pytest.raises(AppError, match=words):
        example_to_ask(store, unit_id)


def test_an_example_needs_a_question_and_an_image_at_hand(store: Store) -> None:
    with pytest.raises(AppError, match="There is no question"):
        live_example(store, IMAGE, " ")
    with pytest.raises(AppError, match="not at hand"):
        live_example(store, OTHER, QUESTION)


def test_examples_to_begin_with_have_a_question_and_an_image_and_none_is_of_the_live_suite(store: Store) -> None:
    live_example(store, IMAGE, QUESTION)
    assert [one.unit_id for one in examples_to_begin_with(store, 6)] == ["vqa-rad:1"]
