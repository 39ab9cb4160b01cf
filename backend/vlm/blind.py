"""The blind baseline: a VLM that never sees the image.

It knows how often each reference was given, by what was asked, in one set of paired units,
and answers every question of the same kind with the commonest one (the "per question-type
prior" of Antol et al. 2015, VQA, section 4). What a VLM scores above it is what looking at
the image was worth.
"""

__all__ = ["BLIND_VERSION", "BLIND_VLM", "NO_ANSWER", "BlindBaseline", "Example"]

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from backend.domain.records import Role

Counted = TypeVar("Counted", str, tuple[str, ...])

BLIND_VLM = "Blind baseline"
"""Its name among the VLMs."""

BLIND_VERSION = "question-classes-1"
"""Version of the rule below; part of the run's key."""

NO_ANSWER = ""
"""Said where nothing was learned for what is asked: it counts as an empty answer, never as a guess."""


@dataclass(frozen=True, slots=True)
class Example:
    """One probe to learn from; it has no image."""

    role: Role
    question_classes: tuple[str, ...]
    """Question classes of the parts, in order; one for an atomic question."""
    values: tuple[str, ...]
    """Canonical references of the parts, in the same order."""
    reference: str
    """The reference, verbatim."""


@dataclass(frozen=True, slots=True)
class BlindBaseline:
    """Answers by role and question classes; make one with `learn`."""

    answers: Mapping[tuple[Role, tuple[str, ...]], str]

    @classmethod
    def learn(cls, examples: Iterable[Example]) -> "BlindBaseline":
        """Count references and keep one answer for each role and tuple of question classes.

        The commonest combination of values wins, and of the references that say it the
        commonest wording. Of equally common ones the alphabetically first wins.

        Values are counted, not wordings: "No polyps observed" and "no polyps identified" are
        one answer. The question's own words are left out on purpose. Many complex questions
        give their answer away ("Where is the tube …?"), so a look-up by wording answers them
        better and, as the atomic questions do not, contradicts its own atomic answers more.
        """
        combinations: dict[tuple[Role, tuple[str, ...]], Counter[tuple[str, ...]]] = {}
        wordings: dict[tuple[Role, tuple[str, ...], tuple[str, ...]], Counter[str]] = {}
        for example in examples:
            asked = (example.role, example.question_classes)
            combinations.setdefault(asked, Counter())[example.values] += 1
            wordings.setdefault((*asked, example.values), Counter())[example.reference] += 1
        return cls(
            {
                (role, classes): _commonest(wordings[role, classes, _commonest(values)])
                for (role, classes), values in combinations.items()
            }
        )

    def answer(self, role: Role, question_classes: tuple[str, ...]) -> str:
        """Return the answer to a question of this kind, `NO_ANSWER` where none was learned.

        A complex question whose classes never stood together gets the answers to its atomic
        questions, listed in their order; `NO_ANSWER` if one of them is not known.
        """
        known = self.answers.get((role, question_classes))
        if known is not None:
            return known
        parts = [self.answers.get((Role.ATOMIC, (name,))) for name in question_classes]
        return "; ".join(part for part in parts if part) if all(parts) else NO_ANSWER


def _commonest(counts: Counter[Counted]) -> Counted:
    return min(counts, key=lambda counted: (-counts[counted], counted))
