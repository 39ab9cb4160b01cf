"""Scene graphs for the tests: written by hand, drawn at random, or read from the research data."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from backend.surgcheck.boxes import Box
from backend.surgcheck.scene_graphs import (
    ANATOMIES,
    NULL_TARGET,
    NULL_VERB,
    TARGETS,
    TOOLS,
    VERBS,
    Anatomy,
    Cvs,
    Hand,
    SceneGraph,
    Tool,
    Triplet,
    read_scene_graphs,
)

WIDTH, HEIGHT = 854, 480

HANDMADE = Path("data/endoscapes/handmade")

FEW, MANY = settings(deadline=None, max_examples=20), settings(deadline=None, max_examples=60)
"""How many random cases a property is tried on; the slower ones on few."""


def box(x: float, y: float, width: float, height: float) -> Box:
    return Box(x, y, width, height)


def tool(number: int, at: Box, hand: Hand | None = None, action: str = "", category: str = "grasper") -> Tool:
    """A tool; ``action`` is verb and target, such as ``retract gallbladder``, or empty for none."""
    triplet = Triplet(category, *action.split()) if action else None
    return Tool(number, category, at, hand, triplet)


def scene(tools: tuple[Tool, ...] = (), anatomies: tuple[Anatomy, ...] = (), cvs: Cvs | None = None) -> SceneGraph:
    return SceneGraph("7_100.jpg", WIDTH, HEIGHT, "7", tools, anatomies, cvs)


def coco_of(*annotations: dict[str, Any], **image: Any) -> dict[str, Any]:
    """A COCO file of one frame in the layout of Endoscapes-SG201."""
    frame = {"id": 1, "file_name": "7_100.jpg", "width": WIDTH, "height": HEIGHT, "video_id": 7, **image}
    names = (*ANATOMIES, *TOOLS)
    return {
        "images": [frame],
        "annotations": [{"image_id": 1, **row} for row in annotations],
        "categories": [{"id": number, "name": name} for number, name in enumerate(names, 1)],
    }


def handmade_scenes(shared: Path) -> tuple[SceneGraph, ...]:
    """The fourteen frames with one edge case each."""
    return read_scene_graphs(json.loads((shared / HANDMADE / "handmade_sg201_coco.json").read_text("utf-8")))


def real_frames(shared: Path) -> tuple[SceneGraph, ...]:
    """Real frames with the boxes measured from the release's own drawings."""
    return read_scene_graphs(
        json.loads((shared / HANDMADE / "handmade_real_frames_partial_coco.json").read_text("utf-8"))
    )


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    """Boxes that show in the frame, whole pixels or not, some reaching beyond it, some tiny."""
    width = draw(st.one_of(st.integers(1, 20), st.integers(20, 900)))
    height = draw(st.one_of(st.integers(1, 20), st.integers(20, 500)))
    x = draw(st.integers(1 - width, WIDTH - 1))
    y = draw(st.integers(1 - height, HEIGHT - 1))
    shift = draw(st.sampled_from((0.0, 0.25, 1 / 3)))
    return Box(x + shift, y, width, height)


@st.composite
def tools(draw: st.DrawFn, number: int) -> Tool:
    category = draw(st.sampled_from(TOOLS))
    verb = draw(st.sampled_from([verb for verb in VERBS if verb != NULL_VERB]))
    target = draw(st.sampled_from([target for target in TARGETS if target != NULL_TARGET]))
    triplet = draw(st.sampled_from((Triplet(category, verb, target), Triplet(category, verb, target), None)))
    return Tool(number, category, draw(boxes()), draw(st.sampled_from((*Hand, None))), triplet)


@st.composite
def scene_graphs(draw: st.DrawFn) -> SceneGraph:
    """Frames with up to four tools and six structures, many of them alike or on top of each other."""
    count = draw(st.integers(0, 4))
    drawn = tuple(draw(tools(number)) for number in range(1, count + 1))
    structures = tuple(
        Anatomy(number, draw(st.sampled_from(ANATOMIES)), draw(boxes()))
        for number in range(11, 11 + draw(st.integers(0, 6)))
    )
    cvs = draw(st.one_of(st.none(), st.builds(Cvs, st.booleans(), st.booleans(), st.booleans())))
    return scene(drawn, structures, cvs)
