"""Why a question is not asked: every question left out has one reason, and all are counted."""

__all__ = ["Exclusion", "Reason", "count_by_reason"]

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from backend.surgcheck.tasks import Cue, Task


class Reason(StrEnum):
    """Why a cue or a question does not apply, as a report prints it."""

    OUTSIDE_FRAME = "the box lies outside the frame"
    OVERLAPPING_BOX = "another box covers nearly the same area"
    NO_ROOM_FOR_ARROW = "no arrow fits beside the box"
    SHARED_POSITION = "another tool has the same position word"
    SHARED_CELL = "another anatomical structure lies in the same cell"
    NO_HAND = "the hand is not given"
    SHARED_HAND = "another tool is used by the same hand"
    NULL_ACTION = "the tool performs no action"
    TARGET_NOT_BOXED = "the target has no box"
    TARGET_BOXED_TWICE = "the target has several boxes"
    NO_NEIGHBOUR = "no other anatomical structure has a box"
    INSIDE_TARGET = "one of the two structures lies inside the other"
    NO_DIRECTION = "the centres of the two structures coincide"
    SHARED_DIRECTION = "several structures lie in the same direction"
    BEYOND_TWO_HOPS = "two nearer structures are asked for already"
    TOO_MANY_TOOLS = "there are more than three tools"
    NO_CVS = "the CVS criteria are not given"


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A question that is not asked."""

    frame: str
    """File name of the frame."""
    task: Task
    reason: Reason
    cue: Cue | None = None
    """The cue that does not apply; None where the question is not asked with any cue."""
    annotation_id: int | None = None
    """The tool or anatomical structure concerned; None where it is the whole frame."""


def count_by_reason(exclusions: Iterable[Exclusion]) -> dict[Reason, int]:
    """Return how many exclusions each reason has, most frequent first; a reason without any is left out."""
    return dict(Counter(exclusion.reason for exclusion in exclusions).most_common())
