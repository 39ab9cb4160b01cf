"""Does the answer stand when the question only points?"""

import streamlit as st

from backend.services.live_pairs import PAIRS
from pages.ui.resources import the_store
from pages.ui.workshop_run import show_pair_to_ask, show_trace
from pages.ui.workshop_setup import show_workshop
from pages.ui.workshop_start import WORKSHOP_LINK

st.title("Does the answer stand when the question only points?")

trace_id = WORKSHOP_LINK.trace_asked(PAIRS)
unit_id = st.query_params.get("unit", "")
if trace_id:
    show_trace(the_store(), trace_id)
elif unit_id:
    show_pair_to_ask(the_store(), unit_id)
else:
    show_workshop(the_store())
