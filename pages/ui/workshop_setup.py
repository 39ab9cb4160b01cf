"""The cue workshop before anything is asked: a frame, one thing in it, four cues, and both texts of a question.

The link holds the frame (``?image=``) and the thing (``&thing=``).
"""

__all__ = ["show_workshop"]

from functools import partial
from html import escape
from typing import NamedTuple

import streamlit as st

from backend.errors import AppError
from backend.services.cases import CaseImage, load_image
from backend.services.cue_workshop import (
    CueChoice,
    Question,
    cue_choices,
    empty_scene,
    questions_about,
    workshop_frames,
)
from backend.services.images import image_file
from backend.services.pair_units import live_pair
from backend.services.surgcheck_cases import frame_scene
from backend.store.store import Store
from backend.surgcheck.differing_words import differing_words
from backend.surgcheck.scene_graphs import SceneGraph, Tool
from backend.surgcheck.tasks import Cue
from backend.vlm.entries import VlmEntry
from pages.ui.case_view import STYLE as CASE_STYLE
from pages.ui.case_view import show_image
from pages.ui.cue_overlays import Overlay
from pages.ui.errors import show_error
from pages.ui.image_routes import image_url, thumbnail_url
from pages.ui.links import CASE, DATA
from pages.ui.own_image import bring_image
from pages.ui.pair_overlays import cue_overlays
from pages.ui.pair_table import STYLE, question_html
from pages.ui.pair_words import TASK_WORDS
from pages.ui.resources import kept
from pages.ui.untrained import BOX_GROUP
from pages.ui.viewer import Layer
from pages.ui.vlm_picker import NO_VLM, vlm_picker
from pages.ui.workshop_start import begin_anew, go_to, start_pair
from pages.ui.workshop_thing import Pointed, choose_thing, draw_own

N_EXAMPLES, N_FRAMES = 6, 3000

WHAT = (
    "The same is asked twice of the same picture: the original question names the tool, the less-biased one only "
    "points at it. An answer that is right with the name and wrong without it did not come from the picture "
    "(SurgCheck)."
)

CUE_TITLES = {Cue.BOX: "Red box", Cue.ARROW: "Red arrow", Cue.POSITION: "Position", Cue.PERIPHRASIS: "Periphrasis"}

IN_PICTURE, IN_WORDS = "drawn in, seen by the VLM", "told in words; drawn here, not seen by the VLM"


class _Bench(NamedTuple):
    """What lies on the workshop's bench."""

    image: CaseImage
    choices: list[CueChoice]
    vlm: VlmEntry | None


def show_workshop(store: Store) -> None:
    """Draw the choice of a frame, or, where the link holds one, its cues and questions."""
    st.text(WHAT)
    image_id = st.query_params.get("image", "")
    if not image_id:
        _choose_frame(store)
        return
    try:
        image = load_image(store, image_id)
    except AppError as error:
        show_error(error)
        st.button("Choose a frame", on_click=begin_anew)
        return
    st.html(CASE_STYLE)
    st.html(STYLE)
    if not (image.width and image.height and image_file(store, image_id)):
        show_image(store, image)
        st.button("Choose another frame", on_click=begin_anew)
        return
    scene = frame_scene(store, image_id)
    if scene is None or (scene.width, scene.height) != (image.width, image.height):
        scene = empty_scene(image.file, image.width, image.height)
    _show_bench(store, image, scene)


def _choose_frame(store: Store) -> None:
    """Draw frames to begin with, the way to every other one, and to an image of one's own."""
    st.subheader("Begin with a frame")
    frames = kept(workshop_frames, N_FRAMES)
    for column, frame in zip(st.columns(N_EXAMPLES), frames, strict=False):
        with column:
            st.html(
                f'<img src="{escape(thumbnail_url(frame.image_id))}" alt="{escape(frame.file)}" '
                'style="display:block;width:100%;aspect-ratio:16/9;object-fit:contain">'
            )
            st.button("Take this", key=f"frame_{frame.image_id}", on_click=go_to, kwargs={"image": frame.image_id})
    if len(frames) > N_EXAMPLES:
        names = {frame.image_id: f"{frame.file} ({frame.suite})" for frame in frames}
        st.selectbox(
            "Another frame of the store with its scene graph",
            list(names),
            index=None,
            key="workshop_frame",
            format_func=lambda image_id: names[image_id],
            placeholder=f"{len(names):,} frames",
            on_change=_take_frame,
        )
    if frames:
        st.page_link(CASE, label="Or choose a pair; its page leads back here", query_params={"suite": frames[0].suite})
    else:
        st.text("No frame in the store has both its scene graph and its file at hand. An image of your own will do.")
        st.page_link(DATA, label="Import scene graphs, or attach frames, on the Data page")
    st.subheader("Or bring an image")
    bring_image(store, "workshop_upload", lambda image_id: go_to(image=image_id))


def _take_frame() -> None:
    go_to(image=str(st.session_state["workshop_frame"]))


def _show_bench(store: Store, image: CaseImage, scene: SceneGraph) -> None:
    left, right = st.columns([6, 5], gap="large")
    with right:
        pointed = choose_thing(scene)
        questions = questions_about(pointed.scene, pointed.thing.annotation_id)
        choices: list[CueChoice] = []
        if questions:
            picked = st.selectbox("What is asked", questions, key="workshop_question", format_func=_question_words)
            choices = cue_choices(pointed.scene, pointed.thing.annotation_id, picked)
        else:
            st.text(
                "Nothing can be asked about it: no cue tells it apart, or neither its hand nor its action is given."
            )
        vlm = vlm_picker("vlm")
        if vlm is not None and vlm.group == BOX_GROUP and not scene.things:
            st.caption("The VLM in the box learned from drawn frames alone; what it says of others means nothing.")
    overlays = _overlays(pointed)
    with left:
        show_image(
            store,
            image,
            height_px=310,
            layers=[Layer(overlay.name, overlay.url, cue is Cue.BOX) for cue, overlay in overlays.items()],
            on_drawn=partial(draw_own, scene),
            key=f"bench_{image.image_id}",
        )
        st.html(
            f'<div class="case-identity"><span>{escape(image.file)}</span><span>{escape(image.dataset)}</span></div>'
        )
        st.button("Choose another frame", on_click=begin_anew, key="begin_anew")
    if choices:
        _show_cues(store, _Bench(image, choices, vlm), overlays)


def _question_words(question: Question) -> str:
    return f"{TASK_WORDS[question.task]}, the second" if question.number else TASK_WORDS[question.task]


def _overlays(pointed: Pointed) -> dict[Cue, Overlay]:
    scene, thing = pointed
    hand = thing.hand if isinstance(thing, Tool) else None
    return cue_overlays(scene.width, scene.height, scene, thing.box, hand)


def _show_cues(store: Store, bench: _Bench, overlays: dict[Cue, Overlay]) -> None:
    """Draw a card a cue: the frame with it, the button that asks both, and the two texts."""
    st.subheader("Four ways to point, two ways to ask")
    for column, choice in zip(st.columns(4, gap="medium"), bench.choices, strict=False):
        with column, st.container(key=f"cue_{choice.cue}", gap="small"):
            st.html(cue_picture(choice, image_url(bench.image.image_id), overlays.get(choice.cue)))
            can_ask = choice.pair is not None and bench.vlm is not None
            if st.button("Ask both", key=f"ask_{choice.cue}", disabled=not can_ask, type="primary"):
                _ask(store, bench, choice)
            st.html(cue_texts(choice))
    if bench.vlm is None:
        st.caption(NO_VLM)


def _ask(store: Store, bench: _Bench, choice: CueChoice) -> None:
    if choice.pair is None or bench.vlm is None:
        return
    try:
        start_pair(store, live_pair(store, bench.image.image_id, choice.pair), bench.vlm)
    except AppError as error:
        show_error(error)


def cue_picture(choice: CueChoice, url: str, overlay: Overlay | None) -> str:
    """Return one cue's name, whether the VLM sees it, and the frame with it drawn over, as HTML.

    Args:
        choice: The cue and its pair; a cue that does not apply is not drawn.
        url: Address of the frame.
        overlay: What is drawn; None draws nothing.
    """
    seen = IN_PICTURE if choice.cue in (Cue.BOX, Cue.ARROW) else IN_WORDS
    over = f'<img src="{overlay.preview_url}" alt="">' if overlay is not None and choice.pair is not None else ""
    return (
        f'<div class="cue-card"><header><strong>{CUE_TITLES[choice.cue]}</strong><span>{seen}</span></header>'
        f'<div class="cue-picture"><img src="{escape(url)}" alt="">{over}</div></div>'
    )


def cue_texts(choice: CueChoice) -> str:
    """Return the two texts with the words marked in which they part, or why the cue does not apply, as HTML."""
    if choice.pair is None:
        why = "; ".join(choice.reasons) or "it is not asked with this cue"
        return f'<div class="cue-card"><p class="why">Does not apply: {escape(why)}.</p></div>'
    original, less_biased = differing_words(choice.pair.original, choice.pair.less_biased)
    return (
        '<div class="cue-card">'
        f'<p><span class="role">original</span>{question_html(original)}</p>'
        f'<p><span class="role">less-biased</span>{question_html(less_biased)}</p>'
        f'<p><span class="role">reference</span>{escape(choice.pair.reference)}</p></div>'
    )
