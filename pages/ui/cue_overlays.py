"""Cues and scene graphs as drawings over a frame, for people: each an SVG in the frame's own pixels.

A box or an arrow is drawn where the VLM's picture has it. What words alone tell the VLM (a position, whose
hand) is drawn too; each drawing says whether the VLM sees it. Nothing here changes a picture.
"""

__all__ = [
    "CUE_RED",
    "Overlay",
    "arrow_overlay",
    "box_overlay",
    "grid_overlay",
    "hands_overlay",
    "scene_overlay",
]

import base64
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from backend.surgcheck.boxes import Box
from backend.surgcheck.grounding_cues import RELEASE_WIDTH, Arrow, Outline, Position
from backend.surgcheck.question_texts import hand_phrase
from backend.surgcheck.scene_graphs import Hand, SceneGraph, Tool

CUE_RED = "#ff0000"
"""As the VLM's pictures have it (`backend.surgcheck.cue_drawing.RED`)."""

MARK, STRUCTURE = "#56B4E9", "#F0E442"
"""Colours that read on tissue: of what is pointed at by words and of tools, and of anatomical structures."""

INK = "#0e1013"
"""Round letters and thin lines, so that they read on bright tissue too."""


LETTERS, LETTER_WIDTH = 22, 12
"""Size of a label's letters, and a generous width of one, in pixels at a width of 854."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """One drawing, switched on and off by itself."""

    name: str
    """In our own words."""
    svg: str
    is_seen: bool
    """Whether the VLM's own picture has it."""

    @property
    def preview_url(self) -> str:
        """The drawing without its words, which nobody could read in a small picture."""
        return _url(re.sub(r"<text .*?</text>", "", self.svg))

    @property
    def url(self) -> str:
        """The drawing as the address of an image."""
        return _url(self.svg)


def box_overlay(outline: Outline, width: int, height: int, *, is_seen: bool) -> Overlay:
    """Return the box of a box cue, whether the VLM was given that one or another."""
    line = _rect(outline.box, CUE_RED, outline.thickness)
    return Overlay("Red box", _svg(width, height, line), is_seen)


def arrow_overlay(arrow: Arrow, width: int, height: int, *, is_seen: bool) -> Overlay:
    """Return the arrow of an arrow cue, whether the VLM was given that one or another."""
    points = " ".join(f"{_number(x)},{_number(y)}" for x, y in arrow.corners)
    return Overlay("Red arrow", _svg(width, height, f'<polygon points="{points}" fill="{CUE_RED}"/>'), is_seen)


def grid_overlay(position: Position, width: int, height: int) -> Overlay:
    """Return the nine cells with the one that a position word names lit."""
    at = list(Position).index(position)
    across, down = width / 3, height / 3
    cell = Box(at % 3 * across, at // 3 * down, across, down)
    scale = _scale(width)
    lit = _rect(cell, MARK, 3 * scale, f'fill="{MARK}" fill-opacity="0.22"')
    lines = "".join(
        _line(x, 0, x, height, scale) + _line(0, y, width, y, scale)
        for x, y in ((across, down), (2 * across, 2 * down))
    )
    word = _text(cell.x + 8 * scale, cell.y + 26 * scale, str(position), MARK, scale)
    return Overlay("Position grid", _svg(width, height, lines + lit + word), is_seen=False)


def hands_overlay(tools: Iterable[Tool], named: Hand | None, width: int, height: int) -> Overlay:
    """Return the tools' boxes labelled by hand, those of the named hand lit; a tool without a hand says so."""
    scale = _scale(width)
    parts = []
    for tool in tools:
        is_lit = tool.hand is not None and tool.hand is named
        filling = f'fill="{MARK}" fill-opacity="0.22"' if is_lit else f'stroke-dasharray="{_number(7 * scale)}"'
        words = hand_phrase(tool.hand) if tool.hand else "hand not given"
        parts.append(_rect(tool.box, MARK, (4 if is_lit else 2) * scale, filling))
        parts.append(_label(tool.box, words, MARK, width, height))
    return Overlay("Hands", _svg(width, height, "".join(parts)), is_seen=False)


def scene_overlay(scene: SceneGraph) -> Overlay:
    """Return everything that is annotated in a frame: tools with what they do, anatomical structures."""
    scale = _scale(scene.width)
    parts = []
    for anatomy in scene.anatomies:
        dashes = f'stroke-dasharray="{_number(6 * scale)}"'
        parts.append(_rect(anatomy.box, STRUCTURE, 2 * scale, dashes))
        parts.append(_label(anatomy.box, _spaced(anatomy.category), STRUCTURE, scene.width, scene.height))
    for tool in scene.tools:
        parts.append(_rect(tool.box, MARK, 2 * scale))
        parts.append(_label(tool.box, _tool_words(tool), MARK, scene.width, scene.height))
    return Overlay("Scene graph", _svg(scene.width, scene.height, "".join(parts)), is_seen=False)


def _tool_words(tool: Tool) -> str:
    if tool.triplet is None:
        return f"{tool.category}, no action"
    return f"{tool.category}: {tool.triplet.verb} {_spaced(tool.triplet.target)}"


def _url(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _svg(width: int, height: int, inner: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" fill="none">{inner}</svg>'
    )


def _rect(box: Box, color: str, thickness: float, more: str = "") -> str:
    return (
        f'<rect x="{_number(box.x)}" y="{_number(box.y)}" width="{_number(box.width)}" height="{_number(box.height)}" '
        f'stroke="{color}" stroke-width="{_number(thickness)}"{" " if more else ""}{more}/>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, scale: float) -> str:
    ends = f'x1="{_number(x1)}" y1="{_number(y1)}" x2="{_number(x2)}" y2="{_number(y2)}"'
    return (
        f'<line {ends} stroke="{INK}" stroke-opacity="0.6" stroke-width="{_number(4 * scale)}"/>'
        f'<line {ends} stroke="{MARK}" stroke-width="{_number(2 * scale)}"/>'
    )


def _label(box: Box, words: str, color: str, width: int, height: int) -> str:
    """Return words at a box's upper left corner, above it where there is room, and inside the frame."""
    scale = _scale(width)
    inside = box.clipped(width, height) or box
    room = width - len(words) * LETTER_WIDTH * scale
    x = max(min(inside.x, room), 0) + 2 * scale
    y = inside.y - 7 * scale if inside.y > LETTERS * scale + 8 else inside.y + (LETTERS + 2) * scale
    return _text(x, y, words, color, scale)


def _text(x: float, y: float, words: str, color: str, scale: float) -> str:
    return (
        f'<text x="{_number(x)}" y="{_number(y)}" font-family="sans-serif" font-size="{_number(LETTERS * scale)}" '
        f'font-weight="600" fill="{color}" stroke="{INK}" stroke-width="{_number(3 * scale)}" '
        f'stroke-linejoin="round" paint-order="stroke">{escape(words)}</text>'
    )


def _scale(width: int) -> float:
    return width / RELEASE_WIDTH


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
