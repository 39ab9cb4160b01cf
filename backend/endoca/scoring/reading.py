"""One value read from an answer, or the reason why none could be read."""

__all__ = ["Reading", "listed", "unread", "value_of"]

from collections.abc import Iterable
from typing import NamedTuple

from backend.endoca.scoring.records import Rule


class Reading(NamedTuple):
    """The values an answer admits for one atom; mostly one.

    "No residual polyps" fits a patient without polyps and one whose polyps were all removed: such a
    statement admits both. No values means that none could be read.
    """

    values: frozenset[str]
    rule: Rule
    reason: str

    @property
    def parsed(self) -> str | None:
        """The value for people: admissible ones joined with " or ", None where there is none."""
        return " or ".join(sorted(self.values)) if self.values else None


def listed(labels: Iterable[str]) -> str:
    """Join labels for a sentence: "a, b and c"."""
    *first, last = labels
    return f"{', '.join(first)} and {last}" if first else last


def unread(rule: Rule, reason: str) -> Reading:
    """Return a reading without a value."""
    return Reading(frozenset(), rule, reason)


def value_of(value: str, rule: Rule, reason: str) -> Reading:
    """Return a reading with exactly one value."""
    return Reading(frozenset({value}), rule, reason)
