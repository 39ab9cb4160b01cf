"""Do right complex answers stand on right parts?"""

import streamlit as st

st.title("Do right complex answers stand on right parts?")
