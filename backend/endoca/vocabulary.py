"""The eighteen question classes of Kvasir-VQA-x1 and their answer vocabulary.

EndoCA uses nine of them. For each class: the type of its question (EndoCA, "Answer Scoring and Metrics"),
the atomic question as Kvasir-VQA asks it, and the canonical labels. Words that mean a label in free text
belong to the reader (`scoring.lexicon`); here stands what a reference can be.
"""

__all__ = [
    "BY_NAME",
    "CELLS",
    "ENDOCA_CLASSES",
    "QUESTION_CLASSES",
    "QuestionClass",
    "QuestionType",
    "canonical_reference",
    "class_of_question",
]

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType


class QuestionType(StrEnum):
    """What kind of value an atomic question asks for; it determines the matching rule."""

    BINARY = "binary"
    COUNT = "count"
    CATEGORICAL = "categorical"
    MULTI_LABEL = "multi-label"


CELLS = (
    "upper-left",
    "upper-center",
    "upper-right",
    "center-left",
    "center",
    "center-right",
    "lower-left",
    "lower-center",
    "lower-right",
)
"""The nine cells of the image grid, row by row."""


@dataclass(frozen=True, slots=True)
class QuestionClass:
    """One question class: how it is asked and which values can answer it."""

    name: str
    """Kvasir-VQA-x1's name, as in `question_class`."""
    type: QuestionType
    question: str
    """The atomic question, spelled as in Kvasir-VQA."""
    labels: tuple[str, ...] = ()
    """Canonical labels in their order of display; empty for counts."""
    nothing: str = "none"
    """The value that says there is nothing to name; `no` where EndoCA's manifests write it so."""
    spellings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Other spellings of a label in Kvasir-VQA's own data, typing errors included."""


_COLORS = (
    "pink",
    "red",
    "white",
    "yellow",
    "flesh",
    "brown",
    "orange",
    "grey",
    "black",
    "blue",
    "green",
    "purple",
)
_CELL_SPELLINGS = MappingProxyType({"lower-rigth": "lower-right"})
_NOTHING = MappingProxyType({"none": "no"})
_SIZES = ("<5mm", "5-10mm", "11-20mm", ">20mm")
_YES_NO = ("yes", "no")
_B, _N, _C, _M = QuestionType.BINARY, QuestionType.COUNT, QuestionType.CATEGORICAL, QuestionType.MULTI_LABEL

QUESTION_CLASSES = (
    QuestionClass("text_presence", _B, "Is there text?", _YES_NO, "no"),
    QuestionClass("box_artifact_presence", _B, "Is there a green/black box artefact?", _YES_NO, "no"),
    QuestionClass("finding_presence", _B, "Does this image contain any finding?", _YES_NO, "no"),
    QuestionClass("finding_count", _N, "How many findings are present?", (), "0"),
    QuestionClass("polyp_count", _N, "How many polyps are in the image?", (), "0"),
    QuestionClass("instrument_count", _N, "How many instrumnets are in the image?", (), "0"),
    QuestionClass(
        "polyp_removal_status",
        _C,
        "Have all polyps been removed?",
        ("yes", "no", "not_applicable"),
        "not_applicable",
        MappingProxyType({"not relevant": "not_applicable", "not applicable": "not_applicable"}),
    ),
    QuestionClass(
        "instrument_presence",
        _M,
        "Are there any instruments in the image? Check all that are present.",
        ("biopsy forceps", "injection needle", "metal clip", "polyp snare", "tube"),
        "no",
        _NOTHING,
    ),
    QuestionClass("instrument_location", _M, "Where in the image is the instrument?", CELLS, "none", _CELL_SPELLINGS),
    QuestionClass(
        "landmark_presence",
        _M,
        "Are there any anatomical landmarks in the image? Check all that are present.",
        ("cecum", "ileum", "pylorus", "z-line"),
        "no",
        _NOTHING,
    ),
    QuestionClass(
        "landmark_location",
        _M,
        "Where in the image is the anatomical landmark?",
        CELLS,
        "none",
        _CELL_SPELLINGS,
    ),
    QuestionClass(
        "landmark_color",
        _M,
        "What color is the anatomical landmark? If more than one separate with ;",
        _COLORS,
    ),
    QuestionClass(
        "abnormality_presence",
        _M,
        "Are there any abnormalities in the image? Check all that are present.",
        ("barretts", "hemorrhoids", "oesophagitis", "polyp", "short-segment barretts", "ulcerative colitis"),
    ),
    QuestionClass("abnormality_location", _M, "Where in the image is the abnormality?", CELLS, "none", _CELL_SPELLINGS),
    QuestionClass("abnormality_color", _M, "What color is the abnormality? If more than one separate with ;", _COLORS),
    QuestionClass(
        "polyp_size",
        _C,
        "What is the size of the polyp?",
        _SIZES,
        "none",
        MappingProxyType({">20": ">20mm", "<5": "<5mm", "5-10": "5-10mm", "11-20": "11-20mm"}),
    ),
    QuestionClass("polyp_type", _C, "What type of polyp is present?", ("paris iia", "paris ip", "paris is"), "none"),
    QuestionClass(
        "procedure_type",
        _C,
        "What type of procedure is the image taken from?",
        ("colonoscopy", "gastroscopy", "capsule endoscopy"),
    ),
)
"""All eighteen, EndoCA's nine among them."""

BY_NAME = {c.name: c for c in QUESTION_CLASSES}
"""The classes by name."""

ENDOCA_CLASSES = (
    "text_presence",
    "box_artifact_presence",
    "finding_presence",
    "finding_count",
    "polyp_count",
    "polyp_removal_status",
    "instrument_presence",
    "instrument_location",
    "landmark_presence",
)
"""The nine classes that occur in EndoCA."""

_SPACES = re.compile(r"\s+")


@lru_cache(maxsize=8192)
def canonical_reference(question_class: str, raw: str) -> str:
    """Return a reference as EndoCA's manifests write it in `parsed`.

    "none" becomes "no" for the presence of instruments and landmarks, "not relevant" becomes
    "not_applicable", labels are sorted and joined with ";". A reference outside the vocabulary is kept in
    lower case: it can then only be met by an answer that says the same.

    Args:
        question_class: One of the eighteen names.
        raw: The reference as stored, in raw or parsed spelling.
    """
    known = BY_NAME[question_class]
    text = _SPACES.sub(" ", raw.strip().lower())
    if known.type is QuestionType.COUNT:
        return text.removesuffix(".0")
    labels = {known.spellings.get(part, part) for part in (p.strip() for p in text.split(";")) if part}
    return ";".join(sorted(labels))


def _spelling(question: str) -> str:
    text = question.lower().replace("instrumnet", "instrument").replace("artefact", "artifact")
    return " ".join(re.findall(r"[a-z]+", text.replace("colour", "color").replace("rigth", "right")))


_BY_SPELLING = {_spelling(c.question): c.name for c in QUESTION_CLASSES}
_TOPIC_CUES = (
    ("landmark", r"landmark"),
    ("instrument", r"instrument|foreign (?:bod|object)|device|\btools?\b"),
    ("polyp", r"polyp"),
    ("finding", r"finding|abnormal|lesion|patholog"),
)
_QUESTION_CUES = (
    (r"^(?:how many|what number|what is the number|number of)", "count"),
    (r"^where|^in (?:which|what)\b|\blocat", "location"),
    (r"\bcolou?rs?\b", "color"),
)
_BY_CUE = {
    ("landmark", "location"): "landmark_location",
    ("landmark", "color"): "landmark_color",
    ("landmark", ""): "landmark_presence",
    ("instrument", "count"): "instrument_count",
    ("instrument", "location"): "instrument_location",
    ("instrument", ""): "instrument_presence",
    ("polyp", "count"): "polyp_count",
    ("polyp", "location"): "abnormality_location",
    ("polyp", "color"): "abnormality_color",
    ("finding", "count"): "finding_count",
    ("finding", "location"): "abnormality_location",
    ("finding", "color"): "abnormality_color",
}


@lru_cache(maxsize=4096)
def class_of_question(text: str) -> str | None:
    """Return the question class of an atomic question, or None where it is not one of Kvasir-VQA's.

    Kvasir-VQA's own wording is found in any spelling (artefact/artifact, colour/color, "instrumnets");
    otherwise the words that make the class are looked for: a question for the number of polyps is
    `polyp_count` however it is put. "Is this finding easy to detect?" has no class in Kvasir-VQA-x1.
    """
    spelled = _spelling(text)
    if spelled in _BY_SPELLING:
        return _BY_SPELLING[spelled]
    if "easy to detect" in spelled or not spelled:
        return None
    if re.search(r"procedure|type of (?:examination|endoscopy)", spelled):
        return "procedure_type"
    if re.search(r"polyps?\b.*\b(?:removed|excised|resected|remov)|remov\w* .*polyp|residual|remaining", spelled):
        return "polyp_removal_status"
    if "polyp" in spelled and re.search(r"\b(?:size|large|big|diameter)\b", spelled):
        return "polyp_size"
    if "polyp" in spelled and re.search(r"\b(?:types?|kind|classification|paris)\b", spelled):
        return "polyp_type"
    asked = next((kind for cue, kind in _QUESTION_CUES if re.search(cue, spelled)), "")
    topic = next((name for name, cue in _TOPIC_CUES if re.search(cue, spelled)), "")
    if (topic, asked) in _BY_CUE:
        return _BY_CUE[topic, asked]
    if topic == "finding":
        named = re.search(r"check all|^(?:which|what)", spelled)
        return "abnormality_presence" if named else "finding_presence"
    if topic:
        return None
    if re.search(r"\bbox\b|artifact", spelled):
        return "box_artifact_presence"
    return "text_presence" if re.search(r"\btext", spelled) else None
