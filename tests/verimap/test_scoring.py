"""Deterministic scoring of closed answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.records import AnswerStatus
from backend.verimap.examples import AnswerType, Example, Option
from backend.verimap.scoring import MatchRule, score_closed
from backend.verimap.vocabulary import Dataset

OPTIONS = (
    Option("A", "Liver"),
    Option("B", "Left lobe"),
    Option("C", "Lobe"),
    Option("D", "Spleen"),
    Option("E", "Left lobe"),
)


def example(
    reference: str,
    question: str = "?",
    closed: AnswerType | None = None,
    options: tuple[Option, ...] = (),
    letter: str = "",
) -> Example:
    return Example(
        source_id="1",
        dataset=Dataset.VQA_RAD,
        images=(),
        question=question,
        reference=reference,
        answer_type=closed,
        options=options,
        reference_letter=letter,
    )


@pytest.mark.parametrize(
    ("reference", "answer", "question", "read"),
    [
        ("Yes", "yes", "?", "yes"),
        ("no", "No.", "?", "no"),
        ("no ", "Answer: No", "?", "no"),
        ("yes", "Yes, the heart is enlarged.", "?", "yes"),
        ("no", "No, there is not.", "?", "no"),
        ("no", "No fracture is seen.", "Is there a fracture?", "no"),
        ("no", "No abnormality.", "Is this image normal?", None),
        ("no", "No evidence of bleeding", "Is there bleeding?", "no"),
        ("yes", "**Yes**", "?", "yes"),
        ("yes", "<think>no, wait</think>Yes", "?", "yes"),
        ("yes", "yes and no", "?", None),
        ("yes", "No/yes", "?", None),
        ("yes", "Maybe", "?", None),
        ("yes", "The heart is enlarged.", "?", None),
        ("yes", "Not sure", "?", None),
        ("no", "Normal", "?", None),
    ],
)
def test_yes_and_no_are_read_strictly(reference: str, answer: str, question: str, read: str | None) -> None:
    score = score_closed(example(reference, question), answer)
    assert score is not None
    assert (score.rule, score.read) == (MatchRule.YES_NO, read)
    assert score.correct == (read == reference.strip().lower())
    assert score.status is (AnswerStatus.UNPARSED if read is None else AnswerStatus.READ)


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("D", "D"),
        ("(d)", "D"),
        ("D. Spleen", "D"),
        ("Answer: D", "D"),
        ("Option D: the spleen", "D"),
        ("The answer is D.", "D"),
        ("spleen", "D"),
        ("It is the spleen.", "D"),
        ("A large organ", None),
        ("A", "A"),
        ("A: Liver", "A"),
        ("A: Spleen", None),
        ("A: D", "D"),
        ("liver or spleen", None),
        ("not the spleen", None),
        ("lobe", "C"),
        ("the left lobe", "B"),
        ("F", None),
        ("heart", None),
    ],
)
def test_an_option_is_read_by_letter_or_text_and_options_of_one_text_are_one(answer: str, letter: str | None) -> None:
    for expected in "ABCD":
        score = score_closed(example("Left lobe", options=OPTIONS, letter=expected), answer)
        assert score is not None
        assert (score.rule, score.expected) == (MatchRule.OPTION, expected)
        assert score.read == letter
    same = score_closed(example("Left lobe", options=OPTIONS, letter="B"), "E. Left lobe")
    assert same is not None
    assert same.correct


@pytest.mark.parametrize(
    ("reference", "answer", "read"),
    [
        ("2", "two", "2"),
        ("two", "There are 2 kidneys.", "2"),
        ("1", "A single lesion", "1"),
        ("12", "12.0", "12"),
        ("2", "2 or 3", None),
        ("2", "Several", None),
        ("0", "None", "0"),
        ("3", "four", "4"),
    ],
)
def test_a_number_is_read_where_the_answer_holds_one(reference: str, answer: str, read: str | None) -> None:
    score = score_closed(example(reference, "How many?"), answer)
    assert score is not None
    assert (score.rule, score.read) == (MatchRule.NUMBER, read)
    assert score.correct == (read == score.expected)


SIDES = "Is the lesion on the left or right side?"


@pytest.mark.parametrize(
    ("reference", "answer", "question", "correct", "status"),
    [
        ("Left", "left", SIDES, True, AnswerStatus.READ),
        ("left side", "On the left.", SIDES, True, AnswerStatus.READ),
        ("Left", "right side", SIDES, False, AnswerStatus.READ),
        ("Left", "left and right", SIDES, False, AnswerStatus.UNPARSED),
        ("Left", "not left", SIDES, False, AnswerStatus.UNPARSED),
        ("Left", "in the middle", SIDES, False, AnswerStatus.UNPARSED),
        ("Axial", "Axial view", "Is this an axial or sagittal view?", True, AnswerStatus.READ),
        ("CT", "It is a CT", "Is this MRI or CT?", True, AnswerStatus.READ),
        ("CT", "MRI", "Is this MRI or CT?", False, AnswerStatus.READ),
        ("maybe", "maybe", "?", True, AnswerStatus.READ),
        ("Left", "", SIDES, False, AnswerStatus.EMPTY),
        ("Left", "...", SIDES, False, AnswerStatus.EMPTY),
    ],
)
def test_a_closed_question_is_answered_by_one_of_the_things_it_names(
    reference: str, answer: str, question: str, correct: bool, status: AnswerStatus
) -> None:
    score = score_closed(example(reference, question, AnswerType.CLOSED), answer)
    assert score is not None
    assert (score.rule, score.correct, score.status) == (MatchRule.NAMED, correct, status)


@pytest.mark.parametrize(
    ("reference", "answer", "read"),
    [
        ("upper-right; center", "Center; upper-right.", "center; upper-right"),
        ("upper-right; center", "center; upper-right; center", "center; upper-right"),
        ("upper-right; center", "upper-right", "upper-right"),
        ("center", "center; lower-center", "center; lower-center"),
        ("center", "upper-center", "upper-center"),
        ("none", "none", "none"),
        ("none", "polyp", "polyp"),
        ("yes", "not relevant", "not relevant"),
        ("polyp", "A polyp is visible", None),
        ("polyp", "", None),
    ],
)
def test_all_things_that_apply_must_be_named_and_no_other(reference: str, answer: str, read: str | None) -> None:
    score = score_closed(example(reference, closed=AnswerType.SET), answer)
    assert score is not None
    assert score.rule is MatchRule.SET
    assert score.read == read
    assert score.correct is (read == score.expected)


def test_a_list_of_several_things_is_not_taken_for_the_one_that_was_asked_for() -> None:
    score = score_closed(example("left lung", closed=AnswerType.CLOSED), "left lung; right lung")
    assert score is not None
    assert score.read is None


@pytest.mark.parametrize("closed", [None, AnswerType.OPEN])
def test_an_open_answer_is_left_to_a_judge(closed: AnswerType | None) -> None:
    assert score_closed(example("Right lower lobe", "Where is it?", closed), "right lower lobe") is None
    assert score_closed(example("3.4 cm", "How large is it?", closed), "3.4 cm") is None


@given(st.text(max_size=60), st.sampled_from(["yes", "2", "left", "letter"]))
def test_any_answer_is_scored_without_an_error_and_only_a_read_one_is_correct(answer: str, reference: str) -> None:
    case = (
        example("Liver", options=OPTIONS, letter="A")
        if reference == "letter"
        else example(reference, SIDES, AnswerType.CLOSED)
    )
    score = score_closed(case, answer)
    assert score is not None
    assert score.correct <= (score.status is AnswerStatus.READ)
