"""Under which condition a verifier gave its verdict: as in the paper, in two steps, or with the image tampered with.

The last two are controls that the paper lacks: a verdict that stands without the image, or with
another one, was not given for what the image shows.
"""

__all__ = ["Condition"]

from enum import StrEnum


class Condition(StrEnum):
    """What the verifier was shown. Verdicts of different conditions are never pooled."""

    PLAIN = "plain"
    """Image, question and answer, in a fresh context (section 3.2)."""
    TWO_STEP = "two_step"
    """The same, after it has said of the image alone what must be visible and how it would answer."""
    IMAGE_WITHHELD = "image_withheld"
    """Question and answer alone."""
    IMAGE_SWAPPED = "image_swapped"
    """Question and answer with the image of another example."""

    @property
    def label(self) -> str:
        """For people."""
        return self.value.replace("_", " ")

    @property
    def is_control(self) -> bool:
        """Whether the image was tampered with."""
        return self in (Condition.IMAGE_WITHHELD, Condition.IMAGE_SWAPPED)
