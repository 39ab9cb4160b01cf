"""What a frame will hold and where, in the order it is painted.

Lesions keep clear of each other and of what makes a landmark recognisable; instruments may
cover anything.
"""

__all__ = ["LANDMARK_SHARES", "Plan", "plan_instruments", "plan_lesions"]

import dataclasses
from dataclasses import dataclass

import numpy as np

from backend.demo.endoscopy.field import Field
from backend.demo.endoscopy.instruments import instrument_layer
from backend.demo.endoscopy.landmarks import ZLine, cecum, ileum, pylorus, z_line
from backend.demo.endoscopy.layer import Layer
from backend.demo.endoscopy.lesions import colitis_layer, oesophagitis_layer, polyp_layer, resection_layer
from backend.demo.endoscopy.vocabulary import CECUM, CLIP, ILEUM, INSTRUMENTS, PYLORUS, Z_LINE

LANDMARK_SHARES = {"": 0.58, Z_LINE: 0.14, PYLORUS: 0.09, CECUM: 0.095, ILEUM: 0.095}
"""How often a frame shows each landmark, or none (the empty name)."""

_POLYP_COUNTS = (0.28, 0.34, 0.22, 0.11, 0.05)
_INSTRUMENT_COUNTS = (0.45, 0.42, 0.11, 0.02)


Circle = tuple[float, float, float]
"""x, y and radius in pixels."""


@dataclass(slots=True)
class Plan:
    """Layers from the lowest to the highest, and the circles that are taken."""

    field: Field
    layers: list[Layer] = dataclasses.field(default_factory=list)
    taken: list[Circle] = dataclasses.field(default_factory=list)
    polyps: list[Circle] = dataclasses.field(default_factory=list)
    """Where instruments may aim."""

    def place(self, rng: np.random.Generator, radius: float, at_border: bool = False) -> tuple[float, float] | None:
        """Find and take a free circle, anywhere or half outside the field; None where forty tries found none."""
        inmost, outmost = (0.93, 1.0) if at_border else (0.0, 0.86 - 0.8 * radius / self.field.radius)
        for _ in range(40):
            share = rng.uniform(inmost**2, outmost**2) ** 0.5
            x, y = self.field.at(rng.uniform(0, 2 * np.pi), share)
            if all(np.hypot(x - a, y - b) > 0.95 * (radius + r) + 4 for a, b, r in self.taken):
                self.taken.append((x, y, radius))
                return x, y
        return None


def plan_lesions(rng: np.random.Generator, plan: Plan, landmark: str) -> None:
    """Plan the landmark, patches, resection site and polyps."""
    if landmark == Z_LINE:
        border = z_line(rng, plan.field)
        plan.layers.append(border.landmark.layer)
        plan.taken.append((border.landmark.x, border.landmark.y, border.landmark.radius))
        if rng.random() < 0.55:
            _plan_oesophagitis(rng, plan, border)
    elif landmark:
        found = {PYLORUS: pylorus, CECUM: cecum, ILEUM: ileum}[landmark](rng, plan.field)
        plan.layers.append(found.layer)
        plan.taken.append((found.x, found.y, found.radius))
    if landmark in ("", CECUM, ILEUM) and rng.random() < 0.15:
        for _ in range(rng.integers(1, 3)):
            radius = rng.uniform(42, 66)
            if at := plan.place(rng, radius):
                plan.layers.append(colitis_layer(rng, *at, radius))
    n_polyps = int(rng.choice(5, p=_POLYP_COUNTS))
    if rng.random() < (0.16 if n_polyps else 0.4):
        radius = rng.uniform(26, 46)
        if at := plan.place(rng, radius):
            plan.layers.append(resection_layer(rng, *at, radius))
    _plan_polyps(rng, plan, n_polyps)


def _plan_oesophagitis(rng: np.random.Generator, plan: Plan, line: ZLine) -> None:
    around = line.border[:, 0]
    first = int(rng.integers(len(around)))
    wanted = int(rng.integers(1, 3))
    for k in range(len(around)):
        x, y = (float(v) for v in around[(first + 7 * k) % len(around)])
        out = float(np.arctan2(y - line.landmark.y, x - line.landmark.x))
        length = float(rng.uniform(62, 90))
        middle = x + length / 2 * np.cos(out), y + length / 2 * np.sin(out)
        end = x + length * np.cos(out), y + length * np.sin(out)
        inside = np.hypot(end[0] - plan.field.x, end[1] - plan.field.y) < 0.82 * plan.field.radius
        if inside and all(np.hypot(middle[0] - a, middle[1] - b) > 36 + r for a, b, r in plan.taken):
            plan.layers.append(oesophagitis_layer(rng, x, y, out, length))
            plan.taken.append((*middle, 44.0))
            wanted -= 1
        if not wanted:
            return


def _plan_polyps(rng: np.random.Generator, plan: Plan, wanted: int) -> None:
    has_small = rng.random() < 0.12
    for k in range(wanted):
        largest = 70 if wanted < 3 else 46
        radius = 15 + (largest - 15) * rng.uniform(0, 1) ** 1.5
        if has_small and k == 0:
            radius = rng.uniform(10, 14)
        at = plan.place(rng, radius, at_border=radius > 20 and rng.random() < 0.08)
        if at is None:
            radius = min(radius, 17.0)
            at = plan.place(rng, radius)
        if at:
            plan.layers.append(polyp_layer(rng, plan.field, *at, radius))
            plan.polyps.append((*at, radius))


def plan_instruments(rng: np.random.Generator, plan: Plan) -> None:
    """Plan up to three instruments, clips lowest; only a clip comes twice, and tips keep apart where they can."""
    wanted = int(rng.choice(4, p=_INSTRUMENT_COUNTS))
    kinds: list[str] = []
    for _ in range(wanted):
        kinds.append(str(rng.choice([kind for kind in INSTRUMENTS if kind == CLIP or kind not in kinds])))
    entries: list[float] = []
    tips: list[tuple[float, float]] = []
    for kind in sorted(kinds, key=lambda kind: kind != CLIP):
        if kind == CLIP:
            if at := plan.place(rng, 28):
                plan.layers.append(instrument_layer(rng, plan.field, CLIP, at, rng.uniform(0, 2 * np.pi)))
                tips.append(at)
            continue
        for _ in range(12):
            turn = rng.uniform(0, 2 * np.pi)
            tip = plan.field.at(turn + rng.uniform(-0.5, 0.5), rng.uniform(0.1, 0.55))
            if plan.polyps and rng.random() < 0.3:
                x, y, radius = plan.polyps[rng.integers(len(plan.polyps))]
                edge = x + 0.8 * radius * np.cos(turn), y + 0.8 * radius * np.sin(turn)
                if np.hypot(edge[0] - plan.field.x, edge[1] - plan.field.y) < 0.68 * plan.field.radius:
                    tip = edge
            apart = [np.hypot(tip[0] - x, tip[1] - y) > 100 for x, y in tips]
            if all(apart) and all(np.cos(turn - other) < 0.5 for other in entries):
                break
        entries.append(turn)
        tips.append(tip)
        plan.layers.append(instrument_layer(rng, plan.field, kind, tip, turn))
