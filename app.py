"""The server: Streamlit's app with the image routes and the security headers, nothing else.

``streamlit run app.py`` finds the literal ``st.App`` below by reading this source, so it
must stay a literal. The pages are listed in ``pages/ui/main.py``.
"""

import streamlit as st

from pages.ui.errors import show_error
from pages.ui.image_routes import IMAGE_ROUTES
from pages.ui.security import MIDDLEWARE

app = st.App("pages/ui/main.py", routes=IMAGE_ROUTES, middleware=MIDDLEWARE, on_script_error=show_error)
