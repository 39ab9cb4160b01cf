"""Atomic and complex questions about an endoscopy-like frame, with references read off its things.

The atomic questions are Kvasir-VQA's own, by class; a complex question joins two or three of
them into one sentence, in the manner of Kvasir-VQA-x1. One of complexity 1 asks an atomic
question in other words.
The references follow from what can be seen in the frame and from nothing else.
"""

__all__ = ["DEMO_CLASSES", "ComplexQuestion", "Facts", "complex_answer", "complex_questions", "facts_of", "statement"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from backend.demo.endoscopy import BOX, FINDINGS, INSTRUMENTS, LANDMARKS, POLYP, RESECTION, TEXT
from backend.demo.question_wordings import DEMO_CLASSES, WORDINGS, are_asked_together, joined
from backend.demo.scenes import Frame, cells_of
from backend.endoca.vocabulary import CELLS

Say = Callable[[str], str]

Facts = Mapping[str, str]
"""The reference of every class of `DEMO_CLASSES`, spelled as in Kvasir-VQA."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven")


@dataclass(frozen=True, slots=True)
class ComplexQuestion:
    """A complex question about one frame."""

    question: str
    question_classes: tuple[str, ...]
    """Of its atomic questions, in the order asked."""


def facts_of(frame: Frame) -> Facts:
    """Return the references of a frame.

    Locations list every cell of every thing asked for. The polyps have been removed where a
    resection site is seen and no polyp; the question is not relevant where neither is seen.
    """
    polyps, findings = frame.of(POLYP), frame.of(*FINDINGS)
    instruments = frame.of(*INSTRUMENTS)
    removal = "no" if polyps else "yes" if frame.of(RESECTION) else "not relevant"
    return {
        "text_presence": "yes" if frame.of(TEXT) else "no",
        "box_artifact_presence": "yes" if frame.of(BOX) else "no",
        "finding_count": str(len(findings)),
        "polyp_count": str(len(polyps)),
        "polyp_removal_status": removal,
        "instrument_presence": _listed(INSTRUMENTS, {thing.kind for thing in instruments}),
        "instrument_location": _listed(CELLS, {cell for thing in instruments for cell in cells_of(thing.mask)}),
        "landmark_presence": _listed(LANDMARKS, {thing.kind for thing in frame.of(*LANDMARKS)}),
        "abnormality_presence": _listed(FINDINGS, {thing.kind for thing in findings}),
        "abnormality_location": _listed(CELLS, {cell for thing in findings for cell in cells_of(thing.mask)}),
    }


def complex_questions(facts: Facts, rng: np.random.Generator, per_complexity: Sequence[int]) -> list[ComplexQuestion]:
    """Draw complex questions about one frame, no two with the same classes.

    A location is asked for only where there is something to locate, and two classes that speak of
    polyps are never asked for together.

    Args:
        facts: Of the frame.
        rng: Chooses classes and wordings.
        per_complexity: How many of complexity 1, 2, 3 …; fewer where there are not as many.
    """
    able = [name for name in DEMO_CLASSES if not (name.endswith("_location") and facts[name] == "none")]
    questions = []
    for complexity, wanted in enumerate(per_complexity, 1):
        choices = [chosen for chosen in combinations(able, complexity) if are_asked_together(chosen)]
        for index in rng.permutation(len(choices))[:wanted]:
            classes = tuple(choices[index][place] for place in rng.permutation(complexity))
            clauses = [WORDINGS[name][rng.integers(len(WORDINGS[name]))] for name in classes]
            questions.append(ComplexQuestion(joined(clauses) + "?", classes))
    return questions


def complex_answer(facts: Facts, question_classes: Sequence[str]) -> str:
    """Return the reference of a complex question: one sentence with a statement a part."""
    return joined([statement(name, facts[name]) for name in question_classes]) + "."


def statement(question_class: str, value: str) -> str:
    """Say a value as a clause: "two polyps are visible".

    Args:
        question_class: One of `DEMO_CLASSES`.
        value: As in `Facts`; a count of at most seven.
    """
    return _STATEMENTS[question_class](value)


def _listed(order: Sequence[str], found: set[str]) -> str:
    return "; ".join(name for name in order if name in found) or "none"


def _spoken(value: str) -> str:
    *first, last = value.split("; ")
    return f"{', '.join(first)} and {last}" if first else last


def _presence(yes: str, no: str) -> Say:
    return lambda value: yes if value == "yes" else no


def _count(noun: str) -> Say:
    def say(value: str) -> str:
        number = _NUMBERS[int(value)]
        return f"{number} {noun} is visible" if value == "1" else f"{number} {noun}s are visible"

    return say


def _named(noun: str) -> Say:
    def say(value: str) -> str:
        if value == "none":
            return f"no {noun} is visible"
        return f"{_spoken(value)} {'are' if ';' in value else 'is'} visible"

    return say


def _located(noun: str) -> Say:
    def say(value: str) -> str:
        return f"no {noun} is visible" if value == "none" else f"the {noun} is in the {_spoken(value)}"

    return say


_STATEMENTS: Mapping[str, Say] = {
    "text_presence": _presence("text is present", "no text is present"),
    "box_artifact_presence": _presence("a green box artefact is present", "no box artefact is present"),
    "finding_count": _count("finding"),
    "polyp_count": _count("polyp"),
    "polyp_removal_status": {
        "yes": "all polyps have been removed",
        "no": "the polyps have not been removed",
        "not relevant": "polyp removal is not relevant",
    }.__getitem__,
    "instrument_presence": _named("instrument"),
    "instrument_location": _located("instrument"),
    "landmark_presence": _named("anatomical landmark"),
    "abnormality_presence": _named("abnormality"),
    "abnormality_location": _located("abnormality"),
}
