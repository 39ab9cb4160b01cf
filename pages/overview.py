"""What is in the store?"""

import streamlit as st

st.title("What is in the store?")
