"""The blind baseline answers from how often references were given, and from nothing else."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.records import Role
from backend.vlm.blind import NO_ANSWER, BlindBaseline, Example

A, B, C = "text_presence", "polyp_count", "box_artifact_presence"


def atomic(name: str, value: str, reference: str | None = None) -> Example:
    return Example(Role.ATOMIC, (name,), (value,), reference if reference is not None else value)


def compound(names: tuple[str, ...], values: tuple[str, ...], reference: str) -> Example:
    return Example(Role.COMPLEX, names, values, reference)


def test_it_gives_the_commonest_reference_of_the_question_class() -> None:
    baseline = BlindBaseline.learn([atomic(A, "yes"), atomic(A, "no"), atomic(A, "yes"), atomic(B, "0")])
    assert baseline.answer(Role.ATOMIC, (A,)) == "yes"
    assert baseline.answer(Role.ATOMIC, (B,)) == "0"


def test_values_are_counted_and_not_wordings() -> None:
    told = ["one polyp seen", "a single polyp", "one polyp"]
    examples = [compound((B,), ("1",), text) for text in told] + [compound((B,), ("0",), "No polyps")] * 2
    assert BlindBaseline.learn(examples).answer(Role.COMPLEX, (B,)) == "a single polyp"


def test_the_commonest_wording_of_the_commonest_values_is_given_verbatim() -> None:
    examples = [compound((B,), ("0",), text) for text in ("None.", " No  Polyps ", " No  Polyps ")]
    assert BlindBaseline.learn(examples).answer(Role.COMPLEX, (B,)) == " No  Polyps "


def test_a_complex_question_gets_the_commonest_combination_and_not_the_commonest_parts() -> None:
    examples = (
        [compound((A, B), ("yes", "0"), "text, no polyp")] * 3
        + [compound((A, B), ("no", "1"), "no text, one polyp")] * 2
        + [compound((A, B), ("no", "2"), "no text, two polyps")] * 2
    )
    assert BlindBaseline.learn(examples).answer(Role.COMPLEX, (A, B)) == "text, no polyp"


def test_complex_and_atomic_questions_of_one_class_are_learned_apart() -> None:
    baseline = BlindBaseline.learn([atomic(A, "no")] * 3 + [compound((A,), ("yes",), "text is present")])
    assert baseline.answer(Role.ATOMIC, (A,)) == "no"
    assert baseline.answer(Role.COMPLEX, (A,)) == "text is present"


def test_of_equally_common_ones_the_alphabetically_first_is_given() -> None:
    assert BlindBaseline.learn([atomic(A, "yes"), atomic(A, "no")]).answer(Role.ATOMIC, (A,)) == "no"
    tied = [compound((A,), ("no",), "no text"), compound((A,), ("no",), "no lettering")]
    assert BlindBaseline.learn(tied).answer(Role.COMPLEX, (A,)) == "no lettering"


def test_classes_that_never_stood_together_get_the_answers_to_their_atomic_questions_in_order() -> None:
    baseline = BlindBaseline.learn([atomic(A, "yes"), atomic(B, "0"), compound((A, B), ("yes", "0"), "both")])
    assert baseline.answer(Role.COMPLEX, (B, A)) == "0; yes"


@pytest.mark.parametrize(("role", "classes"), [(Role.ATOMIC, (C,)), (Role.COMPLEX, (C,)), (Role.COMPLEX, (A, C))])
def test_nothing_learned_is_an_empty_answer_and_never_a_guess(role: Role, classes: tuple[str, ...]) -> None:
    assert BlindBaseline.learn([atomic(A, "yes")]).answer(role, classes) == NO_ANSWER == ""


def test_an_example_has_no_place_for_an_image() -> None:
    assert {field.name for field in fields(Example)} == {"role", "question_classes", "values", "reference"}


@given(
    st.lists(st.tuples(st.sampled_from((A, B)), st.sampled_from(("yes", "no", "0"))), min_size=1),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_examples_changes_nothing(pairs: list[tuple[str, str]], random: object) -> None:
    examples = [atomic(name, value) for name, value in pairs]
    shuffled = examples.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert BlindBaseline.learn(examples) == BlindBaseline.learn(shuffled)


@given(st.lists(st.sampled_from(("yes", "no", "0", "1")), min_size=1))
def test_no_constant_answer_would_be_right_more_often_on_what_was_learned(values: list[str]) -> None:
    given_answer = BlindBaseline.learn([atomic(A, value) for value in values]).answer(Role.ATOMIC, (A,))
    assert values.count(given_answer) == max(values.count(value) for value in values)
