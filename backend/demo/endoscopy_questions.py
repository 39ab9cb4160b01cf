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
from types import MappingProxyType

import numpy as np

from backend.demo.endoscopy import BOX, FINDINGS, INSTRUMENTS, LANDMARKS, POLYP, RESECTION, TEXT
from backend.demo.scenes import Frame, cells_of
from backend.endoca.vocabulary import CELLS

Say = Callable[[str], str]

Facts = Mapping[str, str]
"""The reference of every class of `DEMO_CLASSES`, spelled as in Kvasir-VQA."""

DEMO_CLASSES = (
    "text_presence",
    "box_artifact_presence",
    "finding_count",
    "polyp_count",
    "polyp_removal_status",
    "instrument_presence",
    "instrument_location",
    "landmark_presence",
    "abnormality_presence",
    "abnormality_location",
)
"""The ten question classes asked about the drawn frames."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven")

_ASKED = MappingProxyType(
    {
        "text_presence": ("is there any text", "is text visible", "does the image contain text"),
        "box_artifact_presence": (
            "is there a green/black box artefact",
            "is a green or black box artifact visible",
            "does a green/black box artefact appear",
        ),
        "finding_count": (
            "how many findings are present",
            "how many abnormal findings are seen",
            "what is the number of findings",
        ),
        "polyp_count": (
            "how many polyps are visible",
            "how many polyps are in the image",
            "what is the number of polyps",
        ),
        "polyp_removal_status": (
            "have all polyps been removed",
            "was every polyp removed",
            "have the polyps all been removed",
        ),
        "instrument_presence": (
            "which instruments are present",
            "what instruments are visible",
            "are there any instruments, and which",
        ),
        "instrument_location": (
            "where is the instrument",
            "where in the image is the instrument located",
            "in which region is the instrument",
        ),
        "landmark_presence": (
            "which anatomical landmark is visible",
            "is there an anatomical landmark, and which",
            "what anatomical landmark is present",
        ),
        "abnormality_presence": (
            "which abnormalities are present",
            "what abnormalities are visible",
            "are there abnormalities, and which",
        ),
        "abnormality_location": (
            "where is the abnormality",
            "where in the image is the abnormality located",
            "in which region is the abnormality",
        ),
    }
)
"""How a complex question asks for a class."""

_SPEAK_OF_POLYPS = frozenset({"polyp_count", "polyp_removal_status", "abnormality_presence"})
"""Never asked together: each would give part of another's answer away."""


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
        choices = [chosen for chosen in combinations(able, complexity) if _asked_together(chosen)]
        for index in rng.permutation(len(choices))[:wanted]:
            classes = tuple(choices[index][place] for place in rng.permutation(complexity))
            clauses = [_ASKED[name][rng.integers(len(_ASKED[name]))] for name in classes]
            questions.append(ComplexQuestion(_sentence(clauses) + "?", classes))
    return questions


def complex_answer(facts: Facts, question_classes: Sequence[str]) -> str:
    """Return the reference of a complex question: one sentence with a statement a part."""
    return _sentence([statement(name, facts[name]) for name in question_classes]) + "."


def statement(question_class: str, value: str) -> str:
    """Say a value as a clause: "two polyps are visible".

    Args:
        question_class: One of `DEMO_CLASSES`.
        value: As in `Facts`; a count of at most seven.
    """
    return _STATEMENTS[question_class](value)


def _asked_together(classes: Sequence[str]) -> bool:
    return len(_SPEAK_OF_POLYPS & set(classes)) <= 1


def _listed(order: Sequence[str], found: set[str]) -> str:
    return "; ".join(name for name in order if name in found) or "none"


def _sentence(clauses: Sequence[str]) -> str:
    *first, last = clauses
    text = f"{', '.join(first)}{',' if len(first) > 1 else ''} and {last}" if first else last
    return text[0].upper() + text[1:]


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
