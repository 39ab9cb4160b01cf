"""The scorer's public face, and what never changes a verdict."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.endoca.scoring import SCORER, SCORER_VERSION, Atom, Rule, score_answer
from backend.endoca.scoring.reader import read_answer
from backend.endoca.vocabulary import BY_NAME, CELLS, QuestionType
from tests.endoca import test_scoring_attributes, test_scoring_counts, test_scoring_presence, test_scoring_several_parts

TEXT_AND_BOX = "Are there any box artifacts and is there any text?"


def _all_cases() -> list[tuple[str, tuple[str, ...], str]]:
    tables = (test_scoring_presence.CASES, test_scoring_counts.CASES, test_scoring_attributes.CASES)
    one = [(q, (name,), a) for table in tables for (name, q), rows in table.items() for a, _ in rows]
    several = test_scoring_several_parts.CASES.items()
    return one + [(q, tuple(names.split()), a) for (q, names), rows in several for a, _ in rows]


CASES = _all_cases()
UNWRAPPED = [case for case in CASES if case[2].strip() and not set('*"<`{|#\n') & set(case[2])]
"""Cases that can be wrapped without breaking a wrapping they have."""


def test_the_scorer_names_itself() -> None:
    assert (SCORER, SCORER_VERSION) == ("parallax-endoca", "1")


def test_a_complex_answer_is_right_only_if_every_atom_is() -> None:
    atoms = [Atom("box_artifact_presence", "yes"), Atom("text_presence", "no")]
    assert score_answer(TEXT_AND_BOX, atoms, "A box artifact is present; there is no text.").correct
    half = score_answer(TEXT_AND_BOX, atoms, "A box artifact and text are present.")
    assert not half.correct
    assert [atom.correct for atom in half.atoms] == [True, False]
    assert half.parsed_all


def test_an_atom_score_says_what_was_expected_what_was_read_and_why() -> None:
    (atom,) = score_answer("How many polyps are there?", [Atom("polyp_count", "2")], "several polyps").atoms
    assert (atom.expected, atom.parsed, atom.correct, atom.rule) == ("2", None, False, Rule.VAGUE_COUNT)
    assert atom.reason == "gives no exact number of polyps"


def test_a_statement_that_fits_two_values_shows_both_and_is_right_for_either() -> None:
    question, answer = "Have all polyps been removed?", "There are no residual polyps."
    verdicts = {
        r: score_answer(question, [Atom("polyp_removal_status", r)], answer) for r in ("yes", "no", "not relevant")
    }
    assert {reference: score.correct for reference, score in verdicts.items()} == {
        "yes": True,
        "no": False,
        "not relevant": True,
    }
    assert verdicts["no"].atoms[0].parsed == "not_applicable or yes"


@pytest.mark.parametrize("answer", ["", "  \n", "...", "**", "<think>yes", "```\n```", "\u200b"])
def test_an_empty_answer_is_wrong_for_every_class_and_counted_as_empty(answer: str) -> None:
    for question_class in BY_NAME.values():
        references = question_class.labels or ("0", "1")
        for reference in (*references, question_class.nothing):
            score = score_answer(question_class.question, [Atom(question_class.name, reference)], answer)
            assert score.is_empty
            assert not score.correct
            assert not score.parsed_all


def test_the_class_is_found_by_the_atomic_question_where_it_is_not_given() -> None:
    atom = Atom("", "yes", "Is there a green/black box artifact?", QuestionType.BINARY)
    assert score_answer("Are there any box artefacts?", [atom], "A black box artefact is visible.").correct


@pytest.mark.parametrize(
    ("kind", "question", "reference", "answer", "correct"),
    [
        (QuestionType.BINARY, "Is this finding easy to detect?", "yes", "Yes, it is easy to detect.", True),
        (QuestionType.BINARY, "Is this finding easy to detect?", "yes", "No", False),
        (QuestionType.BINARY, "Is the light sufficient?", "no", "It is not sufficient.", True),
        (QuestionType.BINARY, "Are there any polyps?", "yes", "Two polyps are visible.", True),
        (QuestionType.BINARY, "Are there any polyps?", "no", "No polyps are visible.", True),
        (QuestionType.BINARY, "Are there any polyps?", "yes", "Possibly.", False),
        (QuestionType.COUNT, "How many folds are seen?", "3", "three", True),
        (QuestionType.COUNT, "How many folds are seen?", "3", "3 folds", True),
        (QuestionType.COUNT, "How many folds are seen?", "3", "2-3", False),
        (QuestionType.COUNT, "How many folds are seen?", "0", "none", True),
        (QuestionType.CATEGORICAL, "How is the bowel prepared?", "Good", "good.", True),
        (QuestionType.CATEGORICAL, "How is the bowel prepared?", "good", "poor", False),
        (QuestionType.CATEGORICAL, "Is it easy?", "not relevant", "Not applicable", True),
        (QuestionType.MULTI_LABEL, "Which segments?", "ascending; transverse", "Transverse and ascending", True),
        (QuestionType.MULTI_LABEL, "Which segments?", "ascending; transverse", "ascending", False),
        (QuestionType.MULTI_LABEL, "Which segments?", "ascending", "", False),
    ],
)
def test_a_question_outside_kvasir_vqa_is_scored_by_its_type(
    kind: QuestionType, question: str, reference: str, answer: str, correct: bool
) -> None:
    assert score_answer(question, [Atom("", reference, question, kind)], answer).correct is correct


def test_a_repeated_class_takes_the_same_statement_twice() -> None:
    atoms = [Atom("landmark_location", "none"), Atom("landmark_location", "none")]
    assert score_answer("Are there any landmarks?", atoms, "No anatomical landmarks are seen.").correct


@given(st.sampled_from(range(21)), st.sampled_from(range(21)))
def test_a_count_is_right_for_its_own_reference_alone(said: int, reference: int) -> None:
    answer = f"There are {said} polyps." if said != 1 else "There is one polyp."
    score = score_answer("How many polyps are there?", [Atom("polyp_count", str(reference))], answer)
    assert score.correct is (said == reference)
    assert score.atoms[0].parsed == str(said)


LABEL_CLASSES = ["instrument_presence", "landmark_presence", "instrument_location", "abnormality_color"]


@st.composite
def label_sets(draw: st.DrawFn) -> tuple[str, list[str]]:
    name = draw(st.sampled_from(LABEL_CLASSES))
    labels = draw(st.lists(st.sampled_from(BY_NAME[name].labels), min_size=1, max_size=4, unique=True))
    return name, labels


@given(label_sets(), st.randoms(use_true_random=False), st.sampled_from(["; ", ", ", " and ", "\n- "]))
def test_the_order_and_the_separator_of_a_label_set_do_not_matter(
    case: tuple[str, list[str]], random: "st.DataObject", joint: str
) -> None:
    name, labels = case
    shuffled = list(labels)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    atom = Atom(name, "; ".join(labels))
    assert score_answer(BY_NAME[name].question, [atom], joint.join(shuffled)).correct


@given(label_sets(), st.data())
def test_a_superset_or_a_subset_is_never_right(case: tuple[str, list[str]], data: st.DataObject) -> None:
    name, labels = case
    others = [label for label in BY_NAME[name].labels if label not in labels]
    atom = Atom(name, "; ".join(labels))
    question = BY_NAME[name].question
    if others:
        extra = data.draw(st.sampled_from(others))
        assert not score_answer(question, [atom], ", ".join([*labels, extra])).correct
    if len(labels) > 1:
        assert not score_answer(question, [atom], ", ".join(labels[1:])).correct


@given(st.lists(st.sampled_from(CELLS), min_size=1, max_size=9, unique=True))
def test_cells_in_prose_are_the_cells_named(cells: list[str]) -> None:
    listed = ", ".join(cells[:-1]) + (" and " if len(cells) > 1 else "") + cells[-1]
    score = score_answer(
        "Where is the instrument?",
        [Atom("instrument_location", ";".join(cells))],
        f"A tube is visible in the {listed} regions of the image.",
    )
    assert score.correct


CHANGES: dict[str, Callable[[str], str]] = {
    "upper case": str.upper,
    "lower case": str.lower,
    "title case": str.title,
    "wider spaces": lambda a: "  " + a.replace(" ", "   ") + " \n",
    "no-break spaces": lambda a: a.replace(" ", "\u00a0"),
    "full stop": lambda a: a + ".",
    "exclamation mark": lambda a: a + "!",
    "bold": lambda a: f"**{a}**",
    "italics": lambda a: f"*{a}*",
    "quotes": lambda a: f'"{a}"',
    "label": lambda a: f"Answer: {a}",
    "bold label": lambda a: f"**Answer:** {a}",
    "heading": lambda a: f"## Answer\n{a}",
    "final answer": lambda a: f"Final answer: {a}",
    "thinking": lambda a: f"<think>one polyp? no text, maybe a tube</think>{a}",
    "JSON": lambda a: json.dumps({"answer": a}),
    "fenced JSON": lambda a: "```json\n" + json.dumps({"answer": a}, ensure_ascii=False) + "\n```",
    "curly quotes": lambda a: a.replace("'", "\u2019"),
    "no-break hyphens": lambda a: a.replace("-", "\u2011"),
    "en dashes": lambda a: a.replace("-", "\u2013"),
    "minus signs": lambda a: a.replace("-", "\u2212"),
}


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(UNWRAPPED), st.sampled_from(sorted(CHANGES)))
def test_form_never_changes_the_verdict(case: tuple[str, tuple[str, ...], str], change: str) -> None:
    question, classes, answer = case
    changed = CHANGES[change](answer)
    assert [r.values for r in read_answer(question, classes, changed)] == [
        r.values for r in read_answer(question, classes, answer)
    ]


@settings(deadline=None)
@given(st.text(max_size=300), st.sampled_from(CASES))
def test_any_text_at_all_can_be_scored(answer: str, case: tuple[str, tuple[str, ...], str]) -> None:
    question, classes, _ = case
    assert len(read_answer(question, classes, answer)) == len(classes)


@settings(deadline=None)
@given(st.lists(st.sampled_from(CASES), min_size=2, max_size=4))
def test_any_mixture_of_answers_can_be_scored(cases: list[tuple[str, tuple[str, ...], str]]) -> None:
    question, classes, _ = cases[0]
    assert len(read_answer(question, classes, " ".join(answer for _, _, answer in cases))) == len(classes)
