"""What data is loaded?"""

import streamlit as st

st.title("What data is loaded?")
