"""A scene graph: the tools, anatomical structures and CVS criteria annotated in one frame.

Read from one COCO file per split as Endoscapes-SG201 lays it out. What is read is complete
and of known words, or the file is refused with the id of the annotation at fault.
"""

__all__ = [
    "ANATOMIES",
    "NULL_TARGET",
    "NULL_VERB",
    "TARGETS",
    "TOOLS",
    "VERBS",
    "Anatomy",
    "Cvs",
    "Hand",
    "SceneGraph",
    "Tool",
    "Triplet",
    "read_scene_graphs",
]

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

from backend.errors import AppError
from backend.surgcheck.boxes import Box

ANATOMIES = ("cystic_plate", "calot_triangle", "cystic_artery", "cystic_duct", "gallbladder")
"""Anatomical structures, in the order of their category ids 1 to 5."""

TOOLS = ("clipper", "bipolar", "grasper", "scissors", "hook", "irrigator")
"""Tools, in the order of their category ids 6 to 11."""

NULL_VERB, NULL_TARGET = "null_verb", "null_target"
"""What a triplet says of a tool that does nothing."""

VERBS = ("dissect", "retract", "grasp", "clip", "coagulate", NULL_VERB)
TARGETS = ("cystic_plate", "cystic_artery", "cystic_duct", "gallbladder", NULL_TARGET)

MET_ABOVE = 0.5
"""A CVS criterion is met where its raters' mean is above this."""

_GREATEST = 2**63 - 1

_LAYOUT_HINT = "Give an annotation file in the COCO layout of Endoscapes-SG201."


class Hand(StrEnum):
    """Whose hand holds a tool; the value is the slot in the release's image names."""

    LEFT = "lt"
    RIGHT = "rt"
    ASSISTANT = "assi"


@dataclass(frozen=True, slots=True)
class Triplet:
    """An action: which tool does what to which anatomical structure."""

    tool: str
    verb: str
    target: str


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool in a frame."""

    annotation_id: int
    category: str
    """One of `TOOLS`."""
    box: Box
    hand: Hand | None
    """None where it is not annotated."""
    triplet: Triplet | None
    """None where the tool performs no action, or none is annotated."""


@dataclass(frozen=True, slots=True)
class Anatomy:
    """One anatomical structure in a frame; a class can have several boxes."""

    annotation_id: int
    category: str
    """One of `ANATOMIES`."""
    box: Box


@dataclass(frozen=True, slots=True)
class Cvs:
    """The three criteria of the Critical View of Safety: whether each is met."""

    two_structures: bool
    """C1: cystic duct and cystic artery are identifiable as they connect to the gallbladder."""
    hepatocystic_triangle: bool
    """C2: the hepatocystic triangle is cleared."""
    cystic_plate: bool
    """C3: the lower third of the gallbladder is detached from the liver bed."""

    @property
    def achieved(self) -> bool:
        """Whether all three criteria are met."""
        return self.two_structures and self.hepatocystic_triangle and self.cystic_plate


@dataclass(frozen=True, slots=True)
class SceneGraph:
    """What is annotated in one frame."""

    file_name: str
    width: int
    """Of the frame, in pixels; 854 in Endoscapes."""
    height: int
    """Of the frame, in pixels; 480 in Endoscapes."""
    video: str
    """The video the frame was taken from; splits are made by video."""
    tools: tuple[Tool, ...]
    anatomies: tuple[Anatomy, ...]
    cvs: Cvs | None
    """None where the criteria are not annotated."""

    @property
    def things(self) -> tuple[Tool | Anatomy, ...]:
        """Everything that has a box."""
        return self.tools + self.anatomies


def read_scene_graphs(coco: Mapping[str, Any]) -> tuple[SceneGraph, ...]:
    """Read the scene graphs of one parsed COCO file, in the order of its images.

    Categories are taken from the file's ``categories``; hands are read whatever their case.
    Unknown keys are ignored. A frame with ``is_det_keyframe`` false is left out: nobody drew
    boxes in it, so that it would seem to hold no tool. A criterion is met where the mean of its
    raters is above 0.5. A tool whose verb or target is null, or that has no triplet, performs
    no action.

    Raises:
        AppError: The file is not of this layout, two rows share an id, two frames share a name
            (their folders aside, as everywhere else) or a frame has no size; or, with the id of
            the annotation, a category, verb, target or hand is unknown, a box is not four numbers
            that reach into the frame, or a triplet names another tool than its box.
    """
    categories = {key: row.get("name") for key, row in _by_id(coco, "categories", "category").items()}
    images = _by_id(coco, "images", "image")
    of_image: dict[int, list[Mapping[str, Any]]] = {image_id: [] for image_id in images}
    for row in _by_id(coco, "annotations", "annotation").values():
        image_id = _whole(row, "image_id", "annotation")
        if image_id not in images:
            raise _fault(row, f"belongs to image {image_id}, which the file does not list.", _LAYOUT_HINT)
        of_image[image_id].append(row)
    scenes = tuple(
        _scene_graph(image, of_image[image_id], categories)
        for image_id, image in images.items()
        if image.get("is_det_keyframe") is None or image["is_det_keyframe"]
    )
    stems = Counter(PurePosixPath(scene.file_name).stem for scene in scenes)
    [(stem, n)] = stems.most_common(1) or [("", 1)]
    if n > 1:
        raise AppError(f"{n} frames are called {stem}.", "Give each frame a file name of its own, and read again.")
    return scenes


def _scene_graph(
    image: Mapping[str, Any], rows: Iterable[Mapping[str, Any]], categories: Mapping[int, Any]
) -> SceneGraph:
    file_name = image.get("file_name")
    if not isinstance(file_name, str) or not file_name:
        raise AppError(f"Image {image['id']} has no file_name.", _LAYOUT_HINT)
    width, height = (_whole(image, key, "image") for key in ("width", "height"))
    if min(width, height) < 1:
        raise AppError(f"Image {image['id']} has the size {width} × {height}.", "Give its width and height in pixels.")
    tools: list[Tool] = []
    anatomies: list[Anatomy] = []
    for row in rows:
        annotation_id, category_id = (_whole(row, key, "annotation") for key in ("id", "category_id"))
        category = _known(row, "category", categories.get(category_id, category_id), (*ANATOMIES, *TOOLS))
        box = _box(row, width, height)
        if category in TOOLS:
            tools.append(Tool(annotation_id, category, box, _hand(row), _triplet(row, category)))
        else:
            anatomies.append(Anatomy(annotation_id, category, box))
    video = str(image.get("video_id", file_name.split("_")[0]))
    return SceneGraph(file_name, width, height, video, tuple(tools), tuple(anatomies), _cvs(image))


def _box(row: Mapping[str, Any], width: int, height: int) -> Box:
    """Return an annotation's box; it may reach beyond the frame but must show in it."""
    numbers = _numbers(row.get("bbox"), 4)
    if numbers:
        box = Box(*numbers)
        if box.width > 0 and box.height > 0 and box.clipped(width, height):
            return box
    hint = f"A box is [x, y, width, height] in pixels, in a frame of {width} × {height}. Correct it and read again."
    raise _fault(row, f"has the box {row.get('bbox')!r}.", hint)


def _hand(row: Mapping[str, Any]) -> Hand | None:
    hand = row.get("oper")
    return None if hand is None or hand == "" else Hand(_known(row, "hand", str(hand).strip().lower(), tuple(Hand)))


def _triplet(row: Mapping[str, Any], category: str) -> Triplet | None:
    triplet = row.get("triplet")
    if triplet is None:
        return None
    if not isinstance(triplet, Mapping):
        raise _fault(row, f"has the triplet {triplet!r}.", "A triplet has the keys tool, verb and target.")
    tool = _known(row, "tool", triplet.get("tool"), TOOLS)
    verb = _known(row, "verb", triplet.get("verb"), VERBS)
    target = _known(row, "target", triplet.get("target"), TARGETS)
    if tool != category:
        hint = "Correct the category or the triplet; until then the answer would be in doubt."
        raise _fault(row, f"is a box of {category} with a triplet of {tool}.", hint)
    return None if verb == NULL_VERB or target == NULL_TARGET else Triplet(tool, verb, target)


def _cvs(image: Mapping[str, Any]) -> Cvs | None:
    if image.get("ds") is None:
        return None
    means = _numbers(image["ds"], 3)
    if not means or not all(0 <= mean <= 1 for mean in means):
        hint = "They are three means of the raters, each from 0 to 1. Correct them and read again."
        raise AppError(f"Image {image['id']} has the CVS criteria {image['ds']!r}.", hint)
    return Cvs(*(mean > MET_ABOVE for mean in means))


def _numbers(value: Any, count: int) -> tuple[float, ...] | None:
    """Return a list's finite numbers; None where it is anything else than ``count`` of them."""
    if not isinstance(value, list | tuple) or len(value) != count:
        return None
    if not all(isinstance(number, int | float) and math.isfinite(number) for number in value):
        return None
    return tuple(value)


def _known(row: Mapping[str, Any], what: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return an annotation's word, which is one of those allowed."""
    if value not in allowed:
        raise _fault(row, f"has the {what} {value!r}.", f"Known here: {', '.join(allowed)}.")
    return str(value)


def _fault(row: Mapping[str, Any], what: str, hint: str) -> AppError:
    return AppError(f"Annotation {row.get('id')} {what}", hint)


def _by_id(coco: Mapping[str, Any], key: str, what: str) -> dict[int, Mapping[str, Any]]:
    """Return the rows of one of the file's lists by their id, in their order."""
    rows = coco.get(key)
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise AppError(f"The file holds no list of {key}.", _LAYOUT_HINT)
    by_id: dict[int, Mapping[str, Any]] = {}
    for row in rows:
        row_id = _whole(row, "id", what)
        if row_id in by_id:
            raise AppError(f"Two rows of {key} have the id {row_id}.", "Give each its own id and read again.")
        by_id[row_id] = row
    return by_id


def _whole(row: Mapping[str, Any], key: str, what: str) -> int:
    """Return a whole number, of those that a store can hold, that every row of this kind has."""
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _GREATEST:
        raise AppError(f"The {what} {row.get('id')!r} has the {key} {value!r}, no whole number of use.", _LAYOUT_HINT)
    return value
