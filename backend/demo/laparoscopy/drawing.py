"""Drawing one laparoscopy-like frame from its number."""

__all__ = ["draw_laparoscopy"]

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from backend.demo.laparoscopy.composition import FIRST_TOOL, Scene, compose
from backend.demo.laparoscopy.painting import paint
from backend.demo.laparoscopy.scene import HEIGHT, WIDTH, Annotation, SurgicalFrame
from backend.demo.scenes import Frame, Split, Thing, seed_of

HARD = ("smoke", "dark", "blurred", "small")
HARD_SHARE = 0.18
OVERLAPPING = "overlapping tools"


def draw_laparoscopy(split: Split, number: int) -> SurgicalFrame:
    """Draw a frame: the same one for the same split and number on one build of numpy and OpenCV.

    Args:
        split: Frames of different splits share no seed.
        number: Of the frame within its split.
    """
    rng = np.random.default_rng(seed_of("laparoscopy", split, number))
    hard = (HARD[int(rng.integers(len(HARD)))],) if rng.random() < HARD_SHARE else ()
    lamp = shine(rng)
    scene = compose(rng, "small" in hard, lamp)
    pixels = paint(rng, scene, hard, lamp)
    annotations = annotated(scene)
    if scene.has_overlap:
        hard = (*hard, OVERLAPPING)
    frame = Frame(pixels, tuple(a.thing for a in annotations), hard)
    return SurgicalFrame(frame, annotations, rated(rng, scene.layout.criteria))


def shine(rng: Generator) -> NDArray[np.uint8]:
    """Return how much light reaches each pixel, 0 to 255; half the frames have a round field of view."""
    step = 8
    down, across = np.mgrid[0:HEIGHT:step, 0:WIDTH:step].astype(np.float32)
    centre = rng.uniform(0.44, 0.56, 2) * (WIDTH, HEIGHT)
    distance = np.hypot(across - centre[0], down - centre[1])
    light = 262 - 105 * (distance / (0.5 * WIDTH)) ** 2.2
    if rng.random() < 0.5:
        light *= np.clip((rng.uniform(400, 440) - distance) / 14, 0, 1)
    else:
        light = np.maximum(light, 60)
    return np.asarray(cv2.resize(np.clip(light, 0, 255).astype(np.uint8), (WIDTH, HEIGHT)))


def annotated(scene: Scene) -> tuple[Annotation, ...]:
    """Read the annotations off the labels."""
    found = [
        Annotation(anatomy.name, Thing(anatomy.name, scene.labels == anatomy.label))
        for anatomy in scene.layout.anatomies
    ]
    for slot, act in enumerate(scene.actions):
        found.append(
            Annotation(act.tool, Thing(act.tool, scene.labels == FIRST_TOOL + slot), act.hand, act.verb, act.target)
        )
    return tuple(found)


def rated(rng: Generator, criteria: tuple[bool, bool, bool]) -> tuple[float, float, float]:
    """Return the mean of three raters for each criterion, who mostly agree."""
    first, second, third = ((2 + int(rng.random() < 0.6) if seen else int(rng.random() < 0.4)) / 3 for seen in criteria)
    return first, second, third
