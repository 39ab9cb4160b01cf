"""Question pairs: an original question and its less-biased twin about one frame.

Both ask the same of the same picture and have the same answer. In five tasks the original
also names what it asks about, while the less-biased text only points (SurgCheck, section on
paired questions). The other three tasks name nothing and are shared baselines.
"""

__all__ = ["COUNTS", "Pair", "PairSet", "all_pairs"]

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from backend.surgcheck import question_texts as texts
from backend.surgcheck.anatomy_hops import Hop, hops_from
from backend.surgcheck.boxes import Box
from backend.surgcheck.exclusions import Exclusion, Reason
from backend.surgcheck.grounding_cues import (
    Arrow,
    Outline,
    Position,
    arrow_cue,
    box_cue,
    is_covered,
    periphrasis_cue,
    position_word,
)
from backend.surgcheck.question_texts import Wording
from backend.surgcheck.scene_graphs import Anatomy, Hand, SceneGraph, Tool, Triplet
from backend.surgcheck.tasks import CUES_OF, PAIRED_TASKS, Cue, Level, Mode, Task

COUNTS = ("zero", "one", "two", "three")
"""The answers of Instrument Count."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One question in its two texts."""

    image: str
    """File name of the picture asked about: the frame's own, or that of its copy with the cue drawn in."""
    frame: str
    """File name of the frame (``ori_img_tag``)."""
    task: Task
    cue: Cue
    original: str
    less_biased: str
    reference: str
    """The answer, in the words of the scene graph: ``cystic_duct``, ``grasper, retract, gallbladder``."""
    slot: Hand | None = None
    """Hand of the tool pointed at; None where it is not given or no tool is pointed at."""
    annotation_id: int | None = None
    """The tool or structure pointed at; None for a question about the whole frame."""
    target_box: Box | None = None
    """Its box, as annotated."""
    drawing: Outline | Arrow | None = None
    """What is drawn into the picture; None where nothing is."""

    @property
    def level(self) -> Level:
        """The task's level."""
        return self.task.level


class PairSet(NamedTuple):
    """Pairs, and every question that is not asked, with its reason."""

    pairs: tuple[Pair, ...]
    exclusions: tuple[Exclusion, ...]


class _Pointer(NamedTuple):
    """A cue that applies: its words, and what is drawn."""

    phrase: str
    drawing: Outline | Arrow | None = None


def all_pairs(scene: SceneGraph, mode: Mode = Mode.STRICT) -> PairSet:
    """Return every pair that can be asked about a frame, with each cue that applies.

    The order is: Instrument Count; Anatomy, structure by structure; the five paired tasks, tool
    by tool; CVS. A tool without an action counts and is asked for by Instrument, though not
    with a periphrasis, whose original names the action. Instrument and Triplet need a hand,
    which their originals name. A question that no cue can save is one exclusion; a cue that
    does not apply is one exclusion for each task it is missing from.
    """
    found = tuple(_found(scene, mode))
    return PairSet(
        tuple(item for item in found if isinstance(item, Pair)),
        tuple(item for item in found if isinstance(item, Exclusion)),
    )


def _found(scene: SceneGraph, mode: Mode) -> Iterator[Pair | Exclusion]:
    yield _count(scene)
    for anatomy in scene.anatomies:
        yield from _about_anatomy(scene, anatomy, mode)
    for tool in scene.tools:
        yield from _about_tool(scene, tool, mode)
    yield from _about_cvs(scene)


def _count(scene: SceneGraph) -> Pair | Exclusion:
    if len(scene.tools) >= len(COUNTS):
        return Exclusion(scene.file_name, Task.INSTRUMENT_COUNT, Reason.TOO_MANY_TOOLS)
    wording = texts.shared_text(texts.INSTRUMENT_COUNT_QUESTION)
    return _frame_pair(scene, Task.INSTRUMENT_COUNT, wording, COUNTS[len(scene.tools)])


def _about_cvs(scene: SceneGraph) -> Iterator[Pair | Exclusion]:
    cvs = scene.cvs
    if cvs is None:
        yield Exclusion(scene.file_name, Task.CVS, Reason.NO_CVS)
        return
    met = (cvs.two_structures, cvs.hepatocystic_triangle, cvs.cystic_plate, cvs.achieved)
    for question, yes in zip(texts.CVS_QUESTIONS, met, strict=True):
        yield _frame_pair(scene, Task.CVS, texts.shared_text(question), "Yes" if yes else "No")


def _frame_pair(scene: SceneGraph, task: Task, wording: Wording, reference: str) -> Pair:
    return Pair(scene.file_name, scene.file_name, task, Cue.NONE, *wording, reference)


def _about_anatomy(scene: SceneGraph, anatomy: Anatomy, mode: Mode) -> Iterator[Pair | Exclusion]:
    for cue in CUES_OF[Task.ANATOMY]:
        pointer = _pointer(scene, anatomy, cue, mode)
        if isinstance(pointer, Reason):
            yield Exclusion(scene.file_name, Task.ANATOMY, pointer, cue, anatomy.annotation_id)
        else:
            wording = texts.anatomy_texts(pointer.phrase)
            yield _pointed_pair(scene, anatomy, Task.ANATOMY, cue, pointer, wording, anatomy.category)


def _about_tool(scene: SceneGraph, tool: Tool, mode: Mode) -> Iterator[Pair | Exclusion]:
    pointers = {cue: _pointer(scene, tool, cue, mode) for cue in CUES_OF[Task.INSTRUMENT]}
    for task in PAIRED_TASKS:
        unasked, hops = _task_exclusions(scene, tool, task, mode)
        yield from (Exclusion(scene.file_name, task, reason, None, tool.annotation_id) for reason in unasked)
        if unasked and not hops:
            continue
        for cue in CUES_OF[task]:
            pointer = pointers[cue]
            if task is Task.INSTRUMENT and cue is Cue.PERIPHRASIS and tool.triplet is None:
                pointer = Reason.NULL_ACTION
            if isinstance(pointer, Reason):
                yield Exclusion(scene.file_name, task, pointer, cue, tool.annotation_id)
                continue
            for wording, reference in _asked(tool, task, cue, pointer.phrase, hops):
                yield _pointed_pair(scene, tool, task, cue, pointer, wording, reference)


def _task_exclusions(
    scene: SceneGraph, tool: Tool, task: Task, mode: Mode
) -> tuple[tuple[Reason, ...], tuple[Hop, ...]]:
    """Return what a tool cannot be asked in a task with any cue, and its hops if these are the task."""
    if task is not Task.INSTRUMENT and tool.triplet is None:
        return (Reason.NULL_ACTION,), ()
    if task in (Task.INSTRUMENT, Task.TRIPLET) and tool.hand is None:
        return (Reason.NO_HAND,), ()
    if task is Task.ANATOMY_HOP and tool.triplet is not None:
        hops, excluded = hops_from(tool.triplet.target, scene.anatomies, strict=mode is Mode.STRICT)
        return excluded, hops
    return (), ()


def _asked(tool: Tool, task: Task, cue: Cue, phrase: str, hops: tuple[Hop, ...]) -> Iterator[tuple[Wording, str]]:
    """Yield the texts and answers of a task, one but for hops."""
    match task, tool.hand, tool.triplet:
        case Task.INSTRUMENT, Hand() as hand, Triplet() as triplet if cue is Cue.PERIPHRASIS:
            yield texts.instrument_periphrasis_texts(hand, triplet), tool.category
        case Task.INSTRUMENT, Hand() as hand, _:
            yield texts.instrument_texts(phrase, hand), tool.category
        case Task.ACTION, _, Triplet() as triplet:
            yield texts.action_texts(phrase, tool.category, cue), triplet.verb
        case Task.TARGET, _, Triplet() as triplet:
            yield texts.target_texts(phrase, tool.category), triplet.target
        case Task.TRIPLET, Hand() as hand, Triplet() as triplet:
            answer = f"{triplet.tool}, {triplet.verb}, {triplet.target}"
            yield texts.triplet_texts(phrase, hand), answer
        case Task.ANATOMY_HOP, _, _:
            for hop in hops:
                yield texts.hop_texts(phrase, tool.category, hop.direction), hop.structure


def _pointer(scene: SceneGraph, thing: Tool | Anatomy, cue: Cue, mode: Mode) -> _Pointer | Reason:
    """Return how a cue points at a tool or structure, or why it cannot.

    Strict mode compares a thing with the others of its kind: tools with tools, structures with
    structures. Its arrows keep clear of every other box where they can.
    """
    strict = mode is Mode.STRICT
    things: tuple[Tool | Anatomy, ...] = scene.tools if isinstance(thing, Tool) else scene.anatomies
    kin = [other.box for other in things if other is not thing]
    if strict and cue in (Cue.BOX, Cue.ARROW) and is_covered(thing.box, kin):
        return Reason.OVERLAPPING_BOX
    drawing: Outline | Arrow | Reason | None = None
    value: Position | Hand | Reason | None = None
    match cue:
        case Cue.BOX:
            drawing = box_cue(thing.box, scene.width, scene.height)
        case Cue.ARROW:
            obstacles = [other.box for other in scene.things if other is not thing] if strict else []
            drawing = arrow_cue(thing.box, scene.width, scene.height, obstacles)
        case Cue.POSITION:
            value = position_word(thing.box, scene.width, scene.height)
            words = [position_word(other, scene.width, scene.height) for other in kin]
            if strict and isinstance(value, Position) and value in words:
                value = Reason.SHARED_POSITION if isinstance(thing, Tool) else Reason.SHARED_CELL
        case Cue.PERIPHRASIS if isinstance(thing, Tool):
            other_hands = [tool.hand for tool in scene.tools if tool is not thing]
            value = periphrasis_cue(thing.hand, other_hands if strict else ())
    if isinstance(drawing, Reason):
        return drawing
    if isinstance(value, Reason):
        return value
    return _Pointer(texts.cue_phrase(cue, value), drawing)


def _pointed_pair(
    scene: SceneGraph,
    thing: Tool | Anatomy,
    task: Task,
    cue: Cue,
    pointer: _Pointer,
    wording: Wording,
    reference: str,
) -> Pair:
    return Pair(
        image=scene.file_name if pointer.drawing is None else _image_name(scene, thing, cue),
        frame=scene.file_name,
        task=task,
        cue=cue,
        original=wording.original,
        less_biased=wording.less_biased,
        reference=reference,
        slot=thing.hand if isinstance(thing, Tool) else None,
        annotation_id=thing.annotation_id,
        target_box=thing.box,
        drawing=pointer.drawing,
    )


def _image_name(scene: SceneGraph, thing: Tool | Anatomy, cue: Cue) -> str:
    """Return the release's name for a picture with a cue, such as ``164_2700_bbox_lt.jpg``.

    It ends in a tool's slot or a structure's class. Where that is missing or not the only one
    of its frame the annotation's id follows, so that no two pictures share a name.
    """
    word = "bbox" if cue is Cue.BOX else "arrow"
    name = _name(thing)
    names = [_name(other) for other in scene.things]
    ending = name if name and names.count(name) == 1 else f"{name or 'tool'}_{thing.annotation_id}"
    frame = PurePosixPath(scene.file_name)
    return str(frame.with_name(f"{frame.stem}_{word}_{ending}{frame.suffix}"))


def _name(thing: Tool | Anatomy) -> str | None:
    return thing.hand if isinstance(thing, Tool) else thing.category
