"""In which order the VLM in the box is taught, and how much of what.

First the vision tower alone learns what lies where; then the whole VLM learns to answer,
mostly atomic questions; last it learns all prompts of the three systems together.
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
    mix: Mix = field(default_factory=dict)
    """Lessons a frame; empty where only the vision tower is taught."""
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


CURRICULUM = (
    Stage("seeing", 700, endoscopy=24, surgical=16, learning_rate=1.5e-3, last_rate=0.1),
    Stage(
        "answering",
        500,
        endoscopy=6,
        surgical=4,
        learning_rate=1e-3,
        last_rate=0.8,
        mix={"atomic": 8, "generate": 0.5, "complex": 1.5, "verify": 1.5, "revise": 0.5, "select": 0.5},
        surgical_mix={"answer": 7, "verify": 0.5},
    ),
    Stage(
        "all prompts",
        1600,
        endoscopy=5,
        surgical=2,
        learning_rate=8e-4,
        last_rate=0.02,
        mix={
            "atomic": 5,
            "generate": 0.5,
            "complex": 2.5,
            "verify": 2.5,
            "verify_complex": 0.4,
            "revise": 1,
            "select": 0.8,
            "loop": 0.6,
            "self_revise": 0.2,
            "self_select": 0.2,
        },
        surgical_mix={"answer": 8, "verify": 1},
    ),
)
"""The stages, in order."""
