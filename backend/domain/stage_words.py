"""What people call the stages of a run, in the papers' words."""

__all__ = ["STAGE_WORDS", "stage_words"]

from collections.abc import Mapping
from types import MappingProxyType

from backend.domain.records import Stage

STAGE_WORDS: Mapping[str, str] = MappingProxyType(
    {
        Stage.REVISE: "ASR-Revise",
        Stage.SELECT: "ASR-Selective",
        Stage.SELF_REVISE: "Self-Revise",
        Stage.SELF_SELECT: "Self-Selective",
    }
)
"""What the EndoCA paper calls the stages of reconciliation."""


def stage_words(stage: str) -> str:
    """Return what to call a stage."""
    return STAGE_WORDS.get(stage, stage.replace("_", " "))
