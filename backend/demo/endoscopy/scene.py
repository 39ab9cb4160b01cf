"""A whole frame, painted, with what of each thing can be seen.

Everything is planned before anything is painted. What the plan leaves too little of to be
recognised is taken out of it, so picture and list of things agree.
"""

__all__ = ["draw_endoscopy"]

import cv2
import numpy as np

from backend.demo.endoscopy.field import draw_field
from backend.demo.endoscopy.layer import Pixels, visible
from backend.demo.endoscopy.mucosa import draw_mucosa
from backend.demo.endoscopy.overlays import BOX_CIRCLE, box_layer, text_layer
from backend.demo.endoscopy.plan import LANDMARK_SHARES, Plan, plan_instruments, plan_lesions
from backend.demo.endoscopy.vocabulary import BOX, CECUM, INSTRUMENTS, POLYP
from backend.demo.scenes import Frame, Split, Thing, seed_of

HALF_HIDDEN = 0.75
"""A polyp with a smaller visible share counts as half hidden."""

SMALL_PIXELS = 616
"""A polyp with fewer pixels, hidden ones included, counts as small: a radius of 14."""


def draw_endoscopy(split: Split, number: int) -> Frame:
    """Draw the endoscopy-like frame of this number: always the same one, to the pixel, on one build.

    Args:
        split: Whose frame; splits share none.
        number: Which one, from 0.

    Returns:
        512 × 512 pixels with the things in them, from the lowest to the highest.
    """
    rng = np.random.default_rng(seed_of("endoscopy", split, number))
    is_dark, blur = rng.random() < 0.07, rng.random()
    field = draw_field(rng, rng.uniform(0.36, 0.46) if is_dark else rng.uniform(0.9, 1.08))
    landmark = str(rng.choice(list(LANDMARK_SHARES), p=list(LANDMARK_SHARES.values())))
    overlays = [draw(rng) for draw in (box_layer, text_layer) if rng.random() < 0.45]
    plan = Plan(field)
    if any(overlay.kind == BOX for overlay in overlays):
        plan.taken.append(BOX_CIRCLE)
    plan_lesions(rng, plan, landmark)
    plan_instruments(rng, plan)
    seen = visible([*plan.layers, *overlays], field.mask > 127)

    pixels = draw_mucosa(rng, field, landmark in ("", CECUM) and rng.random() < 0.6)
    for layer, _ in seen:
        if not layer.is_overlay:
            layer.paint(pixels)
    pixels = cv2.multiply(pixels, field.light, scale=1 / 255)
    if blur < 0.035:
        pixels = _defocused(pixels, rng.uniform(1.4, 2.0))
    elif blur < 0.07:
        pixels = _moved(pixels, rng.uniform(0, np.pi))
    for layer, _ in seen:
        if layer.is_overlay:
            layer.paint(pixels)

    polyps = [(np.count_nonzero(layer.mask > 127), np.count_nonzero(m)) for layer, m in seen if layer.kind == POLYP]
    reasons = {
        "small": any(whole < SMALL_PIXELS for whole, _ in polyps),
        "dark": is_dark,
        "blurred": blur < 0.07,
        "half hidden": any(left < HALF_HIDDEN * whole for whole, left in polyps),
        "several instruments": sum(layer.kind in INSTRUMENTS for layer, _ in seen) > 1,
    }
    return Frame(
        pixels.astype(np.uint8, copy=False),
        tuple(Thing(layer.kind, mask) for layer, mask in seen),
        tuple(reason for reason, holds in reasons.items() if holds),
    )


def _defocused(pixels: Pixels, sigma: float) -> Pixels:
    """Blur at half the size, where it costs a quarter."""
    half = cv2.resize(pixels, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    blurred: Pixels = cv2.resize(cv2.GaussianBlur(half, (0, 0), sigma), pixels.shape[:2])
    return blurred


def _moved(pixels: Pixels, angle: float) -> Pixels:
    """Smear along a line of 14 pixels."""
    kernel = np.zeros((9, 9), np.float32)
    dx, dy = round(3.5 * np.cos(angle)), round(3.5 * np.sin(angle))
    cv2.line(kernel, (4 - dx, 4 - dy), (4 + dx, 4 + dy), 1, 1)
    half = cv2.resize(pixels, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    smeared: Pixels = cv2.resize(cv2.filter2D(half, -1, kernel / kernel.sum()), pixels.shape[:2])
    return smeared
