"""One example of VeriMap on the screen: its image and question, and a block for each VLM that answered it."""

__all__ = ["show_verification"]

import streamlit as st

from backend.domain.records import System
from backend.services.case_looks import example_looks
from backend.services.endoca_series import vlm_places
from backend.services.verimap_case_loading import asked_verdicts
from backend.services.verimap_cases import VerificationCase
from backend.store.store import Store
from backend.store.verification_filters import VerificationFilter
from pages.ui.case_view import STYLE as CASE_STYLE
from pages.ui.case_view import identity, show_image
from pages.ui.links import LIVE
from pages.ui.saliency_case import LOOKS_LINK, show_verification_looks
from pages.ui.verification_table import STYLE, Shown, example_html, generator_html
from pages.ui.verify_case import show_case_verifications

NO_IMAGE = (
    '<div class="case-no-image" role="note"><p><strong>No image is named for this question.</strong></p>'
    "<p>Its file of records does not say which image was asked about. Import the data set itself to have its "
    "images. Everything below works without.</p></div>"
)


def show_verification(store: Store, case: VerificationCase, chosen: VerificationFilter) -> None:
    """Draw a case.

    Args:
        store: The store, to find the image's file.
        case: The case.
        chosen: The filter of the list it stands in; its verdicts come first.
    """
    st.html(CASE_STYLE)
    st.html(STYLE)
    left, right = st.columns([6, 5], gap="large")
    with left:
        if case.image.file:
            show_image(store, case.image)
        else:
            st.html(NO_IMAGE)
        more = [f"further images of this question: {', '.join(case.more_images)}"] if case.more_images else []
        st.html(identity(case, more))
        if case.question and case.image.at_hand:
            query = {"system": System.VERIMAP, "unit": case.unit_id}
            st.page_link(LIVE, label="Verify live on this case", query_params=query)
    with right:
        st.html(example_html(case))
        if example_looks(store, case.unit_id) is not None:
            st.html(LOOKS_LINK)
    if case.generators:
        _show_answers(store, case, chosen)
    if not show_case_verifications(store, case) and not case.generators:
        st.info("No VLM has answered this question yet. Verify it live, import records, or make a run of it.")


def _show_answers(store: Store, case: VerificationCase, chosen: VerificationFilter) -> None:
    shown = Shown(case, asked_verdicts(store, chosen, case.unit_id), chosen.policy, vlm_places(store))
    named = [one for one in case.generators if shown.asks_for(one.verdicts)]
    others = [one for one in case.generators if one not in named]
    st.subheader("What was answered, and what verifiers made of it")
    st.html("".join(generator_html(shown, one) for one in named or others))
    if named and others:
        with st.expander(f"What {len(others)} other {'VLM' if len(others) == 1 else 'VLMs'} answered"):
            st.html("".join(generator_html(shown, one) for one in others))
    show_verification_looks(store, case, shown.asked)
