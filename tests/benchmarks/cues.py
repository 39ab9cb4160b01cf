"""How fast cues are placed and burned into frames, against matplotlib drawing the same ones.

    python -m tests.benchmarks.cues [--boxes 500] [--size 854x480]

A cue is a box or an arrow: its geometry from a random box, drawn into a copy of the frame, on one core. Where
matplotlib is installed it renders the same outlines and arrows over the same frame to pixels, in turns with ours.
Prints cues a second of both and the ratio of the two times.
"""

import argparse
import statistics
import time
from importlib.util import find_spec
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.surgcheck.boxes import Box
from backend.surgcheck.cue_drawing import draw_cue
from backend.surgcheck.exclusions import Reason
from backend.surgcheck.grounding_cues import Arrow, Outline, arrow_cue, box_cue

Pixels = NDArray[np.uint8]
ROUNDS = 5
N_RENDERED = 20
"""Cues a round that matplotlib draws; it is slow."""


def random_boxes(n: int, width: int, height: int) -> list[Box]:
    """Return boxes inside the frame, a tenth to a half of its sides wide and high."""
    rng = np.random.default_rng(0)
    sides = rng.uniform(0.1, 0.5, (n, 2)) * (width, height)
    starts = rng.uniform(0, 1, (n, 2)) * ((width, height) - sides)
    return [Box(*map(float, (*start, *side))) for start, side in zip(starts, sides, strict=True)]


def placed(boxes: list[Box], width: int, height: int) -> list[Outline | Arrow]:
    """Return the cues of these boxes, those that do not apply left out."""
    cues = [cue for box in boxes for cue in (box_cue(box, width, height), arrow_cue(box, width, height))]
    return [cue for cue in cues if not isinstance(cue, Reason)]


def ours(frame: Pixels, boxes: list[Box]) -> int:
    """Place and draw two cues a box; return how many."""
    height, width = frame.shape[:2]
    cues = placed(boxes, width, height)
    for cue in cues:
        draw_cue(frame, cue)
    return len(cues)


def rendered(frame: Pixels, cues: list[Outline | Arrow]) -> int:
    """Let matplotlib draw cues, each over the frame in a figure of its size; return how many."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Polygon, Rectangle

    height, width = frame.shape[:2]
    for cue in cues:
        figure = Figure(figsize=(width / 100, height / 100), dpi=100)
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.imshow(frame, aspect="auto")
        patch: Any
        if isinstance(cue, Outline):
            box = cue.box
            patch = Rectangle(
                (box.x, box.y), box.width, box.height, fill=False, edgecolor="red", linewidth=cue.thickness * 0.72
            )
        else:
            patch = Polygon(cue.corners, closed=True, facecolor="red", edgecolor="none")
        axes.add_patch(patch)
        canvas.draw()
        np.asarray(canvas.buffer_rgba())
    return len(cues)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boxes", type=int, default=500)
    parser.add_argument("--size", default="854x480")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    width, height = map(int, options.size.split("x"))
    frame = np.random.default_rng(1).integers(0, 256, (height, width, 3), dtype=np.uint8)
    boxes = random_boxes(options.boxes, width, height)
    some = placed(boxes[: N_RENDERED // 2], width, height)
    compares = find_spec("matplotlib") is not None
    per_cue: list[float] = []
    of_matplotlib: list[float] = []
    for _ in range(ROUNDS):
        start = time.process_time()
        n = ours(frame, boxes)
        per_cue.append((time.process_time() - start) / n)
        if compares:
            start = time.process_time()
            n = rendered(frame, some)
            of_matplotlib.append((time.process_time() - start) / n)
    mine = statistics.median(per_cue)
    print(f"ours        {1 / mine:8.0f} cues a second of CPU time ({width} x {height}, one core)")
    if not compares:
        print("matplotlib is not installed, so there is nothing to compare with: pip install matplotlib")
        return
    other = statistics.median(of_matplotlib)
    print(f"matplotlib  {1 / other:8.0f}")
    print(f"ratio of the times: {other / mine:.0f}")


if __name__ == "__main__":
    main()
