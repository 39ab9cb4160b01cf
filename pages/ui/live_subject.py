"""What is asked about live, whatever is asked: a stored case, or an image of one's own. The link holds it."""

__all__ = ["choose_or_show"]

from collections.abc import Callable, Mapping
from html import escape
from typing import TypeVar

import streamlit as st

from backend.errors import AppError
from backend.services.cases import Case, CaseImage, load_image
from backend.services.live_units import Example
from backend.services.verimap_cases import VerificationCase
from backend.store.store import Store
from pages.ui.case_view import STYLE, identity, show_image
from pages.ui.errors import show_error
from pages.ui.image_routes import thumbnail_url
from pages.ui.links import CASE, DATA
from pages.ui.live_start import begin_anew, go_to
from pages.ui.own_image import bring_image
from pages.ui.resources import kept

N_EXAMPLES = 6

Subject = TypeVar("Subject", Case, VerificationCase)


def choose_or_show(
    store: Store,
    load: Callable[[Store, str], Subject],
    ask: Callable[[Store, Subject | None, CaseImage], None],
    *,
    examples: Callable[[Store, int], list[Example]],
    others: str,
    query: Mapping[str, str] | None = None,
    none: str,
    bring: str,
    upload: str,
) -> None:
    """Draw the case or image that the link holds, and beside it what is asked; without one, the choice.

    Args:
        store: The store.
        load: Returns a case by its id, or raises AppError.
        ask: Draws what is asked about a case, or about an image alone.
        examples: Returns so many cases to begin with.
        others: Leads to the list of all cases.
        query: Parameters of that list's link.
        none: Said where there is no example.
        bring: Leads to where some are brought in.
        upload: Key of the field that takes an image.
    """
    unit_id, image_id = st.query_params.get("unit", ""), st.query_params.get("image", "")
    if not unit_id and not image_id:
        st.subheader("Begin with an example")
        found = kept(examples, N_EXAMPLES)
        if found:
            _show_examples(found)
            st.page_link(CASE, label=others, query_params=query)
        else:
            st.text(none)
            st.page_link(DATA, label=bring)
        st.subheader("Or bring an image")
        bring_image(store, upload, _take)
        return
    try:
        case = load(store, unit_id) if unit_id else None
        image = case.image if case else load_image(store, image_id)
    except AppError as error:
        show_error(error)
        st.button("Choose what to ask about", on_click=begin_anew)
        return
    st.html(STYLE)
    left, right = st.columns([6, 5], gap="large")
    with left:
        show_image(store, image, height_px=380)
        if case is not None:
            st.html(identity(case))
        with st.expander("Ask about another image"):
            bring_image(store, upload, _take)
        st.button("Choose something else", on_click=begin_anew, key="begin_anew")
    with right:
        ask(store, case, image)


def _show_examples(examples: list[Example]) -> None:
    """Draw a picture, a button and a question each."""
    for column, example in zip(st.columns(N_EXAMPLES), examples, strict=False):
        with column:
            st.html(
                f'<img src="{escape(thumbnail_url(example.image_id))}" alt="" '
                'style="display:block;width:100%;max-width:160px;aspect-ratio:5/4;object-fit:contain">'
            )
            st.button("Ask this", key=f"example_{example.unit_id}", on_click=go_to, kwargs={"unit": example.unit_id})
            st.html(f'<p style="font-size:.85rem;margin:0;overflow-wrap:anywhere">{escape(example.question)}</p>')


def _take(image_id: str) -> None:
    go_to(image=image_id)
