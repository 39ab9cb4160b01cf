"""Does an answer stand, and does a verifier notice where it does not?"""

import streamlit as st

from backend.domain.records import System
from backend.services.live import LIVE
from backend.services.live_verification import VERIFICATIONS
from pages.ui.live_choice import LIVE_TITLES, choose_system, system_asked
from pages.ui.live_run import show_live
from pages.ui.live_setup import show_setup
from pages.ui.live_start import LIVE_LINK
from pages.ui.resources import the_store
from pages.ui.verify_run import show_verification_live
from pages.ui.verify_setup import show_verify_setup

system = system_asked()
st.title(LIVE_TITLES[system])
choose_system(system)

if system is System.VERIMAP:
    trace_id = LIVE_LINK.trace_asked(VERIFICATIONS)
    if trace_id:
        show_verification_live(the_store(), trace_id)
    else:
        show_verify_setup(the_store())
else:
    trace_id = LIVE_LINK.trace_asked(LIVE)
    if trace_id:
        show_live(the_store(), trace_id)
    else:
        show_setup(the_store())
