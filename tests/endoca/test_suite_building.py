"""A row of Kvasir-VQA-x1 becomes a paired unit, or is left out for one stated reason."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.records import Role
from backend.endoca.scoring import Atom
from backend.endoca.suite_building import (
    AtomicReferences,
    Exclusion,
    Sample,
    X1Row,
    available,
    exclusion_of_references,
    sample_of,
    select,
    unit_of,
)
from backend.errors import AppError

TEXT = {"q": "Is there text?", "a": "yes"}
POLYPS = {"q": "How many polyps are in the image?", "a": "2"}
TWO: dict[str, Any] = {
    "img_id": "frame-a",
    "complexity": 2,
    "question": "Is there text, and how many polyps are seen?",
    "answer": "Text is present, and two polyps are seen.",
    "original": json.dumps([TEXT, POLYPS], indent=1),
    "question_class": ["text_presence", "polyp_count"],
}
"""A sound row of complexity 2."""


def made(**changed: object) -> Sample | Exclusion:
    return sample_of(X1Row.model_validate({**TWO, **changed}), 7, "test")


def sound(**changed: object) -> Sample:
    sample = made(**changed)
    assert isinstance(sample, Sample)
    return sample


def one_atom(question_class: str, question: str, answer: object) -> Sample | Exclusion:
    return made(complexity=1, question_class=[question_class], original=json.dumps([{"q": question, "a": answer}]))


def test_a_sound_row_is_a_sample_with_its_atoms_in_order() -> None:
    assert sound() == Sample(
        sample_id=7,
        img_id="frame-a",
        file="frame-a",
        split="test",
        question=TWO["question"],
        reference=TWO["answer"],
        atoms=(
            Atom("text_presence", "yes", "Is there text?"),
            Atom("polyp_count", "2", "How many polyps are in the image?"),
        ),
    )


@pytest.mark.parametrize(
    "classes",
    [
        '["text_presence", "polyp_count"]',
        "['text_presence', 'polyp_count']",
        "['text_presence' 'polyp_count']",
        "text_presence; polyp_count",
        "text_presence,polyp_count",
    ],
)
def test_question_classes_are_read_from_a_list_in_any_notation(classes: str) -> None:
    assert sound(question_class=classes) == sound()


def test_atoms_are_read_from_a_list_as_well_as_from_a_text_that_holds_one() -> None:
    assert sound(original=[TEXT, {**POLYPS, "a": 2}]) == sound()


def test_the_image_is_known_by_the_last_part_of_its_address() -> None:
    assert sound(image="somewhere/images/frame-a.jpg").file == "frame-a.jpg"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        *[({name: empty}, Exclusion.INCOMPLETE) for name in TWO for empty in ("", None, float("nan"))],
        *[({name: "  "}, Exclusion.INCOMPLETE) for name in ("img_id", "question", "answer")],
        ({"question_class": []}, Exclusion.INCOMPLETE),
        ({"original": "no JSON"}, Exclusion.UNREADABLE_ATOMS),
        ({"original": '{"q": "Is there text?", "a": "yes"}'}, Exclusion.UNREADABLE_ATOMS),
        ({"original": '[{"q": "Is there text?"}, {"a": "yes"}]'}, Exclusion.UNREADABLE_ATOMS),
        ({"original": '[{"q": "Is there text?", "a": ""}]'}, Exclusion.UNREADABLE_ATOMS),
        ({"original": '[["Is there text?", "yes"]]'}, Exclusion.UNREADABLE_ATOMS),
        ({"complexity": 1}, Exclusion.COMPLEXITY),
        ({"question_class": ["text_presence"]}, Exclusion.COMPLEXITY),
        ({"original": json.dumps([TEXT])}, Exclusion.COMPLEXITY),
        ({"original": "[]"}, Exclusion.COMPLEXITY),
        ({"question_class": ["text_presence", "polyp_type"]}, Exclusion.OTHER_CLASS),
        ({"question_class": ["text_presence", "no such class"]}, Exclusion.OTHER_CLASS),
        ({"question_class": ["polyp_count", "text_presence"]}, Exclusion.CLASS_MISMATCH),
        ({"original": json.dumps([TEXT, {**POLYPS, "a": "many"}])}, Exclusion.NOT_CANONICAL),
    ],
)
def test_a_row_is_left_out_for_the_first_thing_wrong_with_it(changed: dict[str, object], reason: Exclusion) -> None:
    assert made(**changed) is reason


@pytest.mark.parametrize(
    ("question_class", "question", "answer", "is_known"),
    [
        ("text_presence", "Is there text?", "no", True),
        ("text_presence", "Is there text?", "maybe", False),
        ("text_presence", "Is there text?", "yes; no", False),
        ("polyp_count", "How many polyps are in the image?", 16, True),
        ("polyp_count", "How many polyps are in the image?", "1-2", False),
        ("polyp_removal_status", "Have all polyps been removed?", "not relevant", True),
        ("polyp_removal_status", "Have all polyps been removed?", "partly", False),
        ("instrument_presence", "Are there any instruments in the image?", "none", True),
        ("instrument_presence", "Are there any instruments in the image?", "tube; metal clip", True),
        ("instrument_presence", "Are there any instruments in the image?", "none; tube", False),
        ("instrument_presence", "Are there any instruments in the image?", "spoon", False),
        ("instrument_location", "Where in the image is the instrument?", "none", True),
        ("instrument_location", "Where in the image is the instrument?", "lower-rigth; center", True),
        ("instrument_location", "Where in the image is the instrument?", "outside", False),
    ],
)
def test_a_reference_must_be_a_value_of_its_class(
    question_class: str, question: str, answer: object, is_known: bool
) -> None:
    outcome = one_atom(question_class, question, answer)
    assert isinstance(outcome, Sample) if is_known else outcome is Exclusion.NOT_CANONICAL


@pytest.mark.parametrize("question", ["Is there a green/black box artefact?", "Is there a green/black box artifact?"])
def test_other_spellings_of_an_atomic_question_are_the_same_question(question: str) -> None:
    sample = one_atom("box_artifact_presence", question, "yes")
    assert isinstance(sample, Sample)
    source = AtomicReferences()
    source.add("frame-a", "Is there a green/black box artefact?", "no")
    assert exclusion_of_references(sample, source) is Exclusion.CONTRADICTS_SOURCE


class TestReferencesAgree:
    """Kvasir-VQA, the atomic references and the complex reference must say one thing."""

    def test_a_sample_whose_references_agree_is_kept(self) -> None:
        source = AtomicReferences()
        source.add("frame-a", TEXT["q"], "Yes")
        source.add("frame-b", POLYPS["q"], "5")
        assert exclusion_of_references(sound(), source) is None

    def test_another_answer_in_kvasir_vqa_to_the_same_question_about_the_same_image_leaves_it_out(self) -> None:
        source = AtomicReferences()
        source.add("frame-a", POLYPS["q"], "3")
        assert exclusion_of_references(sound(), source) is Exclusion.CONTRADICTS_SOURCE

    def test_a_source_that_answers_a_question_in_two_ways_contradicts_neither(self) -> None:
        source = AtomicReferences()
        source.add("frame-a", POLYPS["q"], "3")
        source.add("frame-a", POLYPS["q"], "2")
        assert exclusion_of_references(sound(), source) is None

    def test_what_kvasir_vqa_does_not_hold_contradicts_nothing(self) -> None:
        source = AtomicReferences()
        source.add("frame-a", "Is this finding easy to detect?", "yes")
        atom = sound().atoms[0]
        assert not source.holds("frame-a", atom)
        assert not source.contradicts("frame-a", atom)

    @pytest.mark.parametrize(
        "reference", ["Text is present, and one polyp is seen.", "No text, two polyps.", "Text is present."]
    )
    def test_a_complex_reference_that_contradicts_an_atom_leaves_the_sample_out(self, reference: str) -> None:
        assert exclusion_of_references(sound(answer=reference), AtomicReferences()) is Exclusion.CONTRADICTS_ATOMS


def stratum(complexity: int, n: int, start: int = 0) -> list[Sample]:
    atom = Atom("text_presence", "yes", "Is there text?")
    return [
        Sample(start + place, f"img-{complexity}-{place}", "f", "", f"question {place}", "yes", (atom,) * complexity)
        for place in range(n)
    ]


POOL = stratum(1, 20) + stratum(2, 10, 20) + stratum(3, 5, 30)


def test_available_counts_every_complexity_those_without_samples_too() -> None:
    assert available(POOL[:25]) == {1: 20, 2: 5, 3: 0}


def test_a_draw_holds_the_sizes_asked_for_in_order_of_sample_ids() -> None:
    drawn = select(POOL, (4, 3, 0), seed=0)
    assert available(drawn) == {1: 4, 2: 3, 3: 0}
    assert [sample.sample_id for sample in drawn] == sorted(sample.sample_id for sample in drawn)


def test_the_same_seed_draws_the_same_samples_and_another_seed_others() -> None:
    assert select(POOL, (5, 5, 5), seed=1) == select(POOL, (5, 5, 5), seed=1)
    assert len({tuple(s.sample_id for s in select(POOL, (5, 5, 2), seed=seed)) for seed in range(10)}) == 10


@given(st.permutations(range(len(POOL))), st.integers())
def test_which_samples_are_drawn_does_not_depend_on_the_order_or_the_numbers_of_the_rows(
    order: list[int], seed: int
) -> None:
    renumbered = [
        Sample(
            place, *(getattr(POOL[old], name) for name in ("img_id", "file", "split", "question", "reference", "atoms"))
        )
        for place, old in enumerate(order)
    ]
    first = {sample.content for sample in select(POOL, (6, 4, 2), seed)}
    assert first == {sample.content for sample in select(renumbered, (6, 4, 2), seed)}


def test_a_larger_suite_of_the_same_seed_holds_the_smaller() -> None:
    assert set(select(POOL, (3, 2, 1), 5)) <= set(select(POOL, (9, 4, 1), 5))


def test_a_stratum_that_cannot_be_filled_is_an_error_that_names_what_is_available() -> None:
    with pytest.raises(AppError) as refused:
        select(POOL, (5, 11, 0), seed=0)
    for words in ("complexity 1: 5 wanted, 20 available", "complexity 2: 11 wanted, 10 available"):
        assert words in refused.value.message


@pytest.mark.parametrize("sizes", [(), (1, 2), (1, 2, 3, 4), (0, 0, 0), (-1, 2, 3)])
def test_sizes_that_are_no_suite_are_refused_with_an_example(sizes: tuple[int, ...]) -> None:
    with pytest.raises(AppError, match="8264,3736,0"):
        select(POOL, sizes, seed=0)


def test_a_unit_has_the_ids_that_the_benchmarks_manifests_use() -> None:
    unit = unit_of(sound(), "mine")
    assert (unit.unit_id, unit.source_id, unit.complexity, unit.split) == ("mine:7", "7", 2, "test")
    assert unit.image.image_id == "kvasir-vqa-x1:frame-a"
    assert unit.question_classes == ("text_presence", "polyp_count")
    assert [(p.probe_id, p.source_id, p.role, p.position, p.reference, p.question_class) for p in unit.probes] == [
        ("mine:7::complex", "7::complex", Role.COMPLEX, 0, TWO["answer"], ""),
        ("mine:7::atomic::0", "7::atomic::0", Role.ATOMIC, 0, "yes", "text_presence"),
        ("mine:7::atomic::1", "7::atomic::1", Role.ATOMIC, 1, "2", "polyp_count"),
    ]
