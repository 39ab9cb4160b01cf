"""The SurgCheck page with nothing of one's own to show: the paper's printed table, and how to get more."""

__all__ = ["show_printed_alone", "show_unanswered", "show_unjudged"]

import streamlit as st

from backend.figures.style import Theme
from backend.figures.surgcheck import drop_slope
from backend.services.endoca_series import records
from backend.services.surgcheck_notes import Figure, notes
from backend.services.surgcheck_published import TABLES
from backend.services.surgcheck_series import printed_drops
from backend.store.pair_filters import PairFilter
from pages.ui.clicks import clickable_chart
from pages.ui.links import DATA, LIST
from pages.ui.pair_list import show_pairs
from pages.ui.resources import drawn_once, kept, the_store
from pages.ui.run_command import PROGRAM, run_commands
from pages.ui.series_cases import show_printed
from pages.ui.surgcheck_notes import notes_html
from pages.ui.surgcheck_words import judge_commands, printed_headline

ONE_PROCESS = "Only one process can have the store open, so stop the app first."


def show_printed_alone(theme: Theme) -> None:
    """Draw the page of a store without pairs."""
    printed = kept(printed_drops, "accuracy")
    rows = records(printed)
    st.text(printed_headline(rows))
    with st.container(border=True):
        st.text(
            "The store holds no pairs, so only the paper's printed table is shown. For figures with cases behind them, "
            "import the SurgCheck release, scene graphs, or a VLM's prediction files, or bring in the built-in data:"
        )
        for command in ("import surgcheck RELEASE.zip", "import surgcheck PREDICTIONS… --model VLM", "demo"):
            st.code(f"{PROGRAM} {command}", language="bash", wrap_lines=True)
        st.caption(ONE_PROCESS)
        st.page_link(DATA, label="Open the Data page")
    st.subheader("Original against less-biased questions, as printed")
    point = clickable_chart(
        drawn_once("surgcheck_printed", (theme.name,), lambda: drop_slope(printed, theme)),
        key="slope_chart",
        alt="Printed accuracy with original and less-biased questions by VLM",
    )
    st.caption(f"Printed: {TABLES['accuracy'].source}; the paper prints no counts and no intervals.")
    st.html(notes_html([note for note in notes(the_store(), "", Figure.PRINTED, printed) if note.is_computed]))
    if point is not None:
        show_printed(next(row for row in rows if row["series"] == point[0]))


def show_unanswered(chosen: PairFilter) -> None:
    """Draw what to do with a suite that no run has answered, and its pairs."""
    with st.container(border=True):
        st.text("Let a VLM answer it, and take the run into the store:")
        for command in run_commands(None, chosen.suite, the_store().path):
            st.code(command, language="bash", wrap_lines=True)
        st.text("Or import a VLM's prediction files:")
        st.code(f"{PROGRAM} import surgcheck PREDICTIONS… --model VLM --suite {chosen.suite}", language="bash")
        st.caption(f"VLM stands for a name that is to be chosen; the page Runs lists them. {ONE_PROCESS}")
    st.subheader("Cases", anchor=LIST)
    show_pairs(chosen, key="cases")


def show_unjudged(suite: str) -> None:
    """Draw how to have answers judged, where none is."""
    with st.container(border=True):
        st.text(
            "No run over these pairs has been judged. To have an LLM score a run's answers from 1 to 5, and take the "
            "scores into the store:"
        )
        for command in judge_commands(suite, the_store().path):
            st.code(command, language="bash", wrap_lines=True)
        st.caption(f"LLM and VLM stand for names that are to be chosen; the page Runs lists them. {ONE_PROCESS}")
