"""What the cues point at: one of the things annotated in the frame, or a box of somebody's own and what it shows."""

__all__ = ["Pointed", "choose_thing", "draw_own"]

from typing import NamedTuple

import streamlit as st

from backend.services.cue_workshop import OWN, with_own
from backend.surgcheck.boxes import Box
from backend.surgcheck.question_texts import hand_phrase
from backend.surgcheck.scene_graphs import (
    ANATOMIES,
    NULL_TARGET,
    NULL_VERB,
    TARGETS,
    TOOLS,
    VERBS,
    Anatomy,
    Hand,
    SceneGraph,
    Tool,
    Triplet,
)
from pages.ui.viewer import Box as ViewerBox

THING = "thing"
"""Parameter of the link: the annotation id of what is pointed at, or `OWN`."""


DRAWN = "workshop_drawn"
"""Session state: the box that was drawn last; each leaves new sliders."""


class _Drawn(NamedTuple):
    """Boxes drawn so far."""

    n: int
    ends: dict[str, tuple[int, int]]
    """Axis and length of the frame along it → first and last pixel."""


class Pointed(NamedTuple):
    """What is pointed at, in its scene."""

    scene: SceneGraph
    """With the box of somebody's own in it, where it is that."""
    thing: Tool | Anatomy


def choose_thing(scene: SceneGraph) -> Pointed:
    """Draw the choice, which lives in the link, and for a box of one's own where it lies and what it shows."""
    known = {thing.annotation_id: thing for thing in scene.things}
    words = {key: thing_words(thing) for key, thing in known.items()} | {OWN: "A box of my own"}
    asked = st.query_params.get(THING, "")
    state = "workshop_thing"
    st.session_state[state] = next((key for key in words if str(key) == asked), next(iter(words)))
    picked = int(
        st.selectbox(
            "What the cues point at",
            list(words),
            key=state,
            format_func=lambda key: words.get(key, str(key)),
            on_change=_write,
            args=(state,),
        )
    )
    if picked in known:
        return Pointed(scene, known[picked])
    drawn = with_own(scene, _own(scene))
    return Pointed(drawn, next(thing for thing in drawn.things if thing.annotation_id == OWN))


def draw_own(scene: SceneGraph, box: ViewerBox) -> None:
    """Make a box that was drawn over the frame the one of somebody's own, and point at it."""
    st.query_params[THING] = str(OWN)
    n_drawn = st.session_state.get(DRAWN, _Drawn(0, {})).n + 1
    ends = {"x": (int(box.x), int(box.x + box.width)), "y": (int(box.y), int(box.y + box.height))}
    st.session_state[DRAWN] = _Drawn(n_drawn, {f"{axis}_{size}": ends[axis] for axis, size in _axes(scene)})


def thing_words(thing: Tool | Anatomy) -> str:
    """Return what an annotated thing is, in words."""
    if isinstance(thing, Anatomy):
        return _spaced(thing.category)
    action = f"{thing.triplet.verb} {_spaced(thing.triplet.target)}" if thing.triplet else "no action"
    return ", ".join(part for part in (thing.category, hand_phrase(thing.hand) if thing.hand else "", action) if part)


def _own(scene: SceneGraph) -> Tool | Anatomy:
    """Draw the sliders of a box and what it shows; what was set stays while other things are looked at."""
    st.caption("Draw it over the frame, or set where it lies. What you say of it is the reference.")
    across_axis, down_axis = _axes(scene)
    across, down = st.columns(2, gap="medium")
    with across:
        left, right = _range("From left to right", *across_axis)
        category = _choice("It shows", "workshop_category", [*TOOLS, *ANATOMIES], "grasper")
    with down:
        top, bottom = _range("From top to bottom", *down_axis)
        box = Box(left, top, right - left, bottom - top)
        if category in ANATOMIES:
            return Anatomy(OWN, category, box)
        hand = _choice("Used by", "workshop_hand", [*Hand, ""], Hand.LEFT)
    with across:
        verb = _choice("It does", "workshop_verb", list(VERBS), "retract")
    with down:
        targets = [target for target in TARGETS if target != NULL_TARGET]
        target = _choice("To", "workshop_target", targets, "gallbladder", disabled=verb == NULL_VERB)
    triplet = None if verb == NULL_VERB else Triplet(category, verb, target)
    return Tool(OWN, category, box, Hand(hand) if hand else None, triplet)


def _axes(scene: SceneGraph) -> tuple[tuple[str, int], tuple[str, int]]:
    return ("x", scene.width), ("y", scene.height)


def _range(label: str, axis: str, size: int) -> tuple[int, int]:
    """Draw a slider with two ends; it begins where a box was drawn last, or in the middle."""
    drawn = st.session_state.get(DRAWN, _Drawn(0, {}))
    begin = drawn.ends.get(f"{axis}_{size}", (size // 3, 2 * size // 3))
    key = f"workshop_{axis}_{size}_{drawn.n}"
    start, end = map(int, st.slider(label, 0, size, begin, key=key, persist_state="page"))
    return (start, end) if end > start else (max(end - 1, 0), max(end - 1, 0) + 1)


def _choice(label: str, key: str, options: list[str], first: str, *, disabled: bool = False) -> str:
    picked = st.selectbox(
        label,
        options,
        options.index(first),
        key=key,
        format_func=_words,
        persist_state="page",
        disabled=disabled,
    )
    return str(picked)


def _words(value: str) -> str:
    if value == NULL_VERB:
        return "nothing"
    if value in tuple(Hand):
        return hand_phrase(Hand(value))
    return _spaced(value) or "hand not given"


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _write(state: str) -> None:
    st.query_params[THING] = str(st.session_state[state])
