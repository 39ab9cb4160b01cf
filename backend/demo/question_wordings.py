"""The wordings of the questions that are asked about the drawn endoscopy-like frames.

They are all the endoscopic questions that the VLM in the box was trained for. Nothing here draws.
"""

__all__ = ["DEMO_CLASSES", "MAX_COMPLEXITY", "WORDINGS", "are_asked_together", "is_trained_question", "joined"]

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from backend.endoca.vocabulary import BY_NAME

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

MAX_COMPLEXITY = 3
"""Classes that a complex question asks for, at most."""

WORDINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
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

_CLASS_OF = {clause: name for name, clauses in WORDINGS.items() for clause in clauses}
_ATOMIC = frozenset(BY_NAME[name].question.casefold() for name in DEMO_CLASSES)
_CLAUSE = "|".join(re.escape(clause) for clause in sorted(_CLASS_OF, key=len, reverse=True))
_CLAUSES = re.compile(_CLAUSE)
_COMPLEX = re.compile(rf"(?:(?:(?:{_CLAUSE}), )+(?:{_CLAUSE}), and |(?:{_CLAUSE}) and )?(?:{_CLAUSE})\?")


def are_asked_together(classes: Sequence[str]) -> bool:
    """Return whether one complex question may ask for these classes, each named once."""
    return len(_SPEAK_OF_POLYPS & set(classes)) <= 1


def joined(clauses: Sequence[str]) -> str:
    """Join clauses to one sentence without its last mark: "A", "A and b", "A, b, and c"."""
    *first, last = clauses
    text = f"{', '.join(first)}{',' if len(first) > 1 else ''} and {last}" if first else last
    return text[0].upper() + text[1:]


def is_trained_question(question: str) -> bool:
    """Return whether the VLM in the box was trained for a question.

    That is an atomic question of `DEMO_CLASSES` in Kvasir-VQA's wording, or a complex one that can be
    drawn: in these wordings, joined as `joined` does, for up to three classes that are asked together.
    Letter case and outer space are no matter; every other difference is.
    """
    text = question.strip().casefold()
    if text in _ATOMIC:
        return True
    if not _COMPLEX.fullmatch(text):
        return False
    classes = [_CLASS_OF[clause] for clause in _CLAUSES.findall(text)]
    return len(classes) == len(set(classes)) <= MAX_COMPLEXITY and are_asked_together(classes)
