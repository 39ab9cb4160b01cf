"""A laparoscopy-like frame with all that a scene graph says of it, in Endoscapes-SG201's words."""

__all__ = [
    "ANATOMIES",
    "CATEGORIES",
    "HANDS",
    "HEIGHT",
    "NULL_TARGET",
    "NULL_VERB",
    "TARGETS",
    "TOOLS",
    "VERBS",
    "WIDTH",
    "Annotation",
    "SurgicalFrame",
]

from dataclasses import dataclass

from backend.demo.scenes import Frame, Thing

WIDTH, HEIGHT = 854, 480
"""Pixels of every frame."""

ANATOMIES = ("cystic_plate", "calot_triangle", "cystic_artery", "cystic_duct", "gallbladder")
TOOLS = ("clipper", "bipolar", "grasper", "scissors", "hook", "irrigator")
CATEGORIES = ANATOMIES + TOOLS
"""In the order of their ids, which start at 1."""

NULL_VERB, NULL_TARGET = "null_verb", "null_target"
VERBS = ("dissect", "retract", "grasp", "clip", "coagulate", NULL_VERB)
TARGETS = ("cystic_plate", "cystic_artery", "cystic_duct", "gallbladder", NULL_TARGET)
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
    """Of a tool: one of `VERBS`; empty for an anatomy."""
    target: str = ""
    """Of a tool: one of `TARGETS`; `NULL_TARGET` exactly where the verb is `NULL_VERB`; empty for an anatomy."""

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
