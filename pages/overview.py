"""Where do a VLM's two answers part?"""

from itertools import cycle

import streamlit as st

from backend.domain.metric import percent
from backend.domain.records import System
from backend.services.endoca_series import MOST_UNANSWERED, vlm_places
from backend.services.headlines import FEWEST_UNITS, headlines
from backend.services.parting_headlines import false_acceptances, widest_drops
from backend.services.store_contents import totals
from pages.ui.box_vlm import show_box_vlm
from pages.ui.first_steps import show_first_steps
from pages.ui.first_visit import is_busy, show_coming_in
from pages.ui.headline_cards import STYLE, show_headline
from pages.ui.import_report import plural
from pages.ui.links import CASE, DATA, ENDOCA, SURGCHECK, VERIMAP
from pages.ui.parting_cards import show_acceptance, show_drop
from pages.ui.resources import kept, the_store
from pages.ui.run_overview import show_run_overview
from pages.ui.store_tables import answers_held, show_suites

st.title("Where do a VLM's two answers part?")
st.markdown(
    "Parallax asks a medical vision-language model (VLM) about the same image from two lines of sight. "
    "EndoCA pairs a complex question with its parts, each asked alone: a right answer can stand on a wrong part. "
    "SurgCheck pairs a question that names the tool with one that only points: the words can do the looking. "
    "VeriMap pairs an answer with a verdict on it: a wrong answer can be accepted. "
    "Whatever is drawn in orange is such a contradiction, and opens the cases behind it."
)

store = the_store()
busy = is_busy(store)
held = kept(totals)
runs, gaps = kept(headlines)
places = kept(vlm_places)

show_coming_in(store, busy=busy, is_empty=not held.suites)
if not held.suites and not busy:
    show_first_steps()

if gaps:
    st.subheader("Widest gap between right answers and right parts")
    st.html(STYLE)
    for left in range(0, len(gaps), 2):
        for column, gap in zip(st.columns(2), gaps[left : left + 2], strict=False):
            with column:
                show_headline(gap, places.get(gap.vlm))
    st.caption(
        f"Chosen among runs over at least {FEWEST_UNITS} units with at most {percent(MOST_UNANSWERED)} of their "
        "answers missing or failed: a missing part counts as wrong, and would make a gap of its own."
    )

drops, acceptances = kept(widest_drops), kept(false_acceptances)
if drops or acceptances:
    st.html(STYLE)
if drops:
    st.subheader("Widest drop without the names")
    for column, drop in zip(cycle(st.columns(2)), drops, strict=False):
        with column:
            show_drop(drop, places.get(drop.vlm))
if acceptances:
    st.subheader("Wrong answers that their own verifier accepts")
    for column, accepted in zip(cycle(st.columns(2)), acceptances, strict=False):
        with column:
            show_acceptance(accepted, places.get(accepted.vlm))

if held.suites:
    st.subheader("What is in the store")
    st.text(
        f"{plural(held.suites, 'suite')}, {plural(held.units, 'unit')} on {plural(held.images, 'image')} "
        f"({held.images_at_hand:,} at hand), {answers_held(held)} in {plural(held.runs, 'run')} "
        f"of {plural(held.vlms, 'VLM')}."
    )
    show_suites(store, removable=False)
    if held.runs:
        show_run_overview(runs)
    with st.container(horizontal=True):
        st.page_link(ENDOCA, label="Compare VLMs on Paired answers")
        if any(runs["system"] == System.SURGCHECK):
            st.page_link(SURGCHECK, label="Look for shortcuts in surgical answers")
        if any(runs["system"] == System.VERIMAP):
            st.page_link(VERIMAP, label="See which verifiers can be trusted")
        st.page_link(CASE, label="Look at single cases")
        st.page_link(DATA, label="Import more on the Data page")

show_box_vlm(runs)
