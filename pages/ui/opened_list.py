"""The head of a list that a figure or table opened over its page."""

__all__ = ["show_opened"]

from collections.abc import Collection, Mapping
from html import escape
from pathlib import Path

import streamlit as st

from backend.store.filters import UnitFilter
from backend.store.pair_filters import PairFilter
from backend.store.verification_filters import VerificationFilter


def show_opened(
    behind: UnitFilter | PairFilter | VerificationFilter,
    names: Mapping[str, str],
    count: str,
    page: Path,
    *,
    stays: Collection[str] = (),
) -> None:
    """Draw what is listed and how much it is, and the button that makes it the page's own filter.

    Args:
        behind: What is listed.
        names: What to call a run or a loop in the sentence, by its id.
        count: How much it is, such as "412 units".
        page: The page.
        stays: Further parameters of the page's link that the button keeps.
    """
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.html(f"<div>{escape(behind.sentence(names))}: <strong>{escape(count)}</strong></div>", width="stretch")
        if st.button("Keep as filter", type="tertiary", help="Show this list on the page, with a link to copy"):
            others = {name: value for name, value in st.query_params.to_dict().items() if name in stays}
            st.switch_page(page, query_params={**behind.to_query(), **others})
