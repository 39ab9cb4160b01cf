"""What was asked, and what was answered?"""

import streamlit as st

st.title("What was asked, and what was answered?")
