"""One pair on the screen: the frame twice, the two questions one above the other, every VLM's answers beside them."""

__all__ = ["show_frames", "show_pair"]

from html import escape

import streamlit as st

from backend.services.cases import CaseImage
from backend.services.endoca_series import vlm_places
from backend.services.images import image_file
from backend.services.pair_traces import live_runs
from backend.services.surgcheck_cases import PairCase, pair_runs_in_order
from backend.store.pair_filters import PairFilter
from backend.store.store import Store
from backend.surgcheck.tasks import Cue
from pages.ui.case_view import STYLE as CASE_STYLE
from pages.ui.case_view import identity_strip, show_image
from pages.ui.image_routes import cue_url, image_url
from pages.ui.links import CUE_WORKSHOP, DATA
from pages.ui.pair_overlays import pair_layers
from pages.ui.pair_table import STYLE, pair_judgements, pair_table
from pages.ui.pair_words import CUE_WORDS, TASK_WORDS, shown_words
from pages.ui.saliency_case import show_pair_looks
from pages.ui.viewer import image_viewer

VIEWER_HEIGHT = 264
"""In CSS pixels; a laparoscopic frame fills it at the width of half a page."""


def show_pair(store: Store, pair: PairCase, chosen: PairFilter) -> None:
    """Draw a pair.

    Args:
        store: The store, to find the images' files.
        pair: The pair.
        chosen: The filter of the list it stands in; its runs come first.
    """
    st.html(CASE_STYLE)
    st.html(STYLE)
    show_frames(store, pair)
    live = live_runs(store, pair)
    asked, others = pair_runs_in_order(pair.runs, chosen)
    runs = [*live, *asked]
    places = vlm_places(store)
    st.html(pair_table(pair, runs or others, places))
    if not runs and not others:
        st.info("No VLM has answered this pair yet. Ask one in the cue workshop, or import a prediction file.")
    if runs and others:
        with st.expander(f"What the other {len(others)} runs answered"):
            st.html(pair_table(pair, others, places))
    show_pair_looks(store, pair)
    st.page_link(CUE_WORKSHOP, label="Ask a VLM this pair in the cue workshop", query_params={"unit": pair.unit_id})
    if runs or others:
        st.subheader("How it was judged")
        st.html(pair_judgements(pair, [*runs, *others]))


def show_frames(store: Store, pair: PairCase, height_px: int = VIEWER_HEIGHT) -> None:
    """Draw the frame twice: as the VLM saw it, and for people with its drawings, each switched by itself."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.html(_head("As the VLM saw it", shown_words(pair.cue)))
        _show_picture(store, pair, height_px)
    with right:
        st.html(_head("For people", _for_people(pair)))
        show_image(store, pair.frame, height_px=height_px, layers=pair_layers(pair), key=f"people_{pair.unit_id}")
    st.html(identity_strip(pair.frame, pair.split, f"{pair.suite} {pair.source_id}", [
        f"{TASK_WORDS[pair.task]}, {pair.level}", CUE_WORDS[pair.cue],
    ]))  # fmt: skip


def _show_picture(store: Store, pair: PairCase, height_px: int) -> None:
    picture, key = pair.picture, f"picture_{pair.unit_id}"
    if picture.width and picture.height and image_file(store, picture.image_id):
        _view(image_url(picture.image_id), picture, height_px, key)
    elif pair.drawing is not None and image_file(store, pair.frame.image_id):
        _view(cue_url(pair.unit_id), pair.frame, height_px, key)
    else:
        st.html(_no_picture(pair))
        st.page_link(DATA, label="Attach images on the Data page")


def _view(url: str, size: CaseImage, height_px: int, key: str) -> None:
    if size.width and size.height:
        image_viewer(
            url, size.width, size.height, label=f"{size.file}, as the VLM saw it", key=key, height_px=height_px
        )


def _no_picture(pair: PairCase) -> str:
    drawn = pair.cue in (Cue.BOX, Cue.ARROW)
    why = (
        "It is a copy of the frame with the cue drawn in. The box is not known, so it cannot be drawn again."
        if drawn and pair.drawing is None
        else "Its file, or that of its frame, was not found by its name."
    )
    return (
        '<div class="case-no-image" role="note"><p><strong>The picture the VLM saw is not at hand.</strong></p>'
        f"<p>{escape(pair.picture.file)}</p><p>{why} Everything below works without it.</p></div>"
    )


def _for_people(pair: PairCase) -> str:
    if pair.cue in (Cue.POSITION, Cue.PERIPHRASIS):
        return "Where the words point is drawn for people; the VLM does not see it."
    return "What is drawn here lies over the frame and can be switched off."


def _head(title: str, words: str) -> str:
    return f'<div class="pair-head"><strong>{title}</strong><span>{words}</span></div>'
