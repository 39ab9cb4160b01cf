"""In which order the VLM in the box is taught, and how much of what.

The vision tower and the projector learn what each patch is called, and the whole VLM learns to
answer, mostly atomic questions; both by turns. Last it learns all prompts of the three
systems together.
"""

__all__ = ["CURRICULUM", "SEED", "Stage"]

import math
from dataclasses import dataclass, field

from backend.demo.lessons import Mix

SEED = 20261129

WARM_UP = 50
"""Steps in which a stage's learning rate rises to its highest."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the training."""

    name: str
    steps: int
    endoscopy: int
    """Endoscopy-like frames a step."""
    surgical: int
    """Laparoscopy-like pictures a step."""
    learning_rate: float
    """At its highest, after the warm-up."""
    last_rate: float
    """At the stage's end, as a share of the highest; cosine between."""
    naming: float
    """Weight of the naming loss beside that of the replies."""
    seeing: float = 1.0
    """Learning rate of vision tower and projector, as a share of the others': few pictures a step disturb them."""
    mix: Mix = field(default_factory=dict)
    """Lessons a frame; empty where only naming is taught."""
    surgical_mix: Mix = field(default_factory=dict)
    """Lessons a laparoscopy-like picture: answer and verify."""

    def rate(self, number: int) -> float:
        """Return the learning rate of one of the stage's steps: a linear warm-up, then cosine.

        Args:
            number: The step's within the stage, from 0.
        """
        warm = min(1.0, (number + 1) / WARM_UP)
        fallen = (1 - math.cos(math.pi * number / self.steps)) / 2
        return self.learning_rate * (warm * (1 - (1 - self.last_rate) * fallen))


_ANSWERING: Mix = {"atomic": 4, "complex": 0.3, "verify": 0.3}
"""Lessons a frame where mostly atomic questions are taught."""

_ALL_PROMPTS: Mix = {
    "atomic": 2,
    "generate": 0.25,
    "complex": 1.2,
    "verify": 1.2,
    "verify_complex": 0.2,
    "revise": 0.5,
    "select": 0.4,
    "loop": 0.3,
    "self_revise": 0.1,
    "self_select": 0.1,
}
"""Lessons a frame where all prompts are taught, …"""

_ALL_SURGICAL: Mix = {"answer": 4, "verify": 0.4}
"""… and a laparoscopy-like picture."""

CURRICULUM = (
    Stage("naming", 600, endoscopy=24, surgical=16, learning_rate=1.5e-3, last_rate=0.2, naming=20),
    Stage(
        "answering",
        2000,
        endoscopy=8,
        surgical=4,
        learning_rate=2e-3,
        last_rate=0.5,
        naming=6,
        mix=_ANSWERING,
        surgical_mix={"answer": 3},
    ),
    Stage(
        "more answering",
        651,
        endoscopy=7,
        surgical=7,
        learning_rate=1.5e-3,
        last_rate=0.84,
        naming=6,
        mix=_ANSWERING,
        surgical_mix={"answer": 4},
    ),
    Stage("more naming", 2000, endoscopy=24, surgical=24, learning_rate=1.5e-3, last_rate=0.1, naming=20),
    Stage(
        "more answering still",
        138,
        endoscopy=7,
        surgical=7,
        learning_rate=1.5e-3,
        last_rate=1.0,
        naming=6,
        mix=_ANSWERING,
        surgical_mix={"answer": 4},
    ),
    Stage("last naming", 400, endoscopy=24, surgical=24, learning_rate=1e-3, last_rate=0.05, naming=20),
    Stage(
        "answering with names",
        1400,
        endoscopy=7,
        surgical=7,
        learning_rate=1.5e-3,
        last_rate=0.7,
        seeing=0.1,
        naming=6,
        mix=_ANSWERING,
        surgical_mix={"answer": 4},
    ),
    Stage(
        "all prompts",
        256,
        endoscopy=7,
        surgical=5,
        learning_rate=1.2e-3,
        last_rate=1.0,
        seeing=0.1,
        naming=3,
        mix=_ALL_PROMPTS,
        surgical_mix=_ALL_SURGICAL,
    ),
    Stage(
        "all prompts to the end",
        1750,
        endoscopy=6,
        surgical=4,
        learning_rate=1.2e-3,
        last_rate=0.02,
        seeing=0.1,
        naming=3,
        mix=_ALL_PROMPTS,
        surgical_mix=_ALL_SURGICAL,
    ),
    Stage(
        "reconciling",
        450,
        endoscopy=7,
        surgical=2,
        learning_rate=8e-4,
        last_rate=0.02,
        seeing=0.1,
        naming=3,
        mix={
            "atomic": 1.2,
            "generate": 0.1,
            "complex": 1,
            "verify": 0.7,
            "verify_complex": 0.1,
            "revise": 2.2,
            "select": 0.6,
            "loop": 0.1,
            "self_revise": 0.6,
            "self_select": 0.2,
        },
        surgical_mix=_ALL_SURGICAL,
    ),
)
"""The stages, in order."""
