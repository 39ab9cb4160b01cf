"""What a complex question asks, part by part.

A question can ask for something other than its atom's value: "Are there any polyps?" carries a count,
"Is there evidence of remaining polyps?" turns the polarity of "Have all polyps been removed?" round. So
each atom is tied to its part of the question, and the part says what a plain "yes" or "no" means there.
"""

__all__ = ["Part", "QuestionParts", "parts_of", "rank_of"]

import re
from functools import lru_cache
from typing import NamedTuple

from backend.endoca.vocabulary import BY_NAME, QuestionType

_STARTERS = (
    r"is|are|was|were|does|do|did|has|have|had|can|could|how|what|which|where|who|in\s+(?:which|what)|if\s+so"
    r"|at\s+(?:which|what)|from\s+(?:which|what)"
)
_SPLIT = re.compile(
    rf"\?\s*|;\s*|,?\s+(?:and|or|but)\s+(?:additionally,?\s+|also\s+)?(?=(?:{_STARTERS})\b)"
    rf"|,\s*(?:additionally,?\s*)?(?=(?:{_STARTERS})\b)|\.\s+",
    re.I,
)
_CUES = {
    "text": re.compile(r"\b(?:text\w*|writing|letter\w*|caption\w*|words?)\b"),
    "box": re.compile(r"\bbox|artifact|artefact"),
    "finding": re.compile(r"finding|abnormal|lesion|patholog|anomal|disease|normal|discolor|discolour|inflam|patholog"),
    "polyp": re.compile(r"polyp"),
    "removal": re.compile(
        r"remov|excis|resect|polypectom|residual|remain|retained|left\b|persist|remnant|accounted|eradicat|applicable"
        r"|relevant|status|addressed|treated|cleared|taken out"
    ),
    "instrument": re.compile(r"instrument|device|tool|foreign|equipment|tube|forceps|snare|clip|needle"),
    "landmark": re.compile(r"landmark|anatom|z-line|cecum|ileum|pylorus|structure"),
    "location": re.compile(r"\bwhere\b|locat|region|area|position|quadrant|situated"),
    "count": re.compile(r"how many|number|count|total|multiple"),
    "color": re.compile(r"colou?r|hue|pigment"),
    "size": re.compile(r"\bsizes?\b|large|big|diameter|measure|dimension"),
    "type": re.compile(r"\btypes?\b|kind|classif|paris|morpholog"),
    "procedure": re.compile(
        r"procedure|examination|endoscop|technique|performed|obtained|imaging|modality|captured|taken"
    ),
}
_NEEDS = {
    "text_presence": (("text",), ()),
    "box_artifact_presence": (("box",), ()),
    "finding_presence": (("finding",), ("polyp",)),
    "finding_count": (("finding", "count"), ("finding", "polyp", "count")),
    "polyp_count": (("polyp", "count"), ("polyp", "count")),
    "instrument_count": (("instrument", "count"), ("instrument", "count")),
    "polyp_removal_status": (("removal",), ("polyp",)),
    "instrument_presence": (("instrument", "type"), ("instrument",)),
    "instrument_location": (("instrument", "location"), ("location", "instrument")),
    "landmark_presence": (("landmark", "type"), ("landmark",)),
    "landmark_location": (("landmark", "location"), ("location", "landmark")),
    "landmark_color": (("landmark", "color"), ("color",)),
    "abnormality_presence": (("finding", "type"), ("finding", "polyp")),
    "abnormality_location": (("finding", "location"), ("location", "polyp", "finding")),
    "abnormality_color": (("finding", "color"), ("color",)),
    "polyp_size": (("polyp", "size"), ("size", "polyp")),
    "polyp_type": (("polyp", "type"), ("type", "polyp")),
    "procedure_type": (("procedure", "type"), ("procedure",)),
}
_REMAINING = re.compile(
    r"residual|remain|retained|left\b|persist|remnant|still|unremoved|incomplete|not (?:been )?(?:\w+ )?remov"
)
_RELEVANCE = re.compile(
    r"relevan|applicab|pertinen|required|necessary|indicated\b|consideration|needed|warranted|concern|applies"
)
_REMOVING = re.compile(r"remov|excis|resect|polypectom|eradicat|accounted|cleared|addressed|treated|taken out")
_EVIDENCE = re.compile(r"evidence|indication|sign|any\b.*(?:remov|resect|excis|polypectom)|prior|previous|documented")
_DENYING = re.compile(r"\b(?:free (?:of|from)|without|absence|lack\w*|no|devoid|clear of|absent)\b")
_NORMAL = re.compile(r"\b(?:normal|healthy|unremarkable)\b")
_MANY = re.compile(r"\b(?:multiple|more than one|several|single|only one|just one|exactly|many of)\b")
_PRONOUN = re.compile(r"\b(?:they|it|its|their|them)\b")
_ATTRIBUTES = ("location", "count", "color", "size")
_JOINED_OR = re.compile(r"\bor\b")
_NAMED = {
    "tube": "tube",
    "biopsy forceps": "biopsy forceps",
    "polyp snare": "polyp snare",
    "metal clip": "metal clip",
    "injection needle": "injection needle",
    "z-line": "z-line",
    "cecum": "cecum",
    "ileum": "ileum",
    "pylorus": "pylorus",
}


class Part(NamedTuple):
    """One atom's part of the question."""

    text: str
    position: int
    """Where it stands in the question, to bring bare lists into order."""
    yes: frozenset[str]
    """What a plain "yes" says for the atom; empty where it names no value."""
    no: frozenset[str]
    """What a plain "no" says."""
    asks_other: bool = False
    """It asks for *other* or *additional* things."""


class QuestionParts(NamedTuple):
    """A question read for its atoms, in the atoms' order."""

    parts: tuple[Part, ...]
    order: tuple[int, ...]
    """The atoms' indices in the order in which the question asks for them."""
    one_answer_for_all: bool
    """One "any A or B?" joins the parts (or "and if so"): a bare "no" answers each."""


_NOTHING: frozenset[str] = frozenset()


def _meanings(name: str, text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return what "yes" and "no" to this part say about an atom of class `name`."""
    known = BY_NAME[name]
    yes, no = frozenset({"yes"}), frozenset({"no"})
    if name == "polyp_removal_status":
        if _RELEVANCE.search(text):
            return _NOTHING, frozenset({"not_applicable"})
        if _REMAINING.search(text):
            return no, frozenset({"yes", "not_applicable"})
        if _REMOVING.search(text):
            if _EVIDENCE.search(text) and not re.search(r"\ball\b|complete|every", text):
                return yes, frozenset({"no", "not_applicable"})
            return yes, no
        if "status" in text:
            return _NOTHING, _NOTHING
        return no, frozenset({"not_applicable"})
    if known.type is QuestionType.BINARY:
        inverted = _DENYING.search(text) or (
            name == "finding_presence" and _NORMAL.search(text) and "abnormal" not in text
        )
        return (no, yes) if inverted else (yes, no)
    if _DENYING.search(text):
        return frozenset({known.nothing}), _NOTHING
    if known.type is QuestionType.COUNT and _MANY.search(text):
        return _NOTHING, _NOTHING
    named = [label for word, label in _NAMED.items() if word in text and label in known.labels]
    return frozenset(named[:1]) if len(named) == 1 else _NOTHING, frozenset({known.nothing})


@lru_cache(maxsize=16_384)
def rank_of(text: str, name: str) -> int:
    """How well a lower-case text names the class; 0 where it does not.

    Thing and attribute together ("where … instrument") rank highest, then the attribute of a pronoun ("where
    are they"), the thing alone, the thing with another attribute than the class's own, and what only touches
    the class.
    """
    wanted, fallback = _NEEDS[name]
    cues = [cue for cue in wanted if _CUES[cue].search(text)]
    if len(cues) == len(wanted):
        return 5
    if wanted[-1] in cues and _PRONOUN.search(text):
        return 4
    if wanted[0] in cues:
        return 2 if any(cue not in wanted and _CUES[cue].search(text) for cue in _ATTRIBUTES) else 3
    return 1 if any(_CUES[cue].search(text) for cue in fallback) else 0


@lru_cache(maxsize=8192)
def parts_of(question: str, classes: tuple[str, ...]) -> QuestionParts:
    """Tie each class to its part of the question.

    Args:
        question: The complex or atomic question.
        classes: Class names of the atoms, in the unit's order.
    """
    lowered = question.lower().replace("instrumnet", "instrument").replace("check all that are present", "")
    pieces: list[tuple[int, str]] = []
    start = 0
    for match in _SPLIT.finditer(lowered):
        pieces.append((start, lowered[start : match.start()]))
        start = match.end()
    pieces.append((start, lowered[start:]))
    pieces = [(at, piece) for at, piece in pieces if len(piece.strip(" .?")) > 2] or [(0, lowered)]
    parts = []
    for index, name in enumerate(classes):
        wanted, _ = _NEEDS[name]
        best, best_rank = pieces[min(index, len(pieces) - 1)], 0
        for piece in pieces:
            rank = rank_of(piece[1], name)
            if rank > best_rank:
                best, best_rank = piece, rank
        cue = next((m for m in (_CUES[c].search(best[1]) for c in wanted) if m), None)
        position = best[0] + (cue.start() if cue else 0)
        yes, no = _meanings(name, best[1])
        parts.append(Part(best[1], position, yes, no, bool(re.search(r"\b(?:other|additional)\b", best[1]))))
    conditional = re.search(r"\bif (?:so|any|present|yes)\b", lowered) is not None
    joined = len(pieces) == 1 and (_JOINED_OR.search(lowered) is not None)
    if joined and len(classes) > 1:
        spans = sorted(part.position for part in parts)
        joined = _JOINED_OR.search(lowered, spans[0], max(spans[-1], spans[0]) + 1) is not None
    order = tuple(sorted(range(len(parts)), key=lambda i: (parts[i].position, i)))
    return QuestionParts(tuple(parts), order, joined or (conditional and len(pieces) <= 2))
