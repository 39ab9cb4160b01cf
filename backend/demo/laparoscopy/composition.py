"""Composing a frame: anatomy and tools placed so that everything said of them can be seen.

What a frame shows is one label a pixel; masks, boxes and the criteria of the CVS are read off
it. A draw in which something would be hidden is thrown away and drawn again.
"""

__all__ = ["FIRST_TOOL", "Scene", "compose"]

from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from backend.demo.laparoscopy.action import HAND_SETS, TOOL_COUNTS, Action, pick, place
from backend.demo.laparoscopy.anatomy import GAP, GRID, Layout, fill_label, lay_out, tent
from backend.demo.laparoscopy.geometry import Points
from backend.demo.laparoscopy.scene import HEIGHT, WIDTH
from backend.demo.laparoscopy.shapes import TUBES, Anatomy
from backend.demo.scenes import Thing
from backend.surgcheck.scene_graphs import NULL_VERB

FIRST_TOOL = 10
"""Label of the tool drawn first; the others count on."""

APART = 56.0
"""Pixels between two tips, at least."""
KEPT = 0.55
"""Share of an anatomy's cells that tools must leave visible."""
LEAST = 110
"""Cells of an anatomy that are visible, at least."""
TRACE = 40
"""Pixels round a tip that spark, burn, clip or fold may cover."""
GAP_KEPT = 0.7
"""Share of the gap's cells that are visible, at least."""
TOOL_KEPT, TIP_KEPT = 0.45, 0.65
"""Shares of a tool's pixels, in all and near its tip, that later tools leave visible, at least."""
TRIES = 10
"""For one number of tools; then a frame does with one fewer."""


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A frame's anatomy and tools before it is painted."""

    layout: Layout
    actions: tuple[Action, ...]
    tissue: NDArray[np.uint8] = field(repr=False)
    """The layout's labels with the tissue that tools pull."""
    labels: NDArray[np.uint8] = field(repr=False)
    """(HEIGHT, WIDTH): what each pixel shows; tools from `FIRST_TOOL` on."""
    has_overlap: bool = False
    """Whether one tool hides a part of another."""


def compose(rng: Generator, small: bool, lamp: NDArray[np.uint8]) -> Scene:
    """Draw lots for a frame until everything in it can be seen.

    Args:
        rng: Source of all choices.
        small: Whether the scene is seen from afar.
        lamp: (HEIGHT, WIDTH); how much light reaches each pixel, 0 outside the field of view.
    """
    layout = lay_out(rng, small)
    while not is_seen(bare := Scene(layout, (), layout.labels, whole(layout.labels, lamp))):
        layout = lay_out(rng, small)
    wanted = int(pick(rng, {str(n): share for n, share in TOOL_COUNTS.items()}))
    for n_tools in range(wanted, 0, -1):
        for _ in range(TRIES):
            scene = with_tools(rng, layout, n_tools, lamp)
            if scene is not None:
                return scene
    return bare


def whole(tissue: NDArray[np.uint8], lamp: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the tissue's labels at the frame's resolution, 0 where no light falls."""
    labels = cv2.resize(tissue, (WIDTH, HEIGHT), interpolation=cv2.INTER_NEAREST)
    return np.asarray(cv2.bitwise_and(labels, labels, mask=lamp))


def with_tools(rng: Generator, layout: Layout, n_tools: int, lamp: NDArray[np.uint8]) -> Scene | None:
    """Place tools; None where one hides too much, misses its target, or stands in another's way."""
    sets = HAND_SETS[n_tools]
    hands = list(sets)[int(pick(rng, {str(i): share for i, share in enumerate(sets.values())}))]
    actions: list[Action] = []
    tissue = layout.labels.copy()
    for hand in hands:
        action = place(rng, layout, hand)
        if action is None or not is_inside(action.tip, lamp):
            return None
        if any(np.hypot(*(action.tip - other.tip)) < APART for other in actions):
            return None
        if action.verb == "retract":
            target = layout.of(action.target)
            foot = tent(action.anchor / GRID, action.tip / GRID, min(30 * layout.scale, 1.5 * target.half_width))
            fill_label(tissue, foot, target.label)
        actions.append(action)
    labels = whole(tissue, lamp)
    drawn: list[tuple[int, int]] = []
    for slot, action in enumerate(actions):
        cv2.fillPoly(labels, action.outlines(), FIRST_TOOL + slot)
        drawn.append(pixels_of(labels, slot, action))
    seen = [pixels_of(labels, slot, action) for slot, action in enumerate(actions)]
    if any(now[0] < TOOL_KEPT * was[0] or now[1] < TIP_KEPT * was[1] for now, was in zip(seen, drawn, strict=True)):
        return None
    has_overlap = any(before[0] - now[0] >= 200 for now, before in zip(seen, drawn, strict=True))
    labels = np.asarray(cv2.bitwise_and(labels, labels, mask=lamp))
    scene = Scene(layout, tuple(actions), tissue, labels, has_overlap)
    return scene if is_seen(scene) else None


def pixels_of(labels: NDArray[np.uint8], slot: int, action: Action) -> tuple[int, int]:
    """Return how many pixels a tool has in all, and how many near its tip."""
    x, y = (int(v) for v in action.tip)
    near = labels[max(0, y - 50) : y + 50, max(0, x - 50) : x + 50]
    return int(np.count_nonzero(labels == FIRST_TOOL + slot)), int(np.count_nonzero(near == FIRST_TOOL + slot))


def is_inside(point: Points, lamp: NDArray[np.uint8], margin: int = 18) -> bool:
    """Whether a point lies in the field of view and well inside the frame."""
    x, y = (int(v) for v in point)
    return margin <= x < WIDTH - margin and margin <= y < HEIGHT - margin and lamp[y, x] > 0


def is_seen(scene: Scene) -> bool:
    """Whether every anatomy and every criterion drawn can be seen, and every tool at work meets its target."""
    seen, layout = scene.labels[::GRID, ::GRID], scene.layout
    for anatomy in layout.anatomies:
        least = max(LEAST, KEPT * np.count_nonzero(layout.labels == anatomy.label))
        if np.count_nonzero(seen == anatomy.label) < least:
            return False
    return shows_criteria(scene) and all(
        action.verb == NULL_VERB or has_met(seen == FIRST_TOOL + slot, seen == layout.of(action.target).label)
        for slot, action in enumerate(scene.actions)
    )


def shows_criteria(scene: Scene) -> bool:
    """Whether every criterion that is met can be seen beside the tools and what they do at their tips."""
    clear, layout = scene.labels[::GRID, ::GRID].copy(), scene.layout
    for action in scene.actions:
        if action.verb != NULL_VERB:
            x, y = (int(v) for v in action.tip / GRID)
            cv2.circle(clear, (x, y), round(TRACE * action.scale / GRID), FIRST_TOOL, -1)
    if layout.criteria[0] and not all(starts_in_sight(clear, layout.of(name)) for name in TUBES):
        return False
    return not layout.criteria[2] or bool(np.count_nonzero(clear == GAP) >= GAP_KEPT * layout.gap_cells)


def starts_in_sight(seen: NDArray[np.uint8], tube: Anatomy) -> bool:
    """Whether a tube can be seen where it leaves the gallbladder."""
    x, y = (int(v) for v in tube.middle[2])
    near = seen[max(0, y - 3) : y + 4, max(0, x - 3) : x + 4]
    return bool(np.count_nonzero(near == tube.label) >= 0.5 * near.size * min(1.0, tube.half_width / 4))


def has_met(tool: NDArray[np.bool_], target: NDArray[np.bool_]) -> bool:
    """Whether the boxes of two masks touch."""
    a, b = Thing("tool", tool).box, Thing("target", target).box
    return all(a[i] <= b[i] + b[i + 2] and b[i] <= a[i] + a[i + 2] for i in (0, 1))
