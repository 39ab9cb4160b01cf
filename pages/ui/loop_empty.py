"""The loop page of a store without loops: what the paper prints, and how to get more."""

__all__ = ["show_no_loops"]

import streamlit as st

from pages.ui.links import DATA
from pages.ui.loop_words import AS_PRINTED, loop_commands
from pages.ui.resources import the_store


def show_no_loops(*, any_verification: bool) -> None:
    """Draw what to do.

    Args:
        any_verification: Whether the store holds verdicts on first answers.
    """
    st.text(
        "The store holds verdicts on first answers, and no answer that was given again after a review."
        if any_verification
        else "The store holds no verification, so there is no loop to look at yet."
    )
    make, bring, records = loop_commands(the_store().path)
    with st.container(border=True):
        st.text("Let a VLM answer, be reviewed and answer again, over four turns, and take the runs into the store:")
        for command in (make, bring):
            st.code(command, language="bash", wrap_lines=True)
        st.text("Or import verification records in which turn counts from 0:")
        st.code(records, language="bash", wrap_lines=True)
        st.caption(
            "VLM and DATASET stand for names that are to be chosen; the page Runs lists them. Only one process can "
            "have the store open, so stop the app first."
        )
        st.page_link(DATA, label="Open the Data page")
    st.caption(AS_PRINTED)
