"""Atomic questions for a typed complex question, proposed from its words.

A complex question of Kvasir-VQA-x1 asks for one to three question classes. What is spoken of and
what is asked about it make the class, whose standard atomic question is proposed. It is a
proposal by words alone: a person reads and changes it before it is asked.
"""

__all__ = ["ProposedQuestion", "propose_atomic_questions"]

import re
from dataclasses import dataclass

from backend.endoca.vocabulary import BY_NAME

_TOPICS = {
    "box": r"(?:green|black)\b[^?.,]{0,80}?\b(?:art[ei]facts?|box(?:es)?)|art[ei]facts?|box(?:es)?",
    "instruments": r"instruments|devices|tools|foreign (?:bod|object)\w*|forceps|snares?|clips?|needles?|tubes?",
    "instrument": r"instrument(?:ation)?|device|tool",
    "landmark": r"landmarks?|anatomical structures?|z-line|cecum|ileum|pylorus",
    "polyp": r"polyps?|polypoid \w+|polypectomy",
    "findings": r"findings|abnormalities|pathologies|lesions",
    "finding": r"finding|abnormality|pathology|lesion|abnormal areas?|areas? of (?:abnormality|concern)",
    "procedure": r"procedure|examination",
    "text": r"text(?:s|ual)?|writing|letters",
}
"""Words for what is spoken of. A colour stands close before its box: looking for one takes no longer than the text."""

_ASKED = {
    "removal": r"remov\w+|excis\w+|resect\w+|remain\w*|residual|polypectomy|accounted for|addressed|retained|relevant",
    "count": r"how many|number of|count|quantify",
    "location": r"where|locat\w+|positions?|(?:regions?|areas?|parts?|quadrants?) of the image|which regions?",
    "color": r"colou?rs?",
    "size": r"size|large|big|diameter",
    "type": r"types?|kinds?|paris",
    "name": r"which|what|list|specify",
}
"""Words for what is asked about it, the more telling first; without any, whether it is there."""

_CLASSES = {
    ("text", ""): "text_presence",
    ("box", ""): "box_artifact_presence",
    ("landmark", ""): "landmark_presence",
    ("landmark", "location"): "landmark_location",
    ("landmark", "color"): "landmark_color",
    ("instruments", ""): "instrument_presence",
    ("instruments", "count"): "instrument_count",
    ("instruments", "location"): "instrument_location",
    ("instrument", ""): "instrument_location",
    ("instrument", "count"): "instrument_count",
    ("instrument", "location"): "instrument_location",
    ("instrument", "type"): "instrument_presence",
    ("instrument", "name"): "instrument_presence",
    ("polyp", ""): "polyp_count",
    ("polyp", "removal"): "polyp_removal_status",
    ("polyp", "location"): "abnormality_location",
    ("polyp", "color"): "abnormality_color",
    ("polyp", "size"): "polyp_size",
    ("polyp", "type"): "polyp_type",
    ("findings", ""): "finding_count",
    ("findings", "count"): "finding_count",
    ("findings", "location"): "abnormality_location",
    ("findings", "color"): "abnormality_color",
    ("findings", "name"): "abnormality_presence",
    ("finding", ""): "finding_presence",
    ("finding", "location"): "abnormality_location",
    ("finding", "color"): "abnormality_color",
    ("finding", "name"): "abnormality_presence",
    ("procedure", "type"): "procedure_type",
    ("procedure", "name"): "procedure_type",
}
"""The question class of the two. "Is there any instrument?" stands in Kvasir-VQA-x1 for its place."""


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """An atomic question that the complex one seems to ask."""

    question_class: str
    question: str
    """In Kvasir-VQA's own wording."""


_TOPIC = re.compile("|".join(rf"(?P<{name}>\b(?:{words})\b)" for name, words in _TOPICS.items()))
_ASKS = {name: re.compile(rf"\b(?:{words})\b") for name, words in _ASKED.items()}
_BREAK = re.compile(r"[?.;,:]|\b(?:and|or)\b")
_STANDARD = {known.question.lower(): known.name for known in BY_NAME.values()}
_AND_WHICH = re.compile(r",? and which\b(?=,| and\b|\W*$)")


def propose_atomic_questions(question: str) -> list[ProposedQuestion]:
    """Propose atomic questions for a complex one, in the order it asks them, each class once.

    A clause that names nothing ("and where is it?") speaks of what was named last. An instrument
    asked for first and then for its place is asked about twice. A standard question proposes
    itself. Where nothing is recognised nothing is proposed.
    """
    if standard := _STANDARD.get(question.strip().lower()):
        return [ProposedQuestion(standard, BY_NAME[standard].question)]
    found: list[str] = []
    last = ""
    for clause in _clauses(_AND_WHICH.sub(" which", question.lower())):
        asked = [name for name, words in _ASKS.items() if words.search(clause)]
        topics = [str(match.lastgroup) for match in _TOPIC.finditer(clause)]
        for topic in topics or [last] * bool(asked):
            named = _class(topic, asked)
            if named and named not in found:
                found.append(named)
            elif named == "instrument_location" and not topics and "instrument_presence" not in found:
                found.insert(found.index(named), "instrument_presence")
            last = topic
    return [ProposedQuestion(name, BY_NAME[name].question) for name in found]


def _clauses(text: str) -> list[str]:
    """Split at stops and conjunctions, though not inside a topic ("green or black box")."""
    inside = {place for match in _TOPIC.finditer(text) for place in range(*match.span())}
    breaks = [match.span() for match in _BREAK.finditer(text) if match.start() not in inside]
    starts = [0, *(end for _, end in breaks)]
    ends = [*(start for start, _ in breaks), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def _class(topic: str, asked: list[str]) -> str | None:
    return next((_CLASSES[topic, name] for name in [*asked, ""] if (topic, name) in _CLASSES), None)
