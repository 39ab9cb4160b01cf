"""What the learning curves are measured on: lessons about frames that nothing is learned from.

The lessons are the same at every point of the curves, and a reply counts as right only where
every token of it is the likeliest after those before it.
"""

__all__ = ["accuracy", "validation_lessons"]

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.demo.batches import Encoder, losses, see
from backend.demo.curriculum import SEED
from backend.demo.curves import Accuracy
from backend.demo.lessons import Lesson, endoscopy_lessons, surgical_lessons
from backend.demo.training_frames import Pictures

MIX = {
    "atomic": 10,
    "complex": 3,
    "verify": 5,
    "verify_complex": 1,
    "revise": 1,
    "select": 1,
    "loop": 1,
}
"""Lessons an endoscopy-like frame."""

SURGICAL_MIX = {"answer": 6, "verify": 1}
"""Lessons a laparoscopy-like picture."""

_TOGETHER, _SURGICAL_TOGETHER = 8, 16
"""Pictures measured at once."""

About = tuple[NDArray[np.uint8], list[tuple[int, Lesson]]]
"""Some pictures, and lessons each with the index of the picture it is about."""


def validation_lessons(
    endoscopy: Pictures, surgical: Pictures, surgical_answers: Mapping[str, Sequence[str]]
) -> Iterator[About]:
    """Yield the validation lessons, some pictures at a time.

    Args:
        endoscopy: The endoscopy-like frames of the validation split.
        surgical: Its laparoscopy-like pictures.
        surgical_answers: References of other pictures by task.
    """
    rng = np.random.default_rng(SEED)
    facts = endoscopy.facts
    for start in range(0, len(facts), _TOGETHER):
        some = slice(start, start + _TOGETHER)
        yield (
            endoscopy.pixels[some],
            [
                (place, lesson)
                for place, own in enumerate(facts[some])
                for lesson in endoscopy_lessons(own, facts, MIX, rng)
            ],
        )
    for start in range(0, len(surgical.facts), _SURGICAL_TOGETHER):
        some = slice(start, start + _SURGICAL_TOGETHER)
        yield (
            surgical.pixels[some],
            [
                (place, lesson)
                for place, asked in enumerate(surgical.facts[some])
                for lesson in surgical_lessons(asked, surgical_answers, SURGICAL_MIX, rng)
            ],
        )


def accuracy(vlm: Any, encoder: Encoder, about: Iterator[About]) -> Accuracy:
    """Return how many lessons the VLM has right; it is in training mode again afterwards."""
    import torch

    counts: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    vlm.eval()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for pixels, lessons in about:
            features = vlm.model.multi_modal_projector(see(vlm, pixels))
            batches = encoder.batches(lessons)
            for batch, (_, hit) in zip(batches, losses(vlm, features, batches, encoder.user), strict=True):
                for lesson, right in zip(batch.lessons, hit.all(1).tolist(), strict=True):
                    count = counts[lesson.task][lesson.kind]
                    count[0] += right
                    count[1] += 1
    vlm.train()
    return {
        task: {kind: (right, total) for kind, (right, total) in sorted(kinds.items())}
        for task, kinds in sorted(counts.items())
    }
