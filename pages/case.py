"""What was asked, and what was answered?"""

import streamlit as st

from backend.errors import AppError
from backend.services.cases import load_case
from backend.services.explore import run_names
from backend.store.filters import UnitFilter
from backend.store.queries import neighbours
from pages.ui.answer_words import case_sentence
from pages.ui.case_place import choose_case, show_place
from pages.ui.case_view import show_case
from pages.ui.errors import show_error
from pages.ui.links import ENDOCA
from pages.ui.resources import the_store

st.title("What was asked, and what was answered?")

store = the_store()
chosen = UnitFilter.from_query(st.query_params)
unit_id = st.query_params.get("unit", "")
if not unit_id:
    choose_case(store, chosen)
    st.stop()
try:
    case = load_case(store, unit_id)
except AppError as error:
    show_error(error)
    st.page_link(ENDOCA, label="Choose a case from the list", query_params=chosen.to_query())
    st.stop()

st.text(case_sentence(case.runs))
show_place(neighbours(store, chosen, unit_id), chosen, run_names(store))
show_case(store, case, chosen)
