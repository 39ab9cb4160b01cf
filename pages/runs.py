"""Where do these answers come from?"""

import streamlit as st

from backend.errors import AppError
from backend.services.endoca_series import vlm_places
from backend.services.runs.overview import run_overview
from pages.ui.errors import show_error
from pages.ui.links import DATA
from pages.ui.resources import kept
from pages.ui.run_command import show_commands
from pages.ui.run_tables import show_run_table
from pages.ui.run_view import close_run, open_run, show_run
from pages.ui.run_words import overview_sentence

st.title("Where do these answers come from?")

runs = kept(run_overview)
if runs:
    st.text(overview_sentence(runs))
    with st.container(key="all_runs"):
        opened = show_run_table(runs)
    if opened is not None:
        open_run(opened)
else:
    st.text(
        "No VLM has answered anything in this store yet. Let one answer a suite with the two commands below, or bring "
        "in answers that another program wrote into a file."
    )
    st.page_link(DATA, label="Import answers on the Data page")

asked = st.query_params.get("run", "")
if asked:
    by_id = {run.run_id: run for run in runs}
    with st.container(border=True, key="one_run"):
        if asked in by_id:
            show_run(by_id[asked], kept(vlm_places).get(by_id[asked].vlm))
        else:
            show_error(AppError(f"There is no run {asked} in this store.", "It may have been removed. Choose another."))
            st.button("Show all runs", on_click=close_run)

st.subheader("Let a VLM answer a suite")
show_commands()
