"""A laparoscopy-like frame with all that a scene graph says of it, in Endoscapes-SG201's words."""

__all__ = ["CATEGORIES", "HANDS", "HEIGHT", "WIDTH", "Annotation", "SurgicalFrame"]

from dataclasses import dataclass

from backend.demo.scenes import Frame, Thing
from backend.surgcheck.scene_graphs import ANATOMIES, TOOLS

WIDTH, HEIGHT = 854, 480
"""Pixels of every frame."""

CATEGORIES = ANATOMIES + TOOLS
"""In the order of their ids, which start at 1."""

HANDS = ("Rt", "Lt", "Assi")
"""The operator's right hand, the operator's left hand, the assistant's hand."""


@dataclass(frozen=True, slots=True, eq=False)
class Annotation:
    """One structure or tool of a frame."""

    category: str
    """One of `CATEGORIES`."""
    thing: Thing
    """Its visible pixels; its kind is the category."""
    hand: str = ""
    """Of a tool: one of `HANDS`; empty for an anatomy."""
    verb: str = ""
    """Of a tool: one of the scene graphs' verbs; empty for an anatomy."""
    target: str = ""
    """Of a tool: one of the scene graphs' targets, the null target exactly where the verb is null; else empty."""

    @property
    def is_tool(self) -> bool:
        """Whether it is a tool and so has a hand, a verb and a target."""
        return self.category in TOOLS


@dataclass(frozen=True, slots=True, eq=False)
class SurgicalFrame:
    """A frame and its scene graph's nodes."""

    frame: Frame
    annotations: tuple[Annotation, ...]
    """In the order drawn, anatomies first; each anatomy at most once, at most three tools."""
    cvs: tuple[float, float, float]
    """The three criteria of the Critical View of Safety as the mean of three raters: 0, 1/3, 2/3 or 1.

    Above one half exactly where the criterion is drawn: duct and artery both seen to enter the
    gallbladder; the hepatocystic (Calot's) triangle cleared; the gallbladder's lower third parted
    from the liver by a dark gap.
    """
