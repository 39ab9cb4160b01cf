"""One case on the screen: the image, what was asked, and what every VLM answered.

The three systems fill the same view: a case has questions, the first of which leads, and each
run has one answer to each of them and a verdict on the whole.
"""

__all__ = ["case_questions", "identity", "identity_strip", "show_case", "show_image"]

from collections import Counter
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import streamlit as st

from backend.domain.records import LIVE_SUITE
from backend.services.cases import Case, CaseImage, CaseRun, runs_in_order
from backend.services.demo.synthetic import SYNTHETIC_DATASETS
from backend.services.endoca_series import vlm_places
from backend.services.images import image_file
from backend.services.verimap_cases import VerificationCase
from backend.store.filters import UnitFilter
from backend.store.store import Store
from pages.ui.answer_table import answer_table, verdict_order, verdict_tag
from pages.ui.answer_words import part_name, role_name
from pages.ui.image_routes import image_url
from pages.ui.links import DATA, LIVE
from pages.ui.saliency_case import show_case_looks
from pages.ui.tags import synthetic_tag
from pages.ui.trace_view import show_case_traces
from pages.ui.viewer import Box, Layer, image_viewer

STYLE = Path(__file__).resolve().parent / "static" / "case.css"

VIEWER_HEIGHT = 440
"""In CSS pixels; a frame of an endoscope fills it at the width of half a page."""

DRAWN = "This frame was drawn by a program; it shows no patient."

SEEN = "From the training split of the source data; VLMs adapted to it may have seen it."


def show_case(store: Store, case: Case, chosen: UnitFilter) -> None:
    """Draw a case.

    Args:
        store: The store, to find the image's file.
        case: The case.
        chosen: The filter of the list it stands in; its runs come first.
    """
    st.html(STYLE)
    left, right = st.columns([6, 5], gap="large")
    with left:
        show_image(store, case.image)
        st.html(identity(case))
    with right:
        st.html(case_questions(case))
        st.page_link(LIVE, label="Run ASR live on this case", query_params={"unit": case.unit_id})
    if case.runs:
        _answers(store, case, chosen)
        show_case_looks(store, case)
    if not show_case_traces(store, case) and not case.runs:
        st.info(
            "No VLM has answered this case yet. Ask one live, or import a prediction file on the Data page."
            if case.suite != LIVE_SUITE
            else "No answer to this case was kept. Ask a VLM live."
        )


def _answers(store: Store, case: Case, chosen: UnitFilter) -> None:
    asked, others = runs_in_order(case.runs, chosen)
    st.subheader("What every VLM answered")
    st.html(_tally(case.runs))
    st.html(answer_table(case, asked, others, vlm_places(store)))


def show_image(
    store: Store,
    image: CaseImage,
    height_px: int = VIEWER_HEIGHT,
    layers: Sequence[Layer] = (),
    on_drawn: Callable[[Box], None] | None = None,
    key: str = "",
) -> None:
    """Draw an image at its own pixels, or say which file is missing and how to attach it.

    Args:
        store: The store, to find the image's file.
        image: The image.
        height_px: Of the viewer, in CSS pixels.
        layers: Drawings over the image.
        on_drawn: Called with a box that a person draws; None offers no drawing.
        key: Unique on the page; empty where the image stands there once.
    """
    if image.width and image.height and image_file(store, image.image_id):
        image_viewer(
            image_url(image.image_id),
            image.width,
            image.height,
            label=image.file,
            layers=layers,
            on_drawn=on_drawn,
            key=key or f"viewer_{image.image_id}",
            height_px=height_px,
        )
    else:
        st.html(_no_image(image))
        st.page_link(DATA, label="Attach images on the Data page")


def _no_image(image: CaseImage) -> str:
    gone = "The image file is no longer where it was" if image.at_hand else "No usable image file was found"
    return (
        f'<div class="case-no-image" role="note"><p><strong>{gone}.</strong></p>'
        f"<p>{escape(image.file)}</p>"
        "<p>Name the folder that holds the images under Images on the Data page; files are found by their "
        "names. Its import log says which files could not be used. Everything below works without the image.</p></div>"
    )


def identity(case: Case | VerificationCase, more: Sequence[str] = ()) -> str:
    """Return the strip below a case's image: which file, which pixels, which data set and split."""
    return identity_strip(case.image, case.split, f"{case.suite} {case.source_id}", more)


def identity_strip(image: CaseImage, split: str, name: str, more: Sequence[str] = ()) -> str:
    """Return the strip below an image: which file, which pixels, which data set and split.

    Args:
        image: The image.
        split: Of the unit; empty where none is named.
        name: Of the unit, its suite before it.
        more: What else is to be said of the unit.
    """
    parts = [escape(image.file)] if image.file else []
    if image.width and image.height:
        parts.append(f"{image.width} × {image.height}")
    if image.bytes is not None:
        parts.append(f"{image.bytes / 1000:,.0f} kB")
    if image.sha256:
        parts.append(f'sha256 <code title="{escape(image.sha256)}">{escape(image.sha256)}</code>')
    parts += [escape(image.dataset), f"split {escape(split or 'not named')}"]
    is_drawn = image.dataset in SYNTHETIC_DATASETS
    parts.append(f"{escape(name)}{f' {synthetic_tag()}' if is_drawn else ''}")
    parts += [escape(text) for text in more]
    strip = f'<div class="case-identity">{"".join(f"<span>{part}</span>" for part in parts)}</div>'
    notes = [note for note, holds in ((DRAWN, is_drawn), (SEEN, split.lower() == "train")) if holds]
    return strip + "".join(f'<p class="case-note">{note}</p>' for note in notes)


def case_questions(case: Case) -> str:
    """Return what is asked, with the references, as HTML."""
    lead, *parts = case.questions
    items = "".join(
        f'<li><span class="role">{escape(part_name(part))}</span><span>{escape(part.question)}</span>'
        f"{_reference('span', part.reference)}</li>"
        for part in parts
    )
    return (
        f'<div class="case-questions"><span class="role">{escape(role_name(lead.role))}, '
        f"complexity {case.complexity}</span>"
        f'<p class="lead">{escape(lead.question)}</p>{_reference("p", lead.reference)}'
        f"<ol>{items}</ol></div>"
    )


def _reference(tag: str, reference: str) -> str:
    """Return a reference; nothing where none is known, as may be with a case that was asked live."""
    return f'<{tag} class="reference">{escape(reference)}</{tag}>' if reference else ""


def _tally(runs: tuple[CaseRun, ...]) -> str:
    """Return how many runs came to each verdict, contradictions first."""
    counts = Counter(verdict_tag(run) for run in sorted(runs, key=verdict_order))
    parts = [f"<span>{count} {tag}</span>" for tag, count in counts.items()]
    return f'<div class="case-tally">{"".join(parts)}</div>'
