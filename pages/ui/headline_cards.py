"""The headline of a suite as a card: how far right answers and right parts lie apart, and the way to the cases."""

__all__ = ["show_headline"]

from html import escape
from pathlib import Path

import streamlit as st

from backend.domain.metric import describe_estimate, percent, points
from backend.services.headlines import WidestGap
from pages.ui.contradictions import contradiction_links
from pages.ui.links import ENDOCA
from pages.ui.suite_names import suite_tag
from pages.ui.tags import origin_tag, vlm_name

STYLE = Path(__file__).resolve().parent / "static" / "headline.css"


def show_headline(headline: WidestGap, place: int | None) -> None:
    """Draw one card.

    Args:
        headline: What it says.
        place: The VLM's place in the store, which gives it its colour.
    """
    with st.container(border=True, height="stretch"):
        st.html(_words(headline, place))
        if headline.run_id is None:
            st.page_link(ENDOCA, label="Open the printed table", query_params={"suite": headline.suite})
        else:
            contradiction_links(headline.suite, headline.run_id)


def _words(headline: WidestGap, place: int | None) -> str:
    joint, whole = 100 * headline.joint_accuracy, 100 * headline.complex_accuracy
    lost = points(headline.joint_accuracy - headline.complex_accuracy)
    if headline.inconsistency is None:
        rest = "Printed without counts or intervals; there are no answers behind it."
    else:
        rest = f"Of its right answers {describe_estimate(headline.inconsistency)}, rest on a wrong part."
    return (
        f'<div class="headline"><p class="quiet">{escape(headline.suite)} {suite_tag(headline.suite)} '
        f"{origin_tag(headline.origin)}</p>"
        f'<p class="vlm" title="{escape(headline.source)}">{vlm_name(headline.label, headline.vlm_group, place)}</p>'
        f'<p class="figures"><b>{percent(headline.complex_accuracy)}</b> right, '
        f"<b>{percent(headline.joint_accuracy)}</b> right on right parts</p>"
        f'<div class="bar" aria-hidden="true"><i class="joint" style="width:{joint:.2f}%"></i>'
        f'<i class="apart" style="width:{whole - joint:.2f}%"></i></div>'
        f"<p>{lost} from complex to joint accuracy. {rest}</p></div>"
    )
