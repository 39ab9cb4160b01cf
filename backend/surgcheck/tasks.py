"""The eight tasks of SurgCheck, their levels, and the grounding cues they are asked with."""

__all__ = ["CUES_OF", "PAIRED_TASKS", "Cue", "Level", "Mode", "Task"]

from enum import StrEnum
from types import MappingProxyType


class Level(StrEnum):
    """How much a task asks for."""

    OBSERVATION = "observation"
    COMPOSITION = "composition"
    REASONING = "reasoning"


class Task(StrEnum):
    """The tasks; the values are the release's tags (``sub_sub_tag``)."""

    INSTRUMENT_COUNT = "Instrument_Count"
    ANATOMY = "anatomy"
    INSTRUMENT = "Instrument"
    ACTION = "Action"
    TARGET = "Target"
    TRIPLET = "Triplet"
    ANATOMY_HOP = "anatomy_hop"
    CVS = "CVS"

    @property
    def level(self) -> Level:
        """The level to which SurgCheck assigns the task."""
        if self in (Task.TRIPLET, Task.ANATOMY_HOP):
            return Level.COMPOSITION
        return Level.REASONING if self is Task.CVS else Level.OBSERVATION


PAIRED_TASKS = (Task.INSTRUMENT, Task.ACTION, Task.TARGET, Task.TRIPLET, Task.ANATOMY_HOP)
"""The tasks whose original and less-biased texts differ; the others are shared baselines."""


class Cue(StrEnum):
    """How a question points at what it asks about."""

    NONE = "none"
    """A question about the whole frame points at nothing."""
    BOX = "box"
    ARROW = "arrow"
    POSITION = "position"
    PERIPHRASIS = "periphrasis"

    @property
    def tag(self) -> str:
        """The release's tag (``sub_tag``); a periphrasis is ``Word_Cue`` there."""
        words = {Cue.NONE: "No", Cue.PERIPHRASIS: "Word"}
        return f"{words.get(self, self.title())}_Cue"


_SHOWN = (Cue.BOX, Cue.ARROW, Cue.POSITION)

CUES_OF = MappingProxyType(
    {
        Task.INSTRUMENT_COUNT: (Cue.NONE,),
        Task.ANATOMY: _SHOWN,
        Task.INSTRUMENT: (*_SHOWN, Cue.PERIPHRASIS),
        Task.ACTION: (*_SHOWN, Cue.PERIPHRASIS),
        Task.TARGET: (*_SHOWN, Cue.PERIPHRASIS),
        Task.TRIPLET: _SHOWN,
        Task.ANATOMY_HOP: (*_SHOWN, Cue.PERIPHRASIS),
        Task.CVS: (Cue.NONE,),
    }
)
"""The cues with which the release asks each task."""


class Mode(StrEnum):
    """Which pairs count as sound."""

    STRICT = "strict"
    """A cue must tell its tool or structure apart from the others, and a question has one answer."""
    OFFICIAL = "official"
    """As in the release: neither is checked."""
