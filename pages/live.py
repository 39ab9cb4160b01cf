"""Does an answer stand when the VLM is asked again with its own parts?"""

import streamlit as st

from pages.ui.live_run import show_live, trace_asked
from pages.ui.live_setup import show_setup
from pages.ui.resources import the_store

st.title("Does the answer stand when the VLM is asked again with its own parts?")

trace_id = trace_asked()
if trace_id:
    show_live(the_store(), trace_id)
else:
    show_setup(the_store())
