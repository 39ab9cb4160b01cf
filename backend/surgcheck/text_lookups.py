"""Text look-ups: answers from the words of a question alone, learned by counting, without a VLM or an image.

What an original question names often gives its answer away: the tool names the action, the hand
names the tool. A look-up learns on a training suite's original questions which answer goes with
what they name, and answers other questions by it. What a VLM scores above it is what looking
was worth; what it reaches on less-biased questions is what those still tell.
"""

__all__ = ["LOOKUP_VERSION", "LOOKUP_VLM", "Example", "TextLookups", "named_in"]

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from backend.surgcheck.tasks import Task

LOOKUP_VLM = "Text look-up"
"""Its name among the VLMs."""

LOOKUP_VERSION = "text-lookup-1"
"""Version of the rule below; part of the run's key."""

_NO_NAME = "tool"
"""What a less-biased question calls every tool."""

_CUE = (
    r"(?:in the red box|indicated by the red arrow|located at the [a-z-]+ of the image"
    r"|used by the (?:operator|assistant)['’]s)"
)
_TOOL = re.compile(rf"\b(\w+) {_CUE}")
_HAND = re.compile(r"\b(operator['’]s left|operator['’]s right|assistant['’]s) hand\b")
_DIRECTION = re.compile(r"\bimmediately (left|right|above|below) of\b")


class Example(NamedTuple):
    """One question to learn from."""

    task: str
    """A `Task`, or a task of another name: its questions then name nothing."""
    question: str
    reference: str


def named_in(task: str, question: str) -> tuple[tuple[str, ...], ...]:
    """Return what a question's answer can be looked up by, the more telling first; empty where it names nothing.

    Instrument and Triplet: the hand. Action and Target: the tool, then the hand. Anatomy-hop: the
    direction with either. CVS: the whole question. Instrument Count and Anatomy name nothing.
    """
    match task:
        case Task.INSTRUMENT | Task.TRIPLET:
            return _hand(question)
        case Task.ACTION | Task.TARGET:
            return _tool(question) + _hand(question)
        case Task.ANATOMY_HOP:
            direction = tuple(_DIRECTION.findall(question.lower()))
            return tuple((*direction, *name) for name in (*_tool(question), *_hand(question), ()))
        case Task.CVS:
            return ((" ".join(question.split()).casefold(),),)
    return ()


@dataclass(frozen=True, slots=True)
class TextLookups:
    """Answers by task and by what a question names; make one with `learn`."""

    answers: Mapping[tuple[str, tuple[str, ...]], str]

    @classmethod
    def learn(cls, examples: Iterable[Example]) -> "TextLookups":
        """Keep for each task and each thing named, and for each task alone, the commonest reference.

        Of equally common ones the alphabetically first wins.
        """
        counts: dict[tuple[str, tuple[str, ...]], Counter[str]] = {}
        for task, question, reference in examples:
            for named in {*named_in(task, question), ()}:
                counts.setdefault((task, named), Counter())[reference] += 1
        return cls({asked: min(found, key=lambda text: (-found[text], text)) for asked, found in counts.items()})

    def answer(self, task: str, question: str) -> str:
        """Return the answer to a question.

        Where nothing was learned for what it names, this is the task's commonest reference; for a
        task that was never learned it is empty, which counts as an empty answer and never as a guess.
        """
        known = (self.answers.get((task, named)) for named in (*named_in(task, question), ()))
        return next((answer for answer in known if answer), "")


def _tool(question: str) -> tuple[tuple[str, ...], ...]:
    found = _TOOL.search(question.lower())
    return () if found is None or found[1] == _NO_NAME else ((found[1],),)


def _hand(question: str) -> tuple[tuple[str, ...], ...]:
    found = _HAND.search(question.lower())
    return () if found is None else ((found[1].replace("’", "'"),),)
