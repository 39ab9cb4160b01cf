"""What was asked, and what was answered?"""

from functools import partial

import streamlit as st

from backend.errors import AppError
from backend.services.cases import load_case
from backend.services.explore import run_names
from backend.services.live_traces import unit_traces
from backend.store.unit_lists import neighbours
from pages.ui.answer_words import case_sentence
from pages.ui.case_place import choose_case, go_to, leave_case, list_address, show_place
from pages.ui.case_view import show_case
from pages.ui.errors import show_error
from pages.ui.filters import link_filter
from pages.ui.pair_case import are_pairs_asked_for, show_pair_case
from pages.ui.resources import kept, the_store
from pages.ui.verification_case import are_verifications_asked_for, show_verification_case

st.title("What was asked, and what was answered?")

if are_verifications_asked_for():
    show_verification_case(the_store())
    st.stop()
if are_pairs_asked_for():
    show_pair_case(the_store())
    st.stop()
chosen = link_filter()
unit_id = st.query_params.get("unit", "")
if not unit_id:
    choose_case(chosen)
    st.stop()
try:
    case = load_case(the_store(), unit_id)
except AppError as error:
    show_error(error)
    st.button("Choose a case from the list", on_click=leave_case)
    st.stop()

asked_live_only = not case.runs and unit_traces(the_store(), unit_id)
st.text("Asked live; no batch run answers it." if asked_live_only else case_sentence(case.runs))
place = kept(neighbours, chosen, unit_id)
show_place(place, chosen.sentence(kept(run_names)), list_address(chosen), partial(go_to, chosen))
show_case(the_store(), case, chosen)
