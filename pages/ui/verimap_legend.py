"""The legend of the plane: colour is the task, shape the verifier, and what hollow, dotted and faint mean."""

__all__ = ["plane_legend"]

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any

from backend.figures.style import DARK, LIGHT, short_name
from backend.figures.tasks import TASK_NAMES, TASK_ORDER, task_color
from backend.figures.verimap import symbol_of
from backend.verimap.quadrants import PlaneThresholds

Row = Mapping[str, Any]

_SHAPES: Mapping[str, str] = MappingProxyType(
    {
        "circle": "border-radius:50%",
        "square": "",
        "diamond": "clip-path:polygon(50% 0,100% 50%,50% 100%,0 50%)",
        "triangle-up": "clip-path:polygon(50% 6%,100% 92%,0 92%)",
        "star": "clip-path:polygon(50% 0,62% 36%,100% 36%,69% 58%,81% 95%,50% 72%,19% 95%,31% 58%,0 36%,38% 36%)",
        "cross": (
            "clip-path:polygon(33% 0,67% 0,67% 33%,100% 33%,100% 67%,67% 67%,67% 100%,33% 100%,33% 67%,0 67%,0 33%,"
            "33% 33%)"
        ),
        "hexagon": "clip-path:polygon(25% 6%,75% 6%,100% 50%,75% 94%,25% 94%,0 50%)",
        "triangle-down": "clip-path:polygon(0 8%,100% 8%,50% 94%)",
        "pentagon": "clip-path:polygon(50% 0,100% 38%,82% 98%,18% 98%,0 38%)",
        "x": (
            "clip-path:polygon(20% 0,50% 30%,80% 0,100% 20%,70% 50%,100% 80%,80% 100%,50% 70%,20% 100%,0 80%,30% 50%,"
            "0 20%)"
        ),
        "bowtie": "clip-path:polygon(0 0,50% 50%,100% 0,100% 100%,50% 50%,0 100%)",
        "hourglass": "clip-path:polygon(0 0,100% 0,50% 50%,100% 100%,0 100%,50% 50%)",
    }
)

_HOLLOW = "mask:radial-gradient(circle closest-side at 50% 50%,transparent 52%,black 62%)"
_LINE = "display:flex;flex-wrap:wrap;gap:.25em 1.1em;font-size:.88em;margin:.1em 0"
_ENTRY = "display:inline-flex;align-items:center;gap:.4em;white-space:nowrap"


def plane_legend(
    rows: Sequence[Row], printed: Sequence[Row], places: Mapping[str, int], thresholds: PlaneThresholds
) -> str:
    """Return the legend as HTML: tasks and VLMs that occur, and the marks that do.

    Args:
        rows: Of `placed`.
        printed: Printed points.
        places: Place of each VLM.
        thresholds: Where the corners begin.
    """
    both = [*rows, *printed]
    tasks = [task for task in TASK_ORDER if any(row["task"] == task for row in both)]
    vlms = sorted({row["verifier"] for row in both}, key=lambda vlm: (places.get(vlm, len(places)), vlm))
    lines = (
        [
            (_mark("circle", f"light-dark({task_color(task, LIGHT)},{task_color(task, DARK)})"), TASK_NAMES[task], "")
            for task in tasks
        ],
        [(_mark(symbol_of(places.get(vlm, len(places)))), short_name(vlm), vlm) for vlm in vlms],
        _marks(rows, printed, thresholds),
    )
    return "".join(_entries(line) for line in lines if line)


def _marks(rows: Sequence[Row], printed: Sequence[Row], thresholds: PlaneThresholds) -> list[tuple[str, str, str]]:
    marks = []
    if any(row["too_small"] for row in rows):
        marks.append(
            (_mark("circle", more=_HOLLOW), f"fewer than {thresholds.min_n:,} verdicts: too small to judge", "")
        )
    if any(not row["is_self"] for row in rows):
        dotted = "background:radial-gradient(circle closest-side,Canvas 34%,currentColor 42%)"
        marks.append((_mark("circle", more=dotted), "dot inside: verifies another VLM's answers", ""))
    if printed:
        marks.append((_mark("circle", more=f"{_HOLLOW};opacity:.7"), "thin and hollow: printed in the paper, no n", ""))
    if rows:
        counts = [int(row["n"]) for row in rows]
        marks.append(("", f"size: verdicts, {min(counts):,} to {max(counts):,}; thin lines: 95 % intervals", ""))
    return marks


def _entries(entries: Iterable[tuple[str, str, str]]) -> str:
    spans = "".join(
        f'<span style="{_ENTRY}" title="{escape(title)}">{mark}<span>{escape(words)}</span></span>'
        for mark, words, title in entries
    )
    return f'<div style="{_LINE}">{spans}</div>'


def _mark(symbol: str, color: str = "currentColor", more: str = "") -> str:
    style = f"display:inline-block;flex:none;width:.8em;height:.8em;background:{color};{_SHAPES[symbol]};{more}"
    return f'<i style="{style}"></i>'
