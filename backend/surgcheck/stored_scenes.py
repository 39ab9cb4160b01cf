"""Scene graphs, boxes and drawn cues as JSON, as a store keeps them: what is read back equals what was written."""

__all__ = ["dump_box", "dump_drawing", "dump_scene", "load_box", "load_drawing", "load_scene"]

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from backend.surgcheck.boxes import Box, Relation
from backend.surgcheck.grounding_cues import Arrow, Outline
from backend.surgcheck.scene_graphs import Anatomy, Cvs, Hand, SceneGraph, Tool, Triplet


def dump_box(box: Box) -> str:
    """Return a box as ``[x, y, width, height]``."""
    return json.dumps([box.x, box.y, box.width, box.height])


def load_box(text: str) -> Box:
    """Return the box that `dump_box` wrote."""
    return Box(*json.loads(text))


def dump_drawing(drawing: Outline | Arrow) -> str:
    """Return what is drawn into a picture, with its kind: outline or arrow."""
    return json.dumps({"kind": "outline" if isinstance(drawing, Outline) else "arrow", **asdict(drawing)})


def load_drawing(text: str) -> Outline | Arrow:
    """Return the drawing that `dump_drawing` wrote."""
    held = json.loads(text)
    if held.pop("kind") == "outline":
        return Outline(**{**held, "box": Box(**held["box"])})
    return Arrow(**{**held, "tip": tuple(held["tip"]), "side": Relation(held["side"])})


def dump_scene(scene: SceneGraph) -> str:
    """Return a scene graph, its dataclasses as objects."""
    return json.dumps(asdict(scene))


def load_scene(text: str) -> SceneGraph:
    """Return the scene graph that `dump_scene` wrote."""
    held = json.loads(text)
    return SceneGraph(
        **{
            **held,
            "tools": tuple(_tool(tool) for tool in held["tools"]),
            "anatomies": tuple(Anatomy(**{**one, "box": Box(**one["box"])}) for one in held["anatomies"]),
            "cvs": Cvs(**held["cvs"]) if held["cvs"] else None,
        }
    )


def _tool(held: Mapping[str, Any]) -> Tool:
    return Tool(
        **{
            **held,
            "box": Box(**held["box"]),
            "hand": Hand(held["hand"]) if held["hand"] else None,
            "triplet": Triplet(**held["triplet"]) if held["triplet"] else None,
        }
    )
