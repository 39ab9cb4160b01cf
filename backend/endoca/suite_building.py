"""Building a suite of paired units from Kvasir-VQA-x1, in the paper's manner.

A row of Kvasir-VQA-x1 is a complex question with its reference and, in ``original``, the
atomic questions and references it was made from. A row is eligible when it is whole and well
formed, its question classes are among EndoCA's, and its references agree with each other
under the scorer's own rules. What is left out is left out for one reason, the first that
holds in the order of `Exclusion`. (EndoCA, "Benchmark Construction".)
"""

__all__ = [
    "AtomicReferences",
    "Exclusion",
    "Sample",
    "SourceRow",
    "X1Row",
    "available",
    "exclusion_of_references",
    "sample_of",
    "select",
    "unit_of",
]

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from backend.domain.records import Image, Probe, Role, Unit
from backend.endoca.paired_units import DEFAULT_DATASET
from backend.endoca.scoring import Atom, score_answer
from backend.endoca.vocabulary import (
    BY_NAME,
    ENDOCA_CLASSES,
    QuestionType,
    canonical_reference,
    class_of_question,
)
from backend.errors import AppError

COMPLEXITIES = (1, 2, 3)
"""Numbers of atomic questions that occur in Kvasir-VQA-x1."""


class Exclusion(StrEnum):
    """Why a row is left out, in words. A row counts under the first that holds, in this order."""

    INCOMPLETE = "image, question, answer, question class or atomic questions are missing"
    UNREADABLE_ATOMS = "the atomic questions are no list of questions and answers"
    COMPLEXITY = "complexity, atomic questions and question classes differ in number"
    OTHER_CLASS = "a question class is not one of EndoCA's nine"
    CLASS_MISMATCH = "an atomic question asks something else than its question class"
    NOT_CANONICAL = "an atomic reference is not in its class's vocabulary"
    CONTRADICTS_SOURCE = "Kvasir-VQA answers an atomic question otherwise"
    ATOM_NOT_ACCEPTED = "the scorer does not accept an atomic reference on its own question"
    CONTRADICTS_ATOMS = "the complex reference contradicts its atomic references"
    IN_OTHER_SUITE = "the sample is in the excluded suite"


def _names(value: object) -> object:
    """Question classes as a list, or as a string that shows one in any notation (JSON, Python, a bare name)."""
    return re.findall(r"\w+", value) if isinstance(value, str) else value


def _is_blank(value: object) -> bool:
    """An empty cell of a table is None, NaN, or an empty text."""
    return value is None or value == "" or value != value


def _text(value: object) -> object:
    return "" if _is_blank(value) else value


def _number(value: object) -> object:
    return None if _is_blank(value) else value


class SourceRow(BaseModel):
    """One row of Kvasir-VQA: an atomic question about an image, and its reference."""

    model_config = ConfigDict(extra="allow", coerce_numbers_to_str=True)

    img_id: str
    question: str
    answer: Annotated[str, BeforeValidator(_text)]


class X1Row(BaseModel):
    """One row of Kvasir-VQA-x1, as it stands in the file; further columns are let through."""

    model_config = ConfigDict(extra="allow", coerce_numbers_to_str=True)

    img_id: Annotated[str, BeforeValidator(_text)]
    complexity: Annotated[int | None, BeforeValidator(_number)]
    question: Annotated[str, BeforeValidator(_text)]
    answer: Annotated[str, BeforeValidator(_text)]
    original: Annotated[Any, BeforeValidator(_text)]
    question_class: Annotated[list[str], BeforeValidator(_names), BeforeValidator(_text)]
    image: Annotated[str, BeforeValidator(_text)] = ""


class AtomicPair(BaseModel):
    """One entry of ``original``: an atomic question and its reference."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    question: Annotated[str, Field(alias="q", min_length=1)]
    answer: Annotated[str, Field(alias="a", min_length=1)]


_PAIRS = TypeAdapter(list[AtomicPair])


@dataclass(frozen=True, slots=True)
class Sample:
    """A row whose form is sound: complex question and reference, and its atoms in order."""

    sample_id: int
    """Running row number over the files, from 0."""
    img_id: str
    file: str
    """File name of the image."""
    split: str
    question: str
    reference: str
    atoms: tuple[Atom, ...]

    @property
    def complexity(self) -> int:
        """Number of atomic questions."""
        return len(self.atoms)

    @property
    def content(self) -> tuple[str, str, str]:
        """Image (as ids write it), complex question and its reference: the same whatever the row number."""
        return Image.make_id("", self.img_id), self.question, self.reference


class AtomicReferences:
    """The atomic references that a Kvasir-VQA file holds, by image and question class."""

    def __init__(self) -> None:
        self._references: dict[tuple[str, str], set[str]] = {}

    def add(self, img_id: str, question: str, answer: str) -> None:
        """Take one row; a question outside EndoCA's nine classes is passed over."""
        question_class = class_of_question(question)
        if question_class in ENDOCA_CLASSES:
            held = self._references.setdefault((img_id, question_class), set())
            held.add(canonical_reference(question_class, answer))

    def holds(self, img_id: str, atom: Atom) -> bool:
        """Whether the file answers this question about this image."""
        return (img_id, atom.question_class) in self._references

    def contradicts(self, img_id: str, atom: Atom) -> bool:
        """Whether the file answers the question, and never as the atom does.

        A question that the file does not hold contradicts nothing; one that it answers in
        two ways contradicts neither.
        """
        held = self._references.get((img_id, atom.question_class))
        return held is not None and canonical_reference(atom.question_class, atom.reference) not in held


def sample_of(row: X1Row, sample_id: int, split: str) -> Sample | Exclusion:
    """Return the row as a sample, or the first reason in its form that leaves it out (`NOT_CANONICAL` is the last)."""
    texts = (row.img_id, row.question, row.answer)
    if not all(text.strip() for text in texts) or not (row.complexity and row.question_class and row.original):
        return Exclusion.INCOMPLETE
    pairs = _pairs(row.original)
    if pairs is None:
        return Exclusion.UNREADABLE_ATOMS
    if not len(pairs) == row.complexity == len(row.question_class):
        return Exclusion.COMPLEXITY
    if not set(row.question_class) <= set(ENDOCA_CLASSES):
        return Exclusion.OTHER_CLASS
    atoms = tuple(Atom(name, pair.answer, pair.question) for name, pair in zip(row.question_class, pairs, strict=True))
    if any(class_of_question(atom.question) != atom.question_class for atom in atoms):
        return Exclusion.CLASS_MISMATCH
    if not all(_is_canonical(atom) for atom in atoms):
        return Exclusion.NOT_CANONICAL
    file = PurePosixPath(row.image or row.img_id).name
    return Sample(sample_id, row.img_id, file, split, row.question, row.answer, atoms)


def exclusion_of_references(sample: Sample, source: AtomicReferences) -> Exclusion | None:
    """Return the first reason for which the sample's references do not agree, None where they do.

    They agree when Kvasir-VQA does not contradict an atomic reference, when the scorer takes
    each atomic reference as a right answer to its own question, and when it takes the complex
    reference as a right answer to the complex question.
    """
    if any(source.contradicts(sample.img_id, atom) for atom in sample.atoms):
        return Exclusion.CONTRADICTS_SOURCE
    if not all(score_answer(atom.question, (atom,), atom.reference).correct for atom in sample.atoms):
        return Exclusion.ATOM_NOT_ACCEPTED
    if not score_answer(sample.question, sample.atoms, sample.reference).correct:
        return Exclusion.CONTRADICTS_ATOMS
    return None


def available(samples: Iterable[Sample]) -> dict[int, int]:
    """Return the number of samples of each complexity, 0 included."""
    counts = Counter(sample.complexity for sample in samples)
    return {complexity: counts[complexity] for complexity in COMPLEXITIES}


def select(samples: Sequence[Sample], sizes: Sequence[int], seed: int) -> list[Sample]:
    """Draw a stratified sample without replacement, in order of sample ids.

    Which samples are drawn depends on their content and the seed, not on the order of the
    rows. The first n of a stratum are among the first n + 1: a larger suite holds the smaller.

    Args:
        samples: Eligible samples.
        sizes: How many of complexity 1, 2 and 3.
        seed: Any whole number.

    Raises:
        AppError: The sizes are not three whole numbers of which one is above 0, or a stratum
            holds fewer.
    """
    if len(sizes) != len(COMPLEXITIES) or min(sizes) < 0 or not any(sizes):
        raise AppError(
            f"Sizes {','.join(map(str, sizes))} are no suite.",
            "Give how many samples of complexity 1, 2 and 3, for example 8264,3736,0.",
        )
    there = available(samples)
    wanted = dict(zip(COMPLEXITIES, sizes, strict=True))
    if any(wanted[complexity] > there[complexity] for complexity in COMPLEXITIES):
        raise AppError(
            "The suite cannot be filled: "
            + "; ".join(f"complexity {c}: {wanted[c]} wanted, {there[c]} available" for c in COMPLEXITIES)
            + ".",
            "Ask for at most what is available, or add files of Kvasir-VQA-x1 (train and test together hold most).",
        )
    drawn: list[Sample] = []
    for complexity, size in wanted.items():
        stratum = [sample for sample in samples if sample.complexity == complexity]
        drawn += sorted(stratum, key=lambda sample: (_lot(sample, seed), sample.sample_id))[:size]
    return sorted(drawn, key=lambda sample: sample.sample_id)


def unit_of(sample: Sample, suite: str) -> Unit:
    """Return the sample as a paired unit, with the ids that the benchmark's manifests use."""
    source_id = str(sample.sample_id)

    def probe(name: str, role: Role, position: int, question: str, reference: str, question_class: str) -> Probe:
        source = f"{source_id}::{name}"
        return Probe(Unit.make_id(suite, source), source, role, position, question, reference, question_class)

    atoms = [
        probe(f"atomic::{place}", Role.ATOMIC, place, atom.question, atom.reference, atom.question_class)
        for place, atom in enumerate(sample.atoms)
    ]
    return Unit(
        unit_id=Unit.make_id(suite, source_id),
        source_id=source_id,
        suite=suite,
        image=Image(Image.make_id(DEFAULT_DATASET, sample.img_id), DEFAULT_DATASET, sample.file),
        split=sample.split,
        complexity=sample.complexity,
        question_classes=tuple(atom.question_class for atom in sample.atoms),
        probes=(probe("complex", Role.COMPLEX, 0, sample.question, sample.reference, ""), *atoms),
    )


def _pairs(original: object) -> list[AtomicPair] | None:
    """Return ``original``'s atomic questions; None where it is no list of them."""
    try:
        return _PAIRS.validate_json(original) if isinstance(original, str) else _PAIRS.validate_python(original)
    except ValidationError:
        return None


def _is_canonical(atom: Atom) -> bool:
    """Whether the reference is a value its class knows: a number, one label, or a set of labels."""
    known = BY_NAME[atom.question_class]
    value = canonical_reference(atom.question_class, atom.reference)
    if known.type is QuestionType.COUNT:
        return value.isdecimal()
    labels = value.split(";")
    if known.type is not QuestionType.MULTI_LABEL and len(labels) > 1:
        return False
    return labels == [known.nothing] or set(labels) <= set(known.labels)


def _lot(sample: Sample, seed: int) -> str:
    """The lot a sample draws: its place in an order that looks like chance and is the same everywhere."""
    atoms = (text for atom in sample.atoms for text in (atom.question, atom.reference))
    return hashlib.sha256("\x1f".join((str(seed), *sample.content, *atoms)).encode()).hexdigest()
